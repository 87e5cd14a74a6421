//! Descriptions of a scenario's keys for the documentation and for editors: tables in Markdown, and
//! a JSON Schema.
//!
//! The tables and the JSON Schema are generated from the definitions that also read and write the
//! keys ([`crate::language::key`]).

use serde_json::{Map, Value, json};

use crate::keys::flow::{FLOW_KEYS, algorithms};
use crate::keys::link::{ACCESS_KEYS, LINK_KEYS};
use crate::keys::spec::{NAME_KEYS, TOP_KEYS};
use crate::keys::stack::STACK_KEYS;
use crate::language::key::{Form, Key, Part};

/// The first version of bbrlab. The tables show the version of a key only if the key was added
/// later.
const FIRST_VERSION: &str = "0.1.0";

/// A table of a scenario and its keys.
#[derive(Clone, Debug)]
pub struct Section {
    /// The table's header in a scenario, such as `[stack]` or `[[flows]]`; empty for the top level.
    pub header: &'static str,
    /// The table's keys.
    pub keys: Vec<KeyReference>,
}

/// The description of a key.
#[derive(Clone, Debug)]
pub struct KeyReference {
    /// The key's name.
    pub name: &'static str,
    /// The version of bbrlab that introduced the key.
    pub since: &'static str,
    /// The key's meaning, in Markdown.
    pub meaning: &'static str,
    /// The key's default, in Markdown; `None` for a required key.
    pub default: Option<String>,
    form: Form,
}

/// Returns all tables with their keys, except `[sweep]`, whose keys are the full names of other
/// keys.
#[must_use]
pub fn sections() -> Vec<Section> {
    vec![
        Section { header: "", keys: of(TOP_KEYS) },
        Section { header: "[stack]", keys: of(&STACK_KEYS) },
        Section { header: "[bottleneck]", keys: of(LINK_KEYS) },
        Section { header: "[[links]]", keys: [of(NAME_KEYS), of(LINK_KEYS)].concat() },
        Section { header: "[access]", keys: of(ACCESS_KEYS) },
        Section { header: "[[flows]]", keys: of(&FLOW_KEYS) },
    ]
}

fn of<S: Default>(rows: &[Key<S>]) -> Vec<KeyReference> {
    let reference = |row: &Key<S>| {
        let default =
            row.default().map_or_else(|| row.without.to_owned(), |toml| format!("`{toml}`"));
        KeyReference {
            name: row.name,
            since: row.since,
            meaning: row.meaning,
            default: row.needed.is_none().then_some(default),
            form: row.form,
        }
    };
    rows.iter().map(reference).collect()
}

impl Section {
    /// Returns the keys as a table in Markdown. Defaults that are too long for a cell follow the
    /// table.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        /// The most words in a cell, a limit that `xtask/prose.py` checks.
        const MOST_WORDS: usize = 60;
        let mut out =
            "| key | values | meaning | default |\n| --- | --- | --- | --- |\n".to_owned();
        let mut long = String::new();
        for key in &self.keys {
            let since = if key.since == FIRST_VERSION {
                String::new()
            } else {
                format!(" (since {})", key.since)
            };
            let mut default = key.default.as_deref().unwrap_or("must be given");
            if default.split_whitespace().count() > MOST_WORDS {
                long += &format!("\nThe default of `{}` is {default}.\n", key.name);
                default = "below the table";
            }
            let values = key.form.to_words();
            out += &format!("| `{}` | {values} | {}{since} | {default} |\n", key.name, key.meaning);
        }
        out + &long
    }

    fn to_schema(&self) -> Value {
        let needed = self.keys.iter().filter(|key| key.default.is_none());
        let needed: Vec<&str> = needed.map(|key| key.name).collect();
        let properties = self.keys.iter().map(|key| {
            let mut schema = key.form.to_schema();
            let object = schema.as_object_mut().expect("a form is an object");
            object.insert("description".to_owned(), key.meaning.into());
            (key.name.to_owned(), schema)
        });
        object(&properties.collect(), &needed)
    }
}

