//! `[bottleneck]`, `[[links]]` and `[access]`: links as they are written in a scenario.

use std::path::Path;
use std::sync::Arc;

use bbrlab_units::{BitRate, Bytes, Packets, Span, Time};

use crate::canonical::{Writer, show_bytes, show_text, toml_string};
use crate::decimal::Decimal;
use crate::document::{At, Node, Value};
use crate::key::{
    Form, Given, Key, key, name_of, names, needed, optional, read_keys, set, write_keys_unlike,
};
use crate::model::{self, ModelSpec};
use crate::path_trace::{PathTrace, wrong_end};
use crate::quantity::{self, QueueSize, show_queue_size, show_rate, show_span};
use crate::queue::{self, QueueSpec};
use crate::reader::{Keys, Placed, Reader, found};
use crate::slot::{self, SlotSpec};
use crate::steps::{Told, read_steps, show_steps};
use bbrlab_link::{
    Buffer, DelaySteps, EcnThreshold, Jitter, Link, LossAt, Policer, Queue, Rate, RateChange, Trace,
};

/// Headers of a data packet: IP, TCP and timestamps.
pub(crate) const HEADERS: u64 = 52;

/// A link with the defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct LinkSpec {
    pub(crate) at: At,
    /// The link as the engine uses it, except for its name, queue, buffer, loss and reordering, which are set from the fields below.
    pub(crate) link: Link,
    pub(crate) queue: QueueSpec,
    pub(crate) reverse_queue: Option<QueueSpec>,
    pub(crate) buffer: Option<Placed<QueueSize>>,
    pub(crate) buffer_unit: Option<BufferUnit>,
    pub(crate) bdp_rtt: Option<Span>,
    pub(crate) device_queue: Option<Placed<u64>>,
    pub(crate) keep_order: bool,
    pub(crate) loss: LossSpec,
    /// What rate and delay are drawn from; those of `link` are then the ones at the start.
    pub(crate) model: Option<ModelSpec>,
    pub(crate) reorder: Option<ReorderSpec>,
    /// One of so many ACKs passes; at least 1.
    pub(crate) ack_thinning: u32,
    pub(crate) slot: Option<SlotSpec>,
    pub(crate) reverse_rate: Reverse,
    pub(crate) reverse_buffer: Option<Placed<QueueSize>>,
    pub(crate) reverse_slot: Option<SlotSpec>,
}

/// How fast the reverse direction of a link sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reverse {
    /// As fast as the forward direction.
    Forward,
    /// At a rate of its own, or without a limit.
    Own(Rate),
}

impl Reverse {
    /// No limit.
    pub(crate) const UNLIMITED: Self = Self::Own(Rate::Unlimited);

    /// The rate, given that of the forward direction.
    pub(crate) fn rate<'r>(&'r self, forward: &'r Rate) -> &'r Rate {
        match self {
            Self::Forward => forward,
            Self::Own(rate) => rate,
        }
    }
}

/// The unit in which the engine counts a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferUnit {
    Packets,
    Bytes,
}

/// Random loss with its ratios as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LossSpec {
    Bernoulli(Decimal),
    Steps(Arc<[(Time, Decimal)]>),
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
    pub(crate) buffer: Option<Placed<QueueSize>>,
    pub(crate) reverse_rate: Reverse,
    pub(crate) framing: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LossModel {
    Bernoulli,
    GilbertElliott,
}

/// Replaces a rate that could not be read, so that the link's buffer is not reported as a second mistake.
const MISREAD: Rate = Rate::Constant(BitRate(1));

const UNITS: [(&str, BufferUnit); 2] = [("pkt", BufferUnit::Packets), ("B", BufferUnit::Bytes)];
const LOSS_ATS: [(&str, LossAt); 2] = [("after", LossAt::After), ("before", LossAt::Before)];
const CHANGES: [(&str, RateChange); 2] =
    [("follow", RateChange::Follow), ("keep", RateChange::Keep)];
const REVERSES: [(&str, Reverse); 2] =
    [("unlimited", Reverse::UNLIMITED), ("forward", Reverse::Forward)];
const LOSS_MODELS: [(&str, LossModel); 2] =
    [("bernoulli", LossModel::Bernoulli), ("gilbert-elliott", LossModel::GilbertElliott)];

impl Default for LinkSpec {
    fn default() -> Self {
        Self {
            at: At::NOWHERE,
            link: Link::new(String::new(), Rate::Unlimited, Buffer::Unlimited),
            queue: QueueSpec::default(),
            reverse_queue: None,
            buffer: None,
            buffer_unit: None,
            bdp_rtt: None,
            device_queue: None,
            keep_order: true,
            loss: LossSpec::Bernoulli(Decimal::ZERO),
            model: None,
            reorder: None,
            ack_thinning: 1,
            slot: None,
            reverse_rate: Reverse::UNLIMITED,
            reverse_buffer: None,
            reverse_slot: None,
        }
    }
}

