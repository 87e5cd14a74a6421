//! [`Key`], the type of a table row that defines one key of a scenario: the key's reader, writer
//! and meaning.
//!
//! The tables of keys are in `stack.rs`, `link/keys.rs`, `flow/keys.rs` and `spec.rs`. The rows
//! have the order in which the keys are read. The reader, the canonical text, "did you mean", the
//! tables of `docs/scenario-files.md` and the JSON Schema are generated from the rows. The default
//! of a key is the default of the field in which its value is stored.
//!
//! A key with an ordinary value, such as a time or a choice, needs no row in these files if the
//! key's field is in a struct of settings. [`keys_of`] derives such keys from the table `SETTINGS`
//! of the struct.

use std::sync::Arc;

use bbrlab_stack::{Setting, SettingForm, SettingValue};

use crate::language::acts::Acts;
use crate::language::canonical::{Writer, show_bytes, show_text};
use crate::language::document::Node;
use crate::language::quantity::{show_rate, show_span};
use crate::language::reader::{Keys, Placed, Reader};

/// A key of a scenario's table. The values of all keys of the table are stored in the struct `S`.
#[derive(Clone)]
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
    /// The target on which the key acts, such as a link's buffer.
    pub(crate) acts: Acts,
    /// For a key of `[[flows]]` that describes a source: the name of that source. A flow has at
    /// most one source.
    pub(crate) source: Option<&'static str>,
    access: Access<S>,
}

/// How a key's value is read and written.
#[derive(Clone)]
enum Access<S> {
    Own {
        /// Reads the value and stores it in the struct `S`; reports mistakes to the reader.
        read: fn(&mut S, &mut KeyInput<'_, '_>),
        /// Returns the value as canonical TOML; `None` for a key without a value.
        show: fn(&S) -> Option<String>,
    },
    /// The value is read and written like every other value of the key's form.
    Setting { value: Arc<GetSetting<S>>, set: Arc<SetSetting<S>> },
}

type GetSetting<S> = dyn Fn(&S) -> Option<SettingValue> + Send + Sync;
type SetSetting<S> = dyn Fn(&mut S, SettingValue) + Send + Sync;

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
    /// One of the names that the given function returns.
    Choice(fn() -> Vec<&'static str>),
    /// The name of a congestion control.
    Algorithm,
    /// A list of any number of values of this form.
    List(&'static Form),
    /// A list of two values: the first with the first form, the second with the second form.
    Pair(&'static Form, &'static Form),
    Table(&'static [Part]),
    /// A table whose parts the given function derives from other definitions.
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

/// The value of a key that is being read, with the key's name and table.
pub(crate) struct KeyInput<'g, 'a> {
    pub(crate) reader: &'g mut Reader<'a>,
    /// The table that contains the value.
    pub(crate) keys: &'g Keys<'g>,
    pub(crate) node: &'g Node,
    /// The key's name with the path of its table, such as `flows[0].cc`.
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
        access: Access::Own { read, show },
    }
}

/// Returns the keys of a struct of settings, in the order of its fields. `of` and `of_mut` return
/// the struct, which `S` contains. A field with `None` in `settings` gets the key of the same name
/// in `own`; if `own` has no such key, the field has no key.
pub(crate) fn keys_of<T, S: Clone + 'static>(
    settings: &'static [(&'static str, Option<Setting<T>>)],
    of: fn(&S) -> &T,
    of_mut: fn(&mut S) -> &mut T,
    own: &[Key<S>],
) -> Vec<Key<S>> {
    let key = |(name, setting): &'static (&'static str, Option<Setting<T>>)| {
        let Some(setting) = setting else {
            return own.iter().find(|own| own.name == *name).cloned();
        };
        let form = match setting.form {
            SettingForm::Bool => Form::Bool,
            SettingForm::Choice(names) => Form::Choice(names),
            SettingForm::Whole(least, most) => Form::Whole(least, most),
            SettingForm::Time => Form::Time,
            SettingForm::Rate => Form::Rate,
            SettingForm::Bytes => Form::Bytes,
        };
        Some(Key {
            name,
            since: setting.since,
            form,
            meaning: setting.meaning,
            without: setting.without,
            needed: None,
            acts: if setting.needs_connection { Acts::Connections } else { Acts::Always },
            source: None,
            access: Access::Setting {
                value: Arc::new(move |values| (setting.value)(of(values))),
                set: Arc::new(move |values, value| (setting.set)(of_mut(values), value)),
            },
        })
    };
    settings.iter().filter_map(key).collect()
}

/// Reads a value that has the form `form`.
fn read_setting(form: Form, given: &mut KeyInput<'_, '_>) -> Option<SettingValue> {
    match form {
        Form::Bool => given.value(Reader::boolean).map(SettingValue::Bool),
        Form::Choice(names) => {
            let names: Vec<_> = names().into_iter().map(|name| (name, name)).collect();
            given.choice(&names).map(SettingValue::Choice)
        }
        Form::Whole(least, most) => {
            let number = given.value(|reader, node, name| reader.integer(node, name, least, most));
            number.map(SettingValue::Whole)
        }
        Form::Time => given.value(Reader::positive_span).map(SettingValue::Time),
        Form::Rate => given.value(Reader::rate).map(SettingValue::Rate),
        Form::Bytes => given.value(Reader::positive_bytes).map(SettingValue::Bytes),
        form => unreachable!("no setting has the form {form:?}"),
    }
}

