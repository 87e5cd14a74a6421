//! The `bbrlab` command.
fn main() {}