impl Default for AccessSpec {
    /// No rate limit and no delay; as on Ethernet.
    fn default() -> Self {
        Self {
            at: At::NOWHERE,
            rate: Rate::Unlimited,
            delay: Span::ZERO,
            buffer: None,
            reverse_rate: Reverse::UNLIMITED,
            framing: Link::ETHERNET,
        }
    }
}

const RATE: Form = Form::Any(&[
    Form::Rate,
    Form::List(&Form::Pair(&Form::Time, &Form::Rate)),
    Form::Text,
    Form::Table(&[
        optional("trace", Form::Text),
        optional("opportunities_ms", Form::List(&Form::Whole(0, 86_400_000))),
    ]),
]);

/// The most ACKs of which one passes.
const ACKS_MAX: u64 = 1000;

const SLOT: Form = Form::Any(&[Form::Time, Form::Table(slot::PARTS)]);

const QUEUE: Form = Form::Any(&[Form::Choice(queue::names), Form::TableOf(queue::parts)]);

const REVERSE_RATE: Form = Form::Any(&[Form::Choice(|| names(&REVERSES)), RATE]);

/// The keys of `[bottleneck]`, which `[[links]]` have, too.
pub(crate) const LINK_KEYS: &[Key<LinkSpec>] = &[
    key(
        "rate",
        "0.1.0",
        RATE,
        "how fast the link sends; a list is a schedule such as `[[\"0s\", \"40Mbit/s\"], [\"40s\", \"80Mbit/s\"]]`, a \
         text the path of a Mahimahi trace, relative to the scenario's folder",
        |spec: &mut LinkSpec, given| spec.link.rate = given.value(read_rate).unwrap_or(MISREAD),
        |spec| {
            let is_elsewhere = spec.model.is_some() || spec.queue.shaper().is_some();
            if is_elsewhere { None } else { show_rates(&spec.link.rate) }
        },
    )
    .without("none: a pure delay without a queue; with `cake`'s `bandwidth` that"),
    key(
        "delay",
        "0.1.0",
        Form::Any(&[Form::Time, Form::List(&Form::Pair(&Form::Time, &Form::Time))]),
        "propagation, one way and the other; a list is a schedule such as `[[\"0s\", \"20ms\"], [\"15s\", \"45ms\"]]`, whose first \
         delay is that of `rtt` and `bdp`",
        |spec: &mut LinkSpec, given| {
            if let Some((delay, changes)) = given.value(read_delay) {
                (spec.link.delay, spec.link.delay_steps) = (delay, changes);
            }
        },
        show_delay,
    ),
    key(
        "keep_order",
        "0.2.0",
        Form::Bool,
        "whether packets stay in order when the delay falls; otherwise those that leave later may arrive earlier",
        |spec, given| set(&mut spec.keep_order, given.value(Reader::boolean)),
        |spec| Some(spec.keep_order.to_string()),
    ),
    key(
        "buffer",
        "0.1.0",
        Form::QueueSize,
        "limit of the waiting packets; the one in service does not count",
        |spec: &mut LinkSpec, given| spec.buffer = given.placed(Reader::queue_size),
        |spec| spec.buffer.and_then(|buffer| show_text(&show_queue_size(buffer.value))),
    )
    .without("`\"1bdp\"`"),
    key(
        "buffer_unit",
        "0.1.0",
        Form::Choice(|| names(&UNITS)),
        "the unit to which the buffer is converted",
        |spec: &mut LinkSpec, given| spec.buffer_unit = given.choice(&UNITS),
        |spec| spec.buffer_unit.and_then(|unit| show_text(name_of(&UNITS, unit))),
    )
    .without("bytes if it is given in bytes, otherwise packets"),
    key(
        "bdp_rtt",
        "0.1.0",
        Form::Time,
        "the RTT of a `bdp`",
        |spec: &mut LinkSpec, given| spec.bdp_rtt = given.value(Reader::positive_span),
        |spec| spec.bdp_rtt.and_then(|rtt| show_text(&show_span(rtt))),
    )
    .without("base RTT of the first flow"),
    key(
        "device_queue",
        "0.1.0",
        Form::Any(&[Form::Choice(|| vec!["none"]), Form::QueueSize]),
        "ns-3's device queue in packets, which is added to the buffer",
        |spec: &mut LinkSpec, given| {
            spec.device_queue = given.placed(read_device_queue).and_then(|placed| {
                placed.value.map(|packets| Placed { value: packets, at: placed.at })
            });
        },
        |spec| match spec.device_queue {
            None => show_text("none"),
            Some(packets) => show_text(&format!("{}pkt", packets.value)),
        },
    ),
    key(
        "queue",
        "0.1.0",
        QUEUE,
        "queue discipline, by its name in `tc`, or a table with its parameters: `{ discipline = \"fq_codel\", target = \
         \"5ms\" }`",
        |spec: &mut LinkSpec, given| set(&mut spec.queue, QueueSpec::read(given)),
        |spec| Some(spec.queue.show()),
    ),
    key(
        "reverse_queue",
        "0.2.0",
        QUEUE,
        "queue discipline in the reverse direction",
        |spec: &mut LinkSpec, given| spec.reverse_queue = QueueSpec::read(given),
        |spec| spec.reverse_queue.map(|queue| queue.show()),
    )
    .without("`queue`"),
    key(
        "loss",
        "0.1.0",
        Form::Any(&[
            Form::Ratio,
            Form::List(&Form::Pair(&Form::Time, &Form::Ratio)),
            Form::Table(&[
                needed("model", Form::Choice(|| names(&LOSS_MODELS))),
                optional("ratio", Form::Ratio),
                optional("p", Form::Ratio),
                optional("r", Form::Ratio),
                optional("loss_bad", Form::Ratio),
                optional("loss_good", Form::Ratio),
            ]),
        ]),
        "random loss of data packets: a ratio, a schedule such as `[[\"0s\", 0], [\"10s\", 0.01]]`, `{ model = \"bernoulli\", ratio = 0.01 }`, or `{ model = \
         \"gilbert-elliott\", p = 0.01, r = 0.3, loss_bad = 1, loss_good = 0 }` (`p`: good to bad, `r`: bad to good; a \
         packet is lost according to the state before its transition)",
        |spec, given| set(&mut spec.loss, given.value(read_loss)),
        |spec| Some(show_loss(&spec.loss)),
    ),
    key(
        "trace",
        "0.2.0",
        Form::Any(&[
            Form::Text,
            Form::Table(&[
                optional("trace", Form::Text),
                optional("rows", Form::List(&Form::Text)),
                optional("model", Form::Choice(model::names)),
                optional("rate", Form::List(&Form::Rate)),
                optional("delay", Form::List(&Form::Time)),
                optional("every", Form::Time),
                optional("outage", Form::Time),
            ]),
        ]),
        "how the path changes, in place of `rate`, `delay` and `loss`: the path of a CSV file with the columns `time_s` and some of \
         `rate_mbps`, `delay_ms`, `loss`, or a model that is drawn from the seed such as `{ model = \"leo\", rate = [\"50Mbit/s\", \
         \"200Mbit/s\"], delay = [\"10ms\", \"30ms\"], every = \"15s\", outage = \"60ms\" }`: see [networks](networks.md)",
        LinkSpec::read_trace,
        |spec| spec.model.map(ModelSpec::show),
    ),
    key(
        "loss_at",
        "0.1.0",
        Form::Choice(|| names(&LOSS_ATS)),
        "where packets are lost at random: after or before the queue",
        |spec, given| set(&mut spec.link.loss_at, given.choice(&LOSS_ATS)),
        |spec| show_text(name_of(&LOSS_ATS, spec.link.loss_at)),
    ),
    key(
        "rate_change",
        "0.1.0",
        Form::Choice(|| names(&CHANGES)),
        "what packets in the queue do when the rate changes: leave at the new rate or keep their departure times",
        |spec, given| set(&mut spec.link.rate_change, given.choice(&CHANGES)),
        |spec| show_text(name_of(&CHANGES, spec.link.rate_change)),
    ),
    key(
        "reverse_rate",
        "0.1.0",
        REVERSE_RATE,
        "rate of the link in the reverse direction; `\"forward\"`: as in the forward direction",
        |spec: &mut LinkSpec, given| spec.reverse_rate = read_reverse_rate(given),
        |spec| {
            let has_shaper = spec.reverse_queue.is_some_and(|queue| queue.shaper().is_some());
            show_reverse_rate(&spec.reverse_rate).filter(|_| !has_shaper)
        },
    ),
    key(
        "reverse_buffer",
        "0.1.0",
        Form::QueueSize,
        "buffer of the link in the reverse direction",
        |spec: &mut LinkSpec, given| spec.reverse_buffer = given.placed(Reader::queue_size),
        |spec| spec.reverse_buffer.and_then(|buffer| show_text(&show_queue_size(buffer.value))),
    )
    .without("`buffer`"),
    key(
        "framing",
        "0.1.0",
        Form::Bytes,
        "link-layer bytes around an IP packet; at most `\"1000B\"`",
        |spec, given| set(&mut spec.link.framing, given.value(read_framing)),
        |spec| show_bytes(spec.link.framing.0),
    ),
    key(
        "burst",
        "0.1.0",
        Form::Bytes,
        "depth of a token bucket, which replaces the exact serialiser",
        |spec, given| spec.link.burst = given.value(Reader::positive_bytes),
        |spec| spec.link.burst.and_then(|bytes| show_bytes(bytes.0)),
    ),
    key(
        "police",
        "0.2.0",
        Form::Table(&[needed("rate", Form::Rate), needed("burst", Form::Bytes)]),
        "a policer in front of the queue, as `tc`'s: `{ rate = \"10Mbit/s\", burst = \"32KiB\" }` drops what exceeds the rate \
         and a bucket of `burst`",
        |spec, given| spec.link.police = given.value(read_police),
        |spec| {
            let Policer { rate, burst } = spec.link.police?;
            Some(format!("{{ rate = \"{}\", burst = \"{}B\" }}", show_rate(rate), burst.0))
        },
    ),
    key(
        "ecn_threshold",
        "0.1.0",
        Form::QueueSize,
        "marks ECN-capable packets CE if they find a larger backlog on arrival (`pkt`, `B`), or if they wait longer until \
        they are next to leave (`ms`)",
        |spec, given| spec.link.ecn_threshold = given.value(read_ecn_threshold),
        |spec| spec.link.ecn_threshold.and_then(show_ecn_threshold),
    ),
    key(
        "jitter",
        "0.1.0",
        Form::Any(&[
            Form::Time,
            Form::Table(&[needed("up_to", Form::Time), optional("keep_order", Form::Bool)]),
        ]),
        "additional delay, uniform in [0, x), in order; or `{ up_to = \"2ms\", keep_order = false }`",
        |spec, given| spec.link.jitter = given.value(read_jitter),
        |spec| spec.link.jitter.map(show_jitter),
    ),
    key(
        "reorder",
        "0.1.0",
        Form::Table(&[needed("ratio", Form::Ratio), needed("by", Form::Time)]),
        "`{ ratio = 0.01, by = \"1ms\" }`: data packets wait `by`, except for this share, which skips the wait",
        |spec, given| spec.reorder = given.value(read_reorder),
        |spec| {
            let ReorderSpec { ratio, by } = spec.reorder?;
            Some(format!("{{ ratio = {}, by = \"{}\" }}", toml_number(ratio), show_span(by)))
        },
    ),
    key(
        "ack_thinning",
        "0.2.0",
        Form::Whole(1, ACKS_MAX),
        "of so many ACKs of a flow in a row that say nothing but how far data arrived (no SACK blocks, no ECN echo, no SYN or FIN) only \
         the first passes in the reverse direction",
        |spec: &mut LinkSpec, given| {
            let of = given.value(|reader, node, name| reader.integer(node, name, 1, ACKS_MAX));
            set(&mut spec.ack_thinning, of.and_then(|of| u32::try_from(of).ok()));
        },
        |spec| Some(spec.ack_thinning.to_string()),
    ),
    key(
        "slot",
        "0.2.0",
        SLOT,
        "packets that have waited for `delay` leave in slots, as in `netem` with `delay` and `slot`: `\"4ms\"` from one to the \
         next, or `{ min_delay = \"2ms\", max_delay = \"8ms\", packets = 32, bytes = \"64KiB\", limit = 1000 }`, uniform between the \
         two, with so many packets and bytes a slot and so many packets that wait at most",
        |spec: &mut LinkSpec, given| spec.slot = given.value(SlotSpec::read),
        |spec| spec.slot.map(SlotSpec::show),
    ),
    key(
        "reverse_slot",
        "0.2.0",
        SLOT,
        "the same in the reverse direction: ACKs in slots",
        |spec: &mut LinkSpec, given| spec.reverse_slot = given.value(SlotSpec::read),
        |spec| spec.reverse_slot.map(SlotSpec::show),
    ),
];

