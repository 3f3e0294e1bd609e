//! Any bytes as `gateway.yaml`: no panic, no hang, and a list of faults or a gateway.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
    let shared = PathBuf::from("/dev/shm");
    let above = if shared.is_dir() { shared } else { std::env::temp_dir() };
    let dir = above.join(format!("formgate-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(dir.join("forms")).unwrap();
    std::fs::create_dir_all(dir.join("secrets")).unwrap();
    std::fs::write(dir.join("forms/a.json"), br#"{"type":"object","additionalProperties":false}"#).unwrap();
    std::fs::write(dir.join("forms/bad.json"), br#"{"maxlength":3}"#).unwrap();
    std::fs::write(dir.join("secrets/token"), b"correct horse battery staple\n").unwrap();
    dir
});

fuzz_target!(|bytes: &[u8]| {
    let path = DIR.join("gateway.yaml");
    std::fs::write(&path, bytes).unwrap();
    match formgate::config::load(&path) {
        Ok(loaded) => {
            assert!(loaded.gateway.routes().len() > 0);
            assert_eq!(loaded.files.first(), Some(&path));
        }
        Err(refused) => {
            assert!(!refused.faults.is_empty());
            for fault in &refused.faults {
                assert!(!fault.reason.is_empty());
                assert!(!fault.to_string().contains("battery"), "a secret in a fault");
            }
        }
    }
});
