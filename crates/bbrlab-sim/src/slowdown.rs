//! How much longer a transfer took than it would have alone.

use bbrlab_run::{FlowClass, Run};
use bbrlab_units::{NS_PER_S, Time};

use crate::app;
use crate::flow::Transfer;
use crate::wire::DATA_HEADERS;
use crate::wiring;

/// A transfer without anybody else: its bytes on the wire at the smallest rate of its way, and a round trip.
pub(crate) struct Ideal<'a> {
    run: &'a Run,
    class: &'a FlowClass,
    wire_bits: u128,
}

impl<'a> Ideal<'a> {
    /// `None` for a source whose transfers have no end.
    pub(crate) fn of(run: &'a Run, class: &'a FlowClass) -> Option<Self> {
        let bytes = app::transfer_bytes(&class.source)?;
        let packets = bytes.div_ceil(u64::from(class.mss));
        let framing = wiring::framing(run, class, &class.forward);
        let per_packet = u128::from(DATA_HEADERS + framing);
        let wire_bits = (u128::from(bytes) + u128::from(packets) * per_packet) * 8;
        Some(Self { run, class, wire_bits })
    }

    /// Completion time / the time that it takes alone; `None` without a rate, and of a transfer that did not end.
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    pub(crate) fn slowdown(&self, transfer: &Transfer) -> Option<f64> {
        let took = transfer.done?.since(transfer.start);
        let rate = self.smallest_rate(transfer.start)?;
        let sending_ns = self.wire_bits as f64 * NS_PER_S as f64 / rate as f64;
        Some(took.0 as f64 / (sending_ns + self.class.base_rtt.0 as f64))
    }

    /// In bits per second; a schedule may have pauses, in which nothing can be said.
    fn smallest_rate(&self, at: Time) -> Option<u64> {
        let links = self.class.forward.iter();
        let links = links.filter_map(|&hop| wiring::link_of(self.run, self.class, hop));
        links.filter_map(|link| link.rate.at(at)).map(|rate| rate.0).min().filter(|&rate| rate > 0)
    }
}