/// The keys of `[access]`.
pub(crate) const ACCESS_KEYS: &[Key<AccessSpec>] = &[
    key(
        "rate",
        "0.1.0",
        RATE,
        "rate of each flow's access link",
        |access: &mut AccessSpec, given| access.rate = given.value(read_rate).unwrap_or(MISREAD),
        |access| show_rates(&access.rate),
    )
    .without("no limit"),
    key(
        "delay",
        "0.1.0",
        Form::Time,
        "propagation, one way",
        |access, given| set(&mut access.delay, given.value(Reader::span)),
        |access| show_text(&show_span(access.delay)),
    ),
    key(
        "buffer",
        "0.1.0",
        Form::QueueSize,
        "limit of the waiting packets",
        |access: &mut AccessSpec, given| access.buffer = given.placed(Reader::queue_size),
        |access| access.buffer.and_then(|buffer| show_text(&show_queue_size(buffer.value))),
    )
    .without("`\"unlimited\"`"),
    key(
        "reverse_rate",
        "0.1.0",
        REVERSE_RATE,
        "rate of each flow's access link in the reverse direction; `\"forward\"`: as in the forward direction",
        |access: &mut AccessSpec, given| access.reverse_rate = read_reverse_rate(given),
        |access| show_reverse_rate(&access.reverse_rate),
    ),
    key(
        "framing",
        "0.1.0",
        Form::Bytes,
        "link-layer bytes around an IP packet; at most `\"1000B\"`",
        |access, given| set(&mut access.framing, given.value(read_framing)),
        |access| show_bytes(access.framing.0),
    ),
];

