//! Reads typed values from the tree of a scenario. Reading continues after a mistake, so one call
//! reports all mistakes.

use std::sync::Arc;

use bbrlab_link::Trace;
use bbrlab_run::{Cdf, Outside};
use bbrlab_units::{BitRate, Bytes, Span};

use crate::language::decimal::Decimal;
use crate::language::document::{At, Node, Source, Table, Value};
use crate::language::error::{ScenarioError, ScenarioErrors};
use crate::language::nearest::nearest;
use crate::language::path_trace::PathTrace;
use crate::language::quantity::{self, QueueSize, Refusal, quoted};
use crate::language::traces::{ReadFile, Traces, no_files};

/// A mistake and its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) at: At,
    pub(crate) title: String,
    pub(crate) found: String,
    pub(crate) help: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// The largest number of mistakes that a reader records.
const PROBLEMS_MAX: usize = 100;

/// Reads values and collects mistakes.
pub(crate) struct Reader<'a> {
    pub(crate) problems: Vec<Problem>,
    /// Whether the last mistake was not recorded, because [`PROBLEMS_MAX`] mistakes had been
    /// recorded before.
    dropped: bool,
    /// The function that reads the files that the scenario names.
    files: ReadFile<'a>,
    /// The trace files read so far.
    pub(crate) traces: &'a mut Traces,
    /// The custom congestion controls that the scenario declares.
    pub(crate) controls: Vec<Arc<Outside>>,
}

/// A table that is being read. The reader records which keys have been read, so that the other keys
/// can be reported as unknown.
pub(crate) struct Keys<'t> {
    table: &'t Table,
    /// The path of the table as users write it: `bottleneck`, `flows[1]`; empty for the top level.
    pub(crate) path: String,
    /// The position at which the table begins.
    pub(crate) at: At,
    known: Vec<&'static str>,
    /// Keys that must not be reported as unknown, because a mistake about them was already
    /// reported.
    excused: Vec<&'static str>,
}

/// A value with its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) at: At,
}

impl<'t> Keys<'t> {
    pub(crate) fn new(table: &'t Table, path: impl Into<String>, at: At) -> Self {
        Self { table, path: path.into(), at, known: Vec::new(), excused: Vec::new() }
    }

    /// Returns the value of a key, and records the key as known, so that it is not reported as
    /// unknown.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<&'t Node> {
        self.known.push(key);
        self.table.get(key).map(|entry| &*entry.value)
    }

    /// Returns the value of a key, without recording the key as known.
    pub(crate) fn get(&self, key: &str) -> Option<&'t Node> {
        self.table.get(key).map(|entry| &*entry.value)
    }

    /// Returns whether the table has the key, without recording the key as known.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Returns the position of a key, for mistakes about the key itself.
    pub(crate) fn key_at(&self, key: &str) -> Option<At> {
        self.table.get(key).map(|entry| entry.key_at)
    }

    /// Prevents a key from being reported as unknown.
    pub(crate) fn excuse(&mut self, key: &'static str) {
        self.excused.push(key);
    }

    /// Returns a key's name with the path of its table, such as `flows[0].cc`.
    pub(crate) fn name(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Reports as unknown all keys that were neither read nor passed to [`Self::excuse`].
    pub(crate) fn finish(self, reader: &mut Reader<'_>) {
        let whose =
            if self.path.is_empty() { "the file".to_owned() } else { format!("`{}`", self.path) };
        for entry in &self.table.entries {
            if self.known.contains(&&*entry.key) || self.excused.contains(&&*entry.key) {
                continue;
            }
            if reader.is_full() {
                return;
            }
            let mut help = Vec::new();
            if let Some(right) = nearest(&entry.key, self.known.iter().copied()) {
                help.push(format!("did you mean `{right}`?"));
            }
            let shown = self.name(&short(&entry.key));
            reader.problem(
                entry.key_at,
                format!("`{shown}`: expected a key of {whose}"),
                "found an unknown key",
                help,
            );
            reader.note(format!("keys of {whose}: {}", self.known.join(", ")));
        }
    }
}

/// Returns a key for a message, cut if it has more than 40 characters.
fn short(key: &str) -> String {
    const SHOWN: usize = 40;
    if key.chars().count() <= SHOWN {
        key.to_owned()
    } else {
        key.chars().take(SHOWN).chain("...".chars()).collect()
    }
}

