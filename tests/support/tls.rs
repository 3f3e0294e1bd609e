//! Certificates made for a test, and TLS for parts of the harness that speak in the clear: a terminator in front of the
//! backend, a tunnel from the client.

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Who issues.
pub(crate) struct Authority {
    /// Its own certificate, PEM.
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, PEM.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) cert: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name = named(name);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// For these names or addresses, valid now.
    pub(crate) fn issue(&self, names: &[&str]) -> Pair {
        self.issue_between(names, 2000, 2124)
    }

    /// The same from and until the beginning of a year.
    pub(crate) fn issue_between(&self, names: &[&str], from: i32, until: i32) -> Pair {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = named("leaf");
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().unwrap();
        Pair { cert: params.signed_by(&key, &self.issuer).unwrap().pem(), key: key.serialize_pem() }
    }

    pub(crate) fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        roots
    }
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

impl Pair {
    pub(crate) fn chain(&self) -> Vec<CertificateDer<'static>> {
        CertificateDer::pem_slice_iter(self.cert.as_bytes()).map(Result::unwrap).collect()
    }

    pub(crate) fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap()
    }

    /// A server that shows this certificate, and asks for one of `clients` where there are any.
    pub(crate) fn server(&self, clients: Option<&Authority>) -> ServerConfig {
        let provider = formgate::tls::provider();
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(clients) => {
                let roots = Arc::new(clients.roots());
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
                builder.with_client_cert_verifier(verifier.unwrap())
            }
        };
        builder.with_single_cert(self.chain(), self.private_key()).unwrap()
    }
}

/// A client that believes in an authority and offers these protocols.
pub(crate) fn client(authority: &Authority, protocols: &[&str]) -> ClientConfig {
    let builder = ClientConfig::builder_with_provider(formgate::tls::provider());
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(authority.roots()).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    config
}

/// Speaks TLS on its address and passes what it reads on in the clear.
pub(crate) struct Terminator {
    pub(crate) addr: SocketAddr,
    handshakes: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
}

impl Terminator {
    pub(crate) fn start(to: SocketAddr, config: ServerConfig) -> Self {
        let (handshakes, connections) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (done, opened) = (Arc::clone(&handshakes), Arc::clone(&connections));
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let addr = relay(move |outside| {
            let (acceptor, done) = (acceptor.clone(), Arc::clone(&done));
            opened.fetch_add(1, Ordering::SeqCst);
            async move {
                let Ok(mut outside) = acceptor.accept(outside).await else { return };
                done.fetch_add(1, Ordering::SeqCst);
                let mut inside = TcpStream::connect(to).await.unwrap();
                let _ = copy_bidirectional(&mut outside, &mut inside).await;
            }
        });
        Self { addr, handshakes, connections }
    }

    /// Handshakes done so far.
    pub(crate) fn handshakes(&self) -> usize {
        self.handshakes.load(Ordering::SeqCst)
    }

    /// Connections so far, whatever became of them.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn url(&self) -> String {
        format!("https://localhost:{}", self.addr.port())
    }
}

/// An address in the clear that leads to a TLS server as `name`: what connects to it needs not speak TLS.
pub(crate) fn tunnel(to: SocketAddr, name: &str, config: ClientConfig) -> SocketAddr {
    let connector = TlsConnector::from(Arc::new(config));
    let name = ServerName::try_from(name.to_owned()).unwrap();
    relay(move |mut inside| {
        let (connector, name) = (connector.clone(), name.clone());
        async move {
            let outside = TcpStream::connect(to).await.unwrap();
            let _ = outside.set_nodelay(true);
            let Ok(mut outside) = connector.connect(name, outside).await else { return };
            let _ = copy_bidirectional(&mut inside, &mut outside).await;
        }
    })
}

/// Does `with` with every connection to an address, until the tests are over.
fn relay<F: Future<Output = ()> + Send + 'static>(
    with: impl Fn(TcpStream) -> F + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::spawn(with(stream));
            }
        });
    });
    addr
}

/// A TLS connection by hand: every byte and every way to end it is the test's.
pub(crate) type Line = rustls::StreamOwned<rustls::ClientConnection, std::net::TcpStream>;

/// Connects and shakes hands.
pub(crate) fn dial(to: SocketAddr, name: &str, config: ClientConfig) -> std::io::Result<Line> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let session = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = std::net::TcpStream::connect_timeout(&to, super::PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(super::PATIENCE))?;
    let mut line = rustls::StreamOwned::new(session, stream);
    while line.conn.is_handshaking() {
        line.conn.complete_io(&mut line.sock)?;
    }
    Ok(line)
}
