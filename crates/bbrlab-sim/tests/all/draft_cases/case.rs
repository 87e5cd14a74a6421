//! A running test case of the draft: the connection and its path (the rig), the values that the
//! test reads from them, and the findings.

use std::fmt::Write as _;

use bbrlab_cc::{Algorithm, CongestionControl as _};
use bbrlab_units::Span;

use super::rig::{App, Fate, MSS, Path, Rig, WIRE};

/// A path, given by its bandwidth and its propagation delay in both directions together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Net {
    pub(crate) rate_bps: u64,
    pub(crate) rtt: Span,
}

/// The paths that the suite runs on.
pub(crate) const PATHS: [Net; 2] = [
    Net { rate_bps: 10_000_000, rtt: Span::from_millis(40) },
    Net { rate_bps: 1_000_000_000, rtt: Span::from_millis(10) },
];

impl Net {
    /// Returns the bandwidth-delay product in wire bytes.
    pub(crate) fn bdp(self) -> u64 {
        self.rate_bps / 8 * (self.rtt.0 / 1_000) / 1_000_000
    }

    /// Returns a path without random loss and with a buffer of `buffer_bdp` BDP, but at least fifty
    /// packets.
    pub(crate) fn path(self, buffer_bdp: u64) -> Path {
        Path {
            rate_bps: self.rate_bps,
            delay: Span(self.rtt.0 / 2),
            buffer_bytes: (self.bdp() * buffer_bdp).max(50 * WIRE),
            fate: Fate::Pass,
            policer: None,
            ack_slot: None,
            acks_held_until: None,
        }
    }

    /// Returns an application that always has more data, but writes only a little of it in advance,
    /// so that it can stop at once.
    pub(crate) fn bulk(self) -> App {
        App::Bulk { ahead: (self.rate_bps / 8 / 250).clamp(16 * MSS, 1 << 19) }
    }

    /// Returns an application that writes at `percent` percent of the path's payload rate.
    pub(crate) fn limited(self, percent: u64) -> App {
        App::Limited { bytes_per_s: payload_rate(self.rate_bps) * percent / 100 }
    }
}

/// Returns the payload that a link of this rate delivers, in bytes per second.
pub(crate) fn payload_rate(rate_bps: u64) -> u64 {
    rate_bps / 8 * MSS / WIRE
}

/// A run of one test case with one algorithm on one path.
pub(crate) struct Case {
    pub(crate) algorithm: Algorithm,
    pub(crate) net: Net,
    pub(crate) rig: Rig,
    findings: String,
    holds: bool,
}

impl Case {
    /// Creates a case whose connection is about to be opened.
    pub(crate) fn new(algorithm: Algorithm, net: Net, path: Path, app: App) -> Self {
        let rig = Rig::new(algorithm, path, app, 1);
        Self { algorithm, net, rig, findings: String::new(), holds: true }
    }

    /// Creates a case with a bulk application and a buffer of 8 BDP, without loss.
    pub(crate) fn bulk(algorithm: Algorithm, net: Net) -> Self {
        Self::new(algorithm, net, net.path(8), net.bulk())
    }

    /// Whether the case runs the draft's BBRv3, not Linux's.
    pub(crate) fn is_draft(&self) -> bool {
        self.algorithm == Algorithm::Bbr3Ietf
    }

    /// Records a requirement of the case: `is_so` is true if the requirement holds, and `what` is a
    /// text with the measured value.
    pub(crate) fn demand(&mut self, is_so: bool, what: &str) {
        let mark = if is_so { "" } else { "NOT " };
        let comma = if self.findings.is_empty() { "" } else { "; " };
        write!(self.findings, "{comma}{mark}{what}").expect("a string takes everything");
        self.holds &= is_so;
    }

    /// Records a measured value for which the case has no requirement.
    pub(crate) fn note(&mut self, what: &str) {
        self.demand(true, what);
    }

    /// Returns whether all requirements hold, and a text with the findings.
    pub(crate) fn verdict(self) -> (bool, String) {
        (self.holds, self.findings)
    }

    // Values that cases read.

