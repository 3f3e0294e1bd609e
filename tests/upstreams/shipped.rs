//! `config/upstreams.yaml` is right, and its paths are what it says they are.

use formgate::config::load;
use std::path::Path;

#[test]
fn the_example_loads_without_a_warning() {
    let loaded = load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("config/upstreams.yaml")).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let route = loaded.gateway.at("/api/v2/orders/refund").unwrap();
    assert_eq!(route.outbound.target.to_string(), "/orders/{/order_id}/refunds?by={/clerk}");
    let upstream = &route.outbound.upstream;
    assert_eq!((upstream.servers.len(), upstream.fleet.seats()[0].max_in_flight), (3, Some(40)));
    assert!(upstream.health.is_some() && upstream.fleet.eject.is_some());
    let socket = &loaded.gateway.at("/api/v2/cache/purge").unwrap().outbound.upstream.servers[0];
    assert_eq!((socket.url().as_str(), socket.authority().as_str()), ("unix:/run/app/app.sock", "localhost"));
}
