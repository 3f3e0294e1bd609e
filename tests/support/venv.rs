//! Programs from the Python package index, each list of them in a folder of its own under `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The folder with the programs of a list, installed once. Where they cannot be had the test says so; with
/// `FORMGATE_CI=1` it fails.
#[track_caller]
pub(crate) fn programs(requirements: &str) -> Option<PathBuf> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let wanted = std::fs::read(root.join(requirements)).unwrap();
    let name = Path::new(requirements).parent().unwrap().file_name().unwrap();
    let folder = root.join("target/independent").join(name);
    let installed = folder.join("installed");
    if std::fs::read(&installed).is_ok_and(|installed| installed == wanted) {
        return Some(folder.join("bin"));
    }
    let _ = std::fs::remove_dir_all(&folder);
    let run = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(root).output();
        output.map_err(|error| error.to_string()).and_then(|output| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() { Ok(()) } else { Err(said) }
        })
    };
    let made = run(Path::new("python3"), &["-m", "venv", folder.to_str().unwrap()]);
    let made = made.and_then(|()| {
        let pip = folder.join("bin/pip");
        run(&pip, &["install", "--quiet", "--disable-pip-version-check", "-r", requirements])
    });
    match made {
        Ok(()) => {
            std::fs::write(installed, wanted).unwrap();
            Some(folder.join("bin"))
        }
        Err(error) => {
            assert!(std::env::var_os("FORMGATE_CI").is_none(), "{requirements}: {error}");
            eprintln!("{requirements} cannot be installed: what it checks was left out ({error})");
            None
        }
    }
}
