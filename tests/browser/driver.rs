//! A client of the W3C's `WebDriver`, as much of it as the tests need: headless Chromium through chromedriver,
//! which types and clicks as a person's keyboard and mouse would.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The key that names an element (W3C `WebDriver`, 12).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
const PATIENCE: Duration = Duration::from_secs(10);

/// What a browser is started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scripts {
    Run,
    Blocked,
}

/// One browser with one window, gone when dropped.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

/// An element of the current document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Element(String);

impl Element {
    /// As an argument of a script.
    pub(crate) fn to_json(&self) -> Value {
        json!({ ELEMENT: self.0 })
    }
}

/// Two cores: more browsers at once only wait for each other.
static TURN: Mutex<()> = Mutex::new(());

/// Whether the browser is installed; says so loudly where it is not.
pub(crate) fn is_installed() -> bool {
    let answers = |name: &str| {
        let asked = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    let installed = answers("chromedriver") && answers("chromium");
    if !installed {
        eprintln!("NOT TESTED: the page in a browser needs Debian's chromium and chromium-driver");
    }
    installed
}

/// Runs a test in a browser, if there is one; under `.ci/run`, there must be.
pub(crate) fn browse(scripts: Scripts, test: impl FnOnce(&Browser)) {
    if !is_installed() {
        assert!(std::env::var_os("FORMGATE_CI").is_none(), "no browser, and this is the gate");
        return;
    }
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let browser = Browser::start(scripts);
    test(&browser);
}

impl Browser {
    fn start(scripts: Scripts) -> Self {
        // It takes a free port by itself, and gives up when another process is quicker.
        let (driver, port) = (0..5).find_map(|_| start_driver()).expect("chromedriver starts");
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Self { driver, port, session: String::new(), profile };
        let folder = browser.profile.path().display().to_string();
        let blocked = json!({ "profile.managed_default_content_settings.javascript": 2 });
        let options = json!({
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--disable-background-networking", "--no-first-run", "--window-size=1280,1000",
                format!("--user-data-dir={folder}"),
            ],
            "prefs": if scripts == Scripts::Blocked { blocked } else { json!({}) },
        });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = browser.ask("POST", "/session", &wanted).unwrap_or_else(|fault| panic!("{fault}"));
        session["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        browser
    }

    /// One command to chromedriver: the `value`, or the error.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let host = format!("127.0.0.1:{}", self.port);
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        reader.take(length).read_to_end(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let value = answer["value"].clone();
        match value.get("error") {
            Some(error) => Err(format!("{path}: {error}: {}", value["message"])),
            None => Ok(value),
        }
    }

    #[track_caller]
    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, &format!("/session/{}{path}", self.session), body)
            .unwrap_or_else(|fault| panic!("{fault}"))
    }

    #[track_caller]
    pub(crate) fn open(&self, url: &str) {
        self.command("POST", "/url", &json!({ "url": url }));
    }

    /// Runs a script in the page: to look, not to act.
    #[track_caller]
    pub(crate) fn look(&self, script: &str, arguments: &Value) -> Value {
        self.command("POST", "/execute/sync", &json!({ "script": script, "args": arguments }))
    }

    /// The element that this expression gives, as soon as there is one.
    #[track_caller]
    pub(crate) fn element(&self, expression: &str, arguments: &Value) -> Element {
        let start = Instant::now();
        loop {
            let found = self.look(&format!("return {expression}"), arguments);
            if let Some(id) = found.get(ELEMENT) {
                return Element(id.as_str().unwrap().to_owned());
            }
            assert!(start.elapsed() < PATIENCE, "no element: {expression} {arguments}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    pub(crate) fn css(&self, selector: &str) -> Element {
        self.element("document.querySelector(arguments[0])", &json!([selector]))
    }

    #[track_caller]
    pub(crate) fn click(&self, element: &Element) {
        self.command("POST", &format!("/element/{}/click", element.0), &json!({}));
    }

    #[track_caller]
    pub(crate) fn clear(&self, element: &Element) {
        self.command("POST", &format!("/element/{}/clear", element.0), &json!({}));
    }

    /// Types into an element.
    #[track_caller]
    pub(crate) fn send_keys(&self, element: &Element, text: &str) {
        self.command("POST", &format!("/element/{}/value", element.0), &json!({ "text": text }));
    }

    /// Presses keys on whatever has the focus.
    #[track_caller]
    pub(crate) fn press(&self, keys: &str) {
        let each =
            |key: char| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() }));
        let actions: Vec<Value> = keys.chars().flat_map(each).collect();
        self.command(
            "POST",
            "/actions",
            &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }),
        );
    }

    /// The value of a control, or the text of an element.
    #[track_caller]
    pub(crate) fn text(&self, selector: &str) -> String {
        let script = "const e = document.querySelector(arguments[0]);
            return e === null ? null : 'value' in e && e.tagName !== 'LI' ? e.value : e.textContent";
        let found = self.look(script, &json!([selector]));
        found.as_str().unwrap_or_else(|| panic!("no {selector}")).to_owned()
    }

    /// What the browser complained about since it was last asked: errors of scripts, violations of the policy.
    #[track_caller]
    pub(crate) fn complaints(&self) -> Vec<String> {
        let entries = self.command("POST", "/se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().unwrap().iter();
        // Answers with an error status are what some tests ask for; browsers ask for an icon on their own.
        let expected =
            |text: &str| text.contains("the server responded with a status of") || text.contains("favicon");
        entries
            .map(|entry| entry["message"].as_str().unwrap().to_owned())
            .filter(|text| !expected(text))
            .collect()
    }

    /// Waits until a script says yes.
    #[track_caller]
    pub(crate) fn wait(&self, condition: &str) {
        let start = Instant::now();
        while self.look(&format!("return Boolean({condition})"), &json!([])) != json!(true) {
            assert!(start.elapsed() < PATIENCE, "never came true: {condition}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The process, and where it listens.
fn start_driver() -> Option<(Child, u16)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
    let port =
        lines.by_ref().find_map(|line| line.strip_suffix('.')?.rsplit_once("on port ")?.1.parse().ok());
    let Some(port) = port else {
        let _ = driver.wait();
        return None;
    };
    std::thread::spawn(move || lines.for_each(drop));
    Some((driver, port))
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.ask("DELETE", &format!("/session/{}", self.session), &json!({}));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
