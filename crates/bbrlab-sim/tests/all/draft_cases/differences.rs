//! Measures the visible effects of the differences between the draft's BBRv3 and Linux's, one
//! measurement per effect.
//!
//! The differences are numbered as in `docs/algorithms/bbr3_ietf.md`.

use std::fmt::Write as _;

use bbrlab_cc::{Algorithm, CongestionControl as _};
use bbrlab_units::Span;

use super::case::{Case, Net, PATHS, Rounds, payload_rate, percent};
use super::rig::{Fate, MSS, WIRE};

/// A measurement: its title and its function.
type Measurement = (&'static str, fn(Algorithm) -> String);

const MEASUREMENTS: &[Measurement] = &[
    ("1: cwnd in CRUISE, 10 Mbit/s x 40 ms", cwnd_in_cruise),
    ("2, 3: DRAIN, 10 Mbit/s x 40 ms", drain),
    ("2: DRAIN if the RTT trebles at its start", drain_on_a_longer_path),
    ("4: STARTUP, ACKs in slots of 20 ms", startup_with_slots),
    ("5, 6: STARTUP into a buffer of 0.5 BDP", startup_into_shallow_buffer),
    ("7: probes in 10 s at 1 Mbit/s x 10 ms", probes_at_small_bdp),
    ("10, 11: after a spurious recovery in UP", after_spurious_recovery),
    ("12: cwnd after a recovery in CRUISE", cwnd_after_recovery),
    ("14: after a black-out of 2 s", after_black_out),
    ("18: cwnd in CRUISE, ACKs in slots of 20 ms", cwnd_with_slots),
    ("19: burst in CRUISE, 100 Mbit/s x 1 ms", burst_on_short_path),
    ("20: delivered in the first 5 RTTs, 100 Mbit/s x 100 ms", first_rounds),
    ("together: 30 s, buffer of 0.2 BDP", shallow_buffer),
    ("together: 30 s, buffer of 4 BDP", deep_buffer),
    ("together: 30 s, every 100th packet lost", steady_loss),
];

/// Returns a text with the results of all measurements, each for the draft's BBRv3 and for Linux's.
pub(crate) fn table() -> String {
    let mut table = String::new();
    for (what, measure) in MEASUREMENTS {
        let (draft, linux) = (measure(Algorithm::Bbr3Ietf), measure(Algorithm::Bbr3));
        writeln!(table, "{what}\n  draft: {draft}\n  Linux: {linux}").expect("a string");
    }
    table
}

fn ms(span: u64) -> u64 {
    span / 1_000_000
}

fn cwnd_in_cruise(algorithm: Algorithm) -> String {
    let mut case = Case::bulk(algorithm, PATHS[0]);
    case.reach("PROBE_BW_CRUISE");
    case.run_rtts(12);
    let bdp = percent(case.cwnd(), case.bdp());
    format!("{} packets, {bdp:.0} % of the BDP", case.rig.conn().ctl.cwnd)
}

fn drain(algorithm: Algorithm) -> String {
    let mut case = Case::bulk(algorithm, PATHS[0]);
    case.reach("DRAIN");
    let from = case.rig.now();
    case.leave("DRAIN");
    let took = ms(case.rig.now().0 - from.0);
    format!("{took} ms, ends at {:.0} % of the BDP in flight", percent(case.inflight(), case.bdp()))
}

fn drain_on_a_longer_path(algorithm: Algorithm) -> String {
    let mut case = Case::bulk(algorithm, PATHS[0]);
    case.reach("DRAIN");
    case.rig.path.delay = Span(case.rig.path.delay.0 * 3);
    let from = case.rig.now();
    case.leave("DRAIN");
    let took = ms(case.rig.now().0 - from.0);
    format!("{took} ms, ends at {:.0} % of the BDP in flight", percent(case.inflight(), case.bdp()))
}

fn startup_with_slots(algorithm: Algorithm) -> String {
    let mut case = Case::bulk(algorithm, PATHS[0]);
    case.rig.path.ack_slot = Some(Span::from_millis(20));
    case.leave("STARTUP");
    let bw = percent(case.max_bw(), payload_rate(PATHS[0].rate_bps));
    format!("{} ms, max_bw {bw:.0} % of the link", ms(case.rig.now().0))
}

fn startup_into_shallow_buffer(algorithm: Algorithm) -> String {
    let net = PATHS[0];
    let mut case = Case::bulk(algorithm, net);
    case.rig.path.buffer_bytes = net.bdp() / 2;
    case.leave("STARTUP");
    let longterm = case.longterm().map_or("unset".to_owned(), |bytes| {
        format!("{:.0} % of the BDP", percent(bytes, case.bdp()))
    });
    format!("{} ms, {} packets lost, bound {longterm}", ms(case.rig.now().0), case.rig.drops)
}

fn probes_at_small_bdp(algorithm: Algorithm) -> String {
    let net = Net { rate_bps: 1_000_000, rtt: Span::from_millis(10) };
    let mut case = Case::bulk(algorithm, net);
    case.run_until(Case::is_in_probe_bw);
    let until = case.rig.now() + Span::from_secs(10);
    let (mut probes, mut was_up) = (0, false);
    case.run_until(|case| {
        let is_up = case.is_in("PROBE_BW_UP");
        probes += u32::from(is_up && !was_up);
        was_up = is_up;
        case.rig.now() > until
    });
    format!("{probes}")
}

fn after_spurious_recovery(algorithm: Algorithm) -> String {
    let mut case = Case::bulk(algorithm, PATHS[0]);
    case.reach("PROBE_BW_UP");
    case.run_rtts(1);
    case.rig.path.fate = Fate::Delay(Span::from_millis(30));
    case.rig.run_for(Span::from_millis(5));
    case.rig.path.fate = Fate::Pass;
    case.run_until(|case| case.rig.sender.stats().undo_count > 0);
    let bound = case.longterm().map_or("unset".to_owned(), |bytes| {
        format!("{:.0} % of the BDP", percent(bytes, case.bdp()))
    });
    let from = case.rig.now();
    case.reach("PROBE_BW_UP");
    format!("bound {bound}, in UP again after {} ms", ms(case.rig.now().0 - from.0))
}

fn cwnd_after_recovery(algorithm: Algorithm) -> String {
    let mut case = Case::bulk(algorithm, PATHS[0]);
    case.reach("PROBE_BW_CRUISE");
    case.run_rtts(12);
    let before = case.rig.conn().ctl.cwnd;
    case.rig.path.fate = Fate::DropEvery(10);
    case.run_rtts(1);
    case.rig.path.fate = Fate::Pass;
    let recovery = bbrlab_cc::CaState::Recovery;
    case.run_until(|case| case.rig.conn().ca_state == recovery);
    case.run_until(|case| case.rig.conn().ca_state < recovery);
    format!("{} packets, {before} before it", case.rig.conn().ctl.cwnd)
}

fn after_black_out(algorithm: Algorithm) -> String {
    let net = PATHS[0];
    let mut case = Case::bulk(algorithm, net);
    case.reach("PROBE_BW_CRUISE");
    case.run_rtts(12);
    case.rig.path.fate = Fate::DropEvery(1);
    case.rig.run_for(Span::from_secs(2));
    case.rig.path.fate = Fate::Pass;
    let from = case.rig.now();
    let mut rtts = 0;
    // Run until the link sends at least nine tenths of a BDP within one base RTT.
    loop {
        let sent = case.rig.sent_bytes;
        case.run_rtts(1);
        rtts += 1;
        if case.rig.sent_bytes - sent > net.bdp() * 9 / 10 || rtts > 500 {
            break;
        }
    }
    format!("link full again after {} ms", ms(case.rig.now().0 - from.0))
}

fn cwnd_with_slots(algorithm: Algorithm) -> String {
    let mut case = Case::bulk(algorithm, PATHS[0]);
    case.rig.path.ack_slot = Some(Span::from_millis(20));
    case.reach("PROBE_BW_CRUISE");
    case.run_rtts(12);
    let extra = case.extra_acked() / MSS;
    format!("{} packets, of them extra_acked {extra}", case.rig.conn().ctl.cwnd)
}

fn burst_on_short_path(algorithm: Algorithm) -> String {
    let net = Net { rate_bps: 100_000_000, rtt: Span::from_millis(1) };
    let mut case = Case::bulk(algorithm, net);
    case.reach("PROBE_BW_CRUISE");
    let conn = case.rig.conn();
    format!("{} packets", case.rig.sender.cc().tso_segs(conn, conn.mss))
}

fn first_rounds(algorithm: Algorithm) -> String {
    let net = Net { rate_bps: 100_000_000, rtt: Span::from_millis(100) };
    let mut case = Case::bulk(algorithm, net);
    case.run_rtts(6);
    format!("{} packets", case.rig.conn().delivered)
}

fn shallow_buffer(algorithm: Algorithm) -> String {
    thirty_seconds(algorithm, |net| (net.bdp() / 5, None))
}

fn deep_buffer(algorithm: Algorithm) -> String {
    thirty_seconds(algorithm, |net| (net.bdp() * 4, None))
}

fn steady_loss(algorithm: Algorithm) -> String {
    thirty_seconds(algorithm, |net| (net.bdp() * 4, Some(Fate::DropEvery(100))))
}

/// Returns goodput, loss and mean RTT on both paths. The first second of a run is not measured; the
/// next 30 s at 10 Mbit/s, or the next 10 s at 1 Gbit/s, are measured.
fn thirty_seconds(algorithm: Algorithm, path: fn(Net) -> (u64, Option<Fate>)) -> String {
    let mut text = String::new();
    for net in PATHS {
        let mut case = Case::bulk(algorithm, net);
        let (buffer_bytes, fate) = path(net);
        case.rig.path.buffer_bytes = buffer_bytes;
        case.rig.path.fate = fate.unwrap_or(Fate::Pass);
        let span = Span::from_secs(if net.rate_bps > 100_000_000 { 10 } else { 30 });
        let (mut rtts, mut samples) = (0, 0);
        let mut rounds = Rounds::default();
        case.rig.run_for(Span::from_secs(1));
        let (arrivals, drops, offered) = (case.rig.arrivals, case.rig.drops, case.rig.offered);
        let until = case.rig.now() + span;
        case.run_until(|case| {
            if rounds.see(case) {
                rtts += u64::from(case.rig.conn().srtt_us >> 3);
                samples += 1;
            }
            case.rig.now() > until
        });
        let capacity = net.rate_bps / 8 * (span.0 / 1_000_000_000);
        let used = percent((case.rig.arrivals - arrivals) * WIRE, capacity);
        let lost = percent(case.rig.drops - drops, case.rig.offered - offered);
        let rtt_us = rtts / samples.max(1);
        let separator = if text.is_empty() { "" } else { "; " };
        write!(
            text,
            "{separator}{used:.1} % of the link, {lost:.2} % lost, RTT {}.{} ms",
            rtt_us / 1000,
            rtt_us % 1000 / 100
        )
        .expect("a string");
    }
    text
}