/// Returns a value as canonical TOML.
fn show_setting(value: SettingValue) -> Option<String> {
    match value {
        SettingValue::Bool(value) => Some(value.to_string()),
        SettingValue::Choice(name) => show_text(name),
        SettingValue::Whole(number) => Some(number.to_string()),
        SettingValue::Time(span) => show_text(&show_span(span)),
        SettingValue::Rate(rate) => show_text(&show_rate(rate)),
        SettingValue::Bytes(bytes) => show_bytes(bytes.0),
    }
}

impl<S> Key<S> {
    /// Sets the text that describes the default.
    pub(crate) const fn without(mut self, without: &'static str) -> Self {
        self.without = without;
        self
    }

    /// Sets the target on which the key acts. Without this call, the target is [`Acts::Always`]:
    /// the key acts in every run.
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

    /// Reads the value and stores it in `values`.
    fn read(&self, values: &mut S, given: &mut KeyInput<'_, '_>) {
        match &self.access {
            Access::Own { read, .. } => read(values, given),
            Access::Setting { set, .. } => {
                if let Some(value) = read_setting(self.form, given) {
                    set(values, value);
                }
            }
        }
    }

    /// Returns the key's value in `values`, as TOML.
    pub(crate) fn value(&self, values: &S) -> Option<String> {
        match &self.access {
            Access::Own { show, .. } => show(values),
            Access::Setting { value, .. } => value(values).and_then(show_setting),
        }
    }

    /// Returns the key's default value, as TOML.
    pub(crate) fn default(&self) -> Option<String>
    where
        S: Default,
    {
        self.value(&S::default())
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
                row.read(values, &mut KeyInput { reader, keys, node, name });
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
            let is_like = |other: &S| row.value(other).as_ref() == Some(value);
            is_like(&defaults) && of_profile.is_none_or(is_like)
        };
        if let Some(value) = row.value(values)
            && (row.needed.is_some() || !is_default(&value))
        {
            out.raw(row.name, &value);
        }
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_stack::{SettingForm, Tso, settings};
    use bbrlab_units::{BitRate, Bytes, Span};
    use expect_test::{Expect, expect};

    use super::{Key, keys_of, read_keys};
    use crate::language::document::{At, Source, parse};
    use crate::language::reader::{Keys, Reader};
    use crate::language::traces::Traces;

    settings! {
        /// A struct with a setting of each form.
        #[derive(Clone)]
        pub struct Sample {
            pub flag: bool = true, "flag", "0.1.0", "a flag";
            pub choice: Tso = Tso::Cut, "choice", "0.1.0", "a choice";
            pub number: u8 = 1, "number", "0.1.0", "a number", form: SettingForm::Whole(1, 8);
            pub time: Span = Span(1), "time", "0.1.0", "a time";
            pub rate: Option<BitRate> = None, "rate", "0.1.0", "a rate";
            pub bytes: Bytes = Bytes(1), "bytes", "0.1.0", "a size";
            pub other: u32 = 0, "other";
        }
    }

    /// Reads a table with settings; expects the values of all keys, or the mistakes.
    fn check(text: &str, expected: &Expect) {
        let keys: Vec<Key<Sample>> = keys_of(Sample::SETTINGS, |it| it, |it| it, &[]);
        let rows: &'static [Key<Sample>] = Box::leak(keys.into_boxed_slice());
        let table = parse(&Source { name: "s".to_owned(), text: text.to_owned() }, 0).unwrap();
        let mut traces = Traces::default();
        let mut reader = Reader::without_files(&mut traces);
        let mut values = Sample::default();
        let mut keys = Keys::new(&table, "", At::NOWHERE);
        read_keys(rows, &mut values, &mut reader, &mut keys);
        keys.finish(&mut reader);
        let shown = rows.iter().map(|row| format!("{} = {:?}\n", row.name, row.value(&values)));
        let mistakes = reader.problems.iter().map(|it| format!("{}, {}\n", it.title, it.found));
        let differing = values.differing_keys(&Sample::default()).join(" ");
        expected.assert_eq(&(shown.chain(mistakes).collect::<String>() + &differing));
    }

    #[test]
    fn settings_are_read_and_shown_by_their_form() {
        check(
            "flag = false\nchoice = \"off\"\nnumber = 8\ntime = \"2ms\"\nrate = \"3Mbit/s\"\n\
             bytes = \"4KiB\"",
            &expect![[r#"
                flag = Some("false")
                choice = Some("\"off\"")
                number = Some("8")
                time = Some("\"2ms\"")
                rate = Some("\"3Mbit/s\"")
                bytes = Some("\"4096B\"")
                flag choice number time rate bytes"#]],
        );
        check(
            "flag = 1\nchoice = \"of\"\nnumber = 9\ntime = \"0s\"\nother = 1",
            &expect![[r#"
            flag = Some("true")
            choice = Some("\"cut\"")
            number = Some("1")
            time = Some("\"1ns\"")
            rate = None
            bytes = Some("\"1B\"")
            `flag`: expected true or false, found the number 1
            `choice`: expected "cut" or "whole" or "off", found "of"
            `number`: expected a whole number from 1 to 8, found the number 9
            `time`: expected a time above zero such as "30ms", found "0s", which is zero
            `other`: expected a key of the file, found an unknown key
        "#]],
        );
    }
}
