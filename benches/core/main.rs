//! The core without a network: `cargo bench --bench core -- --quick`.

mod gateway;
mod json;
mod records;
mod subject;

fn main() {
    let mut criterion = criterion::Criterion::default().configure_from_args();
    json::measure(&mut criterion);
    gateway::measure(&mut criterion);
    records::measure(&mut criterion);
    criterion.final_summary();
    json::compare();
}
