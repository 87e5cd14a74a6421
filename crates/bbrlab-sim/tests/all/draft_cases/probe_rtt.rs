//! Test cases A.10, A.11 of draft-ietf-ccwg-bbr: ProbeRTT.

use bbrlab_units::Span;

use super::case::Case;
use super::rig::App;
use super::startup::seconds;

/// A.10: Entering and Exiting PROBE_RTT.
pub(crate) fn entering_and_exiting(case: &mut Case) {
    case.run_until(Case::is_in_probe_bw);
    case.reach("PROBE_RTT");
    let at = case.rig.now();
    case.demand(at > Span::from_secs(5), &format!("PROBE_RTT at {:.2} s", seconds(at)));
    let gain = case.cwnd_gain();
    case.demand((gain - 50.0).abs() < 0.5, &format!("cwnd_gain {:.2}", gain / 100.0));
    let next = case.leave("PROBE_RTT");
    let stay = Span(case.rig.now().0 - at.0);
    case.demand(
        stay >= Span::from_millis(200).max(case.net.rtt),
        &format!("stays {} ms", stay.0 / 1_000_000),
    );
    case.demand(next == "PROBE_BW_CRUISE", &format!("to {next}"));
    let delivered = case.rig.arrivals;
    case.run_rtts(10);
    case.demand(case.rig.arrivals > delivered + 50, "resumes sending");
}

/// A.11: Skipping PROBE_RTT Due to Application-Limited Sending.
pub(crate) fn skipping_after_idle(case: &mut Case) {
    case.reach("PROBE_BW_CRUISE");
    case.rig.set_app(App::Paused);
    case.rig.run_for(Span::from_secs(6));
    case.demand(case.inflight() == 0, "inflight 0 after a pause of 6 s");
    case.rig.set_app(case.net.bulk());
    let restarts = case.rig.field("idle_restart") == 1;
    case.demand(restarts, "idle_restart on sending");
    let from = case.rig.now();
    let mut visited = false;
    case.run_until(|case| {
        visited |= case.is_in("PROBE_RTT");
        case.rig.now() > from + Span::from_secs(2)
    });
    case.demand(!visited, "no PROBE_RTT in the 2 s after");
}
