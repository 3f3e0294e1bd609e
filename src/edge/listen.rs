//! Listeners: bound before anything starts, or taken over from an older process; and the connections that come in.
//!
//! Why not pingora's service: it registers a connection where it was accepted and serves it on a worker drawn by lot, so
//! that with several workers most of what happens on a connection wakes one worker to wake another.

use super::run::ServeError;
use super::socket::Socket;
use crate::config::{AdminAddress, Listen, Settings};
use pingora_core::server::ShutdownWatch;
use rustix::io::ioctl_fionbio;
use rustix::net::listen;
use std::fs::Permissions;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// Connections that the system completes before they are accepted; it has a limit of its own.
const BACKLOG: i32 = 65_535;
/// How long nothing is accepted after the system had no room for a connection.
const RESPITE: Duration = Duration::from_secs(1);

/// Bound listeners that this process did not bind, each under `asked=bound`.
pub(super) type Inherited = Vec<(String, OwnedFd)>;

/// Bound listeners, each with the address it was asked for and the one it has.
#[derive(Debug)]
pub(super) struct Listeners {
    pub(super) public: Vec<Listener>,
    pub(super) admin: Option<Listener>,
}

/// One bound listener.
#[derive(Debug)]
pub(super) struct Listener {
    /// As configured, port 0 included; `admin` comes first in the name of the admin listener.
    asked: String,
    /// What the system made of it: `host:port`, or the path of a unix socket.
    pub(super) bound: String,
    socket: OwnedFd,
    pub(super) tls: bool,
    /// A unix socket is for its owner only.
    pub(super) is_unix: bool,
}

impl Listeners {
    /// Takes over from `inherited` what is still asked for and binds the rest, so that a taken port is an
    /// error and not a panic, and port 0 becomes a number.
    pub(super) fn of(settings: &Settings, mut inherited: Inherited) -> Result<Self, ServeError> {
        let mut listener = |asked: String, bind: &dyn Fn() -> io::Result<(String, OwnedFd)>| {
            let asks = |name: &str| name.split_once('=').is_some_and(|(older, _)| older == asked);
            let bound = match inherited.iter().position(|(name, _)| asks(name)) {
                Some(number) => {
                    let (name, socket) = inherited.swap_remove(number);
                    Ok((name[asked.len() + 1..].to_owned(), socket))
                }
                None => bind(),
            };
            let ready = bound.and_then(|(bound, socket)| {
                listen(&socket, BACKLOG)?;
                ioctl_fionbio(&socket, true)?;
                let is_unix = bound.starts_with('/');
                if is_unix {
                    std::fs::set_permissions(&bound, Permissions::from_mode(0o600))?;
                }
                Ok(Listener { asked: asked.clone(), bound, socket, tls: false, is_unix })
            });
            ready.map_err(|cause| ServeError::Listen { address: asked, cause })
        };
        let public = settings.listen.iter().map(|Listen { address, tls: is_tls }| {
            // A port keeps its listener when it changes what it speaks; any free port has nothing else to be known by.
            let scheme = if *is_tls && address.port() == 0 { "https://" } else { "" };
            let listener = listener(format!("{scheme}{address}"), &|| tcp(*address))?;
            Ok(Listener { tls: *is_tls, ..listener })
        });
        let public = public.collect::<Result<_, _>>()?;
        let admin = settings.admin.as_ref().map(|address| match address {
            AdminAddress::Tcp(address) => listener(format!("admin:{address}"), &|| tcp(*address)),
            AdminAddress::Unix(path) => listener(format!("admin:{}", path.display()), &|| unix(path)),
        });
        Ok(Self { public, admin: admin.transpose()? })
    }

    /// Where the public listeners are.
    pub(super) fn addresses(&self) -> Vec<Listen> {
        let listen =
            |listener: &Listener| Some(Listen { address: listener.bound.parse().ok()?, tls: listener.tls });
        self.public.iter().filter_map(listen).collect()
    }

    /// Where the admin listener is, as a person would type it.
    pub(super) fn admin_name(&self) -> Option<String> {
        self.admin.as_ref().map(|admin| {
            if admin.is_unix { format!("unix:{}", admin.bound) } else { format!("http://{}", admin.bound) }
        })
    }

