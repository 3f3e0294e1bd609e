//! One connection: our own stream below the crate's pipeline, so that what comes in is bounded, and can be let go of at
//! once.

use super::answers::{Bounded, Fault};
use super::failure::{Break, Failure};
use crate::config::{RedisAddress, RedisStore};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, RedisConnectionInfo, RedisError};
use std::io;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio::task::AbortHandle;

/// Where the server is, and who we are to it.
#[derive(Debug)]
pub(super) struct Server {
    address: RedisAddress,
    login: RedisConnectionInfo,
}

impl Server {
    pub(super) fn new(store: &RedisStore) -> Self {
        // No name of the library: that would be one more right that a user needs.
        let login = RedisConnectionInfo::default().set_skip_set_lib_name();
        let mut login = login.set_db(i64::from(store.database));
        if let Some(user) = &store.user {
            login = login.set_username(user);
        }
        if let Some(password) = &store.password {
            login = login.set_password(password.reveal());
        }
        Self { address: store.address.clone(), login }
    }

    /// As long as it takes.
    pub(super) async fn connect(&self) -> Result<Wire, Failure> {
        let failed = |error: io::Error| Failure::Broken(Break::Connect(error.kind()));
        match &self.address {
            RedisAddress::Tcp(host, port) => {
                let found = lookup_host((host.as_str(), *port)).await;
                let found: Vec<_> = found.map_err(|_| Failure::Broken(Break::Name))?.collect();
                let stream = TcpStream::connect(&found[..]).await.map_err(failed)?;
                stream.set_nodelay(true).map_err(failed)?;
                self.greet(stream).await
            }
            RedisAddress::Unix(path) => self.greet(UnixStream::connect(path).await.map_err(failed)?).await,
        }
    }

    pub(super) async fn greet<S>(&self, stream: S) -> Result<Wire, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let fault = Fault::default();
        let stream = Bounded::new(stream, Fault::clone(&fault));
        // Who asks has its own patience.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let greeted = MultiplexedConnection::new_with_config(&self.login, stream, config).await;
        let (connection, driver) = greeted.map_err(|error| match fault.get() {
            Some(cause) => Failure::Broken(*cause),
            None => Failure::of_setup(&error),
        })?;
        Ok(Wire { connection, driver: tokio::spawn(driver).abort_handle(), fault })
    }
}

#[derive(Debug)]
pub(super) struct Wire {
    connection: MultiplexedConnection,
    driver: AbortHandle,
    fault: Fault,
}

impl Wire {
    /// A clone is a sender; the connection behind it is the same.
    pub(super) fn sender(&self) -> MultiplexedConnection {
        self.connection.clone()
    }

    /// Why there was no answer: the connection's own fault, if it has one, for all that waited.
    pub(super) fn failure(&self, error: &RedisError) -> Failure {
        self.fault.get().map_or_else(|| Failure::of(error), |cause| Failure::Broken(*cause))
    }

    /// Lets go of the stream and of all that came in through it, whoever still holds this.
    pub(super) fn end(&self) {
        self.driver.abort();
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.end();
    }
}
