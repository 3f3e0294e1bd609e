//! The verbs, one file each, and how they are asked for.

pub mod check;
mod decoders;
pub mod demo;
pub mod diff;
pub mod explain;
pub mod init;
pub mod openapi;
pub mod serve;
mod show;
pub mod token;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Asked for in a way that has no meaning (`sysexits.h`: `EX_USAGE`).
pub const USAGE: u8 = 64;
/// Could not start (a port is taken), or something unforeseen inside (`EX_SOFTWARE`).
pub const INTERNAL: u8 = 70;
/// The configuration is refused (`EX_CONFIG`).
pub const CONFIG: u8 = 78;

/// Where the configuration is when it is not said.
pub const DEFAULT_CONFIG: &str = "config/gateway.yaml";

/// That one, or what `init` writes, where only that is there.
fn default_config() -> &'static str {
    let written = "gateway.yaml";
    if !Path::new(DEFAULT_CONFIG).exists() && Path::new(written).exists() { written } else { DEFAULT_CONFIG }
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 refused (explain, diff --refuse-widening) or nothing to carry (init), 64 wrong usage, 65 source unreadable (init), 70 could not start or something unforeseen, 78 configuration refused.";

const SERVE_EXAMPLES: &str = "\
Examples:
  formgate serve                          with config/gateway.yaml, else gateway.yaml
  formgate serve /etc/formgate/gateway.yaml

The configuration is checked before anything is bound, and watched afterwards: an edit is taken \
over without losing a request, a broken one changes nothing. SIGHUP reloads and opens the access log \
anew, SIGTERM stops, and SIGUSR2 hands the sockets over to the binary started anew. RUST_LOG=debug \
says more.";

const CHECK_EXAMPLES: &str = "\
Examples:
  formgate check                          every fault, or a summary
  formgate check --deny-warnings          for a pipeline
  formgate check --online                 whether the store can be used from here, too
  formgate check --json | jq .faults
  formgate check --decoders               whether constrained decoding holds each form
  formgate check --decoders=openai-strict,xgrammar --deny-warnings
  formgate explain --lint unbounded-array what a warning means, and what to write instead
  formgate check --schema > schema.json   what editors complete the file with:
                                          # yaml-language-server: $schema=schema.json";

const DIFF_EXAMPLES: &str = "\
Examples:
  formgate diff old.yaml config/gateway.yaml
  formgate diff old.json new.json                     two forms, each by itself
  formgate diff --refuse-widening old.yaml new.yaml   for a pipeline
  formgate diff --json old.yaml new.yaml | jq '.routes[] | select(.widening)'

What each form newly admits and newly refuses, with a value for each where one was found, and what else of \
its route changed. `not decided` counts as widening, and so does a new address; other keys of a route do not.

Exit codes: 0 compared, 1 something is let in that was not and --refuse-widening was given, 64 wrong usage, \
78 one of the files is refused.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  echo '{\"title\":\"\"}' | formgate explain /api/v2/meetings/start
  formgate explain start_meeting body.json
  formgate explain staging.yaml /api/v2/meetings/start body.json
  formgate explain --config /etc/formgate/gateway.yaml /api/v2/meetings/start
  formgate explain --reason key_conflict  what a reason in metrics and log means, and who mends it
  formgate explain --lint unbounded-array what a warning of `check` means, and what to write instead

ROUTE is an address, which starts with `/`, or a name. Of two words, the first is CONFIG if it ends in .yaml or \
.yml, or is neither an address nor a name. BODY is a file; `-`, or no BODY, is standard input. Without CONFIG it is \
config/gateway.yaml, or gateway.yaml where only that is there.

Exit codes: 0 accepted, 1 refused, 64 wrong usage, 78 configuration refused. Values are never printed.";

const TOKEN_EXAMPLES: &str = "\
Examples:
  formgate token                          a token for whoever acts, and its line for `tokens:`
  formgate token oncall --class operator  one for the admin listener
  formgate token | head -n 1 | install -m 600 /dev/stdin agents.token
  formgate token agents --hash < agents.token

Only the hash goes into the configuration. The token itself is shown once, here; give it to its holder, who \
sends it as `Authorization: Bearer …`.";

const INIT_EXAMPLES: &str = "\
Examples:
  formgate init                           one route to start from
  formgate init --openapi petstore.yaml --out gateway
  formgate init --openapi petstore.yaml --operation addPet --dry-run
  formgate init --openapi big.json --report json | jq .reasons
  formgate init --from-traffic recorded.har --out gateway --no-examples

Files that are there are not overwritten unless `--force` says so. What was carried, guessed and not carried is \
printed, and stands as comments in gateway.yaml.

Exit codes: 0 written, 1 nothing to carry, 64 wrong usage or a file is there, 65 the source cannot be read, \
70 something unforeseen.";

const OPENAPI_EXAMPLES: &str = "\
Examples:
  formgate openapi                        what GET /openapi.json answers, a line a value
  formgate openapi --compact > openapi.json
  formgate openapi staging.yaml | jq '.paths | keys'

The configuration says `surfaces: { openapi: on }`.";

const DEMO_EXAMPLES: &str = "\
Examples:
  formgate demo                           then follow the curl lines that it prints
  formgate demo --tls                     the same on https, with a certificate made for this run";

/// A gateway that publishes the JSON Schema of the one action an address accepts, and accepts exactly that.
#[derive(Debug, Parser)]
#[command(name = "formgate", version, after_help = EXIT_CODES, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Serve the addresses of a configuration, and follow its changes.
    #[command(after_help = SERVE_EXAMPLES)]
    Serve {
        /// The YAML file. Left out: config/gateway.yaml, or gateway.yaml where only that is there.
        #[arg(default_value = default_config())]
        config: PathBuf,
    },
    /// Say everything that is wrong with a configuration, without binding anything.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(check::Arguments),
    /// Say what a newer configuration, or form, admits and refuses that the older did not.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(diff::Arguments),
    /// Say why a body is accepted or refused at an address, offline.
    #[command(after_help = EXPLAIN_EXAMPLES, override_usage = "formgate explain [CONFIG] ROUTE [BODY]\n       formgate explain --reason NAME\n       formgate explain --lint NAME")]
    Explain(explain::Arguments),
    /// Make a bearer token and its line for the configuration, or hash one that exists.
    #[command(after_help = TOKEN_EXAMPLES)]
    Token(token::Arguments),
    /// Write routes and forms: for an API that exists, or something to start from.
    #[command(after_help = INIT_EXAMPLES)]
    Init(init::Arguments),
    /// Print the OpenAPI document for GPT Actions.
    #[command(after_help = OPENAPI_EXAMPLES)]
    Openapi(openapi::Arguments),
    /// A small legacy backend and a gateway in front of it, on this machine, with lines to try.
    #[command(after_help = DEMO_EXAMPLES)]
    Demo {
        /// Over TLS, with a certificate made for this run.
        #[arg(long)]
        tls: bool,
    },
}

/// Runs what the words ask for, the program's name first.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            // Where the message cannot be written, the code still says it.
            let _ = error.print();
            // `--help` and `--version` come this way too.
            return if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match cli.verb {
        Verb::Serve { config } => serve::run(Path::new(&config)),
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Diff(arguments) => diff::run(&arguments),
        Verb::Explain(arguments) => explain::run(&arguments),
        Verb::Token(arguments) => token::run(&arguments),
        Verb::Init(arguments) => init::run(&arguments),
        Verb::Openapi(arguments) => openapi::run(&arguments),
        Verb::Demo { tls } => demo::run(tls),
    }
}
