//! Reads and checks scenario files and resolves them into [`Run`](bbrlab_run::Run)s, one for each
//! point of the sweep and each seed. The crate does not depend on the engine.
//!
//! | folder | what |
//! |---|---|
//! | `language` | parser of the text: TOML with positions, quantities, definitions of keys |
//! | `keys` | definitions of all keys, and their values with defaults |
//! | `lowering` | conversion of keys to links, classes and flows |
//! | `scenario` | the whole file: its sweep, the values of `--set`, its runs |

mod builtin;
mod keys;
mod language;
mod lowering;
mod scenario;

pub use builtin::{BUILTINS, Builtin, STARTER};
pub use keys::profile::profiles_to_markdown;
pub use keys::queue::{QueueInfo, queue_to_toml, queues, queues_to_markdown};
pub use keys::reference::{KeyReference, Section, schema, sections};
pub use keys::repeat::{Until, UntilOf};
pub use language::error::{ScenarioError, ScenarioErrors};
pub use language::nearest::{nearest, nearest_dotted};
pub use language::quantity::read_span;
pub use language::traces::{ReadFile, check_file_size};
pub use lowering::outline::{FlowsOutline, Outline};
pub use scenario::{Scenario, plain_name, point_values};