impl<'a> Reader<'a> {
    /// Creates a reader. The reader reads a file with `files`, unless the file is already in
    /// `traces`.
    pub(crate) fn new(files: ReadFile<'a>, traces: &'a mut Traces) -> Self {
        Self { problems: Vec::new(), dropped: false, files, traces, controls: Vec::new() }
    }

    /// Creates a reader without access to files, for a scenario that was already checked or names
    /// no files.
    pub(crate) fn without_files(traces: &'a mut Traces) -> Self {
        Self::new(&no_files, traces)
    }
}

impl Reader<'_> {
    /// Returns the Mahimahi trace in a file, or the reason why the file cannot be read.
    pub(crate) fn read_trace(&mut self, file: &str) -> Result<Arc<Trace>, String> {
        self.traces.read(file, self.files)
    }

    /// Returns the changes of a link's rate, delay and loss that a CSV file lists, or the reason
    /// why the file cannot be read.
    pub(crate) fn read_path(&mut self, file: &str) -> Result<Arc<PathTrace>, String> {
        self.traces.read_path(file, self.files)
    }

    /// Returns the distribution in a file, or the reason why the file cannot be read.
    pub(crate) fn read_cdf(&mut self, file: &str) -> Result<Arc<Cdf>, String> {
        self.traces.read_cdf(file, self.files)
    }
}

