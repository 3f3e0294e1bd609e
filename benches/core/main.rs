//! The core without a network: `cargo bench --bench core -- --quick`.

mod gateway;
mod json;

fn main() {
    let mut criterion = criterion::Criterion::default().configure_from_args();
    json::measure(&mut criterion);
    gateway::measure(&mut criterion);
    criterion.final_summary();
    json::compare();
}
