//! Black-box and integration tests: one binary, one line a module.
