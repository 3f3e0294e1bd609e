//! What formgate accepts, every other reader must read, and read as the same value: Python, Node,
//! Perl, PHP, Java and Go on one corpus. Differences that stay are in `tests/differential/README.md`.

mod corpus;

use formgate::json::{Decimal, Document, Kind, Value};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

struct Reader {
    name: &'static str,
    command: &'static [&'static str],
    program: &'static str,
    /// A file without which it cannot run, and the Debian package that brings it.
    needs: Option<(&'static str, &'static str)>,
    /// Whether its default for an integer without fraction and exponent is exact, however long.
    exact: bool,
}

const JACKSON: &str = "/usr/share/java/jackson-core.jar";

const READERS: &[Reader] = &[
    Reader { name: "Python json", command: &["python3"], program: "python.py", needs: None, exact: true },
    Reader { name: "Node JSON.parse", command: &["node"], program: "node.js", needs: None, exact: false },
    Reader { name: "Perl JSON::PP", command: &["perl"], program: "perl.pl", needs: None, exact: false },
    Reader { name: "PHP json_decode", command: &["php"], program: "php.php", needs: None, exact: false },
    Reader {
        name: "Java Jackson",
        command: &["java", "-XX:TieredStopAtLevel=1", "-cp", JACKSON],
        program: "Jackson.java",
        needs: Some((JACKSON, "libjackson2-core-java")),
        exact: true,
    },
    Reader { name: "Go encoding/json", command: &["go", "run"], program: "go.go", needs: None, exact: false },
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential")
}

/// What we read: the tokens the programs write, with numbers as they stand.
fn tokens(value: Value<'_>, out: &mut Vec<String>) {
    match value.kind() {
        Kind::Null => out.push("n".to_owned()),
        Kind::Boolean => out.push(if value.as_bool() == Some(true) { "t" } else { "f" }.to_owned()),
        Kind::Number => out.push(format!("#{}", value.as_number().unwrap().text())),
        Kind::String => out.push(format!("s{}", points(value.as_str().unwrap()))),
        Kind::Array => {
            out.push("[".to_owned());
            value.as_array().unwrap().elements().for_each(|element| tokens(element, out));
            out.push("]".to_owned());
        }
        Kind::Object => {
            out.push("{".to_owned());
            let members = value.as_object().unwrap().members();
            let mut named: Vec<_> =
                members.map(|(name, member)| (format!("k{}", points(name)), member)).collect();
            named.sort_by(|(a, _), (b, _)| a.cmp(b));
            for (name, member) in named {
                out.push(name);
                tokens(member, out);
            }
            out.push("}".to_owned());
        }
    }
}

fn points(text: &str) -> String {
    text.chars().map(|point| format!("{:x}", u32::from(point))).collect::<Vec<_>>().join(".")
}

/// How another reader's number relates to ours.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Number {
    Same,
    /// The double that is nearest, and not the number itself.
    Nearest,
    /// A double beside the nearest; nobody rounds so.
    Beside,
    /// Zero without its sign.
    Unsigned,
    /// The digits, as a string.
    Digits,
    Wrong,
}

fn number(text: &str, theirs: &str) -> Number {
    let (mark, rest) = theirs.split_at(theirs.len().min(1));
    let ours = Decimal::read(text).unwrap();
    let nearest: f64 = text.parse().unwrap();
    match mark {
        "i" if Decimal::read(rest) == Some(ours) => {
            if text.starts_with('-') && ours == Decimal::ZERO {
                Number::Unsigned
            } else {
                Number::Same
            }
        }
        // The nearest double, kept as the integer it is.
        "i" if rest == format!("{nearest:.0}") => Number::Nearest,
        "d" => {
            let double = f64::from_bits(u64::from_str_radix(rest, 16).unwrap());
            if double.to_bits() == nearest.to_bits() {
                if is_exactly(double, &ours) { Number::Same } else { Number::Nearest }
            } else if double.abs().to_bits() == nearest.abs().to_bits() && ours == Decimal::ZERO {
                Number::Unsigned
            } else if double.to_bits().abs_diff(nearest.to_bits()) <= 1 && double != 0.0 {
                Number::Beside
            } else {
                Number::Wrong
            }
        }
        "s" if rest == points(text) => Number::Digits,
        _ => Number::Wrong,
    }
}

/// Whether the double is the number: as short as it can be written, it is the same decimal.
fn is_exactly(double: f64, ours: &Decimal) -> bool {
    Decimal::read(&format!("{double:e}")).as_ref() == Some(ours)
}

