//! Reads values of a flow at given times from the rows of a time series, for metrics.

use crate::known::known;
use bbrlab_run::Series;

/// Tolerance in seconds for comparing times, because a time that was computed as a sum or parsed
/// from text has a rounding error.
const TIME_ERROR_S: f64 = 1e-9;

/// The rows of one flow in a time series.
pub(super) struct OverTime<'a> {
    pub(super) series: &'a Series,
    /// The indices of the flow's rows in the series, in order of time.
    pub(super) rows: Vec<usize>,
}

impl<'a> OverTime<'a> {
    pub(super) fn of(series: &'a Series, flow: u32) -> Self {
        let rows = (0..series.len()).filter(|&row| series.flow[row] == flow).collect();
        Self { series, rows }
    }

    /// Returns the bytes that the flow's application has read by `at_s`.
    pub(super) fn received_bytes(&self, at_s: f64) -> u64 {
        let after =
            self.rows.partition_point(|&row| self.series.time_s[row] <= at_s + TIME_ERROR_S);
        let last = after.checked_sub(1).map(|place| self.rows[place]);
        last.map_or(0, |row| known(self.series.received_bytes[row]))
    }

    /// Returns the mean rate at which the flow's application reads payload between two times, in
    /// Mbit/s.
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 bytes")]
    pub(super) fn rate_mbps(&self, from_s: f64, to_s: f64) -> f64 {
        let bytes = self.received_bytes(to_s) - self.received_bytes(from_s);
        bytes as f64 * 8.0 / 1e6 / (to_s - from_s)
    }

    /// Returns the times of the flow's rows from `from_s` to `to_s`, both included.
    pub(super) fn times_s(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = f64> + '_ {
        let within =
            move |time_s: &f64| *time_s >= from_s - TIME_ERROR_S && *time_s <= to_s + TIME_ERROR_S;
        self.rows.iter().map(|&row| self.series.time_s[row]).filter(within)
    }

    /// Returns the latest RTT sample of each row from `from_s` on, in milliseconds. Rows in
    /// PROBE_RTT are included only if `with_probe_rtt` is true.
    pub(super) fn rtts_ms(&self, from_s: f64, with_probe_rtt: bool) -> Vec<f64> {
        let rows = self.rows.iter().filter(|&&row| self.series.time_s[row] >= from_s);
        rows.filter(|&&row| with_probe_rtt || self.series.state[row] != "PROBE_RTT")
            .filter_map(|&row| self.series.rtt_us[row])
            .map(|us| f64::from(us) / 1e3)
            .collect()
    }

    /// Returns the highest RTT sample in the rows from `from_s` to `to_s`, in milliseconds.
    pub(super) fn rtt_peak_ms(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let within = |row: &&usize| (from_s..=to_s).contains(&self.series.time_s[**row]);
        let samples = self.rows.iter().filter(within).filter_map(|&row| self.series.rtt_us[row]);
        samples.max().map(|us| f64::from(us) / 1e3)
    }

    /// Returns the times of the rows in which the congestion control was in `state`, but not yet in
    /// the row before.
    pub(super) fn entries_s(&self, state: &str) -> Vec<f64> {
        let pairs = self.rows.iter().zip(self.rows.iter().skip(1));
        pairs
            .filter(|&(&before, &row)| {
                self.series.state[before] != state && self.series.state[row] == state
            })
            .map(|(_, &row)| self.series.time_s[row])
            .collect()
    }

    /// Returns the time of the first row in which the congestion control was in none of these
    /// states.
    pub(super) fn first_outside_s(&self, states: &[&str]) -> Option<f64> {
        let row = self.rows.iter().find(|&&row| !states.contains(&&*self.series.state[row]))?;
        Some(self.series.time_s[*row])
    }
}
