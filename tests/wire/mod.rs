//! What stands on the wire: DESIGN 4, and issue 2's "What it must reach", against the real binary.

mod arrival;
mod cardinality;
mod codings;
mod deadlines;
mod forms;
mod framing;
mod heads;
mod limits;
mod negotiation;
mod once;
mod outcomes;
mod record;
mod reload;
mod reload_load;
mod silence;
mod sizes;
mod stop;
mod table;
