//! The scenario as a tree in which each key and value has its position.
//!
//! A value may come from the file, from a `--set`, or from a list of `[sweep]`. Each value keeps
//! its position, so an error message shows a wrong value where the user wrote it. The trees of
//! different sweep points share tables: setting a value copies only the tables that contain the
//! value.

use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use crate::language::error::{ScenarioError, ScenarioErrors};

/// The position of a key or value: its source (0 is the file) and a range of bytes in this source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct At {
    pub(crate) source: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl At {
    /// The position of a value that comes from neither the file nor a `--set`.
    pub(crate) const NOWHERE: Self = Self { source: 0, start: 0, end: 0 };
}

/// A text that is read: the file, or the argument of a `--set`.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) at: At,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    /// `None` if the integer has more than 128 bits.
    Integer(Option<i128>),
    /// The number as the user wrote it.
    Float(String),
    Bool(bool),
    Datetime(String),
    Array(Vec<Arc<Node>>),
    Table(Table),
}

/// A table in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Arc<str>,
    pub(crate) key_at: At,
    pub(crate) value: Arc<Node>,
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| &*entry.key == key)
    }

    pub(crate) fn set(&mut self, key: &str, key_at: At, value: Arc<Node>) {
        match self.entries.iter_mut().find(|entry| &*entry.key == key) {
            Some(entry) => (entry.key_at, entry.value) = (key_at, value),
            None => self.entries.push(Entry { key: key.into(), key_at, value }),
        }
    }
}

impl Value {
    /// Returns the type of the value for a message, with an article, such as `a number`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Datetime(_) => "a date",
            Self::Array(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// Returns whether two values are equal, ignoring their positions.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b))
            | (Self::Float(a), Self::Float(b))
            | (Self::Datetime(a), Self::Datetime(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.value.says_the_same(&b.value))
            }
            (Self::Table(a), Self::Table(b)) => {
                a.entries.len() == b.entries.len()
                    && a.entries.iter().all(|entry| {
                        b.get(&entry.key).is_some_and(|other| {
                            entry.value.value.says_the_same(&other.value.value)
                        })
                    })
            }
            _ => false,
        }
    }

    /// Returns the name of the trace file if the value is a table `{ trace = "FILE" }`. Such a
    /// table may also contain the content of the file, in `rows` or `opportunities_ms`.
    pub(crate) fn trace_file(&self) -> Option<&str> {
        let Self::Table(table) = self else { return None };
        match &table.get("trace")?.value.value {
            Self::Text(file) => Some(file),
            _ => None,
        }
    }

    /// Returns the value as results show it in `point`: as JSON, or the file name for a trace.
    pub(crate) fn to_label(&self) -> serde_json::Value {
        self.trace_file().map_or_else(|| self.to_json(), Into::into)
    }

    /// Returns the value as JSON.
    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) | Self::Datetime(text) => text.clone().into(),
            Self::Integer(value) => value
                .and_then(|value| i64::try_from(value).ok())
                .map_or(serde_json::Value::Null, Into::into),
            Self::Float(text) => text.parse::<f64>().map_or(serde_json::Value::Null, Into::into),
            Self::Bool(value) => (*value).into(),
            Self::Array(values) => values.iter().map(|value| value.value.to_json()).collect(),
            Self::Table(table) => serde_json::Value::Object(
                table
                    .entries
                    .iter()
                    .map(|entry| (entry.key.to_string(), entry.value.value.to_json()))
                    .collect(),
            ),
        }
    }
}

/// Parses the text of a source as TOML. Positions refer to the source by `number`.
pub(crate) fn parse(source: &Source, number: u32) -> Result<Table, ScenarioErrors> {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    if errors.is_empty() {
        return Ok(own_table(table.into_inner(), number, 0));
    }
    // Report only the first mistake in the text, because later ones are often its consequences.
    let span = |error: &toml::de::Error| error.span().unwrap_or(0..0);
    let first = errors.iter().min_by_key(|error| span(error).start).expect("there are errors");
    let (title, found) = match first.message().split_once(", expected ") {
        Some((what, "nothing")) => ("not TOML".to_owned(), what.to_owned()),
        Some((what, expected)) => (format!("not TOML: expected {expected}"), what.to_owned()),
        None => ("not TOML".to_owned(), first.message().to_owned()),
    };
    Err(ScenarioError::at(&source.name, &source.text, span(first), title, found).into())
}

