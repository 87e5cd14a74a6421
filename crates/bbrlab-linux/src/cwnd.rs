//! Compares cwnd sample by sample: the share of a run's samples in which our cwnd is near Linux's.
//!
//! Only runs in which Linux and our stack should have the same cwnd are compared: a single flow
//! without random loss. Congestion controls that use no random numbers are compared over the whole
//! run.
//!
//! BBR draws the phase of its gain cycle at random, so only its first seconds are compared. Several
//! of our seeds are run for BBR, and the seed that agrees best determines the result. With a buffer
//! below half a BDP, BBR is not compared, because even its start-up depends on which packet of a
//! burst is lost.

use std::path::Path;

use bbrlab_units::Span;

use super::reference::ReferencePoint;
use super::{LinuxError, scenario_text, series};

/// Families of scenarios with one flow. The scenarios of a family differ only in the path.
const FAMILIES: [&str; 2] = ["1_single", "v_base"];

/// Congestion controls that use no random numbers.
const WITHOUT_CHANCE: [&str; 3] = ["cubic", "reno", "vegas"];

/// For BBR: the length of the part that is compared, from the start of the run, and the number of
/// our seeds.
const BBR_UNTIL: Span = Span::from_secs(10);
const BBR_SEEDS: u64 = 10;
/// The smallest buffer with which BBR is compared, in BDP.
const BBR_BUFFER_BDP_MIN: f64 = 0.5;

/// Our cwnd is near Linux's if the two differ by at most `NEAR_PACKETS` packets or by at most the
/// share `NEAR_SHARE` of Linux's cwnd.
const NEAR_PACKETS: f64 = 2.0;
const NEAR_SHARE: f64 = 0.05;

/// How far our cwnd agrees with Linux's in the runs of a test point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CwndAgreement {
    /// Number of Linux's samples that were compared.
    pub samples: usize,
    /// Share of these samples for which our cwnd is near Linux's. With several seeds, the value is
    /// the share of the seed that agrees best.
    pub share: f64,
    /// Number of our seeds that were run.
    pub seeds: u64,
}

impl CwndAgreement {
    /// The share that every test point should reach.
    pub const AIM: f64 = 0.95;

    /// Whether the share reaches [`Self::AIM`].
    #[must_use]
    pub fn passes(&self) -> bool {
        self.share >= Self::AIM
    }
}

/// Linux's cwnd over time at a test point, up to the end of the part of the run that is compared.
#[derive(Clone, Debug)]
pub(super) struct CwndSeries {
    /// Pairs of time in seconds and cwnd in packets.
    samples: Vec<(f64, f64)>,
    /// The end of the compared part; `None` means the end of the run.
    until: Option<Span>,
    /// Number of our seeds to run.
    pub(super) seeds: u64,
}

/// Returns Linux's cwnd over time; `None` if cwnd is not compared at this test point or the folder
/// has no series.
pub(super) fn series_of(
    dir: &Path,
    point: &ReferencePoint,
) -> Result<Option<CwndSeries>, LinuxError> {
    let [flow] = point.seeds[0].flows.as_slice() else { return Ok(None) };
    if !FAMILIES.contains(&point.family.as_str()) || point.loss > 0.0 {
        return Ok(None);
    }
    let is_certain = WITHOUT_CHANCE.contains(&flow.cc.as_str());
    let is_bbr = flow.cc == "bbr1" && point.buffer_bdp.is_some_and(|n| n >= BBR_BUFFER_BDP_MIN);
    if !is_certain && !is_bbr {
        return Ok(None);
    }
    let until = is_bbr.then_some(BBR_UNTIL);
    let linux = series::flows(dir, &point.kernel, &point.scenario)?;
    Ok(linux.map(|linux| CwndSeries {
        samples: std::iter::zip(linux.time_s, linux.cwnd_packets)
            .filter(|(time_s, _)| until.is_none_or(|until| *time_s <= until.as_secs_f64()))
            .filter_map(|(time_s, cwnd)| Some((time_s, f64::from(cwnd.0?))))
            .collect(),
        until,
        seeds: if is_bbr { BBR_SEEDS } else { 1 },
    }))
}

impl CwndSeries {
    /// Computes the agreement from the results of [`Self::share`], one per seed.
    pub(super) fn agreement(&self, shares: &[f64]) -> CwndAgreement {
        CwndAgreement {
            samples: self.samples.len(),
            share: shares.iter().copied().fold(0.0, f64::max),
            seeds: self.seeds,
        }
    }

    /// Returns the share of Linux's samples for which the cwnd of our run with `seed` is near
    /// Linux's.
    pub(super) fn share(&self, point: &ReferencePoint, seed: u64) -> Result<f64, LinuxError> {
        let mut run = scenario_text::run(point, &point.seeds[0], seed)?;
        run.flow_series = true;
        if let Some(until) = self.until {
            run.duration = run.duration.min(until);
        }
        let result = bbrlab_sim::simulate(&run)
            .map_err(|reason| LinuxError(format!("{}: {reason}", point.scenario)))?;
        let ours = &result.series;
        let mut row = 0;
        let mut near: u32 = 0;
        for &(time_s, cwnd) in &self.samples {
            // Both series have samples at whole milliseconds, so samples within 0.5 ms belong
            // together.
            while row < ours.len() && ours.time_s[row] < time_s - 0.5e-3 {
                row += 1;
            }
            let is_there = row < ours.len() && ours.time_s[row] < time_s + 0.5e-3;
            if let Some(own) = ours.cwnd_packets.get(row).and_then(|own| own.0).filter(|_| is_there)
            {
                let off = (f64::from(own) - cwnd).abs();
                near += u32::from(off <= NEAR_PACKETS.max(NEAR_SHARE * cwnd));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a run has fewer than 2^52 samples")]
        let samples = self.samples.len().max(1) as f64;
        Ok(f64::from(near) / samples)
    }
}
