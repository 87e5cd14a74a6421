//! The type that defines a scenario's key in one row: its reader, its writer and its meaning.
//!
//! The rows of the tables are in `stack.rs`, `link/keys.rs`, `flow/keys.rs` and `spec.rs`, in the
//! order in which the keys are read. The reader, the canonical text, "did you mean", the tables of
//! `docs/scenario-files.md` and the JSON Schema are generated from the rows. The default of a key
//! is the default of the field in which its value is stored.

use crate::language::acts::Acts;
use crate::language::canonical::Writer;
use crate::language::document::Node;
use crate::language::reader::{Keys, Placed, Reader};

/// A key of a scenario's table. The values of all keys of the table are stored in the struct `S`.
pub(crate) struct Key<S> {
    pub(crate) name: &'static str,
    /// The version of bbrlab that introduced the key.
    pub(crate) since: &'static str,
    /// The form of the key's values.
    pub(crate) form: Form,
    /// The key's meaning, in Markdown.
    pub(crate) meaning: &'static str,
    /// The text that describes the default in Markdown, if the default cannot be written as a
    /// value.
    pub(crate) without: &'static str,
    /// For a required key: the description of the expected value, for the error message if the key
    /// is missing.
    pub(crate) needed: Option<&'static str>,
    /// The object on which the key acts.
    pub(crate) acts: Acts,
    /// For a key of `[[flows]]` that describes a source: the name of that source. A flow has at
    /// most one source.
    pub(crate) source: Option<&'static str>,
    /// Reads the value and stores it in the struct `S`; reports mistakes to the reader.
    read: fn(&mut S, &mut KeyInput<'_, '_>),
    /// Returns the value as canonical TOML; `None` for a key without a value.
    show: fn(&S) -> Option<String>,
}

/// The form of a key's values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Text,
    Bool,
    /// From 0 to 1.
    Ratio,
    /// A whole number from the first to the second number, both included.
    Whole(u64, u64),
    /// A number from the first to the second number, both included, with up to three decimals.
    Number(f64, u32),
    /// A frequency in times per second, such as `50/s`.
    Frequency,
    Time,
    Rate,
    Bytes,
    /// Size of a queue.
    QueueSize,
    /// One of the names that this function returns.
    Choice(fn() -> Vec<&'static str>),
    /// The name of a congestion control.
    Algorithm,
    /// A list of any number of values of this form.
    List(&'static Form),
    /// A list of two values: the first with the first form, the second with the second form.
    Pair(&'static Form, &'static Form),
    Table(&'static [Part]),
    /// A table whose parts this function derives from other definitions.
    TableOf(fn() -> Vec<Part>),
    /// A table whose keys are names that the user chooses. Each value is itself a table with the
    /// given parts.
    Named(&'static [Part]),
    /// A table whose keys are names of parameters. Each value is a number, a string, `true` or
    /// `false`.
    Params,
    /// One of several forms.
    Any(&'static [Form]),
}

/// A key of an inline table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) is_needed: bool,
}

/// A value to be read, and its context.
pub(crate) struct KeyInput<'g, 'a> {
    pub(crate) reader: &'g mut Reader<'a>,
    /// The table that contains the value.
    pub(crate) keys: &'g Keys<'g>,
    pub(crate) node: &'g Node,
    /// The full name of the key.
    pub(crate) name: &'g str,
}

/// Creates the row of a key: name, the version that introduced the key, form, meaning, reader and
/// writer.
pub(crate) const fn key<S>(
    name: &'static str,
    since: &'static str,
    form: Form,
    meaning: &'static str,
    read: fn(&mut S, &mut KeyInput<'_, '_>),
    show: fn(&S) -> Option<String>,
) -> Key<S> {
    let acts = Acts::Always;
    Key {
        name,
        since,
        form,
        meaning,
        without: "none",
        needed: None,
        acts,
        source: None,
        read,
        show,
    }
}

impl<S> Key<S> {
    /// Sets the text that describes the default.
    pub(crate) const fn without(mut self, without: &'static str) -> Self {
        self.without = without;
        self
    }

    /// Sets the object on which the key acts. Without this call, the key acts in every run.
    pub(crate) const fn acts_on(mut self, acts: Acts) -> Self {
        self.acts = acts;
        self
    }

    /// Sets the name of the source to which the key of `[[flows]]` belongs, such as `bytes`.
    pub(crate) const fn source(mut self, source: &'static str) -> Self {
        self.source = Some(source);
        self
    }

    /// Marks the key as required. `expected` describes the value of a required key in the error
    /// message if the key is missing.
    pub(crate) const fn needed(mut self, expected: &'static str) -> Self {
        self.needed = Some(expected);
        self
    }

    /// Returns the key's value in `values`, as TOML.
    pub(crate) fn value(&self, values: &S) -> Option<String> {
        (self.show)(values)
    }

    /// Returns the key's default value, as TOML.
    pub(crate) fn default(&self) -> Option<String>
    where
        S: Default,
    {
        (self.show)(&S::default())
    }
}

/// Creates a required key of an inline table.
pub(crate) const fn needed(name: &'static str, form: Form) -> Part {
    Part { name, form, is_needed: true }
}

/// Creates an optional key of an inline table.
pub(crate) const fn optional(name: &'static str, form: Form) -> Part {
    Part { name, form, is_needed: false }
}

impl<'a> KeyInput<'_, 'a> {
    /// Reads the value.
    pub(crate) fn value<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>, &Node, &str) -> Option<T>,
    ) -> Option<T> {
        read(self.reader, self.node, self.name)
    }

    /// Reads the value and keeps its position.
    pub(crate) fn placed<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>, &Node, &str) -> Option<T>,
    ) -> Option<Placed<T>> {
        let at = self.node.at;
        self.value(read).map(|value| Placed { value, at })
    }

    /// Reads one of the names in `choices`.
    pub(crate) fn choice<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        self.value(|reader, node, name| reader.choice(node, name, choices, ""))
    }
}

