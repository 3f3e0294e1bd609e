//! What stands on the wire: DESIGN 4, and issue 2's "What it must reach", against the real binary.

mod arrival;
mod cardinality;
mod codings;
mod deadlines;
mod faults;
mod forms;
mod framing;
mod hand_over;
mod heads;
pub(crate) mod http2;
mod keys;
mod limits;
mod negotiation;
mod once;
mod outcomes;
mod page;
mod record;
mod reload;
mod reload_load;
mod silence;
mod sizes;
mod start;
mod stop;
mod table;
mod tokens;
