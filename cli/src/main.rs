//! The `owed` binary.

fn main() {}
