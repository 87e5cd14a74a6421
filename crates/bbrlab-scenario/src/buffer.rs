//! Converts the size of a queue from packets, bytes, milliseconds or BDP to the packets or bytes that the engine counts.

use bbrlab_units::{BitRate, Bytes, Packets, Span};

use crate::decimal::Decimal;
use crate::document::At;
use crate::link::{AccessSpec, BufferUnit, HEADERS, LinkSpec};
use crate::quantity::QueueSize;
use crate::queue::QueueSpec;
use crate::reader::{Placed, Reader};
use bbrlab_link::{Buffer, Link, Rate};

/// The largest buffer, in packets or bytes, that a `bdp` or a time may amount to.
const BUFFER_MAX: u64 = 1 << 50;

/// A buffer as written, with what is needed to turn it into packets or bytes.
pub(crate) struct BufferSpec {
    at: At,
    /// Where its link is.
    link_at: At,
    size: QueueSize,
    unit: Option<BufferUnit>,
    bdp_rtt: Option<Span>,
    device_queue: Option<Placed<u64>>,
    /// Whether it was given for data, of which a packet should fit.
    is_for_data: bool,
}

/// The default buffer of `[bottleneck]` and `[[links]]` in BDP: the textbook rule.
const DEFAULT_BDP: u64 = 1;

impl BufferSpec {
    pub(crate) fn of_link(spec: &LinkSpec) -> Self {
        let of = Self::of(spec, &spec.link.rate, &spec.queue, spec.buffer);
        let is_for_data = spec.queue.limit.or(spec.buffer).is_some();
        Self { is_for_data, ..of }
    }

    /// The limit of a link's queue at this rate: the discipline's own, the given buffer, or the default.
    fn of(
        spec: &LinkSpec,
        rate: &Rate,
        queue: &QueueSpec,
        buffer: Option<Placed<QueueSize>>,
    ) -> Self {
        let default = queue
            .default_limit(rate)
            .unwrap_or_else(|| QueueSize::Bdp(Decimal::from_int(i128::from(DEFAULT_BDP))));
        let size = if rate.is_limited() { default } else { QueueSize::Unlimited };
        let given = queue.limit.or(buffer).filter(|_| rate.is_limited());
        Self {
            at: given.map_or(spec.at, |buffer| buffer.at),
            link_at: spec.at,
            size: given.map_or(size, |buffer| buffer.value),
            unit: spec.buffer_unit,
            bdp_rtt: spec.bdp_rtt,
            device_queue: spec.device_queue,
            is_for_data: false,
        }
    }

    pub(crate) fn of_reverse(spec: &LinkSpec) -> Self {
        let rate = spec.reverse_rate.rate(&spec.link.rate);
        let queue = spec.reverse_queue.unwrap_or(spec.queue);
        Self::of(spec, rate, &queue, spec.reverse_buffer.or(spec.buffer))
    }

    pub(crate) fn of_access(spec: &AccessSpec) -> Self {
        Self {
            at: spec.buffer.map_or(spec.at, |buffer| buffer.at),
            link_at: spec.at,
            size: spec.buffer.map_or(QueueSize::Unlimited, |buffer| buffer.value),
            unit: None,
            bdp_rtt: None,
            device_queue: None,
            is_for_data: spec.buffer.is_some(),
        }
    }
}

/// The RTT of a `bdp` and the size of a packet: those of the first flow.
pub(crate) struct Measure {
    pub(crate) base_rtt: Span,
    pub(crate) mss: u32,
    /// The smallest segment size of a flow.
    pub(crate) least_mss: u32,
}

impl Measure {
    pub(crate) fn buffer(
        &self,
        spec: &BufferSpec,
        link: &Link,
        reader: &mut Reader<'_>,
    ) -> Option<Buffer> {
        let least = u64::from(self.least_mss) + HEADERS + link.framing.0;
        if let Some(policer) = &link.police
            && policer.burst.0 < least
        {
            let title = "`police.burst`: expected a bucket in which a full packet fits";
            let found =
                format!("found {} B; the packet has {least} B on the wire", policer.burst.0);
            reader.problem(spec.link_at, title, found, Vec::new());
            return None;
        }
        let wire = u128::from(u64::from(self.mss) + HEADERS + link.framing.0);
        let rate = u128::from(link.rate.at_start().unwrap_or(BitRate(0)).0);
        // Bits times nanoseconds per second, over eight: bytes.
        let bytes_divisor = 8_000_000_000_u128;
        let in_bytes = spec.unit == Some(BufferUnit::Bytes);
        let divisor = if in_bytes { bytes_divisor } else { bytes_divisor * wire };
        let too_large = |reader: &mut Reader<'_>| {
            let found = "found a larger one";
            reader.problem(
                spec.at,
                "expected a buffer of at most 2^50 packets or bytes",
                found,
                Vec::new(),
            );
        };
        let of_time = |span: Span, multiple: Decimal| {
            multiple.times_over_rounded(rate * u128::from(span.0), divisor).map(|size| size.max(1))
        };
        let size = match spec.size {
            QueueSize::Unlimited => return Some(Buffer::Unlimited),
            QueueSize::Packets(packets) if in_bytes => {
                u64::try_from(u128::from(packets) * wire).ok()
            }
            QueueSize::Packets(packets) => Some(packets),
            QueueSize::Bytes(bytes) if spec.unit == Some(BufferUnit::Packets) => {
                u64::try_from((u128::from(bytes) + wire / 2) / wire)
                    .ok()
                    .map(|packets| packets.max(1))
            }
            QueueSize::Bytes(bytes) => {
                if spec.is_for_data && bytes < least {
                    let title = "expected a buffer in which a full packet fits";
                    let found = format!("found {bytes} B; the packet has {least} B on the wire");
                    reader.problem(spec.at, title, found, Vec::new());
                    return None;
                }
                return with_device_queue(spec, Buffer::Bytes(Bytes(bytes)), reader);
            }
            QueueSize::Time(span) => of_time(span, Decimal::from_int(1)),
            QueueSize::Bdp(multiple) => {
                let rtt = spec.bdp_rtt.unwrap_or(self.base_rtt);
                if rtt == Span::ZERO {
                    let title = "expected an `rtt` of the first flow, a `bdp_rtt`, or a unit other than `bdp`";
                    let found = "found a buffer in BDP, but the first flow's base RTT is zero";
                    reader.problem(spec.at, title, found, Vec::new());
                    return None;
                }
                of_time(rtt, multiple)
            }
        };
        let Some(size) = size.filter(|&size| size <= BUFFER_MAX) else {
            too_large(reader);
            return None;
        };
        let buffer =
            if in_bytes { Buffer::Bytes(Bytes(size)) } else { Buffer::Packets(Packets(size)) };
        with_device_queue(spec, buffer, reader)
    }
}

/// Adds ns-3's device queue, which is below the queue discipline. With flow control between the two, a drop-tail queue
/// is as large as both together.
fn with_device_queue(spec: &BufferSpec, buffer: Buffer, reader: &mut Reader<'_>) -> Option<Buffer> {
    let Some(device) = spec.device_queue else { return Some(buffer) };
    if let Buffer::Packets(packets) = buffer {
        return Some(Buffer::Packets(Packets(packets.0 + device.value)));
    }
    let title = "`device_queue`: expected a buffer counted in packets";
    let found = "found one counted in bytes: set `buffer_unit = \"pkt\"`";
    reader.problem(device.at, title, found, Vec::new());
    None
}
