//! All integration tests of this crate in one program, so that the crate and its dependencies are
//! linked once.

mod builtins;
mod cpu_time;
mod document;
mod idle_keys;
mod json_schema;
mod keys;
mod links_as_bottleneck;
mod profiles;
mod prop_robust;
mod spellings;
mod sweeps;
mod whole_text;
mod wrong_input;
