//! The scenarios that are part of bbrlab: the files below `scenarios/` in the repository. The
//! crate's build script lists them.

use crate::language::error::{ScenarioError, ScenarioErrors};
use crate::language::nearest::nearest_dotted;

/// A built-in scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// The scenario's id: its path below `scenarios/`, with dots instead of slashes.
    pub id: &'static str,
    /// The path of the scenario's file in the repository.
    pub file: &'static str,
    /// The file's text.
    pub text: &'static str,
}

/// A commented scenario that users copy and change. The scenario sets the most common keys and
/// lists other keys in comments.
pub const STARTER: &str = include_str!("starter.toml");

/// The built-in scenarios in the order of `builtin_order.txt`: papers first, then the test cases of
/// the congestion control C4, contradictions between papers, ECN, queues, examples and networks.
pub const BUILTINS: &[Builtin] = include!(concat!(env!("OUT_DIR"), "/builtins.rs"));

impl Builtin {
    /// Finds the built-in scenario with the id that a user typed.
    ///
    /// # Errors
    /// Fails if no scenario has this id. The error suggests the nearest id.
    pub fn named(id: &str) -> Result<&'static Self, ScenarioErrors> {
        BUILTINS.iter().find(|builtin| builtin.id == id).ok_or_else(|| {
            let title = "expected a built-in scenario";
            let mut error = ScenarioError::of_file(id, title, "found no such id");
            error.help.extend(Self::nearest_id(id).map(|id| format!("did you mean `{id}`?")));
            error.into()
        })
    }

    /// Returns the id that the user probably meant. The user may have omitted the id's first part,
    /// as in `dumbbell` for `examples.dumbbell`.
    #[must_use]
    pub fn nearest_id(typed: &str) -> Option<&'static str> {
        let ids: Vec<&str> = BUILTINS.iter().map(|builtin| builtin.id).collect();
        nearest_dotted(typed, &ids)
    }
}

#[cfg(test)]
mod tests {
    use super::Builtin;

    #[test]
    fn an_id_is_suggested_for_its_last_part() {
        for (typed, meant) in [
            ("dumbbell", Some("examples.dumbbell")),
            ("dumbel", Some("examples.dumbbell")),
            ("examples.dumbell", Some("examples.dumbbell")),
            ("wifi", Some("networks.wifi")),
            ("something else", None),
        ] {
            assert_eq!(Builtin::nearest_id(typed), meant, "{typed}");
        }
    }
}
