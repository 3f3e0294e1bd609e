//! Accept never refuses (G-11 to G-13), and a fresh copy is not sent again.

use crate::support::{Backend, MEETING, Request, Setup};

/// G-13: never 406. Who gets the page is in `page.rs`.
#[test]
fn no_accept_is_ever_refused() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let plain = gate.get(MEETING);
    let accepts = [
        "*/*",
        "application/json",
        "application/xml",
        "image/png",
        "text/*",
        "text/plain",
        "",
        ";",
        ",",
        ";;q=,",
        "text/htmlx",
        "text/html;q=0",
        "text/html;q=0.0, */*",
        "application/json;q=0",
        "*/*;q=0",
        "application/json, text/html;q=0.5",
        "json",
        "text/html;level=1;q=0",
        "\"text/html\"",
        "TEXT/HTMLX",
        "text/ html",
    ];
    for accept in accepts {
        let response = gate.exchange(&Request::get(MEETING).field("Accept", accept));
        assert_eq!(response.status, 200, "Accept: {accept}");
        assert_eq!(response.body, plain.body, "Accept: {accept}");
        assert_eq!(response.constant_head(), plain.constant_head(), "Accept: {accept}");
    }
    backend.untouched();
}

/// B-12: 304 with the tag, the list and the star; weak comparison (RFC 9110, 13.1.2).
#[test]
fn a_fresh_copy_is_not_sent_again() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).start();
    let mut client = gate.client();
    let full = client.exchange(&Request::get(MEETING));
    let etag = full.field("etag").unwrap().to_owned();
    let fresh =
        [etag.clone(), format!("\"a\", {etag}"), format!("W/{etag}"), "*".into(), format!("{etag},\"b,c\"")];
    for tag in fresh {
        for method in ["GET", "HEAD"] {
            let response = client.exchange(&Request::new(method, MEETING).field("If-None-Match", &tag));
            assert_eq!(response.status, 304, "{method} {tag}");
            assert_eq!(response.field("etag"), Some(etag.as_str()));
            assert_eq!(response.field("vary"), full.field("vary"));
            assert_eq!(response.field("cache-control"), Some("no-cache"));
            assert_eq!(response.field("content-type"), None);
        }
    }
    for tag in ["\"other\"", "W/\"other\"", "other", "", "\"", &etag[1..], &etag.to_uppercase()[..8]] {
        let response = client.exchange(&Request::get(MEETING).field("If-None-Match", tag));
        assert_eq!((response.status, &response.body), (200, &full.body), "{tag}");
    }
    let old = Request::get(MEETING).field("If-Modified-Since", "Fri, 31 Dec 2100 23:59:59 GMT");
    assert_eq!(client.exchange(&old).status, 200);
    backend.untouched();
}

/// The tag is of the representation: two routes that differ in anything differ in it.
#[test]
fn tags_differ_where_representations_do() {
    let backend = Backend::agreeing();
    let gate = Setup::meeting(&backend).case_route("note-scalar").with("routes/1/context", "one").start();
    let first = gate.get(MEETING);
    let second = gate.get("/api/v2/note-scalar");
    assert_ne!(first.field("etag"), second.field("etag"));
}
