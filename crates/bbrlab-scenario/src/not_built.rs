//! Names that are defined for scenarios but not implemented yet.
//!
//! Each list is checked in one place, before the value is looked up among those that are built. No message offers a name of
//! these lists.

use crate::document::{At, Node, Value};
use crate::reader::{Keys, Reader, found};

/// Queue disciplines.
pub(crate) const QUEUES: &[&str] = &["dualpi2"];

/// Switches of the `ns3` profile in `[stack]`.
pub(crate) const STACK_KEYS: &[&str] = &["metrics"];

/// Reports each of `keys` that the table has.
pub(crate) fn refuse_keys(reader: &mut Reader<'_>, keys: &mut Keys<'_>, unbuilt: &[&'static str]) {
    for key in unbuilt {
        if keys.has(key) {
            keys.excuse(key);
            let at = keys.key_at(key).expect("the table has it");
            refuse(
                reader,
                at,
                &keys.name(key),
                &format!("`{key}`"),
                "found a key that has no effect yet",
            );
        }
    }
}

/// Whether a value is one of `unbuilt`, which is then reported.
pub(crate) fn refuse_value(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
    unbuilt: &[&str],
) -> bool {
    let Value::Text(value) = &node.value else { return false };
    let is_unbuilt = unbuilt.contains(&&**value);
    if is_unbuilt {
        let found = format!("found {}", found(&node.value));
        refuse(reader, node.at, name, &format!("`{value}`"), &found);
    }
    is_unbuilt
}

fn refuse(reader: &mut Reader<'_>, at: At, name: &str, what: &str, found: &str) {
    reader.problem(at, format!("`{name}`: {what} is known but not built yet"), found, Vec::new());
}
