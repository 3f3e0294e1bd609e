//! Files that do not serve: each is said with its place, its reason and what to do, and with nothing that is in it.

use super::run;
use crate::support::tls::Authority;
use formgate::config::{Fault, load};
use formgate::lint::Lint;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A folder with a good pair, `site.pem` and `site.key`, and a config that names the given two.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let pair = Authority::new("ca").issue(&["site.test"]);
        folder.put("site.pem", &pair.cert).put("site.key", &pair.key);
        folder
    }

    fn put(&self, name: &str, bytes: &str) -> &Self {
        let path = self.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
        self
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// openssl, in this folder; what it makes is for this user only.
    fn openssl(&self, words: &str) {
        let line = format!("umask 077; cd '{}' && openssl {words} 2>&1", self.path().display());
        let (done, said) = run("sh", &["-c", &line], "");
        assert!(done, "openssl {words}: {said}");
    }

    fn judge(&self, cert: &str, key: &str) -> (Vec<Fault>, Vec<Fault>) {
        let top = format!(
            "listen: ['https://127.0.0.1:8443']\ntls:\n  certificates:\n    - cert: {cert}\n      key: {key}\n"
        );
        self.judge_file(&top, "")
    }

    fn judge_file(&self, top: &str, upstream: &str) -> (Vec<Fault>, Vec<Fault>) {
        let rest = format!(
            "upstreams:\n  legacy: {{ servers: ['http://127.0.0.1:1'] {upstream} }}\n\
             routes: [{{ address: /a, name: a, limits: none, form: {{ type: string, maxLength: 3, \
             description: d }}, upstream: {{ to: legacy, path: /a }} }}]\n"
        );
        let path = self.path().join("gateway.yaml");
        std::fs::write(&path, format!("{top}{rest}")).unwrap();
        match load(&path) {
            Ok(loaded) => (Vec::new(), loaded.warnings),
            Err(refused) => (refused.faults, Vec::new()),
        }
    }

    /// The one fault, with its place.
    #[track_caller]
    fn fault(&self, cert: &str, key: &str, line: usize, reason: &str, suggestion: &str) {
        let (faults, _) = self.judge(cert, key);
        assert_eq!(faults.len(), 1, "{faults:#?}");
        let fault = &faults[0];
        let member = if line == 4 { "cert" } else { "key" };
        let pointer = format!("/tls/certificates/0/{member}");
        assert_eq!((fault.line, fault.pointer.as_str()), (line, pointer.as_str()), "{fault:?}");
        assert!(fault.reason.contains(reason), "{fault}");
        assert!(fault.suggestion.as_deref().unwrap_or_default().contains(suggestion), "{fault}");
    }
}

const CERT: usize = 4;
const KEY: usize = 5;

#[test]
fn a_good_pair_is_taken_without_a_word() {
    let folder = Folder::new();
    assert_eq!(folder.judge("site.pem", "site.key"), (vec![], vec![]));
    // As openssl makes them: RSA, P-384, Ed25519, and a key in the form of before PKCS #8; and both in one file.
    for (kind, words) in [
        ("rsa", "-newkey rsa:2048"),
        ("p384", "-newkey ec -pkeyopt ec_paramgen_curve:P-384"),
        ("ed", "-newkey ed25519"),
    ] {
        let subject = "-subj /CN=site.test -addext subjectAltName=DNS:site.test";
        folder.openssl(&format!(
            "req -x509 -nodes {words} -keyout {kind}.key -out {kind}.pem -days 9 {subject}"
        ));
        assert_eq!(folder.judge(&format!("{kind}.pem"), &format!("{kind}.key")), (vec![], vec![]), "{kind}");
    }
    folder.openssl("rsa -in rsa.key -traditional -out traditional.key");
    assert_eq!(folder.judge("rsa.pem", "traditional.key"), (vec![], vec![]));
    let read = |name| std::fs::read_to_string(folder.path().join(name)).unwrap();
    folder.put("both.pem", &(read("p384.pem") + &read("p384.key")));
    assert_eq!(folder.judge("both.pem", "both.pem"), (vec![], vec![]));
}

