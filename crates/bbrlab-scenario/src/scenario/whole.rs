//! Writes the text of a whole scenario with its sweep, which is stored as `scenario.toml` in a
//! sweep's folder.
//!
//! The text is the scenario that was read, with every `--set` applied and without comments. Tables
//! have a fixed order; keys and lists keep the order of the file. Values keep their spelling,
//! because results show swept values as spelt. The text contains the contents of the trace files,
//! so it can be read in any folder.

use crate::keys::size_distribution::show_points;
use crate::language::canonical::{Writer, inline_table, toml_key, toml_string};
use crate::language::document::{Step, Table, Value};
use crate::language::traces::Traces;
use crate::scenario::sweep::{Setting, Sweep};

/// The order of keys and tables at the top level of the text. Tables follow values, as TOML
/// requires.
const ORDER: [&str; 11] = [
    "title",
    "duration",
    "seed",
    "repeat",
    "sample",
    "controls",
    "stack",
    "bottleneck",
    "access",
    "links",
    "flows",
];

/// The tables with links, and their keys whose values may name trace files: the rates and `trace`.
const OF_LINKS: [&str; 3] = ["bottleneck", "access", "links"];
const RATES: [&str; 2] = ["rate", "reverse_rate"];
const PATH: &str = "trace";

/// The table of flows, its key `sizes`, and the key in `sizes` whose value may name a file.
const FLOWS: &str = "flows";
const SIZES: &str = "sizes";
const POINTS: &str = "points";

/// The kind of file that a value may name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Nothing,
    Rate,
    Path,
    Points,
    /// The table `sizes`, whose key `points` may name a file.
    Sizes,
}

impl Names {
    fn of(table: &str, key: &str) -> Self {
        match key {
            POINTS if table == FLOWS => Self::Points,
            SIZES if table == FLOWS => Self::Sizes,
            _ if !OF_LINKS.contains(&table) => Self::Nothing,
            PATH => Self::Path,
            _ if RATES.contains(&key) => Self::Rate,
            _ => Self::Nothing,
        }
    }
}

/// Returns the TOML text of a checked scenario.
pub(crate) fn to_toml(tree: &Table, sweep: &Sweep, traces: &Traces) -> String {
    let files = Files { traces };
    let mut out = Writer::default();
    for name in ORDER {
        let Some(entry) = tree.get(name) else { continue };
        match &entry.value.value {
            // Tables other than `repeat` are written as sections.
            Value::Table(table) if name != "repeat" => {
                out.table_always(&format!("[{name}]"));
                write_table(&mut out, name, table, &files);
            }
            Value::Array(elements) if matches!(name, "links" | "flows") => {
                for element in elements {
                    out.table_always(&format!("[[{name}]]"));
                    if let Value::Table(table) = &element.value {
                        write_table(&mut out, name, table, &files);
                    }
                }
            }
            value => out.raw(name, &toml_value(value)),
        }
    }
    out.table("[sweep]");
    for choices in sweep.choices() {
        write_axis(&mut out, choices, &files);
    }
    out.finish()
}

fn write_table(out: &mut Writer, name: &str, table: &Table, files: &Files<'_>) {
    for entry in &table.entries {
        let names = Names::of(name, &entry.key);
        out.raw(&toml_key(&entry.key), &files.show(&entry.value.value, names));
    }
}

/// Writes one list of values of a sweep, or the list `points`.
fn write_axis(out: &mut Writer, choices: &[Vec<Setting>], files: &Files<'_>) {
    let show = |setting: &Setting| files.show(&setting.value.value, names(&setting.path));
    if let [first, ..] = choices
        && let [setting] = first.as_slice()
        && choices.iter().all(|choice| matches!(&choice[..], [one] if one.key == setting.key))
    {
        let values: Vec<String> = choices.iter().flatten().map(show).collect();
        out.raw(&toml_key(&setting.key), &format!("[{}]", values.join(", ")));
        return;
    }
    let points = choices.iter().map(|choice| {
        let settings = choice.iter().map(|s| format!("{} = {}", toml_key(&s.key), show(s)));
        format!("    {{ {} }},\n", settings.collect::<Vec<_>>().join(", "))
    });
    out.raw("points", &format!("[\n{}]", points.collect::<String>()));
}

fn names(path: &[Step]) -> Names {
    let ends = path.first().zip(path.last());
    ends.map_or(Names::Nothing, |(first, last)| Names::of(&first.key, &last.key))
}

/// The contents of the trace files that the scenario names.
struct Files<'a> {
    traces: &'a Traces,
}

impl Files<'_> {
    /// Returns a value as TOML. If the value names a trace file, the TOML contains the content of
    /// the file.
    fn show(&self, value: &Value, names: Names) -> String {
        if let (Names::Sizes, Value::Table(table)) = (names, value) {
            let entry = |key: &str, value: &Value| {
                format!("{} = {}", toml_key(key), self.show(value, Names::of(FLOWS, key)))
            };
            let entries = table.entries.iter().map(|e| entry(&e.key, &e.value.value));
            return inline_table(entries);
        }
        let file = match value {
            Value::Text(text) => Some(text.as_str()),
            value => value.trace_file(),
        };
        let Some(file) = file else { return toml_value(value) };
        if names == Names::Path
            && let Some(trace) = self.traces.known_path(file)
        {
            let rows: Vec<String> = trace.lines.iter().map(|line| toml_string(line)).collect();
            return format!("{{ trace = {}, rows = [{}] }}", toml_string(file), rows.join(", "));
        }
        if names == Names::Points
            && let Some(cdf) = self.traces.known_cdf(file)
        {
            return format!("{{ trace = {}, rows = {} }}", toml_string(file), show_points(&cdf));
        }
        match self.traces.known(file).filter(|_| names == Names::Rate) {
            Some(trace) => {
                let at: Vec<String> = trace.opportunities_ms().iter().map(u32::to_string).collect();
                let (file, at) = (toml_string(file), at.join(", "));
                format!("{{ trace = {file}, opportunities_ms = [{at}] }}")
            }
            None => toml_value(value),
        }
    }
}

fn toml_value(value: &Value) -> String {
    match value {
        Value::Text(text) => toml_string(text),
        Value::Integer(number) => number.map_or_else(String::new, |number| number.to_string()),
        Value::Float(text) | Value::Datetime(text) => text.clone(),
        Value::Bool(value) => value.to_string(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(|value| toml_value(&value.value)).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Table(table) => {
            let entry =
                |key: &str, value: &Value| format!("{} = {}", toml_key(key), toml_value(value));
            let entries = table.entries.iter().map(|e| entry(&e.key, &e.value.value));
            inline_table(entries)
        }
    }
}
