//! Converts the size of a queue from packets, bytes, milliseconds or BDP to the packets or bytes
//! that the engine counts.

use bbrlab_units::{BitRate, Bytes, Packets, Span};

use crate::keys::link::{AccessSpec, BufferUnit, HEADERS, LinkSpec};
use crate::keys::queue::QueueSpec;
use crate::language::decimal::Decimal;
use crate::language::document::At;
use crate::language::quantity::{QueueSize, show_queue_size};
use crate::language::reader::{Placed, Reader};
use bbrlab_link::{Buffer, Link};

/// The largest buffer, in packets or bytes, that a `bdp` or a time may amount to.
const BUFFER_MAX: u64 = 1 << 50;

/// A buffer as written, with what is needed to turn it into packets or bytes.
pub(crate) struct BufferSpec {
    /// The table of its link, as users write it: `bottleneck`, `links[1]`.
    pub(crate) table: String,
    /// The key that says how large it is, or would.
    key: &'static str,
    at: At,
    /// Whether the scenario says nothing of it.
    is_default: bool,
    size: QueueSize,
    unit: Option<BufferUnit>,
    bdp_rtt: Option<Span>,
    device_queue: Option<Placed<u64>>,
    /// The rate that a `bdp` or a time takes.
    pub(crate) nominal_rate: Option<BitRate>,
}

/// The default buffer of `[bottleneck]` and `[[links]]` in BDP: the textbook rule.
const DEFAULT_BDP: u64 = 1;

impl BufferSpec {
    pub(crate) fn of_link(spec: &LinkSpec, table: &str, nominal: Option<BitRate>) -> Self {
        let given = spec.buffer.map(|buffer| ("buffer", buffer));
        Self::of(spec, table, nominal, ("queue.limit", &spec.queue), ("buffer", given))
    }

    pub(crate) fn of_reverse(spec: &LinkSpec, table: &str, nominal: Option<BitRate>) -> Self {
        let queue = match &spec.reverse_queue {
            Some(queue) => ("reverse_queue.limit", queue),
            None => ("queue.limit", &spec.queue),
        };
        let own = spec.reverse_buffer.map(|buffer| ("reverse_buffer", buffer));
        let given = own.or(spec.buffer.map(|buffer| ("buffer", buffer)));
        Self::of(spec, table, nominal, queue, ("reverse_buffer", given))
    }

    /// The limit of a link's queue at this rate: the discipline's own, the given buffer, or the
    /// default, each with its key.
    fn of(
        spec: &LinkSpec,
        table: &str,
        nominal_rate: Option<BitRate>,
        (limit_key, queue): (&'static str, &QueueSpec),
        (key, buffer): (&'static str, Option<(&'static str, Placed<QueueSize>)>),
    ) -> Self {
        let default = queue
            .default_limit(nominal_rate)
            .unwrap_or_else(|| QueueSize::Bdp(Decimal::from_int(i128::from(DEFAULT_BDP))));
        let size = if nominal_rate.is_some() { default } else { QueueSize::Unlimited };
        let given = queue.limit.map(|limit| (limit_key, limit)).or(buffer);
        let given = given.filter(|_| nominal_rate.is_some());
        Self {
            table: table.to_owned(),
            key: given.map_or(key, |(key, _)| key),
            at: given.map_or(spec.at, |(_, buffer)| buffer.at),
            is_default: given.is_none(),
            size: given.map_or(size, |(_, buffer)| buffer.value),
            unit: spec.buffer_unit,
            bdp_rtt: spec.bdp_rtt,
            device_queue: spec.device_queue,
            nominal_rate,
        }
    }

    pub(crate) fn of_access(spec: &AccessSpec) -> Self {
        Self {
            table: "access".to_owned(),
            key: "buffer",
            at: spec.buffer.map_or(spec.at, |buffer| buffer.at),
            is_default: spec.buffer.is_none(),
            size: spec.buffer.map_or(QueueSize::Unlimited, |buffer| buffer.value),
            unit: None,
            bdp_rtt: None,
            device_queue: None,
            nominal_rate: spec.rate.at_start(),
        }
    }

