//! `queue`: a link's queue discipline, given by its name in `tc` or as a table with its parameters.

mod access;
mod params;

use bbrlab_link::{Buffer, NamedQueue, Queue};
use bbrlab_units::BitRate;

use crate::language::canonical::toml_string;
use crate::language::document::{At, Node, Value};
use crate::language::key::{Form, KeyInput, Part, optional};
use crate::language::quantity::{QueueSize, show_queue_size};
use crate::language::reader::{Keys, Placed, Reader};
use params::{PARAMS, Param};

/// The description of a queue discipline, for lists of all disciplines.
#[derive(Clone, Debug)]
pub struct QueueInfo {
    /// The discipline's name in scenarios: its name in `tc`, or `droptail`.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// The default limit in packets; `None` if the default depends on the link.
    pub limit: Option<u64>,
    /// The parameters: name, default (if there is one) and meaning.
    pub parameters: Vec<(&'static str, Option<String>, &'static str)>,
}

/// Returns all queue disciplines with their parameters.
#[must_use]
pub fn queues() -> Vec<QueueInfo> {
    let info = |it: &NamedQueue| QueueInfo {
        name: it.name,
        summary: it.summary,
        limit: it.limit,
        parameters: params_of(it.default)
            .map(|param| (param.name, param.access.show(it.default), param.meaning))
            .collect(),
    };
    Queue::NAMED.iter().map(info).collect()
}

/// A queue discipline as the scenario writes it: the discipline with its parameters, and its limit
/// if the table sets one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueSpec {
    pub(crate) queue: Queue,
    pub(crate) limit: Option<Placed<QueueSize>>,
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self { queue: Queue::DropTail, limit: None }
    }
}

impl QueueSpec {
    /// Returns the default limit of the discipline: the default of `tc`, or a limit computed from
    /// the discipline's parameters and the link's `rate`. `None` for drop-tail, and for `red` if
    /// the link has no rate.
    pub(crate) fn default_limit(&self, rate: Option<BitRate>) -> Option<QueueSize> {
        if let Queue::Red(red) = &self.queue {
            return Some(QueueSize::Bytes(red.limit(rate?).0));
        }
        entry(&self.queue).limit.map(QueueSize::Packets)
    }

    /// Returns the rate of the discipline's own shaper, if it has one.
    pub(crate) fn shaper(&self) -> Option<BitRate> {
        match &self.queue {
            Queue::Cake(cake) => cake.bandwidth,
            _ => None,
        }
    }

    pub(crate) fn read(given: &mut KeyInput<'_, '_>) -> Option<Self> {
        let (node, name) = (given.node, given.name);
        let reader = &mut *given.reader;
        let Value::Table(table) = &node.value else {
            return Some(Self { queue: read_name(reader, node, name)?, limit: None });
        };
        let mut keys = Keys::new(table, name, node.at);
        let Some(of) = keys.take("discipline") else {
            reader.missing(&keys, "discipline", "the name of a queue discipline");
            return None;
        };
        let mut queue = read_name(reader, of, &keys.name("discipline"))?;
        let mut limit = None;
        if let Some(node) = keys.take("limit") {
            let value = reader.queue_size(node, &keys.name("limit"))?;
            limit = Some(Placed { value, at: node.at });
        }
        for param in params_of(queue) {
            if let Some(node) = keys.take(param.name) {
                param.access.read(&mut queue, reader, node, &keys.name(param.name));
            }
        }
        if let Queue::Prio(prio) = queue
            && let Some(band) = prio.priomap.iter().find(|&&band| band >= prio.bands)
        {
            let key = if keys.has("priomap") { "priomap" } else { "bands" };
            let title = format!(
                "`{}`: expected a `priomap` whose bands are less than the value of `bands`",
                keys.name(key)
            );
            let found = format!("found band {band}, counted from 0, of {}", prio.bands);
            reader.problem(keys.key_at(key).unwrap_or(node.at), title, found, Vec::new());
        }
        if let Queue::Red(red) = queue
            && let (Some(min), Some(max)) = (red.min, red.max)
            && min >= max
        {
            let title = format!("`{}`: expected less than `max`", keys.name("min"));
            let found = format!("found {} B, and `max` is {} B", min.0, max.0);
            reader.problem(keys.key_at("min").unwrap_or(node.at), title, found, Vec::new());
        }
        keys.finish(reader);
        Some(Self { queue, limit })
    }

