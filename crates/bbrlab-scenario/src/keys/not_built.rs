//! Names of keys that are reserved for scenarios but not implemented yet.
//!
//! A key with such a name is reported as not supported yet, and not as unknown. No message suggests
//! a name that is not implemented.

use crate::language::document::At;
use crate::language::reader::{Keys, Reader};

/// Keys of `[stack]` that are reserved but not implemented.
pub(crate) const STACK_KEYS: &[&str] = &["metrics"];

/// Reports each key of `unbuilt` that the table has.
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

fn refuse(reader: &mut Reader<'_>, at: At, name: &str, what: &str, found: &str) {
    reader.problem(at, format!("`{name}`: {what} is not supported yet"), found, Vec::new());
}
