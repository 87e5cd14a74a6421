//! Test cases A.5 to A.9, A.21, A.22 of draft-ietf-ccwg-bbr: the phases of ProbeBW.

use bbrlab_units::Span;

use super::case::{Case, percent};
use super::rig::{App, Fate, MSS};
use super::startup::seconds;

/// A.5: Exiting PROBE_UP on Bandwidth Plateau.
pub(crate) fn exiting_up_on_plateau(case: &mut Case) {
    case.reach("PROBE_BW_UP");
    let from = case.rig.now();
    let drops = case.rig.drops;
    let mut count = 0;
    let mut now = false;
    case.run_until(|case| {
        if case.is_in("PROBE_BW_UP") || case.full_bw_now() {
            count = case.full_bw_count();
            now = case.full_bw_now();
        }
        !case.is_in("PROBE_BW_UP")
    });
    let rtts = (case.rig.now().0 - from.0) / case.net.rtt.0;
    case.demand(case.rig.drops == drops, "no loss");
    case.demand(now && count == 3, &format!("full_bw_count {count} after {rtts} RTTs"));
    case.demand(case.is_in("PROBE_BW_DOWN"), &format!("to {}", case.state()));
}

/// A.6: Exiting PROBE_UP on Loss When Application-Limited.
pub(crate) fn exiting_up_on_loss(case: &mut Case) {
    case.reach("PROBE_BW_UP");
    case.rig.set_app(case.net.limited(70));
    case.run_until(|case| case.rig.conn().ctl.app_limited != 0 || !case.is_in("PROBE_BW_UP"));
    case.demand(case.is_in("PROBE_BW_UP"), "application-limited in UP");
    let longterm = case.longterm();
    case.rig.path.fate = Fate::DropEvery(10);
    let next = case.leave("PROBE_BW_UP");
    let too_high = case.rig.field("prev_probe_too_high") == 1;
    case.demand(too_high, "left because of loss");
    let down = case.has_entered_down();
    case.demand(down, &format!("to PROBE_BW_DOWN and, with the same ACK, to {next}"));
    // Contradiction c in `docs/algorithms/bbr3_ietf.md`: the case expects a new
    // `inflight_longterm`, but the draft's code does not change it if the lost packet was
    // application-limited.
    let kept = if case.longterm() == longterm { "unchanged" } else { "changed" };
    case.note(&format!("inflight_longterm {kept}"));
}

/// A.7: Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss.
///
/// Contradiction i in `docs/algorithms/bbr3_ietf.md`: A.7 of the draft says that the flow stays in
/// `PROBE_UP` (or STARTUP) "indefinitely". By 5.3.4.1, the flow leaves any state for `ProbeRTT`.
pub(crate) fn never_exiting_when_limited(case: &mut Case) {
    case.rig.set_app(case.net.limited(40));
    let next = case.leave("STARTUP");
    let at = case.rig.now();
    case.demand(
        next == "PROBE_RTT" && at > Span::from_secs(5),
        &format!("STARTUP until {next} at {:.1} s", seconds(at)),
    );
    case.rig.set_app(case.net.bulk());
    case.reach("PROBE_BW_UP");
    case.rig.set_app(case.net.limited(40));
    let from = case.rig.now();
    let next = case.leave("PROBE_BW_UP");
    let stay = Span(case.rig.now().0 - from.0);
    case.demand(
        next == "PROBE_RTT",
        &format!("UP until {next}, {:.1} s after entering", seconds(stay)),
    );
}

/// A.8: Exiting PROBE_DOWN on Inflight.
pub(crate) fn exiting_down_on_inflight(case: &mut Case) {
    case.reach("PROBE_BW_UP");
    case.reach("PROBE_BW_DOWN");
    let gain = case.pacing_gain();
    case.demand((gain - 90.0).abs() < 0.5, &format!("pacing_gain {:.2}", gain / 100.0));
    let mut above = false;
    case.run_until(|case| {
        if case.is_in("PROBE_BW_DOWN") {
            above |= case.inflight() > case.inflight_target();
        }
        !case.is_in("PROBE_BW_DOWN")
    });
    let (inflight, target) = (case.inflight(), case.inflight_target());
    case.demand(
        above && inflight <= target,
        &format!("inflight {:.0} % of Inflight(1.0) at the exit", percent(inflight, target)),
    );
    case.demand(case.is_in("PROBE_BW_CRUISE"), &format!("to {}", case.state()));
}