    /// Returns the value of `queue` as TOML. The value is a table if the scenario sets a limit, or
    /// if the value of a parameter differs from `tc`'s default; otherwise it is the discipline's
    /// name.
    pub(crate) fn show(&self) -> String {
        let NamedQueue { name, default, .. } = entry(&self.queue);
        let mut parts = Vec::new();
        if let Some(limit) = self.limit {
            parts.push(format!("limit = {}", toml_string(&show_queue_size(limit.value))));
        }
        for param in params_of(self.queue) {
            if let Some(value) = param.access.show(self.queue)
                && param.access.show(*default).as_ref() != Some(&value)
            {
                parts.push(format!("{} = {value}", param.name));
            }
        }
        if parts.is_empty() {
            return toml_string(name);
        }
        format!("{{ discipline = {}, {} }}", toml_string(name), parts.join(", "))
    }
}

/// Returns the names of all disciplines.
pub(crate) fn names() -> Vec<&'static str> {
    Queue::NAMED.iter().map(|discipline| discipline.name).collect()
}

/// Returns the keys of the table form of `queue`, for all disciplines.
pub(crate) fn parts() -> Vec<Part> {
    let mut parts = vec![
        Part { name: "discipline", form: Form::Choice(names), is_needed: true },
        optional("limit", Form::QueueSize),
    ];
    parts.extend(PARAMS.iter().map(|param| optional(param.name, param.access.form())));
    parts
}

/// Writes a discipline, with its limit if it has one, as the value of the key `queue`.
#[must_use]
pub fn queue_to_toml(queue: &Queue, limit: Buffer) -> String {
    let limit = match limit {
        Buffer::Unlimited => None,
        Buffer::Packets(packets) => Some(QueueSize::Packets(packets.0)),
        Buffer::Bytes(bytes) => Some(QueueSize::Bytes(bytes.0)),
    };
    let limit = limit.map(|value| Placed { value, at: At::NOWHERE });
    QueueSpec { queue: *queue, limit }.show()
}

/// Returns the parameters of the queue disciplines as a table in Markdown.
#[must_use]
pub fn queues_to_markdown() -> String {
    let mut out = "| parameter | of | meaning | default |\n| --- | --- | --- | --- |\n".to_owned();
    for param in PARAMS {
        let of = Queue::NAMED.iter().filter(|it| param.access.is_of(it.default));
        let of: Vec<(&str, String)> = of
            .map(|it| (it.name, param.access.show(it.default).unwrap_or("none".to_owned())))
            .collect();
        let names: Vec<String> = of.iter().map(|(name, _)| format!("`{name}`")).collect();
        let is_same = of.iter().all(|(_, default)| *default == of[0].1);
        let default = if is_same {
            format!("`{}`", of[0].1)
        } else {
            let each = of.iter().map(|(name, default)| format!("`{name}`: `{default}`"));
            each.collect::<Vec<_>>().join(", ")
        };
        out += &format!(
            "| `{}` | {} | {} | {default} |\n",
            param.name,
            names.join(", "),
            param.meaning
        );
    }
    out
}

fn params_of(queue: Queue) -> impl Iterator<Item = &'static Param> {
    PARAMS.iter().filter(move |param| param.access.is_of(queue))
}

fn entry(queue: &Queue) -> &'static NamedQueue {
    let kind = std::mem::discriminant(queue);
    let is_it = |it: &&NamedQueue| std::mem::discriminant(&it.default) == kind;
    Queue::NAMED.iter().find(is_it).expect("each discipline has a name")
}

fn read_name(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Queue> {
    let choices: Vec<(&str, Queue)> = Queue::NAMED.iter().map(|it| (it.name, it.default)).collect();
    reader.choice(node, name, &choices, "")
}