/// Parses the value of a `--set`, which begins at `offset` in its source: as TOML if possible,
/// otherwise as a string.
pub(crate) fn parse_set_value(text: &str, source: u32, offset: usize) -> Node {
    let whole = At { source, start: small(offset), end: small(offset + text.len()) };
    match DeValue::parse(text.trim()) {
        Ok(value) if !text.contains('\n') => {
            let lead = text.len() - text.trim_start().len();
            own(value.into_inner(), whole, source, offset + lead)
        }
        _ => Node { value: Value::Text(text.to_owned()), at: whole },
    }
}

fn own(value: DeValue<'_>, at: At, source: u32, offset: usize) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => {
            let digits: String = number.as_str().chars().filter(|&c| c != '_').collect();
            Value::Integer(i128::from_str_radix(&digits, number.radix()).ok())
        }
        DeValue::Float(number) => {
            Value::Float(number.as_str().chars().filter(|&c| c != '_').collect())
        }
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Datetime(value) => Value::Datetime(value.to_string()),
        DeValue::Array(values) => Value::Array(
            values
                .into_iter()
                .map(|value| {
                    let at = place(value.span(), source, offset);
                    Arc::new(own(value.into_inner(), at, source, offset))
                })
                .collect(),
        ),
        DeValue::Table(table) => Value::Table(own_table(table, source, offset)),
    };
    Node { value, at }
}

fn own_table(table: DeTable<'_>, source: u32, offset: usize) -> Table {
    let mut entries: Vec<Entry> = table
        .into_iter()
        .map(|(key, value)| {
            let key_at = place(key.span(), source, offset);
            let at = place(value.span(), source, offset);
            let value = Arc::new(own(value.into_inner(), at, source, offset));
            Entry { key: key.into_inner().as_ref().into(), key_at, value }
        })
        .collect();
    // The parser has sorted the keys by name. Restore the order of the file, because the axes of a
    // sweep must keep it.
    entries.sort_by_key(|entry| entry.key_at.start);
    Table { entries }
}

fn place(span: std::ops::Range<usize>, source: u32, offset: usize) -> At {
    At { source, start: small(offset + span.start), end: small(offset + span.end) }
}

fn small(at: usize) -> u32 {
    u32::try_from(at).expect("a source is at most a mebibyte")
}

/// A step of the path to a value: a key, with an index if the key's value is a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) key: String,
    pub(crate) index: Option<usize>,
}

/// Reads the path to a value, such as `flows[1].cc` or `"bottleneck"."buffer"`.
pub(crate) fn parse_path(text: &str) -> Result<Vec<Step>, String> {
    /// The largest number of steps of a path. The path to any key of a scenario has fewer steps.
    const STEPS_MAX: usize = 8;
    let mut steps = Vec::new();
    for part in text.trim().split('.') {
        let part = part.trim();
        let (key, index) =
            match part.split_once('[') {
                None => (part, None),
                Some((key, rest)) => {
                    let index = rest.strip_suffix(']').and_then(|index| index.trim().parse().ok());
                    (
                        key,
                        Some(index.ok_or_else(|| {
                            format!("`{part}`, which has no index as in `flows[1]`")
                        })?),
                    )
                }
            };
        let key = key.trim().trim_matches('"');
        if key.is_empty() {
            return Err(format!("`{text}`, which has an empty part"));
        }
        steps.push(Step { key: key.to_owned(), index });
    }
    if steps.len() > STEPS_MAX {
        return Err(format!("`{}...`, which is too deep", steps[0].key));
    }
    Ok(steps)
}

