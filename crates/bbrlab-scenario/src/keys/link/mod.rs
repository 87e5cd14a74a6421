//! `[bottleneck]`, `[[links]]` and `[access]`: links as scenarios describe them.

mod access;
mod airtime;
mod checks;
mod grant;
mod jitter;
mod keys;
mod loss;
mod path;
mod queue;
mod random_delay;
mod rate;
mod shaper;
mod slot;

use std::sync::Arc;

use bbrlab_link::{Buffer, Link, Policer, Rate};
use bbrlab_units::{BitRate, Bytes, Span, Time};

use crate::keys::model::ModelSpec;
use crate::keys::queue::QueueSpec;
use crate::language::canonical::Writer;
use crate::language::decimal::Decimal;
use crate::language::document::At;
use crate::language::key::{read_keys, write_keys_unlike};
use crate::language::path_trace::PathTrace;
use crate::language::quantity::QueueSize;
use crate::language::reader::{Keys, Placed, Reader};

pub(crate) use access::{ACCESS_KEYS, AccessSpec};
use airtime::AirtimeSpec;
use checks::check_buffer;
pub(crate) use grant::GrantSpec;
pub(crate) use jitter::{JitterSpec, ReorderSpec};
pub(crate) use keys::LINK_KEYS;
pub(crate) use loss::LossSpec;
pub(crate) use queue::BufferUnit;
use rate::Reverse;
use shaper::PeakSpec;
pub(crate) use slot::SlotSpec;

/// Bytes of headers in a data packet: IP, and TCP with timestamps.
pub(crate) const HEADERS: u64 = bbrlab_run::headers::DATA as u64;

/// A link with the defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct LinkSpec {
    pub(crate) at: At,
    /// The link as the engine uses it. The link's name and the settings in the fields below are
    /// added later.
    pub(crate) link: Link,
    pub(crate) queue: QueueSpec,
    pub(crate) reverse_queue: Option<QueueSpec>,
    pub(crate) buffer: Option<Placed<QueueSize>>,
    pub(crate) buffer_unit: Option<BufferUnit>,
    pub(crate) bdp_rtt: Option<Span>,
    pub(crate) device_queue: Option<Placed<u64>>,
    pub(crate) keep_order: bool,
    pub(crate) burst: Option<Placed<Bytes>>,
    pub(crate) peak_rate: Option<PeakSpec>,
    /// The policer, with the position of its `burst` in the scenario file.
    pub(crate) police: Option<Placed<Policer>>,
    pub(crate) airtime: Option<AirtimeSpec>,
    pub(crate) loss: LossSpec,
    /// The model from which rate and delay are drawn. With a model, `link` has the rate and the
    /// delay at the start of the run.
    pub(crate) model: Option<ModelSpec>,
    /// The trace that gives one or more of rate, delay and loss.
    pub(crate) trace: Option<Arc<PathTrace>>,
    pub(crate) reorder: Option<ReorderSpec>,
    /// The number of consecutive pure ACKs of which the link forwards only the first; at least 1.
    pub(crate) ack_thinning: u32,
    pub(crate) slot: Option<SlotSpec>,
    pub(crate) grant: Option<GrantSpec>,
    pub(crate) reverse_rate: Reverse,
    pub(crate) reverse_buffer: Option<Placed<QueueSize>>,
    pub(crate) reverse_loss: LossSpec,
    pub(crate) jitter: Option<JitterSpec>,
    pub(crate) duplicate: Decimal,
    pub(crate) corrupt: Decimal,
    pub(crate) reverse_duplicate: Decimal,
    pub(crate) reverse_corrupt: Decimal,
    pub(crate) reverse_jitter: Option<JitterSpec>,
    pub(crate) reverse_reorder: Option<ReorderSpec>,
    pub(crate) reverse_police: Option<Placed<Policer>>,
    pub(crate) reverse_slot: Option<SlotSpec>,
    pub(crate) reverse_grant: Option<GrantSpec>,
}

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
            burst: None,
            peak_rate: None,
            police: None,
            airtime: None,
            loss: LossSpec::Bernoulli(Decimal::ZERO),
            model: None,
            trace: None,
            reorder: None,
            ack_thinning: 1,
            slot: None,
            grant: None,
            reverse_rate: Reverse::UNLIMITED,
            reverse_buffer: None,
            reverse_loss: LossSpec::Bernoulli(Decimal::ZERO),
            jitter: None,
            duplicate: Decimal::ZERO,
            corrupt: Decimal::ZERO,
            reverse_duplicate: Decimal::ZERO,
            reverse_corrupt: Decimal::ZERO,
            reverse_jitter: None,
            reverse_reorder: None,
            reverse_police: None,
            reverse_slot: None,
            reverse_grant: None,
        }
    }
}

impl LinkSpec {
    /// Reads `[bottleneck]`, or the keys that a `[[links]]` table shares with it. `of_profile` has
    /// the values of missing keys. The caller must call [`Keys::finish`].
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
        link.check_burst(reader, keys);
        link.check_peak_rate(reader, keys);
        link.check_changes(reader, keys);
        link.check_airtime(reader, keys);
        link.check_grants(reader, keys);
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

    /// Returns the nominal rate of one direction of the link. The nominal rate serves to convert a
    /// buffer in BDP or time to bytes or packets, and a `load` to an arrival rate. The nominal rate
    /// is the rate at the start of the run. If the key `trace` sets the rate, the nominal rate is
    /// the mean over `duration`; for a Mahimahi trace, the mean over the trace's period. `None` if
    /// the direction has no rate.
    pub(crate) fn nominal_rate(&self, rate: &Rate, duration: Span) -> Option<BitRate> {
        let is_of_trace = match (&self.trace, rate) {
            (Some(trace), Rate::Schedule(steps)) => trace.rate.as_ref() == Some(steps),
            _ => false,
        };
        if is_of_trace { rate.mean_until(Time::ZERO + duration) } else { rate.at_start() }
    }

    /// Returns whether the buffer of at least one direction has a size in BDP, which is the
    /// default.
    pub(crate) fn has_buffer_in_bdp(&self) -> bool {
        let is_bdp = |size: Option<QueueSize>| matches!(size, None | Some(QueueSize::Bdp(_)));
        let own = |queue: &QueueSpec, buffer: Option<Placed<QueueSize>>| {
            let given = queue.limit.or(buffer).map(|size| size.value);
            is_bdp(given.or_else(|| queue.default_limit(Some(BitRate(1)))))
        };
        let reverse = self.reverse_queue.as_ref().unwrap_or(&self.queue);
        own(&self.queue, self.buffer) || own(reverse, self.reverse_buffer.or(self.buffer))
    }

    pub(crate) fn write(&self, of_profile: Option<&Self>, out: &mut Writer) {
        write_keys_unlike(LINK_KEYS, self, of_profile, out);
    }
}
