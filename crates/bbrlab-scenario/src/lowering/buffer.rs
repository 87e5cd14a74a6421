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

/// The largest buffer, in packets or bytes, to which a size in BDP or time may be converted.
const BUFFER_MAX: u64 = 1 << 50;

/// A buffer as the scenario writes it, with the values for converting its size to packets or bytes.
pub(crate) struct BufferSpec {
    /// The table of the buffer's link, as scenarios write it: `bottleneck`, `links[1]`.
    pub(crate) table: String,
    /// The key that sets the size; with a default size, the key that could set it.
    key: &'static str,
    at: At,
    /// Whether the size is the default. If false, the scenario sets the size.
    is_default: bool,
    size: QueueSize,
    unit: Option<BufferUnit>,
    bdp_rtt: Option<Span>,
    device_queue: Option<Placed<u64>>,
    /// The rate with which a size in BDP or time is converted.
    pub(crate) nominal_rate: Option<BitRate>,
}

/// The default buffer of `[bottleneck]` and `[[links]]`, in BDP: the rule of thumb of one BDP.
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

    /// Describes how much a link's queue may hold: the `limit` of the queue discipline, else the
    /// given buffer, else the default. The queue of a link without a rate has no limit.
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

    /// Reports a mistake about the buffer's size. In the message, `but` follows the value found.
    pub(crate) fn refuse(&self, reader: &mut Reader<'_>, expected: &str, but: &str) {
        let Self { table, key, .. } = self;
        let title = format!("`{table}.{key}`: expected {expected}");
        let default = if self.is_default { "the default, " } else { "" };
        let found = format!("found {default}{:?}{but}", show_queue_size(self.size));
        reader.problem(self.at, title, found, Vec::new());
    }

    /// Returns a text for messages with the size in bytes; empty if the scenario gives the size in
    /// bytes.
    pub(crate) fn in_bytes(&self, bytes: Bytes) -> String {
        match self.size {
            QueueSize::Bytes(_) => String::new(),
            _ => format!(", which is {} B", bytes.0),
        }
    }

    /// Adds ns-3's device queue, which is below the queue discipline. Flow control between the
    /// device and the discipline makes both act like one drop-tail queue, whose size is the sum of
    /// both sizes.
    fn with_device_queue(&self, buffer: Buffer, reader: &mut Reader<'_>) -> Option<Buffer> {
        let Some(device) = self.device_queue else { return Some(buffer) };
        if let Buffer::Packets(packets) = buffer {
            return Some(Buffer::Packets(Packets(packets.0 + device.value)));
        }
        // The device queue may come from the profile, so the message is about `buffer_unit` or the
        // buffer.
        let (title, found) = if self.unit.is_some() {
            let title =
                format!("`{}.buffer_unit`: expected \"pkt\" with a `device_queue`", self.table);
            (title, "found \"B\"; the device queue is counted in packets")
        } else {
            let title = format!(
                "`{}.{}`: expected a buffer counted in packets with a `device_queue`",
                self.table, self.key
            );
            (title, "found one counted in bytes: set `buffer_unit = \"pkt\"`")
        };
        reader.problem(self.at, title, found, Vec::new());
        None
    }
}

/// Properties of the first flow that determine the sizes of buffers: the base RTT for buffers in
/// BDP, the segment size for conversions between bytes and packets.
pub(crate) struct Measure {
    /// Base RTT of the first flow.
    pub(crate) base_rtt: Span,
    /// Segment size of the first flow.
    pub(crate) mss: u32,
}

impl Measure {
    /// Converts the buffer of a link to the unit in which the engine counts it.
    pub(crate) fn buffer(
        &self,
        spec: &BufferSpec,
        link: &Link,
        reader: &mut Reader<'_>,
    ) -> Option<Buffer> {
        let wire = u128::from(u64::from(self.mss) + HEADERS + link.framing.0);
        let rate = u128::from(spec.nominal_rate.unwrap_or(BitRate(0)).0);
        // A rate in bit/s times a time in ns, divided by this constant, is a number of bytes.
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
