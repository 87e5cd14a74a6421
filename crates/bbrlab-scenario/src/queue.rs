//! `queue`: a link's discipline, by its name in `tc` alone or with its parameters.

use bbrlab_link::{CodelParams, FqCodelParams, Queue};
use bbrlab_units::{Bytes, Span};

use crate::canonical::{show_bytes, show_text, toml_string};
use crate::document::{Node, Value};
use crate::key::{Form, Given, Key, Part, key, optional, set};
use crate::not_built;
use crate::quantity::{QueueSize, show_queue_size, show_span};
use crate::reader::{Keys, Placed, Reader};

/// The disciplines, each with `tc`'s default parameters and its limit in packets; drop-tail's limit is the link's.
const DISCIPLINES: &[(&str, Queue, Option<u64>)] = &[
    ("droptail", Queue::DropTail, None),
    ("codel", Queue::Codel(CodelParams::DEFAULT), Some(1000)),
    ("fq_codel", Queue::FqCodel(FqCodelParams::DEFAULT), Some(10_240)),
];

/// A parameter and the disciplines that have it.
pub(crate) struct QueueKey {
    pub(crate) of: &'static [&'static str],
    pub(crate) key: Key<Queue>,
}

/// The parameters, with `tc`'s names.
pub(crate) const QUEUE_KEYS: &[QueueKey] = &[
    QueueKey {
        of: &["codel", "fq_codel"],
        key: key(
            "target",
            "0.2.0",
            Form::Time,
            "the acceptable wait, in whole microseconds",
            |queue, given| set(&mut codel(queue).target, given.value(whole_us)),
            |queue| show_text(&show_span(codel_of(queue)?.target)),
        ),
    },
    QueueKey {
        of: &["codel", "fq_codel"],
        key: key(
            "interval",
            "0.2.0",
            Form::Time,
            "how long packets may wait longer than `target` before the first drop, in whole microseconds",
            |queue, given| set(&mut codel(queue).interval, given.value(whole_us)),
            |queue| show_text(&show_span(codel_of(queue)?.interval)),
        ),
    },
    QueueKey {
        of: &["codel", "fq_codel"],
        key: key(
            "ecn",
            "0.2.0",
            Form::Bool,
            "whether ECN-capable packets are marked where others are dropped",
            |queue, given| set(&mut codel(queue).ecn, given.value(Reader::boolean)),
            |queue| Some(codel_of(queue)?.ecn.to_string()),
        ),
    },
    QueueKey {
        of: &["codel", "fq_codel"],
        key: key(
            "ce_threshold",
            "0.2.0",
            Form::Time,
            "ECN-capable packets that waited longer are marked at once",
            |queue: &mut Queue, given| codel(queue).ce_threshold = given.value(whole_us),
            |queue| codel_of(queue)?.ce_threshold.and_then(|wait| show_text(&show_span(wait))),
        ),
    },
    QueueKey {
        of: &["fq_codel"],
        key: key(
            "flows",
            "0.2.0",
            Form::Whole(1, 65_536),
            "queues into which flows are hashed",
            |queue, given| {
                let flows = given.value(|reader, node, name| reader.integer(node, name, 1, 65_536));
                if let (Queue::FqCodel(params), Some(flows)) = (queue, flows) {
                    params.flows = u32::try_from(flows).expect("at most 65,536");
                }
            },
            |queue| match queue {
                Queue::FqCodel(params) => Some(params.flows.to_string()),
                _ => None,
            },
        ),
    },
    QueueKey {
        of: &["fq_codel"],
        key: key(
            "quantum",
            "0.2.0",
            Form::Bytes,
            "bytes that a queue may send in a turn; at least `\"256B\"`",
            |queue, given| {
                if let (Queue::FqCodel(params), Some(quantum)) = (queue, given.value(read_quantum))
                {
                    params.quantum = quantum;
                }
            },
            |queue| match queue {
                Queue::FqCodel(params) => show_bytes(params.quantum.0),
                _ => None,
            },
        ),
    },
];