    pub(crate) fn state(&self) -> &'static str {
        self.rig.info().state
    }

    pub(crate) fn is_in(&self, state: &str) -> bool {
        self.state() == state
    }

    pub(crate) fn is_in_probe_bw(&self) -> bool {
        self.state().starts_with("PROBE_BW")
    }

    fn either(&self, draft: &str, linux: &str) -> i64 {
        self.rig.field(if self.is_draft() { draft } else { linux })
    }

    pub(crate) fn full_bw_count(&self) -> i64 {
        self.either("full_bw_count", "full_bw_cnt")
    }

    pub(crate) fn full_bw_now(&self) -> bool {
        self.rig.field("full_bw_now") == 1
    }

    pub(crate) fn full_bw_reached(&self) -> bool {
        self.rig.field("full_bw_reached") == 1
    }

    /// Returns the algorithm's current pacing gain in percent.
    pub(crate) fn pacing_gain(&self) -> f64 {
        self.gain(self.rig.field("pacing_gain"))
    }

    /// Returns the algorithm's current cwnd gain in percent.
    pub(crate) fn cwnd_gain(&self) -> f64 {
        self.gain(self.rig.field("cwnd_gain"))
    }

    fn gain(&self, field: i64) -> f64 {
        let gain = float(field.unsigned_abs());
        if self.is_draft() { gain } else { gain * 100.0 / 256.0 }
    }

    /// Returns the algorithm's estimate of the maximum bandwidth, in bytes per second.
    pub(crate) fn max_bw(&self) -> u64 {
        self.rig.info().bw_hi.unwrap_or(0)
    }

    /// Returns the number of bytes in flight.
    pub(crate) fn inflight(&self) -> u64 {
        u64::from(self.rig.conn().inflight) * MSS
    }

    pub(crate) fn cwnd(&self) -> u64 {
        u64::from(self.rig.conn().ctl.cwnd) * MSS
    }

    /// Returns `inflight_longterm` in bytes; `None` if it is not set.
    pub(crate) fn longterm(&self) -> Option<u64> {
        if self.is_draft() {
            u64::try_from(self.rig.field("inflight_longterm")).ok()
        } else {
            self.rig.info().inflight_hi.map(|packets| u64::from(packets) * MSS)
        }
    }

    /// Returns `inflight_shortterm` in bytes; `None` if it is not set.
    pub(crate) fn shortterm(&self) -> Option<u64> {
        self.rig.info().inflight_lo.map(|packets| u64::from(packets) * MSS)
    }

    /// Returns `bw_shortterm` in bytes per second; `None` if it is not set.
    pub(crate) fn bw_shortterm(&self) -> Option<u64> {
        self.rig.info().bw_lo
    }

    /// Returns the BDP in bytes that the algorithm computes from its maximum bandwidth and its
    /// minimum RTT.
    pub(crate) fn bdp(&self) -> u64 {
        let min_rtt_us = u64::from(self.rig.info().min_rtt_us.unwrap_or(0));
        self.max_bw() * min_rtt_us / 1_000_000
    }

    /// Returns `Inflight(1.0)` in bytes: the BDP, but at least three bursts and at least four
    /// segments.
    pub(crate) fn inflight_target(&self) -> u64 {
        let conn = self.rig.conn();
        let burst = u64::from(self.rig.sender.cc().tso_segs(conn, conn.mss)) * MSS;
        self.bdp().max(3 * burst).max(4 * MSS)
    }

    /// Returns `extra_acked` in bytes.
    pub(crate) fn extra_acked(&self) -> u64 {
        let bytes = if self.is_draft() {
            self.rig.field("extra_acked")
        } else {
            let slot = |name| self.rig.field(name);
            slot("extra_acked0").max(slot("extra_acked1")) * i64::try_from(MSS).expect("small")
        };
        u64::try_from(bytes).expect("a volume")
    }

    /// Returns the number of segments by which `inflight_longterm` now grows per cwnd of
    /// acknowledged data.
    pub(crate) fn growth_step(&self) -> u64 {
        let per_inc = self.either("probe_up_acked_per_inc", "bw_probe_up_cnt");
        let per_inc = u64::try_from(per_inc).expect("growing");
        let window = if self.is_draft() { self.cwnd() } else { self.cwnd() / MSS };
        (window + per_inc / 2) / per_inc
    }

    /// Whether DOWN was entered in the last event. The current state may already be CRUISE, because
    /// inflight may have been low enough immediately.
    pub(crate) fn has_entered_down(&self) -> bool {
        let stamp_us = self.either("cycle_stamp", "cycle_mstamp");
        u64::try_from(stamp_us) == Ok(self.rig.conn().tcp_mstamp())
    }

    /// Runs until the state is `state`, for at most a minute. Returns whether the state was
    /// reached.
    pub(crate) fn reach(&mut self, state: &str) -> bool {
        self.run_until(|case| case.is_in(state))
    }

    /// Runs until the state is no longer `state`, for at most a minute. Returns the state then.
    pub(crate) fn leave(&mut self, state: &str) -> &'static str {
        self.run_until(|case| !case.is_in(state));
        self.state()
    }

    /// Runs event by event until `is_there` holds, but at most for a simulated minute. Returns
    /// whether `is_there` holds.
    pub(crate) fn run_until(&mut self, mut is_there: impl FnMut(&Self) -> bool) -> bool {
        let until = self.rig.host_now() + Span::from_secs(60);
        while self.rig.host_now() < until {
            self.rig.step(until);
            if is_there(self) {
                return true;
            }
        }
        false
    }

    /// Runs for `rtts` base RTTs.
    pub(crate) fn run_rtts(&mut self, rtts: u64) {
        self.rig.run_for(Span(self.net.rtt.0 * rtts));
    }
}

/// Counts packet-timed round trips by the algorithm's flag `round_start`, without using the
/// algorithm's own count.
#[derive(Default)]
pub(crate) struct Rounds {
    delivered: u32,
    pub(crate) count: u32,
}

impl Rounds {
    /// Returns whether the last event began a round trip. The caller must call this function after
    /// every event.
    pub(crate) fn see(&mut self, case: &Case) -> bool {
        let delivered = case.rig.conn().delivered;
        let begins = delivered != self.delivered && case.rig.field("round_start") == 1;
        self.delivered = delivered;
        self.count += u32::from(begins);
        begins
    }
}

/// Converts an integer to a floating-point number, for a ratio in the text of a case's findings.
#[expect(clippy::cast_precision_loss, reason = "findings have two digits")]
pub(crate) fn float(value: u64) -> f64 {
    value as f64
}

/// Returns `value` in percent of `whole`.
pub(crate) fn percent(value: u64, whole: u64) -> f64 {
    100.0 * float(value) / float(whole.max(1))
}
