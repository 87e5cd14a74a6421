//! Reads scenario files, checks them and resolves them into [`Run`](bbrlab_run::Run)s, one for each point of the sweep
//! and each seed. Imports no engine.

mod buffer;
mod builtin;
mod canonical;
mod decimal;
mod demand;
mod document;
mod dscp;
mod ecn;
mod error;
mod estimate;
mod family;
mod flow;
mod fluid;
mod key;
mod law;
mod link;
mod lower;
mod model;
mod nearest;
mod not_built;
mod params;
mod path_trace;
mod profile;
mod quantity;
mod queue;
mod reader;
mod reference;
mod route;
mod scenario;
mod spec;
mod stack;
mod steps;
mod sweep;
mod traces;
mod traffic;
mod whole;

pub use builtin::{BUILTINS, Builtin, STARTER};
pub use error::{ScenarioError, ScenarioErrors};
pub use estimate::{AtMost, Estimate};
pub use nearest::nearest;
pub use profile::profiles_to_markdown;
pub use quantity::read_span;
pub use queue::{queue_to_toml, queues_to_markdown};
pub use reference::{KeyReference, Section, schema, sections};
pub use scenario::{Scenario, plain_name};
