//! `demo`: a small legacy backend and a gateway in front of it, on this machine, with lines to try.

mod backend;
mod tls;

use super::serve::{serve, start_log};
use super::show::{refuse, to_stderr};
use super::{CONFIG, DEFAULT_CONFIG, INTERNAL};
use crate::config::{self, Listen};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tls::CERTIFICATE;

/// Where `config/gateway.yaml` expects its backend.
const BACKEND: &str = "127.0.0.1:18081";

/// What the shipped example knows the hash of.
const TOKEN: &str = "fg_act_of_the_demo_make_your_own_with_formgate_token";

/// The shipped example, for a binary that has been carried away from its source.
const SHIPPED: [(&str, &str); 10] = [
    ("gateway.yaml", include_str!("../../config/gateway.yaml")),
    ("secrets/legacy-token", include_str!("../../config/secrets/legacy-token")),
    ("forms/cache-purge.json", include_str!("../../config/forms/cache-purge.json")),
    ("forms/home-command.json", include_str!("../../config/forms/home-command.json")),
    ("forms/issue-create.json", include_str!("../../config/forms/issue-create.json")),
    ("forms/meetings-start.json", include_str!("../../config/forms/meetings-start.json")),
    ("forms/payment-refund.json", include_str!("../../config/forms/payment-refund.json")),
    ("forms/registrations-request.json", include_str!("../../config/forms/registrations-request.json")),
    ("forms/review-request.json", include_str!("../../config/forms/review-request.json")),
    ("forms/text-tree.json", include_str!("../../config/forms/text-tree.json")),
];

/// Runs until a signal says stop.
pub fn run(tls: bool) -> ExitCode {
    // What was written for this run goes with it.
    let (path, _copied) = match if tls { tls::config_path() } else { config_path() } {
        Ok(found) => found,
        Err(error) => return failed(&format!("the example configuration cannot be written: {error}")),
    };
    let loaded = match config::load(&path) {
        Ok(loaded) => loaded,
        Err(refused) => {
            refuse(&refused.faults);
            return ExitCode::from(CONFIG);
        }
    };
    let log = start_log();
    if let Err(error) = backend::start(BACKEND) {
        return failed(&format!("the demo's backend cannot listen on {BACKEND}: {error}"));
    }
    let shown = path.clone();
    serve(&path, loaded, log, move |addresses, admin| announce(&shown, addresses, admin.as_deref()))
}

fn failed(reason: &str) -> ExitCode {
    to_stderr(&format!("error: {reason}\n"));
    ExitCode::from(INTERNAL)
}

/// The example in this folder, or a copy of it for this run.
fn config_path() -> std::io::Result<(PathBuf, Option<Copied>)> {
    let here = PathBuf::from(DEFAULT_CONFIG);
    if here.exists() {
        return Ok((here, None));
    }
    let copied = Copied::unpack()?;
    Ok((copied.0.join("gateway.yaml"), Some(copied)))
}

/// The folder of a copy, removed in the end.
struct Copied(PathBuf);

impl Copied {
    fn unpack() -> std::io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("formgate-demo-{}", std::process::id()));
        // Fails when it exists: nobody else can have prepared it.
        DirBuilder::new().mode(0o700).create(&folder)?;
        let copied = Self(folder);
        fill(&copied.0)?;
        Ok(copied)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn fill(folder: &Path) -> std::io::Result<()> {
    for (name, text) in SHIPPED {
        let file = folder.join(name);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(file, text)?;
    }
    Ok(())
}

fn announce(config: &Path, addresses: &[Listen], admin: Option<&str>) {
    let gate = addresses.first().map_or(String::new(), ToString::to_string);
    // The pair that was made for this run is from no root that curl knows.
    let curl = match addresses.first() {
        Some(Listen { tls: true, .. }) => {
            format!("curl --cacert {}", config.with_file_name(CERTIFICATE).display())
        }
        Some(_) | None => "curl".to_owned(),
    };
    let address = format!("{gate}/api/v2/meetings/start");
    let form = config.with_file_name("forms").join("meetings-start.json");
    let form = form.display();
    let metrics = admin.map_or(String::new(), |admin| {
        format!("\n7. Read why things were refused; the outside never does:\n   curl -s {admin}/metrics | grep '^formgate_refusals_total' | grep -v ' 0$'\n")
    });
    to_stderr(&format!(
        r#"
formgate on {gate}, in front of a legacy backend on http://{BACKEND}. Ctrl-C stops both.
The backend says what reaches it ("backend:"); the JSON lines are formgate's access log.

1. Fetch a form: p is context, m messages, s the JSON Schema of the one action. A browser gets it as a page.
   {curl} -s {address}

2. Post a value that fits. It reaches the backend byte for byte; its 201 comes back as 200.
   {curl} -si {address} -H 'content-type: application/json' -d '{{"title":"Q3","displayName":"Ada"}}'

3. Post one that does not. The answer is 204, always the same, and the backend sees nothing.
   {curl} -si {address} -H 'content-type: application/json' -d '{{"title":"Q3","admin":true}}'

4. A backend that answers 204 has acted: the client gets 200 and {{}}.
   {curl} -si {gate}/api/v2/home/command -d '{{"command":"dim","device":"hall.light","level":40}}'

5. An address that is not for everyone. Without -H 'authorization: …' the answer is 401, before the body is read.
   {curl} -si {gate}/api/v2/payments/refund -H 'content-type: application/json' -H 'authorization: Bearer {TOKEN}' -d '{{"charge":"ch_1A2b3C4d5E6f7G8h","refund":{{"kind":"full"}},"reason":"duplicate"}}'

6. Edit {form}: make the title's "maxLength" 11, save, and post a longer one. What is
   published (1) and what is enforced change together. Break the file: nothing changes but a metric.
   {curl} -si {address} -H 'content-type: application/json' -d '{{"title":"A long title","displayName":"Ada"}}'
{metrics}
The same addresses by other doors, all drawn from the same forms:

a. For people: open {address} in a browser.
b. For GPT Actions: an OpenAPI document, and one operation for the long tail behind it.
   {curl} -s {gate}/openapi.json
   {curl} -si {gate}/actions/call_runtime_tool -H 'content-type: application/json' -d '{{"tool":"home_command","arguments":{{"command":"dim","device":"hall.light","level":40}}}}'
c. For agents that can only open URLs; opened twice it is done once. {gate}/llms.txt tells them.
   {curl} -s '{address}?title=Q3&displayName=Ada&idempotency_key=agent_req_001'
d. For MCP clients: {gate}/mcp
   {curl} -s {gate}/mcp -H 'content-type: application/json' -d '{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"start_meeting","arguments":{{"title":"Q3","displayName":"Ada"}}}}}}'
"#
    ));
}
