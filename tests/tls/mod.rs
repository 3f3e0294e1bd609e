//! TLS towards upstreams and from clients, against the real binary.

mod upstreams;
