//! All tests of this crate from outside: one program, because each would be linked with all that
//! the crate uses.

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