/// Stores the value in `place`. If the value could not be read, `place` keeps its default.
pub(crate) fn set<T>(place: &mut T, read: Option<T>) {
    if let Some(value) = read {
        *place = value;
    }
}

/// Returns the names in a list of choices.
pub(crate) fn names<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|&(name, _)| name).collect()
}

/// Returns the name that a list of choices has for a value.
pub(crate) fn name_of<T: Copy + PartialEq>(
    choices: &[(&'static str, T)],
    value: T,
) -> &'static str {
    choices
        .iter()
        .find(|(_, choice)| *choice == value)
        .map(|&(name, _)| name)
        .expect("each value has a name")
}

/// Reads the keys that `rows` defines, in the order of the rows.
pub(crate) fn read_keys<S: 'static>(
    rows: impl IntoIterator<Item = &'static Key<S>>,
    values: &mut S,
    reader: &mut Reader<'_>,
    keys: &mut Keys<'_>,
) {
    for row in rows {
        match (keys.take(row.name), row.needed) {
            (Some(node), _) => {
                let name = &keys.name(row.name);
                (row.read)(values, &mut KeyInput { reader, keys, node, name });
            }
            (None, Some(expected)) => reader.missing(keys, row.name, expected),
            (None, None) => {}
        }
    }
}

/// Writes, in order, those keys of `rows` that are required or differ from their defaults.
pub(crate) fn write_keys<S: Default>(rows: &[Key<S>], values: &S, out: &mut Writer) {
    write_keys_unlike(rows, values, None, out);
}

/// Writes the keys that [`write_keys`] writes, and also default values that differ from the values
/// of the profile. Without these keys in the text, a reader of the text would use the profile's
/// values.
pub(crate) fn write_keys_unlike<S: Default>(
    rows: &[Key<S>],
    values: &S,
    of_profile: Option<&S>,
    out: &mut Writer,
) {
    let defaults = S::default();
    for row in rows {
        let is_default = |value: &String| {
            let is_like = |other: &S| (row.show)(other).as_ref() == Some(value);
            is_like(&defaults) && of_profile.is_none_or(is_like)
        };
        if let Some(value) = (row.show)(values)
            && (row.needed.is_some() || !is_default(&value))
        {
            out.raw(row.name, &value);
        }
    }
}