impl LinkSpec {
    /// Reads `[bottleneck]`, or the keys that a `[[links]]` table shares with it; `of_profile` has the values of the
    /// keys that are not given. The caller finishes the keys.
    pub(crate) fn read(reader: &mut Reader<'_>, keys: &mut Keys<'_>, of_profile: &Self) -> Self {
        let mut link = of_profile.clone();
        link.at = keys.at;
        for buffer in [&mut link.buffer, &mut link.reverse_buffer].into_iter().flatten() {
            buffer.at = keys.at;
        }
        if let Some(device_queue) = &mut link.device_queue {
            device_queue.at = keys.at;
        }
        read_keys(LINK_KEYS, &mut link, reader, keys);
        link.take_shapers(reader, keys);
        link.check_changes(reader, keys);
        link.check_queues(reader, keys);
        let rate = &link.link.rate;
        check_buffer(reader, keys, ["buffer", "rate"], rate);
        check_buffer(
            reader,
            keys,
            ["reverse_buffer", "reverse_rate"],
            link.reverse_rate.rate(rate),
        );
        link
    }

    /// Where a discipline has a shaper of its own, its rate is the link's.
    fn take_shapers(&mut self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let mut refuse = |key: &str, besides: &'static str, found: &str| {
            let title =
                format!("`{}.bandwidth`: expected no `{besides}` beside it", keys.name(key));
            let at = keys.key_at(besides).unwrap_or(keys.at);
            reader.problem(at, title, found.to_owned(), Vec::new());
        };
        let both = "found both, and the shaper's is the link's rate";
        if let Some(rate) = self.queue.shaper() {
            if keys.has("rate") {
                refuse("queue", "rate", both);
            } else if self.link.rate.is_limited() {
                refuse("queue", "trace", both);
            }
            if self.link.burst.is_some() {
                refuse("queue", "burst", "found a token bucket behind a shaper of the same rate");
            }
            self.link.rate = Rate::Constant(rate);
        }
        if let Some(rate) = self.reverse_queue.and_then(|queue| queue.shaper()) {
            if keys.has("reverse_rate") {
                refuse("reverse_queue", "reverse_rate", both);
            }
            self.reverse_rate = Reverse::Own(Rate::Constant(rate));
        } else if self.queue.shaper().is_some()
            && self.reverse_queue.is_none()
            && matches!(&self.reverse_rate, Reverse::Own(rate) if rate.is_limited())
        {
            let found = "found two rates in the reverse direction, whose `reverse_queue` is `queue` if not given";
            refuse("queue", "reverse_rate", found);
        }
    }

    /// Reads `trace`: a file whose columns become schedules, or a model.
    fn read_trace(&mut self, given: &mut Given<'_, '_>) {
        let (node, name) = (given.node, given.name);
        let keys = given.keys;
        let reader = &mut *given.reader;
        let refuse = |reader: &mut Reader<'_>, key: &str| {
            if let Some(at) = keys.key_at(key) {
                let title = format!("`{}`: expected no `{key}` beside `trace`", keys.name(key));
                reader.problem(at, title, "found both, and the trace has it", Vec::new());
            }
        };
        // A wrong trace is not reported as a missing rate, too.
        if !self.link.rate.is_limited() {
            self.link.rate = MISREAD;
        }
        if let Value::Table(table) = &node.value
            && table.get("model").is_some()
        {
            let Some(model) = ModelSpec::read(reader, table, node, name) else { return };
            refuse(reader, "rate");
            refuse(reader, "delay");
            self.link.rate = Rate::Constant(model.first_rate());
            self.link.delay = model.first_delay();
            self.model = Some(model);
            return;
        }
        let Some(trace) = read_path_trace(reader, node, name) else { return };
        match &trace.rate {
            Some(rate) => {
                refuse(reader, "rate");
                self.link.rate = Rate::Schedule(rate.clone());
            }
            None if !keys.has("rate") => self.link.rate = Rate::Unlimited,
            None => {}
        }
        if let Some(delay) = &trace.delay {
            refuse(reader, "delay");
            (self.link.delay, self.link.delay_steps) = delay_of(delay);
        }
        if let Some(loss) = &trace.loss {
            refuse(reader, "loss");
            self.loss = LossSpec::Steps(loss.clone());
        }
    }

    /// Refuses what a link whose rate and delay do not change, or stop, does not go with.
    fn check_changes(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let is_still = self.link.delay_steps.is_none() && self.model.is_none();
        if is_still
            && !self.keep_order
            && let Some(at) = keys.key_at("keep_order")
        {
            let title = format!("`{}`: expected a `delay` that changes", keys.name("keep_order"));
            reader.problem(at, title, "found one that does not", Vec::new());
        }
        let stops = match &self.link.rate {
            Rate::Schedule(steps) => steps.iter().any(|step| step.1 == BitRate(0)),
            _ => self.model.is_some_and(|model| model.has_outages()),
        };
        if stops && self.link.rate_change == RateChange::Keep {
            let title = format!("`{}`: expected \"follow\"", keys.name("rate_change"));
            let found =
                "found \"keep\", with which a packet that arrives at a rate of 0 never leaves";
            let at = keys.key_at("rate_change").unwrap_or(keys.at);
            reader.problem(at, title, found, Vec::new());
        }
    }

    /// Refuses what a discipline's table does not go with.
    fn check_queues(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let reverse = self.reverse_queue.as_ref();
        let directions = [
            (Some(&self.queue), ["queue", "rate", "buffer"], self.link.rate.is_limited()),
            (
                reverse,
                ["reverse_queue", "reverse_rate", "reverse_buffer"],
                self.reverse_rate.rate(&self.link.rate).is_limited(),
            ),
        ];
        for (queue, [key, rate, buffer], is_limited) in directions {
            let (Some(queue), Some(at)) = (queue, keys.key_at(key)) else { continue };
            if !is_limited {
                let title = format!("`{}`: expected a `{rate}` as well", keys.name(key));
                let found =
                    "found the discipline of a link without a rate, which never has a queue";
                reader.problem(at, title, found, Vec::new());
            }
            if let (Some(limit), Some(_)) = (queue.limit, keys.get(buffer)) {
                let title = format!("`{}.limit`: expected no `{buffer}` beside it", keys.name(key));
                let found = "found both, and they are the same limit";
                reader.problem(limit.at, title, found, Vec::new());
            }
        }
        let is_droptail = |queue: &QueueSpec| queue.queue == Queue::DropTail;
        if let Some(device) = self.device_queue
            && !(is_droptail(&self.queue) && reverse.is_none_or(is_droptail))
        {
            let title =
                "`device_queue`: expected `queue = \"droptail\"` or `device_queue = \"none\"`";
            let found = "found a queue discipline, below which packets would wait unseen";
            reader.problem(device.at, title, found, Vec::new());
        }
    }

    pub(crate) fn write(&self, of_profile: Option<&Self>, out: &mut Writer) {
        write_keys_unlike(LINK_KEYS, self, of_profile, out);
    }
}

