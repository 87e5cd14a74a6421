//! Test cases A.18, A.19 of draft-ietf-ccwg-bbr: spurious loss detection.

use bbrlab_units::Span;

use super::case::Case;
use super::rig::Fate;

/// The bounds before the spurious loss detection. When the sender undoes its reaction to the loss,
/// it must restore these bounds.
struct Before {
    longterm: Option<u64>,
    shortterm: Option<u64>,
    bw_shortterm: Option<u64>,
}

impl Before {
    fn of(case: &Case) -> Self {
        Self {
            longterm: case.longterm(),
            shortterm: case.shortterm(),
            bw_shortterm: case.bw_shortterm(),
        }
    }

    /// Whether each bound is at least as high as before the loss detection. An unset bound counts
    /// as higher than every value.
    fn is_back(&self, case: &Case) -> bool {
        let at_least = |now: Option<u64>, then: Option<u64>| match (now, then) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(now), Some(then)) => now >= then,
        };
        at_least(case.longterm(), self.longterm)
            && at_least(case.shortterm(), self.shortterm)
            && at_least(case.bw_shortterm(), self.bw_shortterm)
    }
}

/// A.18: Handling Spurious Fast Recovery.
pub(crate) fn fast_recovery(case: &mut Case) {
    case.reach("PROBE_BW_UP");
    case.run_rtts(1);
    let before = Before::of(case);
    let undos = case.rig.sender.stats().undo_count;
    // For an eighth of a base RTT, packets are delayed by three quarters of a base RTT, so that
    // later packets overtake them.
    case.rig.path.fate = Fate::Delay(Span(case.net.rtt.0 * 3 / 4));
    case.rig.run_for(Span(case.net.rtt.0 / 8));
    case.rig.path.fate = Fate::Pass;
    follow(case, &before, undos);
}

/// A.19: Handling Spurious RTO Recovery.
pub(crate) fn timeout(case: &mut Case) {
    case.reach("PROBE_BW_UP");
    case.run_rtts(1);
    let before = Before::of(case);
    let undos = case.rig.sender.stats().undo_count;
    let timeouts = case.rig.sender.stats().rto_count;
    // ACKs are delayed for longer than the timeout.
    let srtt = Span(u64::from(case.rig.conn().srtt_us >> 3) * 1000);
    case.rig.path.acks_held_until =
        Some(case.rig.host_now() + Span(srtt.0 * 3) + Span::from_millis(900));
    case.run_until(|case| case.rig.sender.stats().rto_count > timeouts);
    case.demand(case.rig.sender.stats().rto_count > timeouts, "a timeout");
    follow(case, &before, undos);
}

/// Checks that the sender detects the loss, then undoes its reaction, and that the flow returns to
/// probing.
fn follow(case: &mut Case, before: &Before, undos: u32) {
    let mut left_for = case.state();
    let undone = case.run_until(|case| {
        if case.rig.sender.stats().undo_count == undos {
            left_for = case.state();
        }
        case.rig.sender.stats().undo_count > undos
    });
    case.rig.path.acks_held_until = None;
    case.demand(undone, &format!("undone, from {left_for}"));
    if case.is_draft() {
        let saved = case.rig.field("undo_inflight_longterm");
        let longterm = before.longterm.map_or(-1, |bytes| i64::try_from(bytes).expect("a volume"));
        case.demand(saved == longterm, "undo_inflight_longterm saved");
    }
    case.demand(before.is_back(case), "bounds restored");
    let state = case.state();
    let back = matches!(state, "PROBE_BW_UP" | "PROBE_BW_REFILL");
    case.demand(back, &format!("probes or refills at once (state {state})"));
    let from = case.rig.now();
    case.run_until(|case| {
        case.is_in("PROBE_BW_UP") || case.rig.now() > from + Span(case.net.rtt.0 * 6)
    });
    case.demand(
        case.is_in("PROBE_BW_UP"),
        &format!("probes within 6 RTTs (state {})", case.state()),
    );
}