/// A discipline as written: its parameters, and its limit if the table gives one.
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
    /// `tc`'s limit for the discipline; none for drop-tail.
    pub(crate) fn default_limit(&self) -> Option<QueueSize> {
        let (_, _, limit) = entry(&self.queue);
        limit.map(QueueSize::Packets)
    }

    pub(crate) fn read(given: &mut Given<'_, '_>) -> Option<Self> {
        let (node, name) = (given.node, given.name);
        let reader = &mut *given.reader;
        let Value::Table(table) = &node.value else {
            let queue = discipline(reader, node, name)?;
            return Some(Self { queue, limit: None });
        };
        let mut keys = Keys::new(table, name, node.at);
        let Some(of) = keys.take("discipline") else {
            reader.missing(&keys, "discipline", "the name of a queue discipline");
            return None;
        };
        let mut queue = discipline(reader, of, &keys.name("discipline"))?;
        let mut limit = None;
        if let Some(node) = keys.take("limit") {
            let value = reader.queue_size(node, &keys.name("limit"))?;
            limit = Some(Placed { value, at: node.at });
        }
        for row in rows_of(queue) {
            if let Some(node) = keys.take(row.name) {
                let name = &keys.name(row.name);
                row.read_into(&mut queue, &mut Given { reader, keys: &keys, node, name });
            }
        }
        keys.finish(reader);
        Some(Self { queue, limit })
    }

    /// Its name, or a table if a parameter differs from `tc`'s default.
    pub(crate) fn show(&self) -> String {
        let (name, default, _) = entry(&self.queue);
        let mut parts = Vec::new();
        if let Some(limit) = self.limit {
            parts.push(format!("limit = {}", toml_string(&show_queue_size(limit.value))));
        }
        for row in rows_of(self.queue) {
            if let Some(value) = row.value(&self.queue)
                && row.value(default).as_ref() != Some(&value)
            {
                parts.push(format!("{} = {value}", row.name));
            }
        }
        if parts.is_empty() {
            return toml_string(name);
        }
        format!("{{ discipline = {}, {} }}", toml_string(name), parts.join(", "))
    }
}

/// The names of all disciplines.
pub(crate) fn names() -> Vec<&'static str> {
    DISCIPLINES.iter().map(|&(name, ..)| name).collect()
}

/// The keys of the table form, of all disciplines.
pub(crate) fn parts() -> Vec<Part> {
    let mut parts = vec![
        Part { name: "discipline", form: Form::Choice(names), is_needed: true },
        optional("limit", Form::QueueSize),
    ];
    parts.extend(QUEUE_KEYS.iter().map(|row| optional(row.key.name, row.key.form)));
    parts
}

fn rows_of(queue: Queue) -> impl Iterator<Item = &'static Key<Queue>> {
    let (name, ..) = entry(&queue);
    QUEUE_KEYS.iter().filter(move |row| row.of.contains(name)).map(|row| &row.key)
}

fn entry(queue: &Queue) -> &'static (&'static str, Queue, Option<u64>) {
    let is_it = |(_, other, _): &&(&str, Queue, _)| {
        std::mem::discriminant(other) == std::mem::discriminant(queue)
    };
    DISCIPLINES.iter().find(is_it).expect("each discipline has a name")
}

fn discipline(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Queue> {
    if not_built::refuse_value(reader, node, name, not_built::QUEUES) {
        return None;
    }
    let choices: Vec<(&str, Queue)> =
        DISCIPLINES.iter().map(|&(name, queue, _)| (name, queue)).collect();
    reader.choice(node, name, &choices, "")
}

/// A time as `tc` hands it to the kernel, in 32 bits of microseconds.
fn whole_us(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Span> {
    let span = reader.positive_span(node, name)?;
    if span.0 % 1000 != 0 || span.0 / 1000 > u64::from(u32::MAX) {
        reader.wrong(node, name, "whole microseconds, at most 4294967295");
        return None;
    }
    Some(span)
}

fn read_quantum(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Bytes> {
    let bytes = reader.bytes(node, name)?;
    if bytes.0 < 256 || bytes.0 > 1 << 30 {
        reader.wrong(node, name, "from \"256B\" to \"1GiB\"");
        return None;
    }
    Some(bytes)
}

/// The parameters of `codel`'s law.
fn codel_of(queue: &Queue) -> Option<&CodelParams> {
    match queue {
        Queue::Codel(params) => Some(params),
        Queue::FqCodel(params) => Some(&params.codel),
        Queue::DropTail => None,
    }
}

fn codel(queue: &mut Queue) -> &mut CodelParams {
    match queue {
        Queue::Codel(params) => params,
        Queue::FqCodel(params) => &mut params.codel,
        Queue::DropTail => unreachable!("a row is read for the disciplines that have it"),
    }
}
