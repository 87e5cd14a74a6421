//! Slowdown: a transfer's completion time divided by the time that the transfer would take alone on
//! its path.

use bbrlab_link::Rate;
use bbrlab_run::{FlowClass, Run, headers};
use bbrlab_units::{NS_PER_S, Time};

use crate::app::Transfer;
use crate::path_delay::PathDelay;

/// The properties of a path that determine the time that a transfer would take alone on it. The
/// time that a transfer takes alone is the time to send the transfer's wire bytes at the path's
/// smallest rate, plus one round trip. The rates and the delays are those at the start of the
/// transfer.
#[derive(Clone, Debug)]
pub(crate) struct Ideal {
    /// The rates of the links on the path, each with the bytes of headers and framing per packet.
    rates: Vec<(Rate, u64)>,
    mss: u32,
    there: PathDelay,
    back: PathDelay,
}

impl Ideal {
    pub(crate) fn of(run: &Run, class: &FlowClass) -> Self {
        let links = run.links_on(class, &class.forward);
        Self {
            rates: links
                .map(|link| (link.rate.clone(), u64::from(headers::DATA) + link.framing.0))
                .collect(),
            mss: class.mss,
            there: PathDelay::of(run, class, &class.forward),
            back: PathDelay::of(run, class, &class.reverse),
        }
    }

    /// Returns the slowdown of `transfer`; `None` if no link on the path has a rate, if the rate of
    /// a schedule is 0 when the transfer starts, or if the transfer is unfinished.
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    pub(crate) fn slowdown(&self, transfer: &Transfer) -> Option<f64> {
        let took = transfer.done?.since(transfer.start);
        let (rate, headers) = self.smallest_rate(transfer.start)?;
        let packets = transfer.bytes.div_ceil(u64::from(self.mss));
        let headers = u128::from(packets) * u128::from(headers);
        let wire_bits = (u128::from(transfer.bytes) + headers) * 8;
        let sending_ns = wire_bits as f64 * NS_PER_S as f64 / rate as f64;
        let round = self.back.arrival(self.there.arrival(transfer.start)).since(transfer.start);
        Some(took.0 as f64 / (sending_ns + round.0 as f64))
    }

    /// Returns two values of the link with the smallest rate at time `at`, among the links of the
    /// path: its rate in bits per second, and its bytes of headers and framing per packet. Returns
    /// `None` if no link has a rate, or if the rate of a schedule is 0.
    fn smallest_rate(&self, at: Time) -> Option<(u64, u64)> {
        let rates =
            self.rates.iter().filter_map(|(rate, headers)| Some((rate.at(at)?.0, *headers)));
        rates.min_by_key(|&(rate, _)| rate).filter(|&(rate, _)| rate > 0)
    }
}
