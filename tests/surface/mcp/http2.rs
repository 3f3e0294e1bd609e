//! The same over HTTP/2.

use super::{APP, MCP, call_text, gate};
use bytes::Bytes;
use h2::client::SendRequest;
use std::time::Duration;

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limited = async { tokio::time::timeout(Duration::from_secs(20), work).await.expect("stuck") };
    runtime.block_on(limited)
}

/// Status, the fields named, and the body.
async fn ask(client: &SendRequest<Bytes>, method: &str, origin: &str, body: &str) -> (u16, String, String) {
    let mut client = client.clone().ready().await.unwrap();
    let request = http::Request::builder()
        .method(method)
        .uri(format!("http://formgate.test{MCP}"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25")
        .header("origin", origin);
    let (response, mut stream) = client.send_request(request.body(()).unwrap(), body.is_empty()).unwrap();
    if !body.is_empty() {
        stream.send_data(Bytes::copy_from_slice(body.as_bytes()), true).unwrap();
    }
    let (head, mut incoming) = response.await.unwrap().into_parts();
    let mut bytes = Vec::new();
    while let Some(data) = incoming.data().await {
        bytes.extend_from_slice(&data.unwrap());
    }
    let allowed = head.headers.get("access-control-allow-origin");
    let allowed = allowed.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    (head.status.as_u16(), allowed, String::from_utf8(bytes).unwrap())
}

#[test]
fn http2_gives_the_same_answers() {
    let (gate, backend) = gate();
    run(async {
        let stream = tokio::net::TcpStream::connect(gate.addr).await.unwrap();
        let (client, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let whole = call_text("count", "{ \"n\":1e0 }");
        let (status, allowed, body) = ask(&client, "POST", APP, &whole).await;
        assert_eq!((status, allowed.as_str()), (200, APP));
        assert!(body.starts_with("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":"), "{body}");
        assert_eq!(backend.only().body, b"{ \"n\":1e0 }");
        let (status, _, body) = ask(&client, "POST", APP, &call_text("count", "{}")).await;
        assert_eq!(status, 200);
        assert!(body.contains("\"isError\":true"), "{body}");
        let (status, allowed, body) = ask(&client, "POST", "https://evil.example", &whole).await;
        assert_eq!((status, allowed.as_str()), (403, ""));
        assert!(body.contains("-32600"), "{body}");
        let (status, _, body) = ask(&client, "POST", APP, "{").await;
        assert_eq!(status, 400);
        assert!(body.contains("-32700"), "{body}");
        let told =
            ask(&client, "POST", APP, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        assert_eq!(told, (202, APP.to_owned(), String::new()));
        for method in ["GET", "DELETE"] {
            assert_eq!(ask(&client, method, APP, "").await.0, 405, "{method}");
        }
    });
    assert_eq!(backend.count(), 1);
}