    /// Reports that it is not as it should be. `but` ends what was found.
    pub(crate) fn refuse(&self, reader: &mut Reader<'_>, expected: &str, but: &str) {
        let Self { table, key, .. } = self;
        let title = format!("`{table}.{key}`: expected {expected}");
        let default = if self.is_default { "the default, " } else { "" };
        let found = format!("found {default}{:?}{but}", show_queue_size(self.size));
        reader.problem(self.at, title, found, Vec::new());
    }

    /// That it is so many bytes, unless it says that itself.
    pub(crate) fn in_bytes(&self, bytes: Bytes) -> String {
        match self.size {
            QueueSize::Bytes(_) => String::new(),
            _ => format!(", which is {} B", bytes.0),
        }
    }

    /// Adds ns-3's device queue, which is below the queue discipline. With flow control between the
    /// two, a drop-tail queue is as large as both together.
    fn with_device_queue(&self, buffer: Buffer, reader: &mut Reader<'_>) -> Option<Buffer> {
        let Some(device) = self.device_queue else { return Some(buffer) };
        if let Buffer::Packets(packets) = buffer {
            return Some(Buffer::Packets(Packets(packets.0 + device.value)));
        }
        let title = format!("`{}.device_queue`: expected a buffer counted in packets", self.table);
        let found = "found one counted in bytes: set `buffer_unit = \"pkt\"`";
        reader.problem(device.at, title, found, Vec::new());
        None
    }
}

/// What the size of a buffer in BDP or time depends on.
pub(crate) struct Measure {
    /// Base RTT of the first flow.
    pub(crate) base_rtt: Span,
    /// Segment size of the first flow.
    pub(crate) mss: u32,
}

impl Measure {
    /// The buffer of a link in the unit in which the engine counts it.
    pub(crate) fn buffer(
        &self,
        spec: &BufferSpec,
        link: &Link,
        reader: &mut Reader<'_>,
    ) -> Option<Buffer> {
        let wire = u128::from(u64::from(self.mss) + HEADERS + link.framing.0);
        let rate = u128::from(spec.nominal_rate.unwrap_or(BitRate(0)).0);
        // Bits times nanoseconds per second, over eight: bytes.
        let bytes_divisor = 8_000_000_000_u128;
        let in_bytes = match spec.unit {
            Some(unit) => unit == BufferUnit::Bytes,
            None => matches!(spec.size, QueueSize::Bytes(_)),
        };
        let divisor = if in_bytes { bytes_divisor } else { bytes_divisor * wire };
        let of_time = |span: Span, multiple: Decimal| {
            multiple.times_over_rounded(rate * u128::from(span.0), divisor).map(|size| size.max(1))
        };
        let size = match spec.size {
            QueueSize::Unlimited => return Some(Buffer::Unlimited),
            QueueSize::Packets(packets) if in_bytes => {
                u64::try_from(u128::from(packets) * wire).ok()
            }
            QueueSize::Packets(packets) => Some(packets),
            QueueSize::Bytes(bytes) if in_bytes => Some(bytes),
            QueueSize::Bytes(bytes) => u64::try_from((u128::from(bytes) + wire / 2) / wire)
                .ok()
                .map(|packets| packets.max(1)),
            QueueSize::Time(span) => of_time(span, Decimal::from_int(1)),
            QueueSize::Bdp(multiple) => {
                let rtt = spec.bdp_rtt.unwrap_or(self.base_rtt);
                if rtt == Span::ZERO {
                    let expected =
                        "an `rtt` of the first flow, a `bdp_rtt`, or a unit other than `bdp`";
                    spec.refuse(reader, expected, ", but the first flow's base RTT is zero");
                    return None;
                }
                of_time(rtt, multiple)
            }
        };
        let Some(size) = size.filter(|&size| size <= BUFFER_MAX) else {
            spec.refuse(reader, "a buffer of at most 2^50 packets or bytes", ", which is more");
            return None;
        };
        let buffer =
            if in_bytes { Buffer::Bytes(Bytes(size)) } else { Buffer::Packets(Packets(size)) };
        spec.with_device_queue(buffer, reader)
    }
}
