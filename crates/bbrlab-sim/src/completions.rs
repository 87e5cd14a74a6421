//! Histograms of the completion times and slowdowns of transfers.

use crate::app::Transfer;
use crate::figures::{SLOWDOWN_UNIT, TRANSFER_PRECISION};
use crate::histogram::Histogram;

/// Completion times and slowdowns of the transfers of a flow, a class or a group.
#[derive(Debug)]
pub(crate) struct Completions {
    pub(crate) fct_ns: Histogram,
    /// Slowdowns in thousandths.
    pub(crate) slowdown: Histogram,
    pub(crate) unfinished: u64,
}

impl Completions {
    pub(crate) fn new() -> Self {
        let histogram = || Histogram::new(TRANSFER_PRECISION);
        Self { fct_ns: histogram(), slowdown: histogram(), unfinished: 0 }
    }

    /// Counts a transfer, and its slowdown if it has one.
    pub(crate) fn add(&mut self, transfer: &Transfer, slowdown: Option<f64>) {
        match transfer.done {
            Some(done) => self.fct_ns.add(done.since(transfer.start).0, 1),
            None => self.unfinished += 1,
        }
        if let Some(slowdown) = slowdown {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the value is positive, and the cast saturates"
            )]
            self.slowdown.add((slowdown * SLOWDOWN_UNIT).round() as u64, 1);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.fct_ns.merge(&other.fct_ns);
        self.slowdown.merge(&other.slowdown);
        self.unfinished += other.unfinished;
    }
}
