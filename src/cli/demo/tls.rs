//! `demo --tls`: the same behind a certificate that is made for this run and signed by nobody else.

use super::Copied;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

/// Where the certificate is, beside the config.
pub(super) const CERTIFICATE: &str = "demo.pem";
const KEY: &str = "demo.key";

/// Where the shipped example listens, and where this one does.
const CLEAR: &str = "http://127.0.0.1:8080";
const SEALED: &str = "https://127.0.0.1:8443";
const LISTEN: &str = "listen: [\"127.0.0.1:8080\"]";

/// A copy of the example with another listener, always a copy: nothing of a demo belongs into anyone's folder.
pub(super) fn config_path() -> io::Result<(PathBuf, Option<Copied>)> {
    let copied = Copied::unpack()?;
    let folder = &copied.0;
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()])
        .map_err(io::Error::other)?;
    fs::write(folder.join(CERTIFICATE), made.cert.pem())?;
    let mut key =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(folder.join(KEY))?;
    key.write_all(made.signing_key.serialize_pem().as_bytes())?;
    let path = folder.join("gateway.yaml");
    let listen =
        format!("listen: [\"{SEALED}\"]\ntls:\n  certificates: [{{ cert: {CERTIFICATE}, key: {KEY} }}]");
    let text = fs::read_to_string(&path)?.replacen(LISTEN, &listen, 1).replace(CLEAR, SEALED);
    fs::write(&path, text)?;
    Ok((path, Some(copied)))
}