/// A.9: Exiting PROBE_DOWN After Max Time. In this case, the link's rate falls at the start of
/// DOWN. The flow still paces at 0.90 * 0.99 of the link's former rate. Step 2 demands "Prevent
/// C.inflight from dropping". If the link's rate fell by 10 %, as the draft says, inflight would
/// drop at this pacing rate. In our test the link's rate therefore falls by 12 %.
pub(crate) fn exiting_down_on_time(case: &mut Case) {
    // The case begins after a PROBE_RTT, so that no PROBE_RTT occurs during it.
    case.reach("PROBE_RTT");
    case.reach("PROBE_BW_UP");
    case.reach("PROBE_BW_DOWN");
    case.rig.path.rate_bps = case.rig.path.rate_bps * 88 / 100;
    let from = case.rig.now();
    let wait_us = case.rig.field(if case.is_draft() { "bw_probe_wait" } else { "probe_wait_us" });
    let wait = Span(u64::try_from(wait_us).expect("a time") * 1000);
    let rounds = if case.is_draft() { "rounds_since_probe_up" } else { "rounds_since_probe" };
    let mut waited_rounds = 0;
    let mut packets = 0;
    case.run_until(|case| {
        if case.is_in("PROBE_BW_DOWN") {
            packets = case.bdp().min(case.cwnd()) / MSS;
        }
        waited_rounds = case.rig.field(rounds);
        !case.is_in("PROBE_BW_DOWN")
    });
    let reno_rounds = i64::try_from(packets.min(63)).expect("at most 63");
    let stay = Span(case.rig.now().0 - from.0);
    // `IsTimeToProbeBW` is true after the time `T_bbr`, or after as many round trips as the smaller
    // of BDP and cwnd has packets, but at most 63.
    case.demand(
        stay >= wait || waited_rounds >= reno_rounds,
        &format!(
            "IsTimeToProbeBW after {:.2} s and {waited_rounds} rounds (T_bbr {:.2} s, T_reno {reno_rounds} rounds)",
            seconds(stay),
            seconds(wait)
        ),
    );
    case.demand(case.is_in("PROBE_BW_REFILL"), &format!("to {}", case.state()));
}

/// A.21: Handling Loss During PROBE_UP After `inflight_longterm` is Set.
pub(crate) fn loss_in_up_with_longterm(case: &mut Case) {
    // Loss in STARTUP sets `inflight_longterm`, but does not make the next probe cautious.
    case.run_rtts(4);
    case.rig.path.fate = Fate::DropEvery(8);
    case.leave("STARTUP");
    case.rig.path.fate = Fate::Pass;
    let is_set = case.longterm().is_some();
    case.demand(is_set, "inflight_longterm set in STARTUP");
    case.reach("PROBE_BW_UP");
    case.run_rtts(1);
    case.demand(case.is_in("PROBE_BW_UP"), "in UP");
    case.rig.path.fate = Fate::DropEvery(10);
    let before = case.longterm().unwrap_or(0);
    let mut last = (before, case.cwnd(), 0);
    case.run_until(|case| {
        if case.is_in("PROBE_BW_UP") {
            last = (case.longterm().unwrap_or(0), case.cwnd(), case.bdp());
        }
        !case.is_in("PROBE_BW_UP")
    });
    let (before, cwnd, bdp) = last;
    let after = case.longterm().unwrap_or(0);
    let too_high = case.rig.field("prev_probe_too_high") == 1;
    case.demand(too_high, "HandleInflightTooHigh ran");
    let least = bdp.min(cwnd) * 69 / 100;
    case.demand(
        after >= least && after <= before,
        &format!(
            "inflight_longterm {:.0} % of its value in UP, {:.0} % of the target",
            percent(after, before),
            percent(after, bdp.min(cwnd))
        ),
    );
    case.demand(case.is_in("PROBE_BW_DOWN"), &format!("to {}", case.state()));
}

/// A.22: Handling Application-Limited Sending During PROBE_REFILL.
pub(crate) fn limited_in_refill(case: &mut Case) {
    case.reach("PROBE_BW_REFILL");
    let max_bw = case.max_bw();
    case.rig.set_app(App::Paused);
    case.run_rtts(1);
    let paused = case.rig.conn().ctl.app_limited != 0;
    case.demand(paused && case.is_in("PROBE_BW_REFILL"), "application-limited in REFILL");
    case.rig.set_app(case.net.bulk());
    let mut changed = false;
    case.run_until(|case| {
        changed |= case.max_bw() != max_bw;
        !case.is_in("PROBE_BW_REFILL")
    });
    case.demand(!changed, "max_bw unchanged");
    case.demand(case.is_in("PROBE_BW_UP"), &format!("to {}", case.state()));
    let next = case.leave("PROBE_BW_UP");
    let later = percent(case.max_bw(), max_bw);
    case.demand(
        next == "PROBE_BW_DOWN" && later > 98.0,
        &format!("then to {next} with max_bw {later:.1} %"),
    );
}
