//! Sockets that systemd passes (`sd_listen_fds(3)`): bound before this process was started, and kept over its restarts.

use super::listen::Inherited;
use super::run::ServeError;
use crate::config::{AdminAddress, Settings};
use listenfd::ListenFd;
use rustix::net::sockopt::socket_acceptconn;
use std::io;
use std::os::fd::AsFd;

/// Adds what was passed to what is taken over. A socket that the file does not name is refused: someone meant it to be
/// served. What is named and not passed is bound as ever.
pub(super) fn receive(settings: &Settings, inherited: &mut Inherited) -> Result<(), ServeError> {
    let mut passed = ListenFd::from_env();
    for number in 0..passed.len() {
        if let Ok(Some(socket)) = passed.take_tcp_listener(number) {
            let address = socket.local_addr().map_err(|cause| broken(number, &cause))?;
            listens(&socket, number)?;
            let public = settings.listen.iter().find(|asked| asked.address == address);
            let public = public.map(|asked| asked.address.to_string());
            let admin = match settings.admin {
                Some(AdminAddress::Tcp(asked)) if asked == address => Some(format!("admin:{address}")),
                Some(AdminAddress::Tcp(_) | AdminAddress::Unix(_)) | None => None,
            };
            let asked = public.or(admin).ok_or_else(|| unnamed(&address.to_string()))?;
            inherited.push((format!("{asked}={address}"), socket.into()));
        } else {
            let socket = passed.take_unix_listener(number).ok().flatten();
            let socket = socket.ok_or_else(|| broken(number, &"neither TCP nor a unix stream"))?;
            let address = socket.local_addr().map_err(|cause| broken(number, &cause))?;
            listens(&socket, number)?;
            let path = address.as_pathname().ok_or_else(|| unnamed("of a unix socket without a path"))?;
            if !matches!(&settings.admin, Some(AdminAddress::Unix(asked)) if asked == path) {
                return Err(unnamed(&format!("unix:{}", path.display())));
            }
            inherited.push((format!("admin:{0}={0}", path.display()), socket.into()));
        }
    }
    Ok(())
}

/// A connection (`Accept=yes`) is no listener.
fn listens(socket: &impl AsFd, number: usize) -> Result<(), ServeError> {
    match socket_acceptconn(socket) {
        Ok(true) => Ok(()),
        Ok(false) => Err(broken(number, &"it does not listen; the unit needs `Accept=no`")),
        Err(error) => Err(broken(number, &io::Error::from(error))),
    }
}

fn broken(number: usize, cause: &dyn std::fmt::Display) -> ServeError {
    ServeError::Passed(format!("socket {} that systemd passed cannot be used: {cause}", number + 1))
}

fn unnamed(address: &str) -> ServeError {
    ServeError::Passed(format!(
        "systemd passed the socket {address}, which stands neither in `listen` nor as `admin`: write it there exactly so, or \
         take it out of the socket unit"
    ))
}
