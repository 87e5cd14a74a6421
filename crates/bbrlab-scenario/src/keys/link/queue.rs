//! Settings of a link's queue that do not belong to its discipline: the unit of its buffer, ns-3's
//! device queue, and the threshold of ECN marks.

use bbrlab_link::EcnThreshold;
use bbrlab_units::{Bytes, Packets};

use crate::keys::queue;
use crate::language::canonical::{show_bytes, show_text};
use crate::language::document::{Node, Value};
use crate::language::key::Form;
use crate::language::quantity::{QueueSize, show_span};
use crate::language::reader::Reader;

/// The unit in which the engine counts a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferUnit {
    Packets,
    Bytes,
}

pub(super) const UNITS: [(&str, BufferUnit); 2] =
    [("pkt", BufferUnit::Packets), ("B", BufferUnit::Bytes)];

pub(super) const QUEUE: Form =
    Form::Any(&[Form::Choice(queue::names), Form::TableOf(queue::parts)]);

#[expect(
    clippy::option_option,
    reason = "`None`: the value cannot be read; `Some(None)`: the value is \"none\""
)]
pub(super) fn read_device_queue(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
) -> Option<Option<u64>> {
    if matches!(&node.value, Value::Text(text) if text == "none") {
        return Some(None);
    }
    let words = ("\"none\" or a number of packets", "\"100pkt\"");
    reader.queue_threshold(node, name, words, |size| match size {
        QueueSize::Packets(packets) => Some(Some(packets)),
        _ => None,
    })
}

pub(super) fn read_ecn_threshold(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
) -> Option<EcnThreshold> {
    let words = ("a backlog or a wait", "\"20pkt\", \"30000B\" or \"5ms\"");
    reader.queue_threshold(node, name, words, |size| match size {
        QueueSize::Packets(packets) => Some(EcnThreshold::Packets(Packets(packets))),
        QueueSize::Bytes(bytes) => Some(EcnThreshold::Bytes(Bytes(bytes))),
        QueueSize::Time(span) => Some(EcnThreshold::Wait(span)),
        QueueSize::Bdp(_) | QueueSize::Unlimited => None,
    })
}

pub(super) fn show_ecn_threshold(threshold: EcnThreshold) -> Option<String> {
    match threshold {
        EcnThreshold::Packets(packets) => show_text(&format!("{}pkt", packets.0)),
        EcnThreshold::Bytes(bytes) => show_bytes(bytes.0),
        EcnThreshold::Wait(span) => show_text(&show_span(span)),
    }
}
