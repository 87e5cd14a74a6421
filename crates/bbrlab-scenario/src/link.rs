//! `[bottleneck]`, `[[links]]` and `[access]`: links as a scenario writes them.

use std::path::Path;
use std::sync::Arc;

use bbrlab_units::{BitRate, Bytes, Packets, Span, Time};

use crate::canonical::{Writer, toml_string};
use crate::decimal::Decimal;
use crate::document::{At, Node, Value};
use crate::not_built;
use crate::quantity::{self, Room, show_rate, show_room, show_span};
use crate::reader::{Keys, Placed, Reader, found};
use crate::stack::name_of;
use bbrlab_link::{EcnThreshold, Jitter, Link, LossAt, Queue, Rate, RateChange, Trace};

/// The longest schedule of rates.
const SCHEDULE_MAX: usize = 100_000;

/// A link with the defaults filled in, but its buffer still in the unit of the file.
#[derive(Clone, Debug)]
pub(crate) struct LinkSpec {
    pub(crate) at: At,
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    pub(crate) buffer: Option<Placed<Room>>,
    pub(crate) buffer_unit: Option<BufferUnit>,
    pub(crate) bdp_rtt: Option<Span>,
    pub(crate) device_queue: Option<Placed<u64>>,
    pub(crate) queue: Queue,
    pub(crate) loss: LossSpec,
    pub(crate) loss_at: LossAt,
    pub(crate) rate_change: RateChange,
    pub(crate) reverse_rate: Rate,
    pub(crate) reverse_buffer: Option<Placed<Room>>,
    pub(crate) framing: Bytes,
    pub(crate) burst: Option<Bytes>,
    pub(crate) ecn_threshold: Option<EcnThreshold>,
    pub(crate) jitter: Option<Jitter>,
    pub(crate) reorder: Option<ReorderSpec>,
}

/// In what a buffer is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferUnit {
    Packets,
    Bytes,
}

/// Random loss with its ratios as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossSpec {
    Bernoulli(Decimal),
    GilbertElliott { p: Decimal, r: Decimal, loss_bad: Decimal, loss_good: Decimal },
}

/// Reordering with its ratio as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReorderSpec {
    pub(crate) ratio: Decimal,
    pub(crate) by: Span,
}