impl AccessSpec {
    pub(crate) fn read(reader: &mut Reader<'_>, mut keys: Keys<'_>, of_profile: &Self) -> Self {
        let mut access = Self { at: keys.at, ..of_profile.clone() };
        read_keys(ACCESS_KEYS, &mut access, reader, &mut keys);
        check_buffer(reader, &keys, ["buffer", "rate"], &access.rate);
        keys.finish(reader);
        access
    }

    pub(crate) fn write(&self, of_profile: Option<&Self>, out: &mut Writer) {
        out.table("[access]");
        write_keys_unlike(ACCESS_KEYS, self, of_profile, out);
    }
}

/// A number that is read as the same decimal. TOML requires digits on both sides of the point.
fn toml_number(value: Decimal) -> String {
    value.to_string()
}

/// Refuses the buffer of a direction without a rate.
fn check_buffer(
    reader: &mut Reader<'_>,
    keys: &Keys<'_>,
    [buffer, rate_key]: [&str; 2],
    rate: &Rate,
) {
    let Some(node) = keys.get(buffer) else { return };
    if !rate.is_limited() {
        let title = format!("`{}`: expected a `{rate_key}` as well", keys.name(buffer));
        let found = "found a buffer of a link without a rate, which never has a queue";
        reader.problem(node.at, title, found, Vec::new());
    }
}