/// Returns a JSON Schema (draft 2020-12) of scenarios, for editors and other programs. The schema
/// checks names, types of values and bounds of numbers, but neither units nor conditions on several
/// keys. A scenario that does not match the schema is wrong, but `bbrlab check` may also reject a
/// scenario that matches.
///
/// # Panics
/// The function never panics: the schemas of sections and of values are objects.
#[must_use]
pub fn schema() -> Value {
    let sections = sections();
    let (top, tables) = sections.split_first().expect("the top level comes first");
    let mut schema = top.to_schema();
    let properties = schema["properties"].as_object_mut().expect("an object has properties");
    for table in tables {
        let name = table.header.trim_matches(['[', ']']);
        let is_list = table.header.starts_with("[[");
        let of_table = table.to_schema();
        let list = || json!({ "type": "array", "items": of_table });
        properties.insert(name.to_owned(), if is_list { list() } else { of_table.clone() });
    }
    properties["flows"]["minItems"] = 1.into();
    let points = json!({ "type": "array", "items": { "type": "object" } });
    properties.insert(
        "sweep".to_owned(),
        json!({
            "type": "object",
            "properties": { "points": points },
            "additionalProperties": { "type": "array" },
        }),
    );
    schema["required"].as_array_mut().expect("a list").push("flows".into());
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema
}

fn object(properties: &Map<String, Value>, needed: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": false,
    })
}

impl Form {
    /// Returns a short description of the values of this form, in Markdown.
    fn to_words(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Bool => "`true`, `false`".to_owned(),
            Self::Ratio => "a ratio".to_owned(),
            Self::Whole(least, most) if most >= i64::MAX as u64 => format!("from {least} on"),
            Self::Whole(least, most) => format!("{least} to {most}"),
            Self::Number(least, most) => format!("{least} to {most}"),
            Self::Frequency => "a number per second".to_owned(),
            Self::Time => "a time".to_owned(),
            Self::Rate => "a rate".to_owned(),
            Self::Bytes => "bytes".to_owned(),
            Self::QueueSize => "a buffer".to_owned(),
            Self::Choice(names) => {
                let names: Vec<String> =
                    names().iter().map(|name| format!("`\"{name}\"`")).collect();
                names.join(", ")
            }
            Self::Algorithm => "an algorithm".to_owned(),
            Self::List(form) => format!("[{}, ...]", form.to_words()),
            Self::Pair(first, second) => format!("[{}, {}]", first.to_words(), second.to_words()),
            Self::Table(parts) => names_of(parts),
            Self::TableOf(parts) => names_of(&parts()),
            Self::Named(parts) => format!("`{{ NAME = {{ {} }}, ... }}`", part_names(parts)),
            Self::Params => "a table".to_owned(),
            Self::Any(forms) => {
                let words: Vec<String> = forms.iter().map(|form| form.to_words()).collect();
                words.join("; ")
            }
        }
    }

    fn to_schema(self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::Bool => json!({ "type": "boolean" }),
            Self::Ratio => json!({ "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                { "type": "string", "examples": ["1%"] },
            ] }),
            Self::Whole(least, most) => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            Self::Number(least, most) => {
                json!({ "type": "number", "minimum": least, "maximum": most })
            }
            Self::Frequency => json!({ "type": "string", "examples": ["50/s"] }),
            Self::Time => json!({ "type": "string", "examples": ["30ms"] }),
            Self::Rate => json!({ "type": "string", "examples": ["50Mbit/s"] }),
            Self::Bytes => json!({ "type": "string", "examples": ["131072B"] }),
            Self::QueueSize => {
                json!({ "type": "string", "examples": ["100pkt", "64KiB", "20ms", "2bdp"] })
            }
            Self::Choice(names) => json!({ "enum": names() }),
            Self::Algorithm => json!({ "type": "string", "examples": algorithms() }),
            Self::List(form) => json!({ "type": "array", "items": form.to_schema() }),
            Self::Pair(first, second) => json!({
                "type": "array",
                "prefixItems": [first.to_schema(), second.to_schema()],
                "minItems": 2,
                "maxItems": 2,
            }),
            Self::Table(parts) => table(parts),
            Self::TableOf(parts) => table(&parts()),
            Self::Named(parts) => json!({ "type": "object", "additionalProperties": table(parts) }),
            Self::Params => json!({
                "type": "object",
                "additionalProperties": { "type": ["number", "string", "boolean"] },
            }),
            Self::Any(forms) => {
                let schemas: Vec<Value> = forms.iter().map(|form| form.to_schema()).collect();
                json!({ "anyOf": schemas })
            }
        }
    }
}

fn names_of(parts: &[Part]) -> String {
    format!("`{{ {} }}`", part_names(parts))
}

fn part_names(parts: &[Part]) -> String {
    let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
    names.join(", ")
}

fn table(parts: &[Part]) -> Value {
    let needed = parts.iter().filter(|part| part.is_needed);
    let needed: Vec<&str> = needed.map(|part| part.name).collect();
    let schema = |part: &Part| (part.name.to_owned(), part.form.to_schema());
    object(&parts.iter().map(schema).collect(), &needed)
}