/// `[access]` with the defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct AccessSpec {
    pub(crate) at: At,
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    pub(crate) buffer: Option<Placed<Room>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueName {
    Built(Queue),
    NotBuilt(&'static str),
}

const UNITS: [(&str, BufferUnit); 2] = [("pkt", BufferUnit::Packets), ("B", BufferUnit::Bytes)];
const LOSS_ATS: [(&str, LossAt); 2] = [("after", LossAt::After), ("before", LossAt::Before)];
const CHANGES: [(&str, RateChange); 2] =
    [("follow", RateChange::Follow), ("keep", RateChange::Keep)];
const QUEUES: [(&str, Queue); 1] = [("droptail", Queue::DropTail)];

impl LinkSpec {
    /// Reads `[bottleneck]` or what a `[[links]]` has in common with it; the caller finishes the keys.
    pub(crate) fn read(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> Self {
        let path = keys.path.clone();
        let name = |key: &str| format!("{path}.{key}");
        let mut link = Self {
            at: keys.at,
            rate: Rate::Unlimited,
            delay: Span::ZERO,
            buffer: None,
            buffer_unit: None,
            bdp_rtt: None,
            device_queue: None,
            queue: Queue::DropTail,
            loss: LossSpec::Bernoulli(Decimal::ZERO),
            loss_at: LossAt::After,
            rate_change: RateChange::Follow,
            reverse_rate: Rate::Unlimited,
            reverse_buffer: None,
            framing: Link::ETHERNET,
            burst: None,
            ecn_threshold: None,
            jitter: None,
            reorder: None,
        };
        if let Some(node) = keys.take("rate") {
            link.rate =
                read_rate(reader, node, &name("rate")).unwrap_or(Rate::Constant(BitRate(1)));
        }
        if let Some(node) = keys.take("delay") {
            link.delay = reader.span(node, &name("delay")).unwrap_or_default();
        }
        if let Some(node) = keys.take("buffer") {
            link.buffer = read_buffer(reader, keys, node, "buffer", "rate", &link.rate);
        }
        if let Some(node) = keys.take("buffer_unit") {
            link.buffer_unit = reader.choice(node, &name("buffer_unit"), &UNITS, "");
        }
        if let Some(node) = keys.take("bdp_rtt") {
            link.bdp_rtt = reader.positive_span(node, &name("bdp_rtt"));
        }
        if let Some(node) = keys.take("device_queue") {
            link.device_queue = read_device_queue(reader, node, &name("device_queue"));
        }
        if let Some(node) = keys.take("queue") {
            link.queue = read_queue(reader, node, &name("queue"));
        }
        if let Some(node) = keys.take("loss") {
            link.loss = read_loss(reader, node, &name("loss")).unwrap_or(link.loss);
        }
        if let Some(node) = keys.take("loss_at") {
            link.loss_at =
                reader.choice(node, &name("loss_at"), &LOSS_ATS, "").unwrap_or(link.loss_at);
        }
        if let Some(node) = keys.take("rate_change") {
            link.rate_change =
                reader.choice(node, &name("rate_change"), &CHANGES, "").unwrap_or(link.rate_change);
        }
        if let Some(node) = keys.take("reverse_rate") {
            link.reverse_rate = read_rate(reader, node, &name("reverse_rate"))
                .unwrap_or(Rate::Constant(BitRate(1)));
        }
        if let Some(node) = keys.take("reverse_buffer") {
            link.reverse_buffer = read_buffer(
                reader,
                keys,
                node,
                "reverse_buffer",
                "reverse_rate",
                &link.reverse_rate,
            );
        }
        if let Some(node) = keys.take("framing") {
            link.framing = read_framing(reader, node, &name("framing")).unwrap_or(link.framing);
        }
        if let Some(node) = keys.take("burst") {
            link.burst = reader.positive_bytes(node, &name("burst"));
        }
        if let Some(node) = keys.take("ecn_threshold") {
            link.ecn_threshold = read_ecn_threshold(reader, node, &name("ecn_threshold"));
        }
        if let Some(node) = keys.take("jitter") {
            link.jitter = read_jitter(reader, node, &name("jitter"));
        }
        if let Some(node) = keys.take("reorder") {
            link.reorder = read_reorder(reader, node, &name("reorder"));
        }
        link
    }

    /// Writes all keys that differ from the defaults.
    pub(crate) fn write(&self, out: &mut Writer) {
        write_rate(out, "rate", &self.rate);
        out.text_unless(self.delay == Span::ZERO, "delay", &show_span(self.delay));
        if let Some(buffer) = self.buffer {
            out.text("buffer", &show_room(buffer.value));
        }
        if let Some(unit) = self.buffer_unit {
            out.text("buffer_unit", name_of(&UNITS, unit));
        }
        if let Some(rtt) = self.bdp_rtt {
            out.text("bdp_rtt", &show_span(rtt));
        }
        if let Some(packets) = self.device_queue {
            out.text("device_queue", &format!("{}pkt", packets.value));
        }
        out.text_unless(self.queue == Queue::DropTail, "queue", name_of(&QUEUES, self.queue));
        match self.loss {
            LossSpec::Bernoulli(ratio) => {
                out.raw_unless(ratio.is_zero(), "loss", &toml_number(ratio));
            }
            LossSpec::GilbertElliott { p, r, loss_bad, loss_good } => {
                let [p, r, bad, good] = [p, r, loss_bad, loss_good].map(toml_number);
                out.raw(
                    "loss",
                    &format!(
                        "{{ model = \"gilbert-elliott\", p = {p}, r = {r}, loss_bad = {bad}, loss_good = {good} }}"
                    ),
                );
            }
        }
        out.text_unless(self.loss_at == LossAt::After, "loss_at", name_of(&LOSS_ATS, self.loss_at));
        let change = name_of(&CHANGES, self.rate_change);
        out.text_unless(self.rate_change == RateChange::Follow, "rate_change", change);
        write_rate(out, "reverse_rate", &self.reverse_rate);
        if let Some(buffer) = self.reverse_buffer {
            out.text("reverse_buffer", &show_room(buffer.value));
        }
        out.text_unless(self.framing == Link::ETHERNET, "framing", &format!("{}B", self.framing.0));
        if let Some(bytes) = self.burst {
            out.text("burst", &format!("{}B", bytes.0));
        }
        match self.ecn_threshold {
            None => {}
            Some(EcnThreshold::Packets(packets)) => {
                out.text("ecn_threshold", &format!("{}pkt", packets.0));
            }
            Some(EcnThreshold::Bytes(bytes)) => out.text("ecn_threshold", &format!("{}B", bytes.0)),
            Some(EcnThreshold::Wait(span)) => out.text("ecn_threshold", &show_span(span)),
        }
        match self.jitter {
            None => {}
            Some(Jitter { up_to, keep_order: true }) => out.text("jitter", &show_span(up_to)),
            Some(Jitter { up_to, keep_order: false }) => {
                out.raw(
                    "jitter",
                    &format!("{{ up_to = \"{}\", keep_order = false }}", show_span(up_to)),
                );
            }
        }
        if let Some(ReorderSpec { ratio, by }) = self.reorder {
            let by = show_span(by);
            out.raw("reorder", &format!("{{ ratio = {}, by = \"{by}\" }}", toml_number(ratio)));
        }
    }
}

impl AccessSpec {
    /// No rate limit and no delay.
    pub(crate) fn none(at: At) -> Self {
        Self { at, rate: Rate::Unlimited, delay: Span::ZERO, buffer: None }
    }

    pub(crate) fn read(reader: &mut Reader<'_>, mut keys: Keys<'_>) -> Self {
        let mut access = Self::none(keys.at);
        if let Some(node) = keys.take("rate") {
            access.rate =
                read_rate(reader, node, "access.rate").unwrap_or(Rate::Constant(BitRate(1)));
        }
        if let Some(node) = keys.take("delay") {
            access.delay = reader.span(node, "access.delay").unwrap_or_default();
        }
        if let Some(node) = keys.take("buffer") {
            access.buffer = read_buffer(reader, &keys, node, "buffer", "rate", &access.rate);
        }
        keys.finish(reader);
        access
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.table("[access]");
        write_rate(out, "rate", &self.rate);
        out.text_unless(self.delay == Span::ZERO, "delay", &show_span(self.delay));
        if let Some(buffer) = self.buffer {
            out.text("buffer", &show_room(buffer.value));
        }
    }
}

/// A number that reads back as the same decimal. TOML asks for digits on both sides of the point.
fn toml_number(value: Decimal) -> String {
    value.to_string()
}

fn read_buffer(
    reader: &mut Reader<'_>,
    keys: &Keys<'_>,
    node: &Node,
    key: &str,
    rate_key: &str,
    rate: &Rate,
) -> Option<Placed<Room>> {
    let room = reader.room(node, &keys.name(key))?;
    if !rate.is_limited() {
        let title = format!("`{}`: expected a `{rate_key}` beside it", keys.name(key));
        let found = "found a buffer of a link without a rate, which never queues";
        reader.problem(node.at, title, found, Vec::new());
        return None;
    }
    Some(Placed { value: room, at: node.at })
}

fn read_device_queue(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Placed<u64>> {
    if let Room::Packets(packets) = reader.room(node, name)? {
        return Some(Placed { value: packets, at: node.at });
    }
    reader.wrong(node, name, "a number of packets such as \"100pkt\"");
    None
}

fn read_queue(reader: &mut Reader<'_>, node: &Node, name: &str) -> Queue {
    let mut choices: Vec<(&str, QueueName)> =
        QUEUES.iter().map(|&(name, queue)| (name, QueueName::Built(queue))).collect();
    choices.extend(not_built::QUEUES.iter().map(|&name| (name, QueueName::NotBuilt(name))));
    match reader.choice(node, name, &choices, "") {
        Some(QueueName::Built(queue)) => queue,
        Some(QueueName::NotBuilt(queue)) => {
            not_built::refuse_value(reader, node, name, queue, not_built::QUEUES);
            Queue::DropTail
        }
        None => Queue::DropTail,
    }
}

fn read_framing(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Bytes> {
    let bytes = reader.bytes(node, name)?;
    if bytes.0 > 1000 {
        reader.wrong(node, name, "at most \"1000B\"");
        return None;
    }
    Some(bytes)
}

fn read_ecn_threshold(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<EcnThreshold> {
    match reader.room(node, name)? {
        Room::Packets(packets) => Some(EcnThreshold::Packets(Packets(packets))),
        Room::Bytes(bytes) => Some(EcnThreshold::Bytes(Bytes(bytes))),
        Room::Time(span) => Some(EcnThreshold::Wait(span)),
        Room::Bdp(_) | Room::Unlimited => {
            reader.wrong(
                node,
                name,
                "a backlog such as \"20pkt\" or \"30000B\", or a wait such as \"5ms\"",
            );
            None
        }
    }
}

fn read_loss(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<LossSpec> {
    #[derive(Clone, Copy)]
    enum Model {
        Bernoulli,
        GilbertElliott,
    }
    let Value::Table(table) = &node.value else {
        if matches!(node.value, Value::Integer(_) | Value::Float(_) | Value::Text(_)) {
            return reader.ratio(node, name).map(LossSpec::Bernoulli);
        }
        reader.wrong(node, name, "a number from 0 to 1, or a table with a `model`");
        return None;
    };
    let mut keys = Keys::new(table, name, node.at);
    let models = [("bernoulli", Model::Bernoulli), ("gilbert-elliott", Model::GilbertElliott)];
    let Some(model) = keys.take("model") else {
        reader.missing(&keys, "model", "\"bernoulli\" or \"gilbert-elliott\"");
        return None;
    };
    let model = reader.choice(model, &keys.name("model"), &models, "")?;
    let mut ratio = |keys: &mut Keys<'_>, key: &'static str, default: Option<Decimal>| {
        if default.is_some() && !keys.has(key) {
            return default.filter(|_| keys.take(key).is_none());
        }
        reader.needed(keys, key, "a number from 0 to 1", Reader::ratio)
    };
    let loss = match model {
        Model::Bernoulli => ratio(&mut keys, "ratio", None).map(LossSpec::Bernoulli),
        Model::GilbertElliott => {
            let p = ratio(&mut keys, "p", None);
            let r = ratio(&mut keys, "r", None);
            let loss_bad = ratio(&mut keys, "loss_bad", Some(Decimal::from_int(1)));
            let loss_good = ratio(&mut keys, "loss_good", Some(Decimal::ZERO));
            (|| {
                Some(LossSpec::GilbertElliott {
                    p: p?,
                    r: r?,
                    loss_bad: loss_bad?,
                    loss_good: loss_good?,
                })
            })()
        }
    };
    keys.finish(reader);
    loss
}

fn read_jitter(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Jitter> {
    let Value::Table(table) = &node.value else {
        return reader.positive_span(node, name).map(|up_to| Jitter { up_to, keep_order: true });
    };
    let mut keys = Keys::new(table, name, node.at);
    let up_to = reader.needed(
        &mut keys,
        "up_to",
        "the longest additional delay, such as \"2ms\"",
        Reader::positive_span,
    );
    let keep_order = keys.take("keep_order");
    let keep_order =
        keep_order.map_or(Some(true), |node| reader.boolean(node, &format!("{name}.keep_order")));
    keys.finish(reader);
    Some(Jitter { up_to: up_to?, keep_order: keep_order? })
}

fn read_reorder(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<ReorderSpec> {
    let table = reader.table(node, name, "a table such as { ratio = 0.01, by = \"1ms\" }")?;
    let mut keys = Keys::new(table, name, node.at);
    let ratio = reader.needed(
        &mut keys,
        "ratio",
        "the share of packets that skip the wait, from 0 to 1",
        Reader::ratio,
    );
    let by = reader.needed(
        &mut keys,
        "by",
        "how long the other packets wait, such as \"1ms\"",
        Reader::positive_span,
    );
    keys.finish(reader);
    Some(ReorderSpec { ratio: ratio?, by: by? })
}

const RATE_EXPECTED: &str = "a rate such as \"50Mbit/s\", a schedule or a trace file";

/// A rate: constant, a schedule, or a Mahimahi trace.
fn read_rate(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Rate> {
    match &node.value {
        Value::Array(steps) => read_schedule(reader, node, steps, name),
        Value::Table(_) => read_trace_table(reader, node, name),
        Value::Text(text) => {
            let like_a_quantity =
                text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
            let file = !text.trim().is_empty() && (text.contains('/') || !like_a_quantity);
            if file && quantity::parse_rate(text).is_err() && !looks_like_a_rate(text) {
                return read_trace_file(reader, node, text, name);
            }
            reader.rate(node, name).map(Rate::Constant)
        }
        _ => reader.rate(node, name).map(Rate::Constant),
    }
}

/// Whether a text with a slash was meant as a quantity (`50Mbt/s`), not as the path of a file.
fn looks_like_a_rate(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c)) && text.ends_with("/s")
}

fn read_trace_file(reader: &mut Reader<'_>, node: &Node, file: &str, name: &str) -> Option<Rate> {
    let path = reader.dir.map_or_else(|| Path::new(file).to_owned(), |dir| dir.join(file));
    match reader.traces.read(&path) {
        Ok(trace) => Some(Rate::Trace(trace)),
        Err(reason) => {
            let found = format!("found {}; as a trace file it {reason}", found(&node.value));
            reader.problem(
                node.at,
                format!("`{name}`: expected {RATE_EXPECTED}"),
                found,
                Vec::new(),
            );
            None
        }
    }
}

/// `{ opportunities_ms = [...] }`, as a run's folder keeps the trace it was run with.
fn read_trace_table(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Rate> {
    let table = reader.table(node, name, RATE_EXPECTED)?;
    let mut keys = Keys::new(table, name, node.at);
    let file = keys.take("trace");
    let inline = keys.take("opportunities_ms");
    keys.finish(reader);
    if let (Some(file), None) = (file, inline) {
        let text = reader.text(file, &format!("{name}.trace"))?.to_owned();
        return read_trace_file(reader, file, &text, name);
    }
    let expected = "a list of rising milliseconds";
    let Some(Node { value: Value::Array(values), at }) = inline else {
        reader.wrong(inline.unwrap_or(node), &format!("{name}.opportunities_ms"), expected);
        return None;
    };
    let mut opportunities = Vec::with_capacity(values.len());
    for value in values {
        let at = reader.integer(value, &format!("{name}.opportunities_ms"), 0, 86_400_000)?;
        opportunities.push(u32::try_from(at).expect("at most a day"));
    }
    match Trace::new(opportunities) {
        Ok(trace) => Some(Rate::Trace(Arc::new(trace))),
        Err(reason) => {
            let title = format!("`{name}.opportunities_ms`: expected {expected}");
            reader.problem(*at, title, format!("found a trace that {reason}"), Vec::new());
            None
        }
    }
}

fn read_schedule(
    reader: &mut Reader<'_>,
    node: &Node,
    steps: &[Arc<Node>],
    name: &str,
) -> Option<Rate> {
    let expected = "a schedule such as [[\"0s\", \"40Mbit/s\"], [\"40s\", \"80Mbit/s\"]]";
    if steps.is_empty() || steps.len() > SCHEDULE_MAX {
        reader.wrong(node, name, expected);
        return None;
    }
    let mut schedule: Vec<(Time, BitRate)> = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let Value::Array(pair) = &step.value else {
            reader.wrong(step, name, expected);
            return None;
        };
        let [at, rate] = pair.as_slice() else {
            let found = format!("found a list of {} values", pair.len());
            reader.problem(
                step.at,
                format!("`{name}`: expected a time and a rate"),
                found,
                Vec::new(),
            );
            return None;
        };
        let time = Time(reader.span(at, name)?.0);
        let rate = reader.rate(rate, name)?;
        let (rises, expected) = match schedule.last() {
            None => (time == Time::ZERO, "a schedule that begins at \"0s\""),
            Some(&(before, _)) => (time > before, "a schedule whose times rise"),
        };
        if !rises {
            let found = format!("found {} in entry {}", found(&at.value), index + 1);
            reader.problem(at.at, format!("`{name}`: expected {expected}"), found, Vec::new());
            return None;
        }
        schedule.push((time, rate));
    }
    Some(Rate::Schedule(schedule.into()))
}

fn write_rate(out: &mut Writer, key: &str, rate: &Rate) {
    match rate {
        Rate::Unlimited => {}
        Rate::Constant(rate) => out.text(key, &show_rate(*rate)),
        Rate::Schedule(steps) => {
            let steps: Vec<String> = steps
                .iter()
                .map(|&(at, rate)| {
                    let at = toml_string(&show_span(at.since(Time::ZERO)));
                    format!("[{at}, {}]", toml_string(&show_rate(rate)))
                })
                .collect();
            out.raw(key, &format!("[{}]", steps.join(", ")));
        }
        Rate::Trace(trace) => {
            let at: Vec<String> = trace.opportunities_ms().iter().map(u32::to_string).collect();
            out.raw(key, &format!("{{ opportunities_ms = [{}] }}", at.join(", ")));
        }
    }
}