fn read_reverse_rate(given: &mut Given<'_, '_>) -> Reverse {
    if let Value::Text(text) = &given.node.value
        && let Some((_, reverse)) = REVERSES.into_iter().find(|(name, _)| name == text)
    {
        return reverse;
    }
    Reverse::Own(given.value(read_rate).unwrap_or(MISREAD))
}

fn show_reverse_rate(reverse: &Reverse) -> Option<String> {
    match reverse {
        Reverse::Own(rate) if rate.is_limited() => show_rates(rate),
        named => {
            let name = REVERSES.into_iter().find(|(_, reverse)| reverse == named);
            name.and_then(|(name, _)| show_text(name))
        }
    }
}

#[expect(
    clippy::option_option,
    reason = "a value that cannot be read, or one that is none or a number"
)]
fn read_device_queue(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Option<u64>> {
    if matches!(&node.value, Value::Text(text) if text == "none") {
        return Some(None);
    }
    if let QueueSize::Packets(packets) = reader.queue_size(node, name)? {
        return Some(Some(packets));
    }
    reader.wrong(node, name, "\"none\" or a number of packets such as \"100pkt\"");
    None
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
    match reader.queue_size(node, name)? {
        QueueSize::Packets(packets) => Some(EcnThreshold::Packets(Packets(packets))),
        QueueSize::Bytes(bytes) => Some(EcnThreshold::Bytes(Bytes(bytes))),
        QueueSize::Time(span) => Some(EcnThreshold::Wait(span)),
        QueueSize::Bdp(_) | QueueSize::Unlimited => {
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
    let Value::Table(table) = &node.value else {
        return match node.value {
            Value::Integer(_) | Value::Float(_) | Value::Text(_) => {
                reader.ratio(node, name).map(LossSpec::Bernoulli)
            }
            Value::Array(_) => {
                let example = "[[\"0s\", 0], [\"10s\", 0.01]]";
                let told = Told { example, value: "a ratio" };
                read_steps(reader, node, name, &told, Reader::ratio).map(LossSpec::Steps)
            }
            _ => {
                reader.wrong(node, name, "a number from 0 to 1, or a table with a `model`");
                None
            }
        };
    };
    let mut keys = Keys::new(table, name, node.at);
    let Some(model) = keys.take("model") else {
        reader.missing(&keys, "model", "\"bernoulli\" or \"gilbert-elliott\"");
        return None;
    };
    let model = reader.choice(model, &keys.name("model"), &LOSS_MODELS, "")?;
    let mut ratio = |keys: &mut Keys<'_>, key: &'static str, default: Option<Decimal>| {
        if default.is_some() && !keys.has(key) {
            return default.filter(|_| keys.take(key).is_none());
        }
        reader.needed(keys, key, "a number from 0 to 1", Reader::ratio)
    };
    let loss = match model {
        LossModel::Bernoulli => ratio(&mut keys, "ratio", None).map(LossSpec::Bernoulli),
        LossModel::GilbertElliott => {
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

fn read_police(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Policer> {
    let example = "a table such as { rate = \"10Mbit/s\", burst = \"32KiB\" }";
    let table = reader.table(node, name, example)?;
    let mut keys = Keys::new(table, name, node.at);
    let rate =
        reader.needed(&mut keys, "rate", "what may pass, such as \"10Mbit/s\"", Reader::rate);
    let burst = reader.needed(
        &mut keys,
        "burst",
        "what may pass at once, such as \"32KiB\"",
        Reader::positive_bytes,
    );
    keys.finish(reader);
    Some(Policer { rate: rate?, burst: burst? })
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

/// A delay: constant, or a schedule with its first delay.
fn read_delay(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
) -> Option<(Span, Option<DelaySteps>)> {
    if !matches!(node.value, Value::Array(_)) {
        return reader.span(node, name).map(|delay| (delay, None));
    }
    let example = "[[\"0s\", \"20ms\"], [\"15s\", \"45ms\"]]";
    let told = Told { example, value: "a delay" };
    read_steps(reader, node, name, &told, Reader::span).map(|steps| delay_of(&steps))
}

fn delay_of(steps: &Arc<[(Time, Span)]>) -> (Span, Option<DelaySteps>) {
    let first = steps.first().map_or(Span::ZERO, |step| step.1);
    (first, Some(DelaySteps { steps: steps.clone(), keep_order: true }))
}

fn show_delay(spec: &LinkSpec) -> Option<String> {
    match &spec.link.delay_steps {
        _ if spec.model.is_some() => None,
        None => show_text(&show_span(spec.link.delay)),
        Some(DelaySteps { steps, .. }) => {
            Some(show_steps(steps, |&delay| toml_string(&show_span(delay))))
        }
    }
}

/// A trace of a path: a file, or `{ trace = "FILE", rows = [...] }`, the form in which the folder of a sweep stores it.
fn read_path_trace(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Arc<PathTrace>> {
    let expected = "the path of a CSV file, or a table with a `model`";
    let (file, rows) = match &node.value {
        Value::Text(_) => (Some(node), None),
        Value::Table(table) => {
            let mut keys = Keys::new(table, name, node.at);
            let (file, rows) = (keys.take("trace"), keys.take("rows"));
            keys.finish(reader);
            (file, rows)
        }
        _ => (None, None),
    };
    let read = match (file, rows) {
        (_, Some(Node { value: Value::Array(rows), at })) => {
            let mut lines = Vec::with_capacity(rows.len());
            for row in rows {
                lines.push(reader.text(row, &format!("{name}.rows"))?);
            }
            reader.traces.inline_path(*at, &lines)
        }
        (Some(Node { value: Value::Text(file), .. }), None) => {
            let path = reader.dir.map_or_else(|| Path::new(file).to_owned(), |dir| dir.join(file));
            reader.traces.read_path(&path)
        }
        _ => {
            reader.wrong(node, name, expected);
            return None;
        }
    };
    match read {
        Ok(trace) => Some(trace),
        Err(reason) => {
            let found = format!("found {}; as a trace it {reason}", found(&node.value));
            reader.problem(node.at, format!("`{name}`: expected {expected}"), found, Vec::new());
            None
        }
    }
}

const RATE_EXPECTED: &str = "a rate such as \"50Mbit/s\", a schedule or a trace file";

/// A rate: constant, a schedule, or a Mahimahi trace.
fn read_rate(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Rate> {
    match &node.value {
        Value::Array(_) => read_schedule(reader, node, name),
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

/// Whether a text with a slash is probably a quantity (`50Mbt/s`) and not the path of a file.
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

/// `{ opportunities_ms = [...] }`, the form in which a run's folder stores the trace of the run.
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
    if let Some(known) = reader.traces.inline(*at) {
        return Some(Rate::Trace(known));
    }
    let mut opportunities = Vec::with_capacity(values.len());
    for value in values {
        let at = reader.integer(value, &format!("{name}.opportunities_ms"), 0, 86_400_000)?;
        opportunities.push(u32::try_from(at).expect("at most a day"));
    }
    match Trace::new(opportunities) {
        Ok(trace) => {
            let trace = Arc::new(trace);
            reader.traces.keep_inline(*at, trace.clone());
            Some(Rate::Trace(trace))
        }
        Err(reason) => {
            let title = format!("`{name}.opportunities_ms`: expected {expected}");
            reader.problem(*at, title, format!("found a trace that {reason}"), Vec::new());
            None
        }
    }
}

fn read_schedule(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Rate> {
    let example = "[[\"0s\", \"40Mbit/s\"], [\"40s\", \"80Mbit/s\"]]";
    let told = Told { example, value: "a rate" };
    let steps = read_steps(reader, node, name, &told, Reader::rate_or_zero)?;
    if let Some(reason) = wrong_end(&steps) {
        let title = format!("`{name}`: expected a rate above zero at the start and at the end");
        reader.problem(node.at, title, format!("found a schedule that {reason}"), Vec::new());
        return None;
    }
    Some(Rate::Schedule(steps))
}

fn show_rates(rate: &Rate) -> Option<String> {
    match rate {
        Rate::Unlimited => None,
        Rate::Constant(rate) => show_text(&show_rate(*rate)),
        Rate::Schedule(steps) => Some(show_steps(steps, |&rate| toml_string(&show_rate(rate)))),
        Rate::Trace(trace) => {
            let at: Vec<String> = trace.opportunities_ms().iter().map(u32::to_string).collect();
            Some(format!("{{ opportunities_ms = [{}] }}", at.join(", ")))
        }
    }
}

fn show_loss(loss: &LossSpec) -> String {
    match loss {
        LossSpec::Bernoulli(ratio) => toml_number(*ratio),
        LossSpec::Steps(steps) => show_steps(steps, |&ratio| toml_number(ratio)),
        &LossSpec::GilbertElliott { p, r, loss_bad, loss_good } => {
            let [p, r, bad, good] = [p, r, loss_bad, loss_good].map(toml_number);
            format!(
                "{{ model = \"gilbert-elliott\", p = {p}, r = {r}, loss_bad = {bad}, loss_good = {good} }}"
            )
        }
    }
}

fn show_ecn_threshold(threshold: EcnThreshold) -> Option<String> {
    match threshold {
        EcnThreshold::Packets(packets) => show_text(&format!("{}pkt", packets.0)),
        EcnThreshold::Bytes(bytes) => show_bytes(bytes.0),
        EcnThreshold::Wait(span) => show_text(&show_span(span)),
    }
}

fn show_jitter(jitter: Jitter) -> String {
    let up_to = toml_string(&show_span(jitter.up_to));
    if jitter.keep_order { up_to } else { format!("{{ up_to = {up_to}, keep_order = false }}") }
}