/// What a reader makes of all bodies, a line each; `None` when it is not on this machine.
fn ask(reader: &Reader, input: &Path) -> Option<Vec<String>> {
    if let Some((file, package)) = reader.needs
        && !Path::new(file).exists()
    {
        println!("{}: skipped, {file} is not on this machine (Debian's {package})", reader.name);
        return None;
    }
    let mut command = Command::new(reader.command[0]);
    command.args(&reader.command[1..]).arg(folder().join(reader.program));
    command.env("GO111MODULE", "off").env("GOCACHE", std::env::temp_dir().join("formgate-go-cache"));
    command.stdin(std::fs::File::open(input).unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(child) = command.spawn() else {
        println!("{}: skipped, `{}` is not on this machine", reader.name, reader.command[0]);
        return None;
    };
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}: {}", reader.name, String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect())
}

/// Differences that stay, each with its reason in the table.
fn excused(reader: &Reader, fault: &str, body: &[u8]) -> Option<&'static str> {
    let text = std::str::from_utf8(body).unwrap();
    let nul_name = text.contains("\"\\u0000");
    match reader.name {
        "PHP json_decode" if fault.contains("property name is invalid") && nul_name => {
            Some("a name that starts with U+0000 is refused")
        }
        _ => None,
    }
}

struct Outcome {
    wrong: Vec<String>,
    /// How often each difference that stays was met.
    kept: BTreeMap<String, usize>,
}

fn compare(reader: &Reader, bodies: &[Vec<u8>], lines: &[String]) -> Outcome {
    let mut outcome = Outcome { wrong: Vec::new(), kept: BTreeMap::new() };
    let mut document = Document::new();
    assert_eq!(lines.len(), bodies.len(), "{}: a line for each body", reader.name);
    for (body, line) in bodies.iter().zip(lines) {
        let mut ours = Vec::new();
        tokens(document.parse(body).unwrap(), &mut ours);
        let shown = || String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
        if let Some(fault) = line.strip_prefix("! ") {
            match excused(reader, fault, body) {
                Some(why) => *outcome.kept.entry(why.to_owned()).or_default() += 1,
                None => outcome.wrong.push(format!("{}: {fault}: {}", reader.name, shown())),
            }
            continue;
        }
        let theirs: Vec<&str> = line.split(' ').collect();
        let mut differ = ours.len() != theirs.len();
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let Some(text) = ours.strip_prefix('#') else {
                differ |= ours != theirs;
                continue;
            };
            let relation = number(text, theirs);
            let allowed = match relation {
                Number::Same | Number::Unsigned => true,
                Number::Nearest => !(reader.exact && text.bytes().all(|byte| b"-0123456789".contains(&byte))),
                Number::Digits => reader.name == "Perl JSON::PP",
                Number::Beside | Number::Wrong => false,
            };
            differ |= !allowed;
            if allowed && relation != Number::Same {
                *outcome.kept.entry(format!("{relation:?}")).or_default() += 1;
            }
        }
        if differ {
            outcome.wrong.push(format!(
                "{}: {} read as {}",
                reader.name,
                shown(),
                &line[..line.len().min(200)]
            ));
        }
    }
    outcome
}

#[test]
fn what_is_accepted_is_read_alike_everywhere() {
    let mut document = Document::new();
    let all = corpus::bodies();
    let bodies: Vec<Vec<u8>> = all.iter().filter(|body| document.parse(body).is_ok()).cloned().collect();
    println!("{} bodies, {} of them accepted", all.len(), bodies.len());
    assert!(bodies.len() > 2000, "{}", bodies.len());
    let mut input = String::new();
    for body in &bodies {
        for byte in body {
            write!(input, "{byte:02x}").unwrap();
        }
        input.push('\n');
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bodies");
    std::fs::write(&path, input).unwrap();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let asked: Vec<_> = READERS.iter().map(|reader| scope.spawn(|| ask(reader, &path))).collect();
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut wrong = Vec::new();
    for (reader, lines) in READERS.iter().zip(answers) {
        let Some(lines) = lines else { continue };
        let outcome = compare(reader, &bodies, &lines);
        println!("{}: {} bodies, kept differences {:?}", reader.name, lines.len(), outcome.kept);
        wrong.extend(outcome.wrong);
    }
    let first: Vec<_> = wrong.iter().take(60).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), first.join("\n"));
}
