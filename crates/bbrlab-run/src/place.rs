//! Finds the scenario key from which a part of a resolved run comes. Error messages name this key.

use crate::run::Run;

/// The part of a resolved run to which a key of the scenario belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The top level of the scenario.
    Top,
    /// The settings of the hosts, `[stack]`.
    Stack,
    /// A link of [`Run::links`], by its number.
    Link(u32),
    /// The flows of a class of [`Run::classes`], by the class's number. A class is one `[[flows]]`
    /// table.
    Flows(u32),
    /// The access links of all flows.
    Access,
}

/// The keys of a link that have a second key, with `reverse_` before the name, for the reverse
/// direction. All other keys have one name. Most keys with one name, such as `delay` and `framing`,
/// belong to both directions; `ack_thinning` belongs to the direction of the ACKs.
pub const KEYS_WITH_REVERSE: [&str; 11] = [
    "rate",
    "buffer",
    "queue",
    "police",
    "loss",
    "jitter",
    "duplicate",
    "corrupt",
    "reorder",
    "slot",
    "grant",
];

impl Run {
    /// Returns the path of a key as users write it, such as `bottleneck.reverse_loss` or
    /// `flows[1].ecn`. `key` is the key's name without `reverse_`. The function adds `reverse_` if
    /// the link is in the reverse direction and the key is one of [`KEYS_WITH_REVERSE`].
    ///
    /// # Panics
    /// Panics if the link or class does not exist.
    #[must_use]
    pub fn key(&self, place: Place, key: &str) -> String {
        match place {
            Place::Top => key.to_owned(),
            Place::Stack => format!("stack.{key}"),
            Place::Access => format!("access.{key}"),
            Place::Flows(class) => {
                assert!((class as usize) < self.classes.len(), "no class {class}");
                format!("flows[{class}].{key}")
            }
            Place::Link(number) => {
                let (link, table) =
                    (&self.links[number as usize], &self.link_tables[number as usize]);
                let is_reverse = link.name.split('.').any(|part| part == "reverse")
                    && KEYS_WITH_REVERSE.contains(&key);
                format!("{table}.{}{key}", if is_reverse { "reverse_" } else { "" })
            }
        }
    }
}
