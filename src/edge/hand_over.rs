//! Replacing the binary without losing a request: on SIGUSR2 a new process is started, takes over the
//! listening sockets, and once it serves the old one stops as on SIGTERM.
//!
//! The sockets go through a unix socket in a folder that only this user can enter. A new process that
//! does not come to serve (a refused config, a broken binary) changes nothing.

use super::listen::{Inherited, Listeners};
use pingora_core::server::Fds;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Names the folder of a hand-over to the new process.
const FOLDER: &str = "FORMGATE_HAND_OVER";
/// The file in it that says that the new process serves.
const SERVES: &str = "serves";
/// Bytes of the names of all listeners, and listeners, that pingora sends at most.
const NAMES: usize = 2048;
const LISTENERS: usize = 32;
/// How long a process may take for a step.
const PATIENCE: Duration = Duration::from_secs(30);
const PACE: Duration = Duration::from_millis(20);

/// The new process's side.
#[derive(Debug, Default)]
pub(super) struct TakeOver {
    folder: Option<PathBuf>,
}

impl TakeOver {
    /// What an older process hands over to this one; nothing when none does.
    pub(super) fn receive() -> io::Result<(Self, Inherited)> {
        let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
            return Ok((Self::default(), Inherited::new()));
        };
        let inherited = take(&caller(&UnixListener::bind(socket(&folder))?)?)?;
        Ok((Self { folder: Some(folder) }, inherited))
    }

    /// Tells the older process that this one serves.
    pub(super) fn serves(&self) {
        if let Some(folder) = &self.folder
            && let Err(error) = std::fs::write(folder.join(SERVES), b"")
        {
            tracing::error!(%error, "the older process cannot be told that this one serves");
        }
    }
}

/// The older process, which connects once it sees the socket.
fn caller(listener: &UnixListener) -> io::Result<UnixStream> {
    listener.set_nonblocking(true)?;
    let until = Instant::now() + PATIENCE;
    loop {
        match listener.accept() {
            Ok((stream, _)) => return Ok(stream),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < until => {
                std::thread::sleep(PACE);
            }
            Err(error) => return Err(error),
        }
    }
}

/// The listeners, and their names, as pingora sends them: all in one message, the names with spaces between them.
fn take(stream: &UnixStream) -> io::Result<Inherited> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let (mut names, mut room) =
        ([0; NAMES], [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(LISTENERS))]);
    let mut beside = RecvAncillaryBuffer::new(&mut room);
    let message = recvmsg(stream, &mut [IoSliceMut::new(&mut names)], &mut beside, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors = Vec::new();
    for part in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(several) = part {
            descriptors.extend(several);
        }
    }
    let names = names.get(..message.bytes).and_then(|names| std::str::from_utf8(names).ok());
    let names: Vec<&str> = names.unwrap_or_default().split_ascii_whitespace().collect();
    if names.len() != descriptors.len() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(names.into_iter().map(str::to_owned).zip(descriptors).collect())
}

/// The old process's side. Blocks until the new process serves, or will not.
/// What the answer is: the new process.
pub(super) fn hand_over(listeners: &Listeners) -> io::Result<u32> {
    let folder = private_folder()?;
    let outcome = start(&folder).and_then(|mut child| {
        let handed = send(listeners, &folder, &mut child);
        if handed.is_err() {
            // It has failed, or is about to serve on what we go on serving on.
            let _ = child.kill();
            let _ = child.wait();
        }
        handed.map(|()| child.id())
    });
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

/// This very command line, with the binary that is at its path now.
fn start(folder: &Path) -> io::Result<Child> {
    let mut words = std::env::args_os();
    let _ = words.next();
    // The watchdog waits for whichever process is the main one.
    Command::new(binary()?).args(words).env(FOLDER, folder).env_remove("WATCHDOG_PID").spawn()
}

/// Linux marks the path of a binary that has been replaced: the new one is what is wanted.
fn binary() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    Ok(match path.as_os_str().as_bytes().strip_suffix(b" (deleted)") {
        Some(replaced) => PathBuf::from(std::ffi::OsString::from_vec(replaced.to_vec())),
        None => path,
    })
}

fn send(listeners: &Listeners, folder: &Path, child: &mut Child) -> io::Result<()> {
    // The new process makes the socket once its config has been read.
    wait_for(Path::new(&socket(folder)), child)?;
    let mut descriptors = Fds::new();
    for (name, listener) in listeners.to_hand_over() {
        descriptors.add(name, listener.as_raw_fd());
    }
    descriptors.send_to_sock(socket(folder).as_str()).map_err(io::Error::from)?;
    wait_for(&folder.join(SERVES), child)
}

fn wait_for(file: &Path, child: &mut Child) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    while !file.exists() {
        if let Some(status) = child.try_wait()? {
            return Err(io::Error::other(format!("the new process has ended: {status}")));
        }
        if Instant::now() > until {
            return Err(io::Error::other("the new process does not come to serve"));
        }
        std::thread::sleep(PACE);
    }
    Ok(())
}

fn socket(folder: &Path) -> String {
    folder.join("sockets").display().to_string()
}

fn private_folder() -> io::Result<PathBuf> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let name = format!("formgate-{}-{}", std::process::id(), now.as_nanos());
    let folder = std::env::temp_dir().join(OsStr::new(&name));
    // Fails when it exists: nobody else can have prepared it.
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}
