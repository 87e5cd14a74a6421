//! The keys of `[bottleneck]` and `[[links]]`.

use bbrlab_link::{LossAt, RateChange};

use super::LinkSpec;
use super::airtime::{self, AirtimeSpec};
use super::grant::{self, GrantSpec};
use super::jitter::{read_jitter, read_reorder, show_jitter, show_reorder};
use super::loss::{LOSS_MODELS, read_loss, show_loss, toml_number};
use super::path::{read_delay, show_delay, show_trace};
use super::queue::{QUEUE, UNITS, read_device_queue, read_ecn_threshold, show_ecn_threshold};
use super::random_delay;
use super::rate::{
    MISREAD, RATE, REVERSE_RATE, read_framing, read_rate, read_reverse_rate, show_rates,
    show_reverse_rate,
};
use super::shaper::{PEAK, PeakSpec, read_police, show_police};
use super::slot::{self, SlotSpec};
use crate::keys::model;
use crate::keys::queue::QueueSpec;
use crate::language::acts::Acts;
use crate::language::canonical::{show_bytes, show_text};
use crate::language::key::{Form, Key, key, name_of, names, needed, optional, set};
use crate::language::quantity::{show_queue_size, show_span};
use crate::language::reader::{Placed, Reader};

const LOSS_ATS: [(&str, LossAt); 2] = [("after", LossAt::After), ("before", LossAt::Before)];
const CHANGES: [(&str, RateChange); 2] =
    [("follow", RateChange::Follow), ("keep", RateChange::Keep)];

/// The largest value of `ack_thinning`.
const ACKS_MAX: u64 = 1000;

const SLOT: Form = Form::Any(&[Form::Time, Form::Table(slot::PARTS)]);

const GRANT: Form = Form::Any(&[Form::Time, Form::Table(grant::PARTS)]);

/// The form of `loss`: a ratio, a schedule of ratios, or a table with a model of loss.
const LOSS: Form = Form::Any(&[
    Form::Ratio,
    Form::List(&Form::Pair(&Form::Time, &Form::Ratio)),
    Form::Table(&[
        needed("model", Form::Choice(|| names(&LOSS_MODELS))),
        optional("ratio", Form::Ratio),
        optional("p", Form::Ratio),
        optional("r", Form::Ratio),
        optional("good", Form::Time),
        optional("bad", Form::Time),
        optional("loss_bad", Form::Ratio),
        optional("loss_good", Form::Ratio),
    ]),
]);

/// The form of `jitter`, an additional random delay: the upper bound of uniform jitter, or a table.
const JITTER: Form = Form::Any(&[
    Form::Time,
    Form::Table(&[
        optional("up_to", Form::Time),
        optional("spread", Form::Time),
        optional(
            "distribution",
            Form::Any(&[
                Form::Choice(random_delay::distributions),
                Form::List(&Form::Number(-32_768.0, 32_767)),
            ]),
        ),
        optional("correlation", Form::Ratio),
        optional("keep_order", Form::Bool),
        optional("model", Form::Choice(|| vec!["wifi"])),
        optional("mean", Form::Time),
    ]),
]);

/// The form of `reorder`: `ratio`, the share of packets that do not get the delay, and `by`, the
/// delay.
const REORDER: Form = Form::Table(&[needed("ratio", Form::Ratio), needed("by", Form::Time)]);

/// The form of `police`.
const POLICE: Form = Form::Table(&[needed("rate", Form::Rate), needed("burst", Form::Bytes)]);

