//! Selects the rows and runs whose keys have the values that a figure declares.

use super::declared::{At, Is};
use crate::papers::{Key, equal};

/// Keys that only rows about a part of a run have, such as `flow`. A figure shows such rows only if
/// its declaration names their key.
const PARTS: [&str; 5] = ["flow", "time_s", "phase", "sender", "reference"];

/// The keys of a row or a run, with their values.
pub(super) type Keys = [(String, Key)];

/// Returns the value of a key. The name of BBR+ includes its lambda, so that each lambda counts as
/// a separate algorithm.
pub(super) fn value(keys: &Keys, name: &str) -> Option<Key> {
    let of = |name: &str| keys.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    match (name, of(name)?, of("hsr_lambda")) {
        ("algorithm", Key::Word(word), Some(Key::Number(lambda))) => {
            Some(Key::word(format!("{word} {lambda}")))
        }
        (_, value, _) => Some(value.clone()),
    }
}

/// Whether the keys of a row or a run have all values that `at` declares.
pub(super) fn is_at(keys: &Keys, at: &At) -> bool {
    at.iter().all(|(name, is)| {
        let found = keys.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        match (found, is) {
            (Some(Key::Word(here)), Is::Word(there)) => here == there,
            (Some(Key::Number(here)), Is::Number(there)) => equal(*here, *there),
            (Some(Key::Word(here)), Is::OneOf(words)) => words.contains(here),
            _ => false,
        }
    })
}

/// Whether a row describes the whole run, or a part of the run that a key in `named` selects.
pub(super) fn is_meant(keys: &Keys, named: &[&str]) -> bool {
    keys.iter().all(|(name, _)| !PARTS.contains(&name.as_str()) || named.contains(&name.as_str()))
}

/// Returns the distinct combinations of values of the keys `names`. Values that are numbers are in
/// ascending order, values that are words in the order of first occurrence.
pub(super) fn combinations<'a>(
    all: impl Iterator<Item = &'a Keys>,
    names: &[String],
) -> Vec<Vec<Key>> {
    let mut found: Vec<Vec<Key>> = Vec::new();
    for keys in all {
        let values: Option<Vec<Key>> = names.iter().map(|name| value(keys, name)).collect();
        if let Some(values) = values.filter(|values| !found.contains(values)) {
            found.push(values);
        }
    }
    let firsts = found.clone();
    // The rank of a word is the index of its first occurrence.
    let rank = |place: usize, key: &Key| match key {
        Key::Number(number) => *number,
        Key::Word(_) => {
            let first = firsts.iter().position(|values| values[place] == *key);
            f64::from(u32::try_from(first.unwrap_or_default()).unwrap_or(u32::MAX))
        }
    };
    found.sort_by(|one, other| {
        let pairs = one.iter().zip(other).enumerate();
        let orders = pairs.map(|(at, (one, other))| rank(at, one).total_cmp(&rank(at, other)));
        orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    found
}

/// Whether the keys `names` have the values `values`, in this order.
pub(super) fn has(keys: &Keys, names: &[String], values: &[Key]) -> bool {
    names.iter().zip(values).all(|(name, wanted)| value(keys, name).as_ref() == Some(wanted))
}
