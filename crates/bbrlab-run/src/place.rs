//! Finds the scenario key from which a part of a resolved run comes. Error messages name this key.

use crate::run::Run;

/// The part of a resolved run to which a key of the scenario belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The top level of the scenario.
    Top,
    /// The settings of the hosts.
    Stack,
    /// A link of [`Run::links`], by its number.
    Link(u32),
    /// The flows of a class of [`Run::classes`], by the class's number. A class is one `[[flows]]`
    /// table.
    Flows(u32),
    /// The access links of all flows.
    Access,
}

impl Run {
    /// Returns the path of a key as users write it, such as `bottleneck.reverse_loss` or
    /// `flows[1].ecn`. `key` is the key's name without `reverse_`. If the link is in the reverse
    /// direction, `reverse_` is put before the key, unless the key is `ack_thinning`.
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
                // `ack_thinning` always applies to the direction of the ACKs, so `reverse_` is
                // never put before it.
                let is_reverse =
                    link.name.split('.').any(|part| part == "reverse") && key != "ack_thinning";
                format!("{table}.{}{key}", if is_reverse { "reverse_" } else { "" })
            }
        }
    }
}
