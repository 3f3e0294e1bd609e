//! Records that outlive the process: filled in when the store is there.
