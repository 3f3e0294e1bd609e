//! `traces`: what does not load, and why.

use super::root;
use formgate::config::load;

/// The faults of a file with these lines for `traces`, and this text behind them.
fn faults(traces: &str, behind: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gateway.yaml");
    let text = format!(
        "listen: ['127.0.0.1:8080']\n\
         traces: {traces}\n{behind}\
         upstreams: {{ legacy: {{ servers: ['http://127.0.0.1:18081'] }} }}\n\
         routes: [{{ address: /a, name: a, limits: none, form: {{ type: string, maxLength: 3, description: d }},\n\
         upstream: {{ to: legacy, path: /a }} }}]\n"
    );
    std::fs::write(&path, text).unwrap();
    let found = match load(&path) {
        Ok(loaded) => loaded.warnings,
        Err(refused) => refused.faults,
    };
    found.iter().map(|fault| format!("{}:{} {}", fault.line, fault.pointer, fault.reason)).collect()
}

#[test]
fn the_example_loads_without_a_word() {
    let loaded = load(&root("config/traces.yaml")).unwrap();
    assert_eq!(loaded.warnings, []);
    let collector = loaded.settings.traces.unwrap();
    assert_eq!(
        (collector.host.as_str(), collector.port, collector.path.as_str()),
        ("127.0.0.1", 4318, "/v1/traces")
    );
    assert_eq!(collector.service, "formgate-example");
    assert!(!format!("{collector:?}").contains("payments"), "the value of a field is not shown");
}

#[test]
fn every_fault_says_where_and_why() {
    let good = "{ otlp: 'http://127.0.0.1:4318', sample: 0.5 }";
    assert_eq!(faults(good, ""), [""; 0]);
    for (traces, pointer, word) in [
        ("{ sample: 1 }", "/traces", "`otlp` is missing"),
        ("{ otlp: 'http://h:1' }", "/traces", "`sample` is missing"),
        ("{ otlp: 'https://h', sample: 1 }", "/traces/otlp", "without TLS"),
        ("{ otlp: 'h:4317', sample: 1 }", "/traces/otlp", "expected the URL"),
        ("{ otlp: 'http://h', sample: 1.5 }", "/traces/sample", "from 0 to 1"),
        ("{ otlp: 'http://h', sample: all }", "/traces/sample", "from 0 to 1"),
        ("{ otlp: 'http://h', sample: parent }", "/traces/sample", "nothing is recorded"),
        (
            "{ otlp: 'http://h', sample: 1, headers: { Authorization: x } }",
            "/traces/headers/Authorization",
            "secret",
        ),
        (
            "{ otlp: 'http://h', sample: 1, headers: { Content-Type: x } }",
            "/traces/headers/Content-Type",
            "written",
        ),
        (
            "{ otlp: 'http://h', sample: 1, headers: { Connection: x } }",
            "/traces/headers/Connection",
            "frames",
        ),
        ("{ otlp: 'http://h', sample: 1, service: '' }", "/traces/service", "empty"),
        ("{ otlp: 'http://h', sample: 1, protocol: grpc }", "/traces/protocol", "unknown"),
    ] {
        let found = faults(traces, "");
        assert_eq!(found.len(), 1, "{traces}: {found:?}");
        assert!(
            found[0].starts_with(&format!("2:{pointer} ")) && found[0].contains(word),
            "{traces}: {found:?}"
        );
    }
    let proxied = "{ otlp: 'http://h', sample: parent }";
    assert_eq!(faults(proxied, "trusted_proxies: ['10.0.0.0/8']\n"), [""; 0]);
}