impl Reader<'_> {
    pub(crate) fn problem(
        &mut self,
        at: At,
        title: impl Into<String>,
        found: impl Into<String>,
        help: Vec<String>,
    ) {
        self.dropped = self.is_full();
        if self.dropped {
            return;
        }
        let (title, found) = (title.into(), found.into());
        self.problems.push(Problem { at, title, found, help, notes: Vec::new() });
    }

    /// Returns whether the largest number of recorded mistakes is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.problems.len() >= PROBLEMS_MAX
    }

    /// Adds a note to the last mistake.
    pub(crate) fn note(&mut self, note: String) {
        if self.dropped {
            return;
        }
        let last = self.problems.last_mut().expect("there is a mistake to add to");
        last.notes.push(note);
    }

    /// Reports that a key is missing from a table.
    pub(crate) fn missing(&mut self, keys: &Keys<'_>, key: &str, expected: &str) {
        let title = format!("`{}`: expected {expected}", keys.name(key));
        self.problem(keys.at, title, "found nothing: the key is missing", Vec::new());
    }

    /// Reports a value that is not what `expected` describes.
    pub(crate) fn wrong(&mut self, node: &Node, name: &str, expected: &str) {
        let found = found(&node.value);
        let mut help = Vec::new();
        if matches!(node.value, Value::Array(_)) && !expected.contains("list") {
            let swept =
                "several values are swept: as a list in [sweep], or `--set 'sweep.KEY=[...]'`";
            help.push(swept.to_owned());
        }
        self.problem(
            node.at,
            format!("`{name}`: expected {expected}"),
            format!("found {found}"),
            help,
        );
    }

    /// Reads the value of a required key, and reports a mistake if the key is missing.
    pub(crate) fn needed<T>(
        &mut self,
        keys: &mut Keys<'_>,
        key: &'static str,
        expected: &str,
        read: impl FnOnce(&mut Self, &Node, &str) -> Option<T>,
    ) -> Option<T> {
        let Some(node) = keys.take(key) else {
            self.missing(keys, key, expected);
            return None;
        };
        read(self, node, &keys.name(key))
    }

    pub(crate) fn quantity<T>(
        &mut self,
        node: &Node,
        name: &str,
        expected: &str,
        example: &str,
        parse: impl Fn(&str) -> Result<T, Refusal>,
    ) -> Option<T> {
        let title = format!("`{name}`: expected {expected} such as {example}");
        match &node.value {
            Value::Text(text) => match parse(text) {
                Ok(value) => return Some(value),
                Err(Refusal { found, help }) => {
                    self.problem(
                        node.at,
                        title,
                        format!("found {found}"),
                        help.into_iter().collect(),
                    );
                }
            },
            Value::Integer(_) | Value::Float(_) => {
                let help = "write the quantity as a string with its unit".to_owned();
                let found = format!("found {}, which has no unit", found(&node.value));
                self.problem(node.at, title, found, vec![help]);
            }
            other => {
                let found = format!("found {}", found(other));
                self.problem(node.at, title, found, Vec::new());
            }
        }
        None
    }

    /// Reads a length of time, which may be zero.
    pub(crate) fn span(&mut self, node: &Node, name: &str) -> Option<Span> {
        self.quantity(node, name, "a time", "\"30ms\"", quantity::parse_span)
    }

    /// Reads a length of time above zero.
    pub(crate) fn positive_span(&mut self, node: &Node, name: &str) -> Option<Span> {
        self.positive_span_such_as(node, name, "\"30ms\"")
    }

    /// Reads a length of time above zero, for a key that also accepts another form. `such_as` has
    /// examples of both forms.
    pub(crate) fn positive_span_such_as(
        &mut self,
        node: &Node,
        name: &str,
        such_as: &str,
    ) -> Option<Span> {
        let expected = "a time above zero";
        let span = self.quantity(node, name, expected, such_as, quantity::parse_span)?;
        self.above_zero(node, name, &format!("{expected} such as {such_as}"), span.0)
            .then_some(span)
    }

    /// Reads a rate above zero.
    pub(crate) fn rate(&mut self, node: &Node, name: &str) -> Option<BitRate> {
        self.rate_such_as(node, name, "\"50Mbit/s\"")
    }

    /// Reads a rate above zero, for a key that also accepts another form. `such_as` has examples of
    /// both forms.
    pub(crate) fn rate_such_as(
        &mut self,
        node: &Node,
        name: &str,
        such_as: &str,
    ) -> Option<BitRate> {
        let expected = "a rate above zero";
        let rate = self.quantity(node, name, expected, such_as, quantity::parse_rate)?;
        self.above_zero(node, name, &format!("{expected} such as {such_as}"), rate.0)
            .then_some(rate)
    }

    /// Reads a rate, which may be zero.
    pub(crate) fn rate_or_zero(&mut self, node: &Node, name: &str) -> Option<BitRate> {
        self.quantity(node, name, "a rate", "\"50Mbit/s\"", quantity::parse_rate)
    }

    /// Reads a number of bytes, which may be zero.
    pub(crate) fn bytes(&mut self, node: &Node, name: &str) -> Option<Bytes> {
        self.quantity(node, name, "a number of bytes", "\"131072B\"", quantity::parse_bytes)
    }

    /// Reads a number of bytes above zero.
    pub(crate) fn positive_bytes(&mut self, node: &Node, name: &str) -> Option<Bytes> {
        let expected = "a number of bytes above zero";
        let bytes = self.quantity(node, name, expected, "\"131072B\"", quantity::parse_bytes)?;
        self.above_zero(node, name, "a number of bytes above zero such as \"131072B\"", bytes.0)
            .then_some(bytes)
    }

    /// Reads the size of a queue, above zero.
    pub(crate) fn queue_size(&mut self, node: &Node, name: &str) -> Option<QueueSize> {
        let expected = "a buffer for at least one packet";
        let examples = "\"100pkt\", \"64KiB\", \"20ms\" or \"2bdp\"";
        let size = self.quantity(node, name, expected, examples, quantity::parse_queue_size)?;
        if size.is_zero() {
            let title = format!("`{name}`: expected {expected} such as {examples}");
            let found =
                format!("found {}, which drops every packet that has to wait", found(&node.value));
            self.problem(node.at, title, found, Vec::new());
            return None;
        }
        Some(size)
    }

    /// Reads a queue's threshold, which must be above zero: a queue length or a waiting time. `of`
    /// converts the threshold and returns `None` for a unit that the key does not accept.
    pub(crate) fn queue_threshold<T>(
        &mut self,
        node: &Node,
        name: &str,
        (expected, examples): (&str, &str),
        of: impl FnOnce(QueueSize) -> Option<T>,
    ) -> Option<T> {
        let size = self.quantity(node, name, expected, examples, quantity::parse_queue_size)?;
        let title = format!("`{name}`: expected {expected} such as {examples}");
        let mut found = format!("found {}", found(&node.value));
        if size.is_zero() {
            found.push_str(", which is zero");
        } else if let Some(threshold) = of(size) {
            return Some(threshold);
        }
        self.problem(node.at, title, found, Vec::new());
        None
    }

    fn above_zero(&mut self, node: &Node, name: &str, expected: &str, value: u64) -> bool {
        if value == 0 {
            let found = format!("found {}, which is zero", found(&node.value));
            self.problem(node.at, format!("`{name}`: expected {expected}"), found, Vec::new());
        }
        value > 0
    }

    /// Reads a whole number within bounds.
    pub(crate) fn integer(
        &mut self,
        node: &Node,
        name: &str,
        least: u64,
        most: u64,
    ) -> Option<u64> {
        if let Value::Integer(Some(value)) = node.value
            && let Ok(value) = u64::try_from(value)
            && (least..=most).contains(&value)
        {
            return Some(value);
        }
        self.wrong(node, name, &format!("a whole number from {least} to {most}"));
        None
    }

    /// Reads a share from 0 to 1.
    pub(crate) fn ratio(&mut self, node: &Node, name: &str) -> Option<Decimal> {
        let number = match &node.value {
            Value::Integer(Some(value)) => Some(Decimal::from_int(*value)),
            Value::Float(text) => Decimal::parse(text),
            Value::Text(text) => quantity::parse_percent(text),
            _ => None,
        };
        let ratio = number.filter(|number| number.is_ratio());
        if ratio.is_none() {
            self.wrong(node, name, "a number from 0 to 1, or a percentage such as \"1%\"");
        }
        ratio
    }

    /// Reads `true` or `false`.
    pub(crate) fn boolean(&mut self, node: &Node, name: &str) -> Option<bool> {
        if let Value::Bool(value) = node.value {
            return Some(value);
        }
        self.wrong(node, name, "true or false");
        None
    }

    /// Reads any string.
    pub(crate) fn text<'n>(&mut self, node: &'n Node, name: &str) -> Option<&'n str> {
        if let Value::Text(text) = &node.value {
            return Some(text);
        }
        self.wrong(node, name, "a string");
        None
    }

    /// Reads one of the names in `choices`. In messages, `more` describes the values that are
    /// accepted in addition to these names.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        node: &Node,
        name: &str,
        choices: &[(&str, T)],
        more: &str,
    ) -> Option<T> {
        let names: Vec<&str> = choices.iter().map(|&(name, _)| name).collect();
        if let Value::Text(text) = &node.value
            && let Some(&(_, value)) = choices.iter().find(|&&(choice, _)| choice == text)
        {
            return Some(value);
        }
        let list: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        let mut help = Vec::new();
        if let Value::Text(text) = &node.value
            && let Some(right) = nearest(text, names)
        {
            help.push(format!("did you mean {right:?}?"));
        }
        let title = format!("`{name}`: expected {}{more}", list.join(" or "));
        self.problem(node.at, title, format!("found {}", found(&node.value)), help);
        None
    }

    /// Reads a table.
    pub(crate) fn table<'n>(
        &mut self,
        node: &'n Node,
        name: &str,
        expected: &str,
    ) -> Option<&'n Table> {
        if let Value::Table(table) = &node.value {
            return Some(table);
        }
        self.wrong(node, name, expected);
        None
    }

    /// Returns the mistakes recorded so far in the order of their positions, without duplicates.
    pub(crate) fn errors(&self, sources: &[Source], note: Option<&str>) -> ScenarioErrors {
        let mut problems: Vec<&Problem> = Vec::new();
        let mut sorted: Vec<&Problem> = self.problems.iter().collect();
        sorted.sort_by_key(|problem| (problem.at.source, problem.at.start));
        for problem in sorted {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        let told = problems.into_iter().map(|problem| {
            let source = &sources[problem.at.source as usize];
            let span = problem.at.start as usize..problem.at.end as usize;
            let title = problem.title.clone();
            let mut error =
                ScenarioError::at(&source.name, &source.text, span, title, problem.found.clone());
            error.help.clone_from(&problem.help);
            error.notes.clone_from(&problem.notes);
            error.notes.extend(note.map(str::to_owned));
            error
        });
        ScenarioErrors(told.collect())
    }
}

/// Describes the value found, for an error message.
pub(crate) fn found(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Integer(Some(value)) => format!("the number {value}"),
        Value::Integer(None) => "a number beyond 128 bits".to_owned(),
        Value::Float(text) => format!("the number {}", short(text)),
        Value::Bool(value) => format!("{value}"),
        Value::Datetime(text) => format!("the date {text}"),
        Value::Array(values) if values.is_empty() => "an empty list".to_owned(),
        Value::Array(_) | Value::Table(_) => value.kind().to_owned(),
    }
}
