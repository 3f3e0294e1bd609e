//! The number of series is bounded by the config, not by clients (P12; issue 2, "What it must reach").

use crate::support::{Backend, Loss, MEETING, MEETING_BODY, Request, Setup, eventually};

const PIPELINED: usize = 50;

/// A reproducible stream of odd words.
struct Words(u64);

impl Words {
    fn next(&mut self) -> String {
        let mut word = String::new();
        for _ in 0..6 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            word.push(char::from(b'A' + u8::try_from((self.0 >> 33) % 26).unwrap()));
        }
        word
    }
}

#[test]
fn ten_thousand_random_requests_add_no_series() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).with("access_log", "off").start();
    gate.post(MEETING, MEETING_BODY);
    gate.get("/elsewhere");
    let before = gate.metrics();
    let mut words = Words(7);
    let mut sent = 0;
    let mut client = gate.client();
    while sent < 10_000 {
        let requests: Vec<Request> = (0..PIPELINED)
            .map(|n| {
                let word = words.next();
                match n % 5 {
                    0 => Request::get(&format!("/{word}")),
                    1 => Request::new(&word, MEETING),
                    2 => Request::get(MEETING).field("GPT-Actor", &word),
                    3 => Request::get(&format!("{MEETING}/{word}?{word}={word}")).field(&word, &word),
                    _ => Request::post(MEETING, format!("{{\"{word}\":1}}")).field("GPT-Actor", &word),
                }
            })
            .collect();
        let bytes: Vec<u8> = requests.iter().flat_map(Request::bytes).collect();
        client.send(&bytes);
        for request in &requests {
            match client.try_receive(&request.method) {
                Ok(response) => {
                    let fine = matches!(response.status, 200 | 204 | 404 | 405);
                    assert!(fine, "{}", response.head);
                    sent += 1;
                }
                Err(Loss::Closed(0) | Loss::Reset) => {
                    client = gate.client();
                    break;
                }
                Err(loss) => panic!("after {sent}: {loss:?}"),
            }
        }
    }
    let after = gate.metrics();
    let new: Vec<_> = after.series.keys().filter(|key| !before.series.contains_key(*key)).collect();
    assert!(new.is_empty(), "{new:?}");
    assert_eq!(before.series.len(), after.series.len());
    let strays = after.sum("formgate_requests_total", &[("route", "_stray")]);
    assert!(strays >= 2_000.0, "strays are counted together: {strays}");
    assert_eq!(backend.count(), 1);
}

/// A scrape grows with the routes that are used, not with those that there are.
#[test]
fn of_very_many_routes_those_that_are_asked_have_series() {
    let backend = Backend::agreeing();
    let gate = Setup::bare(&backend).crowded().start();
    let of = |name: &str| {
        let metrics = gate.metrics();
        metrics
            .series
            .keys()
            .filter(|(_, labels)| labels.get("route").is_some_and(|route| route == name))
            .count()
    };
    // What alerts wait for is there from the start.
    assert_eq!([of("r7"), of("r8")], [11, 11]);
    let unknown = [("route", "r8"), ("method", "POST"), ("outcome", "unknown")];
    assert!(gate.metrics().counts("formgate_requests_total", &unknown, 0));
    gate.get("/r7");
    eventually("it is counted", || of("r7") > 100);
    assert_eq!(of("r8"), 11);
    assert!(of("r7") < 200, "histograms are made for what happens: {}", of("r7"));
    let arrived = [("route", "r7"), ("method", "GET"), ("outcome", "arrived")];
    assert!(gate.metrics().counts("formgate_requests_total", &arrived, 1));
    assert!(gate.metrics().counts("formgate_refusals_total", &[("route", "r7"), ("reason", "form")], 0));
}