/// The keys that `[bottleneck]` and `[[links]]` share.
pub(crate) const LINK_KEYS: &[Key<LinkSpec>] = &[
    key(
        "rate",
        "0.1.0",
        RATE,
        "how fast the link sends in the forward direction; a list is a schedule such as `[[\"0s\", \"40Mbit/s\"], \
         [\"40s\", \"80Mbit/s\"]]`, a text is the path of a Mahimahi trace, relative to the scenario's folder",
        |spec: &mut LinkSpec, given| spec.link.rate = given.value(read_rate).unwrap_or(MISREAD),
        |spec| {
            let is_of_trace = spec.trace.as_ref().is_some_and(|trace| trace.rate.is_some());
            let is_elsewhere =
                spec.model.is_some() || is_of_trace || spec.queue.shaper().is_some();
            if is_elsewhere { None } else { show_rates(&spec.link.rate) }
        },
    )
    .acts_on(Acts::Forward)
    .without("none: a pure delay without a queue. With `cake`: its `bandwidth`, if set"),
    key(
        "delay",
        "0.1.0",
        Form::Any(&[Form::Time, Form::List(&Form::Pair(&Form::Time, &Form::Time))]),
        "propagation delay, the same in both directions; a list is a schedule such as `[[\"0s\", \"20ms\"], [\"15s\", \
         \"45ms\"]]`. The key `rtt` and the unit `bdp` use the first delay of a schedule",
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
        "whether packets stay in order when the delay falls; otherwise packets that leave later may arrive earlier",
        |spec: &mut LinkSpec, given| set(&mut spec.keep_order, given.value(Reader::boolean)),
        |spec| Some(spec.keep_order.to_string()),
    ),
    key(
        "buffer",
        "0.1.0",
        Form::QueueSize,
        "limit of the waiting packets; the packet in service does not count. A size in `bdp` or as a time is computed \
         with the rate at the start, or with the mean rate of a recorded trace. With a queue discipline, the default \
         is the `limit` in `queue`; without this `limit`, the default is the discipline's default limit in `tc`",
        |spec: &mut LinkSpec, given| spec.buffer = given.placed(Reader::queue_size),
        |spec| spec.buffer.and_then(|buffer| show_text(&show_queue_size(buffer.value))),
    )
    .acts_on(Acts::Forward)
    .without("`\"1bdp\"`"),
    key(
        "buffer_unit",
        "0.1.0",
        Form::Choice(|| names(&UNITS)),
        "the unit to which the buffer is converted",
        |spec: &mut LinkSpec, given| spec.buffer_unit = given.choice(&UNITS),
        |spec| spec.buffer_unit.and_then(|unit| show_text(name_of(&UNITS, unit))),
    )
    .acts_on(Acts::Buffer)
    .without("bytes if `buffer` is given in bytes, otherwise packets"),
    key(
        "bdp_rtt",
        "0.1.0",
        Form::Time,
        "the RTT with which a `bdp` is computed",
        |spec: &mut LinkSpec, given| spec.bdp_rtt = given.value(Reader::positive_span),
        |spec| spec.bdp_rtt.and_then(|rtt| show_text(&show_span(rtt))),
    )
    .acts_on(Acts::Bdp)
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
    )
    .acts_on(Acts::Forward),
    key(
        "queue",
        "0.1.0",
        QUEUE,
        "queue discipline, by its name in `tc`, or a table with its parameters: `{ discipline = \"fq_codel\", target = \
         \"5ms\" }`",
        |spec: &mut LinkSpec, given| set(&mut spec.queue, QueueSpec::read(given)),
        |spec| Some(spec.queue.show()),
    )
    .acts_on(Acts::Forward),
    key(
        "reverse_queue",
        "0.2.0",
        QUEUE,
        "queue discipline in the reverse direction",
        |spec: &mut LinkSpec, given| spec.reverse_queue = QueueSpec::read(given),
        |spec| spec.reverse_queue.map(|queue| queue.show()),
    )
    .acts_on(Acts::Reverse)
    .without("`queue`"),
    key(
        "loss",
        "0.1.0",
        LOSS,
        "random loss of packets: a ratio, a schedule such as `[[\"0s\", 0], [\"10s\", 0.01]]`, or `{ model = \
         \"gilbert-elliott\", p = 0.01, r = 0.3, loss_bad = 1, loss_good = 0 }`. Per packet, the bad state begins \
         with probability `p` and ends with `r`. Mean durations `good = \"600ms\", bad = \"16ms\"` can replace `p` \
         and `r`: see [networks](networks.md)",
        |spec: &mut LinkSpec, given| set(&mut spec.loss, given.value(read_loss)),
        |spec| {
            let is_of_trace = spec.trace.as_ref().is_some_and(|trace| trace.loss.is_some());
            (!is_of_trace).then(|| show_loss(&spec.loss))
        },
    )
    .acts_on(Acts::Forward),
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
        "how the path changes: a CSV file with the column `time_s` and some of `rate_mbps`, `delay_ms`, `loss`, which \
         replace the keys of these quantities. Or a model with random values, which replaces `rate` and `delay`: `{ \
         model = \"leo\", rate = [\"50Mbit/s\", \"200Mbit/s\"], delay = [\"10ms\", \"30ms\"], every = \"15s\", outage \
         = \"60ms\" }`; see [networks](networks.md)",
        LinkSpec::read_trace,
        show_trace,
    ),
    key(
        "loss_at",
        "0.1.0",
        Form::Choice(|| names(&LOSS_ATS)),
        "where packets are lost at random: after or before the queue",
        |spec: &mut LinkSpec, given| set(&mut spec.link.loss_at, given.choice(&LOSS_ATS)),
        |spec| show_text(name_of(&LOSS_ATS, spec.link.loss_at)),
    )
    .acts_on(Acts::Loss),
    key(
        "rate_change",
        "0.1.0",
        Form::Choice(|| names(&CHANGES)),
        "what packets in the queue do when the rate changes: leave at the new rate or keep their departure times",
        |spec: &mut LinkSpec, given| set(&mut spec.link.rate_change, given.choice(&CHANGES)),
        |spec| show_text(name_of(&CHANGES, spec.link.rate_change)),
    )
    .acts_on(Acts::RateChanges),
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
    )
    .acts_on(Acts::Reverse),
    key(
        "reverse_buffer",
        "0.1.0",
        Form::QueueSize,
        "buffer of the link in the reverse direction",
        |spec: &mut LinkSpec, given| spec.reverse_buffer = given.placed(Reader::queue_size),
        |spec| spec.reverse_buffer.and_then(|buffer| show_text(&show_queue_size(buffer.value))),
    )
    .acts_on(Acts::Reverse)
    .without("`buffer`"),
    key(
        "framing",
        "0.1.0",
        Form::Bytes,
        "link-layer bytes around an IP packet; at most `\"1000B\"`",
        |spec: &mut LinkSpec, given| set(&mut spec.link.framing, given.value(read_framing)),
        |spec| show_bytes(spec.link.framing.0),
    )
    .acts_on(Acts::Sizes),
    key(
        "burst",
        "0.1.0",
        Form::Bytes,
        "depth of a token bucket in the forward direction, which replaces the serialiser that sends one packet after \
         another at `rate`",
        |spec: &mut LinkSpec, given| spec.burst = given.placed(Reader::positive_bytes),
        |spec| spec.burst.and_then(|bytes| show_bytes(bytes.value.0)),
    )
    .acts_on(Acts::Forward),
    key(
        "peak_rate",
        "0.2.0",
        Form::Any(&[Form::Rate, Form::Table(PEAK)]),
        "how fast a link with a `burst` empties its bucket, as `tbf`'s `peakrate` and `mtu`: `\"100Mbit/s\"`, for \
         packets of at most 1,500 B plus framing, or `{ rate = \"100Mbit/s\", mtu = \"9KB\" }`",
        |spec: &mut LinkSpec, given| spec.peak_rate = given.value(PeakSpec::read),
        |spec| spec.peak_rate.map(PeakSpec::show),
    )
    .acts_on(Acts::Forward)
    .without("no limit"),
    key(
        "police",
        "0.2.0",
        POLICE,
        "a policer in front of the queue, as `tc`'s: `{ rate = \"10Mbit/s\", burst = \"32KiB\" }` drops packets beyond \
         the rate and a bucket of `burst`",
        |spec: &mut LinkSpec, given| spec.police = given.value(read_police),
        |spec| spec.police.map(|police| show_police(police.value)),
    )
    .acts_on(Acts::Forward),
    key(
        "ecn_threshold",
        "0.1.0",
        Form::QueueSize,
        "threshold above which ECN-capable packets are marked CE. In `pkt` or `B`: the backlog that a packet finds on \
         arrival, with the packet in service. In `ms`: the time that a packet waits until it is next to leave",
        |spec: &mut LinkSpec, given| spec.link.ecn_threshold = given.value(read_ecn_threshold),
        |spec| spec.link.ecn_threshold.and_then(show_ecn_threshold),
    )
    .acts_on(Acts::EcnCapable),
    key(
        "jitter",
        "0.1.0",
        JITTER,
        "additional delay. A time x: uniformly random from 0 to x, and packets keep their order; with `{ up_to = \
         \"2ms\", keep_order = false }` packets may overtake each other. As in netem: `{ spread = \"5ms\", \
         distribution = \"normal\", correlation = 0.25, keep_order = false }`. As on Wi-Fi: `{ model = \"wifi\", \
         mean = \"7ms\" }`. See [networks](networks.md)",
        |spec: &mut LinkSpec, given| spec.jitter = given.value(read_jitter),
        |spec| spec.jitter.as_ref().map(show_jitter),
    )
    .acts_on(Acts::Forward),
    key(
        "reorder",
        "0.1.0",
        REORDER,
        "`{ ratio = 0.01, by = \"1ms\" }`: packets wait for the time `by`, except for the share `ratio`, which skips \
         the wait",
        |spec: &mut LinkSpec, given| spec.reorder = given.value(read_reorder),
        |spec| spec.reorder.map(show_reorder),
    )
    .acts_on(Acts::Forward),
    key(
        "duplicate",
        "0.2.0",
        Form::Ratio,
        "share of the packets that arrive twice",
        |spec: &mut LinkSpec, given| set(&mut spec.duplicate, given.value(Reader::ratio)),
        |spec| Some(toml_number(spec.duplicate)),
    )
    .acts_on(Acts::Forward),
    key(
        "corrupt",
        "0.2.0",
        Form::Ratio,
        "share of the packets that become corrupt: they cross the rest of the path, and the host discards them",
        |spec: &mut LinkSpec, given| set(&mut spec.corrupt, given.value(Reader::ratio)),
        |spec| Some(toml_number(spec.corrupt)),
    )
    .acts_on(Acts::Forward),
    key(
        "reverse_duplicate",
        "0.2.0",
        Form::Ratio,
        "`duplicate` for the reverse direction",
        |spec: &mut LinkSpec, given| set(&mut spec.reverse_duplicate, given.value(Reader::ratio)),
        |spec| Some(toml_number(spec.reverse_duplicate)),
    )
    .acts_on(Acts::Reverse),
    key(
        "reverse_corrupt",
        "0.2.0",
        Form::Ratio,
        "`corrupt` for the reverse direction",
        |spec: &mut LinkSpec, given| set(&mut spec.reverse_corrupt, given.value(Reader::ratio)),
        |spec| Some(toml_number(spec.reverse_corrupt)),
    )
    .acts_on(Acts::Reverse),
    key(
        "reverse_loss",
        "0.2.0",
        LOSS,
        "random loss of packets in the reverse direction, both ACKs and data; the values are written like those of \
         `loss`, and `loss_at` applies to this loss, too",
        |spec: &mut LinkSpec, given| set(&mut spec.reverse_loss, given.value(read_loss)),
        |spec| Some(show_loss(&spec.reverse_loss)),
    )
    .acts_on(Acts::Reverse),
    key(
        "reverse_jitter",
        "0.2.0",
        JITTER,
        "additional delay in the reverse direction, written like `jitter`",
        |spec: &mut LinkSpec, given| spec.reverse_jitter = given.value(read_jitter),
        |spec| spec.reverse_jitter.as_ref().map(show_jitter),
    )
    .acts_on(Acts::Reverse),
    key(
        "reverse_reorder",
        "0.2.0",
        REORDER,
        "reordering in the reverse direction, written like `reorder`",
        |spec: &mut LinkSpec, given| spec.reverse_reorder = given.value(read_reorder),
        |spec| spec.reverse_reorder.map(show_reorder),
    )
    .acts_on(Acts::Reverse),
    key(
        "reverse_police",
        "0.2.0",
        POLICE,
        "a policer in front of the queue of the reverse direction, written like `police`",
        |spec: &mut LinkSpec, given| spec.reverse_police = given.value(read_police),
        |spec| spec.reverse_police.map(|police| show_police(police.value)),
    )
    .acts_on(Acts::Reverse),
    key(
        "ack_thinning",
        "0.2.0",
        Form::Whole(1, ACKS_MAX),
        "in the reverse direction, the link forwards only the first of this many consecutive pure ACKs of a flow. \
         Pure ACKs carry no SACK blocks, ECN echo, SYN or FIN. A link of a `return_path` thins ACKs in its forward \
         direction, too",
        |spec: &mut LinkSpec, given| {
            let of = given.value(|reader, node, name| reader.integer(node, name, 1, ACKS_MAX));
            set(&mut spec.ack_thinning, of.and_then(|of| u32::try_from(of).ok()));
        },
        |spec| Some(spec.ack_thinning.to_string()),
    )
    .acts_on(Acts::Acks),
    key(
        "slot",
        "0.2.0",
        SLOT,
        "packets leave in slots after `delay`, as in `netem` with `delay` and `slot`: every `\"4ms\"`, or `{ \
         min_delay = \"2ms\", max_delay = \"8ms\", packets = 32, bytes = \"64KiB\", limit = 1000 }`. Intervals are \
         uniform from `min_delay` to `max_delay`. `packets` and `bytes` bound what leaves in one slot; \
         `limit` bounds the number of waiting packets",
        |spec: &mut LinkSpec, given| spec.slot = given.value(SlotSpec::read),
        |spec| spec.slot.map(SlotSpec::show),
    )
    .acts_on(Acts::Forward),
    key(
        "reverse_slot",
        "0.2.0",
        SLOT,
        "`slot` for the reverse direction: ACKs in slots",
        |spec: &mut LinkSpec, given| spec.reverse_slot = given.value(SlotSpec::read),
        |spec| spec.reverse_slot.map(SlotSpec::show),
    )
    .acts_on(Acts::Reverse),
    key(
        "airtime",
        "0.2.0",
        Form::Any(&[Form::Time, Form::Table(airtime::PARTS)]),
        "both directions share one medium, as on Wi-Fi, and transmit in turn. `\"186us\"`: one packet per transmission \
         opportunity, with this overhead. `{ overhead = \"186us\", packets = 64, time = \"5484us\" }`: at most 64 \
         packets per opportunity; the last packet's transmission begins less than 5484 us after the first packet's. \
         See [networks](networks.md)",
        |spec: &mut LinkSpec, given| spec.airtime = given.value(AirtimeSpec::read),
        |spec| spec.airtime.map(AirtimeSpec::show),
    ),
    key(
        "grant",
        "0.2.0",
        GRANT,
        "packets leave when the network grants a request, as upstream on cable. `\"4ms\"`: time from \
         request to grant. `{ delay = \"4ms\", every = \"2ms\", bytes = \"16KB\", limit = 1000 }`: if \
         no request is outstanding, one is sent at a multiple of `every`; at most `bytes` per \
         grant; at most `limit` packets wait. See [networks](networks.md)",
        |spec: &mut LinkSpec, given| spec.grant = given.value(GrantSpec::read),
        |spec| spec.grant.map(GrantSpec::show),
    )
    .acts_on(Acts::Forward),
    key(
        "reverse_grant",
        "0.2.0",
        GRANT,
        "`grant` for the reverse direction: ACKs that wait for grants",
        |spec: &mut LinkSpec, given| spec.reverse_grant = given.value(GrantSpec::read),
        |spec| spec.reverse_grant.map(GrantSpec::show),
    )
    .acts_on(Acts::Reverse),
];

#[cfg(test)]
mod tests {
    use bbrlab_run::KEYS_WITH_REVERSE;

    use super::LINK_KEYS;

    #[test]
    fn errors_name_the_keys_that_have_a_second_key_for_the_reverse_direction() {
        let names: Vec<&str> = LINK_KEYS.iter().map(|key| key.name).collect();
        let reversed: Vec<&str> =
            names.iter().filter_map(|name| name.strip_prefix("reverse_")).collect();
        assert!(reversed.iter().all(|key| KEYS_WITH_REVERSE.contains(key)), "{reversed:?}");
        assert!(KEYS_WITH_REVERSE.iter().all(|key| reversed.contains(key) && names.contains(key)));
    }
}
