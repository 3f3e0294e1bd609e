//! Listeners: bound before anything starts, or taken over from an older process.

use super::run::ServeError;
use crate::config::{AdminAddress, Listen, Settings};
use pingora_core::listeners::{L4BufferSettings, ListenerConfig};
use pingora_core::server::{Fds, ListenFds};
use pingora_core::services::listening::Service;
use std::fs::Permissions;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{IntoRawFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// Bound listeners, each with the address it was asked for and the one it has.
#[derive(Debug)]
pub(super) struct Listeners {
    pub(super) public: Vec<Listener>,
    pub(super) admin: Option<Listener>,
}

/// One bound listener. Its descriptor is closed by the pingora service that it is handed to.
#[derive(Debug, Clone)]
pub(super) struct Listener {
    /// As configured, port 0 included; `admin` comes first in the name of the admin listener.
    asked: String,
    /// What the system made of it: `host:port`, or the path of a unix socket.
    pub(super) bound: String,
    descriptor: RawFd,
    pub(super) tls: bool,
    /// A unix socket is for its owner only.
    pub(super) is_unix: bool,
}

impl Listeners {
    /// Takes over from `inherited` what is still asked for and binds the rest, so that a taken port is an
    /// error and not a panic, and port 0 becomes a number.
    pub(super) fn of(settings: &Settings, inherited: &Fds) -> Result<Self, ServeError> {
        let (names, descriptors) = inherited.serialize();
        let known: Vec<(String, RawFd)> = names.into_iter().zip(descriptors).collect();
        let listener = |asked: String, bind: &dyn Fn() -> io::Result<(String, RawFd, bool)>| {
            let older = known.iter().find_map(|(name, descriptor)| {
                let (older, bound) = name.split_once('=')?;
                (older == asked).then(|| (bound.to_owned(), *descriptor, bound.starts_with('/')))
            });
            let bound = match older {
                Some(older) => Ok(older),
                None => bind(),
            };
            match bound {
                Ok((bound, descriptor, is_unix)) => {
                    Ok(Listener { asked, bound, descriptor, tls: false, is_unix })
                }
                Err(cause) => Err(ServeError::Listen { address: asked, cause }),
            }
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

    /// Those that speak TLS, or those that do not.
    pub(super) fn that_speak(&self, tls: bool) -> Vec<Listener> {
        self.public.iter().filter(|listener| listener.tls == tls).cloned().collect()
    }

    /// Where the admin listener is, as a person would type it.
    pub(super) fn admin_name(&self) -> Option<String> {
        self.admin.as_ref().map(|admin| {
            if admin.is_unix { format!("unix:{}", admin.bound) } else { format!("http://{}", admin.bound) }
        })
    }

    /// What a newer process needs to take over.
    pub(super) fn to_hand_over(&self) -> Fds {
        let mut fds = Fds::new();
        for listener in self.public.iter().chain(&self.admin) {
            fds.add(format!("{}={}", listener.asked, listener.bound), listener.descriptor);
        }
        fds
    }
}

/// A service of pingora's on these listeners, and the table it finds them in.
///
/// No buffers in pingora's streams: ours are in [`super::connection`], and only while they are needed.
pub(super) fn service<A>(name: &str, app: A, listeners: &[Listener]) -> (Service<A>, ListenFds) {
    let mut service = Service::new(name.to_owned(), app);
    let mut fds = Fds::new();
    for listener in listeners {
        let endpoint = if listener.is_unix {
            ListenerConfig::uds(&listener.bound).permissions(Permissions::from_mode(0o600))
        } else {
            ListenerConfig::tcp(&listener.bound)
        };
        service.add_listener(endpoint.l4_buffer(L4BufferSettings::unbuffered()));
        fds.add(listener.bound.clone(), listener.descriptor);
    }
    (service, ListenFds::new(fds.into()))
}

fn tcp(address: SocketAddr) -> io::Result<(String, RawFd, bool)> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    Ok((bound.to_string(), listener.into_raw_fd(), false))
}

fn unix(path: &Path) -> io::Result<(String, RawFd, bool)> {
    // What an earlier process left behind; a living one would still answer on it.
    if UnixStream::connect(path).is_err() {
        let _ = std::fs::remove_file(path);
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok((path.display().to_string(), listener.into_raw_fd(), true))
}