    /// What a newer process needs to take over: each listener, and what it is known by.
    pub(super) fn to_hand_over(&self) -> impl Iterator<Item = (String, BorrowedFd<'_>)> {
        let all = self.public.iter().chain(&self.admin);
        all.map(|listener| (format!("{}={}", listener.asked, listener.bound), listener.socket.as_fd()))
    }
}

/// What serves the connections of a listener.
pub(super) trait Serve: Send + Sync + 'static {
    /// Serves one to its end. `peer` is the other end; that of a unix socket is this machine.
    fn serve(
        self: Arc<Self>,
        socket: Socket,
        peer: IpAddr,
        shutdown: ShutdownWatch,
    ) -> impl Future<Output = ()> + Send;
}

impl Listener {
    /// Accepts until `shutdown`, on the runtime that this is called in. Connections go to the workers in turn, and stay there.
    pub(super) fn accept<S: Serve>(
        &self,
        serve: S,
        workers: Vec<Handle>,
        mut shutdown: ShutdownWatch,
    ) -> io::Result<()> {
        // A descriptor of its own: once nobody accepts any more, and none is kept to be handed over, nobody can connect.
        let socket = self.socket.try_clone()?;
        let door = if self.is_unix {
            Door::Unix(tokio::net::UnixListener::from_std(socket.into())?)
        } else {
            Door::Tcp(tokio::net::TcpListener::from_std(socket.into())?)
        };
        let serve = Arc::new(serve);
        tokio::spawn(async move {
            for worker in workers.iter().cycle() {
                let accepted = tokio::select! {
                    accepted = door.next() => accepted,
                    _ = shutdown.wait_for(|stop| *stop) => return,
                };
                let (serve, shutdown) = (Arc::clone(&serve), shutdown.clone());
                worker.spawn(async move {
                    match accepted.registered() {
                        Ok((socket, peer)) => serve.serve(socket, peer, shutdown).await,
                        Err(error) => tracing::debug!(%error, "a connection was gone before it was served"),
                    }
                });
            }
        });
        Ok(())
    }
}

/// A listener that is accepted from.
enum Door {
    Tcp(tokio::net::TcpListener),
    Unix(tokio::net::UnixListener),
}

/// A connection that no runtime wakes for.
enum Accepted {
    Tcp(TcpStream, IpAddr),
    Unix(UnixStream),
}

impl Door {
    async fn next(&self) -> Accepted {
        loop {
            let accepted = match self {
                Self::Tcp(listener) => listener
                    .accept()
                    .await
                    .and_then(|(stream, peer)| Ok(Accepted::Tcp(stream.into_std()?, peer.ip()))),
                Self::Unix(listener) => {
                    listener.accept().await.and_then(|(stream, _)| Ok(Accepted::Unix(stream.into_std()?)))
                }
            };
            match accepted {
                Ok(accepted) => return accepted,
                // Gone again, before it could be had.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    tracing::error!(%error, "no connection can be accepted for a moment");
                    tokio::time::sleep(RESPITE).await;
                }
            }
        }
    }
}

impl Accepted {
    /// The stream, woken for by the runtime that this is called in; and the other end.
    fn registered(self) -> io::Result<(Socket, IpAddr)> {
        match self {
            Self::Tcp(stream, peer) => {
                let stream = tokio::net::TcpStream::from_std(stream)?;
                stream.set_nodelay(true)?;
                Ok((stream.into(), peer))
            }
            Self::Unix(stream) => {
                let stream = tokio::net::UnixStream::from_std(stream)?;
                Ok((stream.into(), IpAddr::V4(Ipv4Addr::LOCALHOST)))
            }
        }
    }
}

fn tcp(address: SocketAddr) -> io::Result<(String, OwnedFd)> {
    let listener = TcpListener::bind(address)?;
    Ok((listener.local_addr()?.to_string(), listener.into()))
}

fn unix(path: &Path) -> io::Result<(String, OwnedFd)> {
    // What an earlier process left behind; a living one would still answer on it.
    if UnixStream::connect(path).is_err() {
        let _ = std::fs::remove_file(path);
    }
    Ok((path.display().to_string(), UnixListener::bind(path)?.into()))
}