#[test]
fn every_wrong_file_is_told_with_its_place() {
    let folder = Folder::new();
    let (other, ca) = (Authority::new("other").issue(&["other.test"]), Authority::new("root"));
    folder.put("other.key", &other.key).put("empty", "");
    folder.fault("missing.pem", "site.key", CERT, "cannot read", "");
    folder.fault("site.pem", "missing.key", KEY, "cannot read", "");
    folder.fault("site.pem", "other.key", KEY, "other.key does not belong to the certificate", "renew both");
    folder.fault("site.key", "site.key", CERT, "holds a private key and no certificate", "swapped");
    folder.fault("site.pem", "site.pem", KEY, "holds a certificate and no private key", "swapped");
    folder.fault("empty", "site.key", CERT, "holds no certificate", "PEM is expected");
    folder.fault("site.pem", "empty", KEY, "holds no private key", "PEM is expected");
    // Protected by a password, in both forms.
    folder.openssl("pkey -in site.key -aes256 -passout pass:secret -out locked.key");
    folder.fault("site.pem", "locked.key", KEY, "is protected by a password", "openssl pkey");
    folder.openssl("genrsa -aes256 -passout pass:secret -traditional -out old.key 2048");
    folder.fault("site.pem", "old.key", KEY, "is protected by a password", "openssl pkey");
    // Too short, and of a kind that nobody uses.
    folder.openssl("req -x509 -nodes -newkey rsa:1024 -keyout short.key -out short.pem -subj /CN=a");
    folder.fault("short.pem", "short.key", KEY, "of a kind that is not supported", "RSA of 2048");
    // The chain the wrong way round.
    let pair = ca.issue(&["site.test"]);
    folder.put("reversed.pem", &format!("{}{}", ca.pem, pair.cert)).put("pair.key", &pair.key);
    folder.fault(
        "reversed.pem",
        "pair.key",
        CERT,
        "is in the wrong order: the certificate of the key is number 2 of 2",
        "first",
    );
    // DER is no PEM, and half a file is none.
    folder.openssl("x509 -in site.pem -outform der -out site.der");
    folder.fault("site.der", "site.key", CERT, "holds no certificate", "PEM is expected");
    let pem = std::fs::read_to_string(folder.path().join("site.pem")).unwrap();
    folder.put("half.pem", &pem[..pem.len() / 2]);
    folder.fault("half.pem", "site.key", CERT, "is broken PEM", "PEM is expected");
    folder.put("damaged.pem", &pem.replacen("MII", "MIJ", 1));
    folder.fault("damaged.pem", "site.key", CERT, "", "");
    // X.509 version 1, as `openssl x509 -req` makes it without extensions.
    folder.openssl("req -new -key site.key -subj /CN=site.test -out site.csr");
    folder.openssl("x509 -req -in site.csr -signkey site.key -days 9 -out v1.pem");
    let (faults, warnings) = folder.judge("v1.pem", "site.key");
    let said = format!("{faults:?}{warnings:?}");
    assert!(said.contains("version") || said.contains("nameless-certificate"), "{said}");
}

#[test]
fn what_serves_badly_is_warned_of() {
    let folder = Folder::new();
    let ca = Authority::new("root");
    let lint = |cert: &str, key: &str| {
        let (faults, warnings) = folder.judge(cert, key);
        assert_eq!(faults, []);
        warnings.into_iter().filter_map(|warning| warning.lint).collect::<Vec<_>>()
    };
    let old = ca.issue_between(&["site.test"], 2000, 2020);
    folder.put("old.pem", &old.cert).put("old.key", &old.key);
    assert_eq!(lint("old.pem", "old.key"), [Lint::ExpiredCertificate]);
    let new = ca.issue_between(&["site.test"], 2100, 2120);
    folder.put("new.pem", &new.cert).put("new.key", &new.key);
    assert_eq!(lint("new.pem", "new.key"), [Lint::FutureCertificate]);
    let good = ca.issue(&["site.test"]);
    folder.put("chain.pem", &format!("{}{}", good.cert, ca.pem)).put("good.key", &good.key);
    assert_eq!(lint("chain.pem", "good.key"), <[Lint; 0]>::default());
    let stranger = Authority::new("stranger").pem;
    folder.put("unlinked.pem", &format!("{}{stranger}", good.cert));
    assert_eq!(lint("unlinked.pem", "good.key"), [Lint::UnlinkedCertificate]);
    let nameless = ca.issue(&[]);
    folder.put("nameless.pem", &nameless.cert).put("nameless.key", &nameless.key);
    assert_eq!(lint("nameless.pem", "nameless.key"), [Lint::NamelessCertificate]);
    // A group may read a key, as Debian's ssl-cert and Kubernetes' fsGroup do it; everyone may not.
    for (mode, expected) in [(0o640, &[][..]), (0o644, &[Lint::ReadableKey]), (0o660, &[Lint::ReadableKey])] {
        let path = folder.path().join("site.key");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(lint("site.pem", "site.key"), expected, "{mode:o}");
    }
}

