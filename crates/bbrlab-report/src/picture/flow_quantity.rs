//! Quantities of a flow that a panel over time shows.

use bbrlab_run::Series;

/// A quantity of a flow over time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FlowQuantity {
    Throughput,
    Rtt,
    Srtt,
    Cwnd,
    Inflight,
    Bandwidth,
    Pacing,
}

impl FlowQuantity {
    /// Returns the quantity's value in a row of a series, in Mbit/s, ms or packets.
    pub(super) fn of(self, series: &Series, row: usize) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "for a picture")]
        let mbps = |rate: u64| rate as f64 / 1e6;
        let ms = |us: u32| f64::from(us) / 1e3;
        match self {
            Self::Throughput => series.throughput_bps[row].map(mbps),
            Self::Rtt => series.rtt_us[row].map(ms),
            Self::Srtt => series.srtt_us[row].map(ms),
            Self::Cwnd => series.cwnd_packets[row].0.map(f64::from),
            Self::Inflight => series.inflight_packets[row].0.map(f64::from),
            Self::Bandwidth => series.bw_bps[row].map(mbps),
            Self::Pacing => series.pacing_rate_bps[row].map(mbps),
        }
    }

    /// Whether only flows with a congestion window have the quantity. A flow of datagrams has rows
    /// in the series, but no congestion window.
    pub(super) fn is_of_window(self) -> bool {
        matches!(self, Self::Cwnd | Self::Inflight)
    }
}
