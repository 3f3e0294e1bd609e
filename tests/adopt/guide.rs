//! `docs/adopting.md`: its commands are run, in order, in a folder of their own.

use std::process::{Command, Stdio};

#[test]
fn the_commands_of_the_page_do_what_it_says() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/adopting.md")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    {
        let case = "orders.yaml";
        std::fs::copy(root.join("tests/cases/openapi").join(case), dir.path().join(case)).unwrap();
    }
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_formgate")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut blocks = 0;
    // Blocks that begin with ```sh are run; what serves, and stays, is ```console.
    for block in page.split("```sh\n").skip(1) {
        let script = block.split("```").next().unwrap();
        let done = Command::new("bash")
            .args(["-euo", "pipefail", "-c", script])
            .current_dir(dir.path())
            .env("PATH", &path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let shown =
            format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{script}\n{shown}");
        blocks += 1;
    }
    assert!(blocks >= 5, "{blocks} blocks");
    assert!(dir.path().join("gateway/gateway.yaml").is_file());
}