#[test]
fn what_has_no_effect_or_is_missing_is_a_fault() {
    let folder = Folder::new();
    let tls = "tls: { certificates: [{ cert: site.pem, key: site.key }] }\n";
    let secure = "listen: ['https://127.0.0.1:8443']\n";
    let clear = "listen: ['127.0.0.1:8080']\n";
    let cases = [
        (secure.to_owned(), "", "/listen/0", "this listener has no certificate"),
        (format!("{clear}{tls}"), "", "/tls", "`tls` has no effect: no listener speaks it"),
        (format!("{secure}tls: {{}}\n"), "", "/tls", "`certificates` is missing"),
        (format!("{secure}tls: {{ certificates: [] }}\n"), "", "/tls/certificates", "at least one"),
        (
            format!("{secure}tls: {{ certificates: [{{ cert: site.pem }}] }}\n"),
            "",
            "/tls/certificates/0",
            "`key` is missing",
        ),
        (
            format!("{secure}tls: {{ certificates: [{{ cert: site.pem, key: site.key }}], verify: no }}\n"),
            "",
            "/tls/verify",
            "unknown key `verify`",
        ),
        (clear.to_owned(), ", tls: { ca: site.pem }", "/upstreams/legacy/tls", "`tls` has no effect"),
        ("listen: ['http://127.0.0.1:8080']\n".to_owned(), "", "/listen/0", "expected an address"),
    ];
    for (top, upstream, pointer, reason) in cases {
        let (faults, _) = folder.judge_file(&top, upstream);
        let found = faults.iter().any(|f| f.pointer == pointer && f.reason.contains(reason));
        assert!(found && faults.len() == 1, "{top}{upstream}: {faults:#?}");
    }
    let servers = ", tls: ";
    for (tls, pointer, reason) in [
        ("{ cert: site.pem }", "cert", "a certificate without its key"),
        ("{ key: site.key }", "key", "a key without its certificate"),
        ("{ ca: missing.pem }", "ca", "cannot read"),
        ("{ ca: site.key }", "ca", "site.key holds a private key and no certificate"),
        ("{ server_name: 'a:1' }", "server_name", "expected a name without a port"),
        ("{ insecure: true }", "insecure", "unknown key `insecure`"),
    ] {
        let path = folder.path().join("gateway.yaml");
        folder.judge_file(clear, &format!("{servers}{tls}"));
        let text =
            std::fs::read_to_string(&path).unwrap().replace("http://127.0.0.1:1'", "https://localhost:1'");
        std::fs::write(&path, text).unwrap();
        let faults = load(&path).unwrap_err().faults;
        let at = format!("/upstreams/legacy/tls/{pointer}");
        assert!(faults.iter().any(|f| f.pointer == at && f.reason.contains(reason)), "{tls}: {faults:#?}");
    }
}

/// The digest follows certificates, and nothing of a key is in it.
#[test]
fn the_digest_follows_certificates() {
    let folder = Folder::new();
    let digest = |folder: &Folder| {
        folder.judge("site.pem", "site.key");
        load(&folder.path().join("gateway.yaml")).unwrap().gateway.digest
    };
    let first = digest(&folder);
    // The same key written otherwise.
    let key = std::fs::read_to_string(folder.path().join("site.key")).unwrap();
    folder.put("site.key", &format!("\n# a note\n{key}"));
    assert_eq!(digest(&folder), first);
    let pair = Authority::new("ca").issue(&["site.test"]);
    folder.put("site.pem", &pair.cert).put("site.key", &pair.key);
    assert_ne!(digest(&folder), first);
}

/// `config/tls.yaml` loads without a word, beside the files that it wants.
#[test]
fn the_example_loads_without_a_word() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("tls")).unwrap();
    let ca = Authority::new("ca");
    for name in ["site", "other", "client"] {
        let pair = ca.issue(&["site.test"]);
        folder.put(&format!("tls/{name}.pem"), &pair.cert).put(&format!("tls/{name}.key"), &pair.key);
    }
    folder.put("tls/internal-ca.pem", &ca.pem);
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/tls.yaml");
    let copy = folder.path().join("tls.yaml");
    std::fs::copy(shipped, &copy).unwrap();
    let loaded = load(&copy).unwrap_or_else(|refused| panic!("{:#?}", refused.faults));
    assert_eq!(loaded.warnings, []);
    let expiries: Vec<&str> = loaded.gateway.expiries.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(expiries, ["tls/site.pem", "tls/other.pem", "tls/client.pem"]);
}