/// Replaces the name of a queue discipline by a table whose key `discipline` has this name, so that
/// a parameter can be set in the table.
fn name_as_table(entry: &mut Entry) {
    if !matches!(&*entry.key, "queue" | "reverse_queue")
        || !matches!(entry.value.value, Value::Text(_))
    {
        return;
    }
    let name = entry.value.clone();
    let mut table = Table::default();
    table.set("discipline", entry.key_at, name.clone());
    entry.value = Arc::new(Node { value: Value::Table(table), at: name.at });
}

/// Returns the index of the first table whose `name` is this name. If no table has the name,
/// returns the indices of all tables whose `group` is this name.
pub(crate) fn called(elements: &[Arc<Node>], name: &str) -> Vec<usize> {
    let with = |key: &str| -> Vec<usize> {
        let has = |node: &Node| {
            let Value::Table(table) = &node.value else { return false };
            let Some(entry) = table.get(key) else { return false };
            matches!(&entry.value.value, Value::Text(text) if text == name)
        };
        (0..elements.len()).filter(|&at| has(&elements[at])).collect()
    };
    let mut named = with("name");
    // Valid names are unique. If several tables have the same name, only the first is used.
    named.truncate(1);
    if named.is_empty() { with("group") } else { named }
}

/// Sets the value at `path`. `flows.KEY` and `links.KEY` set a value in all tables of the list, and
/// `flows[1].KEY` in the second table. `flows.NAME.KEY` and `links.NAME.KEY` set the value in the
/// table with the name NAME. If no table has that name, `flows.NAME.KEY` sets the value in the
/// tables of the group NAME.
pub(crate) fn set(
    root: &mut Table,
    path: &[Step],
    key_at: At,
    value: &Arc<Node>,
) -> Result<(), String> {
    let (step, rest) = path.split_first().expect("a path has a step");
    if rest.is_empty() {
        if step.index.is_some() {
            return Err(format!("`{0}[...]`, a whole table; add a key: `{0}[...].KEY`", step.key));
        }
        root.set(&step.key, key_at, value.clone());
        return Ok(());
    }
    let is_list = matches!(step.key.as_str(), "flows" | "links");
    if root.get(&step.key).is_none() {
        if is_list || step.index.is_some() {
            return Err(format!("`{0}`, but there is no [[{0}]]", step.key));
        }
        let empty = Node { value: Value::Table(Table::default()), at: key_at };
        root.set(&step.key, key_at, Arc::new(empty));
    }
    let entry = root.entries.iter_mut().find(|entry| *entry.key == *step.key).expect("just set");
    name_as_table(entry);
    match &mut Arc::make_mut(&mut entry.value).value {
        Value::Table(_) if step.index.is_some() => {
            Err(format!("`{}[...]`, but [{}] is a single table", step.key, step.key))
        }
        Value::Table(table) => set(table, rest, key_at, value),
        Value::Array(elements) => {
            let by_name = if rest.len() > 1 && step.index.is_none() {
                called(elements, &rest[0].key)
            } else {
                Vec::new()
            };
            let (chosen, rest) = match step.index {
                Some(index) if index < elements.len() => (vec![index], rest),
                Some(index) => {
                    let n = elements.len();
                    return Err(format!(
                        "`{0}[{index}]`, but there are {n} [[{0}]], counted from 0",
                        step.key
                    ));
                }
                None if by_name.is_empty() => ((0..elements.len()).collect(), rest),
                None => (by_name, &rest[1..]),
            };
            for index in chosen {
                match &mut Arc::make_mut(&mut elements[index]).value {
                    Value::Table(table) => set(table, rest, key_at, value)?,
                    other => {
                        return Err(format!(
                            "a key of `{0}`, but the list `{0}` contains {1}, which has no keys",
                            step.key,
                            other.kind()
                        ));
                    }
                }
            }
            Ok(())
        }
        other => Err(format!(
            "a key of `{0}`, but the value of `{0}` is {1}, which has no keys",
            step.key,
            other.kind()
        )),
    }
}
