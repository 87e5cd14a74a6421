//! Where a part of a resolved run stands in its scenario, so that whoever cannot do something names
//! the key.

use crate::run::Run;

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The top level of the scenario.
    Top,
    /// The settings of the hosts.
    Stack,
    /// A link of [`Run::links`], by its number.
    Link(u32),
    /// The flows of a class of [`Run::classes`], by its number: a `[[flows]]` table.
    Flows(u32),
    /// The access links of all flows.
    Access,
}

impl Run {
    /// The path of a key as users write it: `bottleneck.reverse_loss`, `flows[1].ecn`. `key` is
    /// that of the direction of the data; of a link of the other direction it becomes `reverse_`
    /// and the key.
    ///
    /// # Panics
    /// If the run has no such link or class.
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
                // `ack_thinning` is of the direction of the ACKs anyway.
                let is_reverse =
                    link.name.split('.').any(|part| part == "reverse") && key != "ack_thinning";
                format!("{table}.{}{key}", if is_reverse { "reverse_" } else { "" })
            }
        }
    }
}
