//! Tests of BBR v1 and its variants on a path with a rate of one packet per millisecond and an RTT
//! of 20 ms, so that one BDP is 20 packets. An ACK of one packet arrives every millisecond; each
//! test chooses the inflight, RTT and losses of its ACKs.
//!
//! BBR adds three bursts of two packets to each inflight target. At gain 1, the target is therefore
//! 26 packets. At gain 1.25, the target is 34 packets: 25 for the gain, 6 for the bursts, one from
//! rounding and two for probing. While probing, cwnd is 50 packets: two BDPs, the bursts, one
//! packet for ACK aggregation, one from rounding and two for probing.

use std::collections::VecDeque;
use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::ns3::Ns3Steps;
use super::{Bbr, Bbr1, BbrAcd, BbrHsr, BbrPlus, BbrPrime, DelayBbr, Ns3, Plain, State, Variant};
use crate::xorshift::Xorshift;
use crate::{CaState, CongestionControl, Conn, Control, Draw, ParamValue, Params, RateSample};

/// The random numbers of a test, in the order of the draws. After the last given number, every draw
/// is 0.
#[derive(Default)]
struct Draws(VecDeque<u32>);

impl Draw for Draws {
    fn below(&mut self, bound: u32) -> u32 {
        let draw = self.0.pop_front().unwrap_or(0);
        assert!(draw < bound);
        draw
    }
}

/// The properties that a test chooses for an ACK.
#[derive(Clone, Copy)]
struct Ack {
    rtt_us: i64,
    /// Packets in flight, equal before and after the ACK.
    inflight: u32,
    losses: i32,
}

/// An ACK on a path without a queue: the RTT is the minimum, and one BDP is in flight.
const CALM: Ack = Ack { rtt_us: 20_000, inflight: 20, losses: 0 };

/// An ACK on a path with a queue of one and a half BDPs.
const QUEUED: Ack = Ack { rtt_us: 50_000, inflight: 50, losses: 0 };

struct Flow<V: Variant> {
    bbr: Bbr<V>,
    conn: Conn,
    draws: Draws,
}

impl<V: Variant> Flow<V> {
    fn new(variant: V, draws: &[u32]) -> Self {
        let mut conn = Conn {
            clock_ns: 1_000_000_000,
            delivered_mstamp: 1_000_000,
            jiffies: 1000,
            hz: 1000,
            max_pacing_rate: u64::MAX,
            mss: 1448,
            srtt_us: 20_000 << 3,
            min_rtt_us: 20_000,
            delivered: 1,
            pacing_shift: 10,
            ..Conn::default()
        };
        conn.ctl.cwnd = 10;
        conn.ctl.cwnd_clamp = u32::MAX;
        let mut flow = Self { bbr: Bbr::new(variant), conn, draws: Draws::default() };
        flow.draws.0.extend(draws);
        flow.conn.ctl = flow.bbr.init(&flow.conn, &mut flow.draws);
        flow
    }

    /// Makes a flow that has just entered `PROBE_BW`.
    fn in_probe_bw(variant: V, draws: &[u32]) -> Self {
        Self::new(variant, draws).filled()
    }

    /// Advances the flow until it enters `PROBE_BW`.
    fn filled(mut self) -> Self {
        while self.bbr.state != State::ProbeBw {
            self.ack(CALM);
        }
        self
    }

    fn ack(&mut self, ack: Ack) {
        let conn = &mut self.conn;
        conn.clock_ns += 1_000_000;
        conn.wstamp_ns = conn.clock_ns;
        conn.delivered_mstamp += 1000;
        conn.jiffies += 1;
        conn.delivered += 1;
        conn.inflight = ack.inflight;
        conn.lost += ack.losses.cast_unsigned();
        let rs = RateSample {
            delivered: 20,
            interval_us: 20_000,
            rtt_us: ack.rtt_us,
            losses: ack.losses,
            acked_sacked: 1,
            prior_in_flight: ack.inflight,
            prior_delivered: conn.delivered - ack.inflight.min(conn.delivered),
            ..RateSample::default()
        };
        conn.ctl = self.bbr.cong_control(conn, &rs, &mut self.draws);
    }

    fn acks(&mut self, count: usize, ack: Ack) {
        for _ in 0..count {
            self.ack(ack);
        }
    }

    /// Makes the sender enter fast recovery.
    fn lose(&mut self) {
        self.conn.ctl.ssthresh = self.bbr.ssthresh(&self.conn);
        self.conn.ctl = self.bbr.set_state(&self.conn, CaState::Recovery, &mut self.draws);
        self.conn.ca_state = CaState::Recovery;
    }

    fn recovered(&mut self) {
        self.conn.ctl = self.bbr.set_state(&self.conn, CaState::Open, &mut self.draws);
        self.conn.ca_state = CaState::Open;
    }

    /// Delivers one ACK per millisecond, at most 1000, until the phase of the gain cycle or the
    /// state changes. Returns the pacing gain before the first ACK, and the number of ACKs as
    /// milliseconds. The number includes the ACK that causes the change.
    fn phase(&mut self, ack: Ack) -> String {
        let gain_q8 = self.bbr.pacing_gain_q8;
        let before = self.bbr.cycle;
        let mut ms = 0;
        while self.bbr.cycle == before && self.bbr.state == State::ProbeBw && ms < 1000 {
            self.ack(ack);
            ms += 1;
        }
        format!("{gain_q8}/256 for {ms} ms\n")
    }
}

fn param(name: &str, value: ParamValue) -> Params {
    vec![(name.to_owned(), value)]
}

fn text(value: &str) -> ParamValue {
    ParamValue::Text(value.to_owned())
}

impl Flow<Ns3> {
    /// Makes a flow of BBR v1 with the steps that `params` select, for example ns-3's.
    fn with_steps(variant: Ns3, params: &Params, draws: &[u32]) -> Self {
        let mut flow = Self::new(variant, draws);
        flow.bbr.steps = Ns3Steps::from_params(params).unwrap();
        flow.conn.ctl.cwnd = 10;
        flow.conn.ctl = flow.bbr.init(&flow.conn, &mut flow.draws);
        flow
    }
}

/// Compares the first `phases` phases of the gain cycle with `expected`. The cycle starts at its
/// first phase (draw 0), and all ACKs are equal.
fn check_phases<V: Variant>(variant: V, ack: Ack, phases: usize, expected: &Expect) {
    let mut flow = Flow::in_probe_bw(variant, &[0]);
    let mut lines = String::new();
    for _ in 0..phases {
        lines += &flow.phase(ack);
    }
    expected.assert_eq(&lines);
}

#[test]
fn state_is_small() {
    assert!(size_of::<Bbr1>() <= 144, "{}", size_of::<Bbr1>());
}

#[test]
fn startup_drains_and_cycles_once_the_pipe_is_full() {
    let mut flow = Flow::new(Plain, &[0]);
    let mut lines = String::new();
    let mut before = None;
    for ms in 1..=400 {
        let inflight = if flow.bbr.state == State::Drain { 26 } else { 60 };
        flow.ack(Ack { rtt_us: 20_000, inflight, losses: 0 });
        let now = (flow.bbr.state, flow.bbr.pacing_gain_q8, flow.bbr.cwnd_gain_q8);
        if before != Some(now) {
            let Control { cwnd, pacing_rate, .. } = flow.conn.ctl;
            writeln!(lines, "{ms} ms: {now:?} cwnd {cwnd} pacing {pacing_rate} B/s").unwrap();
        }
        before = Some(now);
        if flow.bbr.state == State::ProbeBw {
            break;
        }
    }
    expect![[r#"
        1 ms: (Startup, 739, 739) cwnd 11 pacing 4138115 B/s
        240 ms: (Drain, 88, 739) cwnd 65 pacing 492766 B/s
        241 ms: (ProbeBw, 320, 512) cwnd 50 pacing 1791876 B/s
    "#]]
    .assert_eq(&lines);
}

#[test]
fn cycle_starts_anywhere_but_in_the_draining_phase() {
    let starts: Vec<u8> =
        (0..7).map(|draw| Flow::in_probe_bw(Plain, &[draw]).bbr.cycle.idx).collect();
    assert_eq!(starts, [0, 7, 6, 5, 4, 3, 2]);
}

#[test]
fn phases_last_a_min_rtt_where_inflight_follows_the_gain() {
    let half_queued = Ack { rtt_us: 20_000, inflight: 40, losses: 0 };
    check_phases(
        Plain,
        half_queued,
        4,
        &expect![[r#"
        320/256 for 21 ms
        192/256 for 21 ms
        256/256 for 21 ms
        256/256 for 21 ms
    "#]],
    );
}

#[test]
fn drain_phase_ends_early_when_the_queue_is_gone() {
    let mut flow = Flow::in_probe_bw(Plain, &[0]);
    assert_eq!(flow.phase(QUEUED), "320/256 for 21 ms\n");
    assert_eq!(flow.phase(CALM), "192/256 for 1 ms\n");
}

#[test]
fn probing_phase_waits_for_inflight_or_loss() {
    let mut flow = Flow::in_probe_bw(Plain, &[0]);
    flow.acks(100, CALM);
    assert_eq!(flow.bbr.pacing_gain_q8, 320);
    flow.ack(Ack { losses: 1, ..CALM });
    assert_eq!(flow.bbr.pacing_gain_q8, 192);
}

#[test]
fn probe_rtt_holds_four_packets_for_200_ms_and_a_round() {
    let mut flow = Flow::in_probe_bw(Plain, &[0]);
    let mut lines = String::new();
    let mut before = flow.bbr.state;
    for ms in 1..=10_500 {
        // Each packet in flight adds 1 us to the RTT, so no sample is as low as the minimum of 20
        // ms. The minimum therefore expires after 10 s.
        let inflight = flow.conn.ctl.cwnd.min(30);
        flow.ack(Ack { rtt_us: 20_000 + i64::from(inflight), inflight, losses: 0 });
        if flow.bbr.state != before {
            before = flow.bbr.state;
            writeln!(lines, "{ms} ms: {before:?} cwnd {}", flow.conn.ctl.cwnd).unwrap();
        }
    }
    expect![[r#"
        9921 ms: ProbeRtt cwnd 4
        10123 ms: ProbeBw cwnd 51
    "#]]
    .assert_eq(&lines);
}

#[test]
fn rate_may_reach_zero_on_a_hopeless_path() {
    // One packet in 17 s is less than the smallest unit of bandwidth, 2^-24 packets per
    // microsecond.
    let mut flow = Flow::in_probe_bw(Plain, &[0]);
    let rs = RateSample {
        delivered: 1,
        interval_us: 17_000_000,
        rtt_us: 17_000_000,
        acked_sacked: 1,
        ..RateSample::default()
    };
    for _ in 0..30 {
        flow.conn.delivered += 1;
        flow.conn.delivered_mstamp += 17_000_000;
        let rs = RateSample { prior_delivered: flow.conn.delivered - 1, ..rs };
        flow.conn.ctl = flow.bbr.cong_control(&flow.conn, &rs, &mut flow.draws);
    }
    assert_eq!(flow.conn.ctl.pacing_rate, 0);
    assert_eq!(
        flow.conn.ctl.cwnd, 6,
        "three bursts of one packet, rounded up to 4, plus 2 to probe"
    );
}

#[test]
fn bbr_prime_drains_for_as_long_as_the_queue_is_there() {
    let mut flow = Flow::in_probe_bw(BbrPrime, &[0]);
    assert_eq!(flow.phase(QUEUED), "320/256 for 21 ms\n");
    flow.acks(500, QUEUED);
    assert_eq!(flow.bbr.pacing_gain_q8, 192);
    assert_eq!(flow.phase(CALM), "192/256 for 1 ms\n");
    assert_eq!(flow.phase(CALM), "256/256 for 21 ms\n");
}

#[test]
fn bbr_hsr_alternates_between_probing_and_draining() {
    let variant = BbrHsr::from_params(&Vec::new()).unwrap();
    check_phases(
        variant,
        QUEUED,
        4,
        &expect![[r#"
        384/256 for 21 ms
        128/256 for 21 ms
        384/256 for 28 ms
        128/256 for 28 ms
    "#]],
    );
}

#[test]
fn bbr_hsr_adds_a_share_of_the_deviation_to_the_minimum() {
    for (lambda, rtprop_us) in [(0.5, 25_000), (0.125, 21_250), (0.0, 20_000)] {
        let params = param("lambda", ParamValue::Float(lambda));
        let variant = BbrHsr::from_params(&params).unwrap();
        let mut flow = Flow::in_probe_bw(variant, &[]);
        assert_eq!(BbrHsr::rtprop_us(&flow.bbr), 20_000, "no variation so far");
        // The RTTs vary for 12 s. The deviation covers at most the last 10 s, so it includes no RTT
        // from before these 12 s.
        for k in 0..12_000 {
            flow.ack(Ack { rtt_us: 20_000 + 20_000 * (k % 2), ..CALM });
        }
        let margin_us = rtprop_us - 20_000;
        let found_us = BbrHsr::rtprop_us(&flow.bbr) - 20_000;
        assert!(found_us.abs_diff(margin_us) <= 1, "lambda {lambda}: {found_us} us");
    }
}

#[test]
fn bbrplus_draws_the_length_of_each_cycle() {
    // The first draw is 6, so the first cycle lasts 8 - 6 = 2 minimum RTTs, all with gain 1. The
    // second draw is 4, so the second cycle lasts 8 - 4 = 4 minimum RTTs.
    let mut flow = Flow::in_probe_bw(BbrPlus::default(), &[6, 4, 0]);
    let mut lines = String::new();
    lines += &flow.phase(CALM);
    let between = Ack { rtt_us: 20_000, inflight: 30, losses: 0 };
    lines += &flow.phase(QUEUED);
    lines += &flow.phase(CALM);
    lines += &flow.phase(between);
    expect![[r#"
        256/256 for 41 ms
        320/256 for 21 ms
        192/256 for 1 ms
        256/256 for 59 ms
    "#]]
    .assert_eq(&lines);
}

#[test]
fn bbrplus_drains_on_loss_but_cruises_through_it() {
    let mut flow = Flow::in_probe_bw(BbrPlus::default(), &[6, 0]);
    let lossy = Ack { losses: 1, ..CALM };
    flow.ack(lossy);
    assert_eq!(flow.bbr.pacing_gain_q8, 256, "a loss does not end the phase with gain 1");
    flow.phase(CALM);
    assert_eq!(flow.bbr.pacing_gain_q8, 320);
    flow.ack(lossy);
    assert_eq!(flow.bbr.pacing_gain_q8, 192, "a loss ends the phase with gain 1.25");
    flow.ack(lossy);
    assert_eq!(flow.bbr.pacing_gain_q8, 192, "a loss prolongs the phase with gain 0.75");
    flow.ack(CALM);
    assert_eq!(flow.bbr.pacing_gain_q8, 256);
}

#[test]
fn bbrplus_skips_the_probe_where_inflight_is_already_high() {
    let mut flow = Flow::in_probe_bw(BbrPlus::default(), &[6, 0]);
    flow.acks(40, CALM);
    flow.ack(QUEUED);
    assert_eq!((flow.bbr.cycle.idx, flow.bbr.pacing_gain_q8), (1, 192));
}

fn delay_bbr(params: &Params) -> DelayBbr {
    DelayBbr::from_params(params).unwrap()
}

#[test]
fn delay_bbr_backs_off_when_the_rtt_says_so() {
    let mut flow = Flow::in_probe_bw(delay_bbr(&Vec::new()), &[0]);
    flow.acks(100, CALM);
    assert_eq!(flow.bbr.pacing_gain_q8, 284);
    flow.acks(100, Ack { rtt_us: 23_900, ..CALM });
    assert_eq!(flow.bbr.state, State::ProbeBw);
    flow.ack(Ack { rtt_us: 24_300, inflight: 25, losses: 0 });
    assert_eq!((flow.bbr.state, flow.bbr.pacing_gain_q8), (State::ProbeRtt, 192));
    let cwnd = flow.conn.ctl.cwnd;
    flow.acks(50, Ack { rtt_us: 24_300, inflight: 25, losses: 0 });
    assert_eq!((flow.bbr.state, flow.conn.ctl.cwnd), (State::ProbeRtt, cwnd));
    flow.ack(Ack { rtt_us: 20_000, inflight: 19, losses: 0 });
    assert_eq!(flow.bbr.state, State::ProbeBw);
}

#[test]
fn delay_bbr_can_back_off_with_the_window() {
    let params = param("probe_rtt", text("cwnd"));
    let mut flow = Flow::in_probe_bw(delay_bbr(&params), &[0]);
    flow.acks(100, CALM);
    flow.acks(3, Ack { rtt_us: 30_000, inflight: 30, losses: 0 });
    assert_eq!((flow.bbr.state, flow.bbr.pacing_gain_q8), (State::ProbeRtt, 256));
    assert_eq!(flow.conn.ctl.cwnd, 15);
}

#[test]
fn delay_bbr_counts_only_packets_sent_after_the_back_off() {
    let mut flow = Flow::in_probe_bw(delay_bbr(&Vec::new()), &[0]);
    flow.acks(100, CALM);
    flow.ack(QUEUED);
    assert_eq!(flow.bbr.state, State::ProbeRtt);
    flow.ack(CALM);
    assert_eq!(flow.bbr.state, State::ProbeRtt, "20 packets are not below one BDP");
    flow.ack(Ack { inflight: 19, ..CALM });
    assert_eq!(flow.bbr.state, State::ProbeBw);
    // With an ACK `QUEUED`, the rate sample's `prior_delivered` is 50 packets below `delivered`.
    // According to this field, the packets of these 49 ACKs were sent before PROBE_RTT (the
    // back-off) ended, so their RTT samples are ignored.
    flow.acks(49, QUEUED);
    assert_eq!(flow.bbr.state, State::ProbeBw);
    flow.ack(CALM);
    flow.ack(QUEUED);
    assert_eq!(flow.bbr.state, State::ProbeRtt);
}

#[test]
fn delay_bbr_keeps_its_minimum_while_samples_are_similar() {
    let mut flow = Flow::in_probe_bw(delay_bbr(&Vec::new()), &[0]);
    for _ in 0..30_000 {
        flow.ack(Ack { rtt_us: 22_000, ..CALM });
        assert_eq!(flow.bbr.state, State::ProbeBw);
    }
    assert_eq!(flow.bbr.min_rtt.us, 20_000);
}

#[test]
fn delay_bbr_learns_a_longer_path_by_a_visit_that_does_not_drain() {
    // With a beta of 64, no RTT counts as congestion. Only an expired minimum RTT can cause a
    // back-off in this test.
    let params = param("beta", ParamValue::Int(64));
    let mut flow = Flow::in_probe_bw(delay_bbr(&params), &[0]);
    let longer = Ack { rtt_us: 60_000, inflight: 60, losses: 0 };
    let mut visit_ms = 0;
    for _ in 0..10_500 {
        flow.ack(longer);
        visit_ms += u32::from(flow.bbr.state == State::ProbeRtt);
    }
    assert_eq!((visit_ms, flow.bbr.min_rtt.us), (201, 60_000));
}

#[test]
fn delay_bbr_of_the_thesis_never_backs_off_for_delay() {
    // The code of the thesis [lanigan] divides integers, so its alpha of 9/10 becomes 0 and its
    // beta of 6/5 becomes 1.
    let params =
        vec![("alpha".to_owned(), ParamValue::Int(0)), ("beta".to_owned(), ParamValue::Int(1))];
    let mut flow = Flow::in_probe_bw(delay_bbr(&params), &[0]);
    flow.acks(100, CALM);
    flow.acks(5000, QUEUED);
    assert_eq!(flow.bbr.state, State::ProbeBw);
}

fn bbr_acd(params: &Params) -> Flow<BbrAcd> {
    let mut flow = Flow::in_probe_bw(BbrAcd::from_params(params).unwrap(), &[0]);
    flow.acks(100, CALM);
    assert_eq!(flow.conn.ctl.cwnd, 50);
    flow
}

/// Returns cwnd after each of the first four ACKs of a recovery, and after the first ACK that
/// follows the recovery. The ACKs in `before` arrive before the recovery.
fn recovery_cwnds(params: &Params, before: &[Ack]) -> Vec<u32> {
    let mut flow = bbr_acd(params);
    for &ack in before {
        flow.ack(ack);
    }
    flow.lose();
    let mut cwnds = Vec::new();
    for losses in [1, 0, 0, 0] {
        flow.ack(Ack { losses, inflight: 40, ..before[before.len() - 1] });
        cwnds.push(flow.conn.ctl.cwnd);
    }
    flow.recovered();
    flow.ack(CALM);
    cwnds.push(flow.conn.ctl.cwnd);
    cwnds
}

const LONG: [Ack; 1] = [Ack { rtt_us: 41_000, inflight: 40, losses: 0 }];

#[test]
fn bbr_acd_halves_once_when_the_rtt_is_long() {
    assert_eq!(recovery_cwnds(&Vec::new(), &LONG), [24, 24, 24, 24, 48]);
}

#[test]
fn bbr_acd_halves_when_three_rtts_are_alike() {
    let alike = [25_000, 25_900, 25_100].map(|rtt_us| Ack { rtt_us, inflight: 40, losses: 0 });
    assert_eq!(recovery_cwnds(&Vec::new(), &alike)[0], 24);
    // Two ACKs precede the recovery, so the recovery's first ACK is the third with a similar RTT.
    assert_eq!(recovery_cwnds(&Vec::new(), &alike[..2])[0], 24);
    let differing = [25_000, 27_000, 25_000].map(|rtt_us| Ack { rtt_us, inflight: 40, losses: 0 });
    assert_eq!(recovery_cwnds(&param("alpha_us", ParamValue::Int(500)), &differing)[0], 48);
}

#[test]
fn bbr_acd_takes_a_loss_without_a_queue_as_a_transmission_error() {
    assert_eq!(recovery_cwnds(&Vec::new(), &[CALM]), [48, 48, 48, 48, 48]);
}

#[test]
fn bbr_acd_as_the_authors_linux_code_halves_through_the_first_round() {
    let params = param("halving", text("round"));
    assert_eq!(recovery_cwnds(&params, &LONG), [23, 11, 5, 4, 48]);
}

#[test]
fn bbr_acd_as_the_authors_ns3_code_halves_in_every_recovery() {
    let mut params = param("halving", text("recovery"));
    params.extend(param("detection", text("inert")));
    assert_eq!(recovery_cwnds(&params, &[CALM]), [24, 20, 20, 20, 28]);
}

#[test]
fn wrong_parameters_are_refused_with_the_values_accepted() {
    let refused = |name: &str, value| {
        let params = param(name, value);
        let hsr = BbrHsr::from_params(&params).map(|_| ());
        let delay = DelayBbr::from_params(&params).map(|_| ());
        let acd = BbrAcd::from_params(&params).map(|_| ());
        hsr.and(delay).and(acd).unwrap_err().to_string()
    };
    let lines = [
        refused("lambda", ParamValue::Int(17)),
        refused("lambda", text("half")),
        refused("alpha", ParamValue::Float(1.5)),
        refused("beta", ParamValue::Float(f64::NAN)),
        refused("probe_rtt", text("both")),
        refused("probe_rtt", ParamValue::Bool(true)),
        refused("alpha_us", ParamValue::Float(0.5)),
        refused("alpha_us", ParamValue::Int(-1)),
        refused("halving", text("twice")),
    ];
    expect![[r#"
        parameter `lambda`: found 17, expected a number from 0 to 16
        parameter `lambda`: found "half", expected a number from 0 to 16
        parameter `alpha`: found 1.5, expected a number from 0 to 1
        parameter `beta`: found NaN, expected a number from 0 to 64
        parameter `probe_rtt`: found "both", expected "gain" or "cwnd"
        parameter `probe_rtt`: found true, expected "gain" or "cwnd"
        parameter `alpha_us`: found 0.5, expected a whole number from 0 to 1000000
        parameter `alpha_us`: found -1, expected a whole number from 0 to 1000000
        parameter `halving`: found "twice", expected "once" or "round" or "recovery""#]]
    .assert_eq(&lines.join("\n"));
}

/// Returns the stable cwnd of a flow with the parameters `params`, in a phase with pacing gain 1.
fn settled_cwnd(params: &Params) -> u32 {
    let mut flow = Flow::with_steps(Ns3, params, &[4]).filled();
    flow.acks(15, QUEUED);
    flow.conn.ctl.cwnd
}

#[test]
fn the_window_holds_three_bursts_or_three_segments() {
    // Two BDPs of 20 packets, three bursts of two packets and one packet of aggregation are 47
    // packets, rounded up to an even number.
    assert_eq!(settled_cwnd(&Params::new()), 48);
    let plain = param("extra_acked", text("off"));
    assert_eq!(settled_cwnd(&plain), 46);
    let mut segments = plain.clone();
    segments.extend(param("quantum", text("segment")));
    assert_eq!(settled_cwnd(&segments), 43);
    // In ns-3, a segment with which an aggregation epoch would reach 4096 bytes begins a new epoch.
    // An epoch therefore has at most two segments of 1448 bytes, and aggregation adds at most two
    // segments to cwnd.
    let mut broken = param("extra_acked", text("ns3"));
    broken.extend(param("quantum", text("segment")));
    assert_eq!(settled_cwnd(&broken), 45);
}

#[test]
fn losses_after_a_timeout_cost_window_in_linux_and_not_in_ns3() {
    let cwnd = |params: &Params| {
        let mut flow = Flow::with_steps(Ns3, params, &[4]).filled();
        flow.acks(15, QUEUED);
        flow.conn.ctl = flow.bbr.set_state(&flow.conn, CaState::Loss, &mut flow.draws);
        flow.conn.ca_state = CaState::Loss;
        flow.conn.ctl.cwnd = 10;
        for _ in 0..5 {
            flow.ack(Ack { losses: 1, ..QUEUED });
        }
        flow.conn.ctl.cwnd
    };
    // In Linux, each ACK adds the delivered packet to cwnd and subtracts the loss that the ACK
    // reports. In ns-3, each ACK only adds the delivered packet.
    assert_eq!(cwnd(&Params::new()), 10);
    assert_eq!(cwnd(&param("losses", text("ns3"))), 15);
}

#[test]
fn pacing_stays_below_the_bandwidth_by_the_margin() {
    let rate = |params: &Params| {
        let mut flow = Flow::with_steps(Ns3, params, &[4]).filled();
        flow.acks(2, CALM);
        flow.conn.ctl.pacing_rate
    };
    // The bandwidth is one packet of 1448 bytes per millisecond. BBR rounds a bandwidth down to a
    // multiple of 2^-24 packets per microsecond.
    let whole = rate(&param("margin", ParamValue::Int(0)));
    assert!((1_447_900..=1_448_000).contains(&whole), "{whole}");
    assert!(rate(&Params::new()).abs_diff(whole * 99 / 100) <= 1);
    assert_eq!(rate(&param("margin", ParamValue::Float(0.01))), rate(&Params::new()));
}

#[test]
fn the_bandwidth_filter_can_start_with_a_window_per_rtt() {
    let bw = |params: &Params| Flow::with_steps(Ns3, params, &[]).bbr.model.max_bw();
    assert_eq!(bw(&Params::new()), 0);
    // The filter's first value is the initial cwnd, ten packets, divided by the RTT, 20 ms.
    assert_eq!(bw(&param("seed_bw", ParamValue::Bool(true))), (10 << 24) / 20_000);
}

#[test]
fn the_minimum_is_of_samples_or_of_the_smoothed_rtt_and_ages_or_is_renewed() {
    let min = |params: &Params, srtt_us: u32, rtts: &[i64]| {
        let mut flow = Flow::with_steps(Ns3, params, &[]);
        flow.conn.srtt_us = srtt_us << 3;
        for &rtt_us in rtts {
            flow.ack(Ack { rtt_us, ..CALM });
        }
        (flow.bbr.min_rtt.us, flow.bbr.min_rtt.stamp - 1000)
    };
    assert_eq!(min(&Params::new(), 19_000, &[18_000, 21_000, 18_000]), (18_000, 1));
    let renewed = param("min_rtt_renew", ParamValue::Bool(true));
    assert_eq!(min(&renewed, 19_000, &[18_000, 21_000, 18_000]), (18_000, 3));
    let smoothed = param("min_rtt", text("srtt"));
    assert_eq!(min(&smoothed, 19_000, &[18_000, -1, 18_000]), (19_000, 1));
}

#[test]
fn a_cycle_of_ns3_never_starts_at_the_probe_before_the_last_six() {
    let start = |rand: i64, draw: u32| {
        let params = param("cycle_rand", ParamValue::Int(rand));
        Flow::with_steps(Ns3, &params, &[draw]).filled().bbr.cycle.idx
    };
    assert_eq!([0, 1, 2, 3, 4, 5].map(|draw| start(6, draw)), [0, 7, 6, 5, 4, 3]);
    assert_eq!(start(8, 7), 1, "with 8 phases, a cycle may start with the draining phase");
}

#[test]
fn the_probing_phase_may_end_after_its_time_however_little_is_in_flight() {
    let phases = |params: &Params| {
        let mut flow = Flow::with_steps(Ns3, params, &[0]).filled();
        flow.phase(Ack { inflight: 10, ..CALM })
    };
    assert_eq!(phases(&Params::new()), "320/256 for 1000 ms\n");
    assert_eq!(phases(&param("probe_phase", text("timed"))), "320/256 for 21 ms\n");
}

#[test]
fn the_draining_phase_may_last_its_full_time() {
    let phases = |params: &Params| {
        let mut flow = Flow::with_steps(Ns3, params, &[0]).filled();
        flow.phase(Ack { inflight: 40, ..CALM });
        flow.phase(CALM)
    };
    assert_eq!(phases(&Params::new()), "192/256 for 1 ms\n");
    assert_eq!(phases(&param("drain_phase", text("full"))), "192/256 for 21 ms\n");
}

#[test]
fn samples_of_probe_rtt_count_where_they_are_not_marked() {
    let app_limited = |params: &Params| {
        let mut flow = Flow::with_steps(Ns3, params, &[0]).filled();
        flow.acks(10_100, QUEUED);
        assert_eq!(flow.bbr.state, State::ProbeRtt);
        flow.conn.ctl.app_limited
    };
    assert!(app_limited(&Params::new()) > 0);
    assert_eq!(app_limited(&param("probertt_app_limited", ParamValue::Bool(false))), 0);
}

#[test]
fn a_timeout_leaves_the_plateau_and_a_policer_is_not_looked_for() {
    let full_bw = |params: &Params| {
        let mut flow = Flow::with_steps(Ns3, params, &[]);
        flow.acks(60, CALM);
        flow.bbr.set_state(&flow.conn, CaState::Loss, &mut flow.draws);
        let mut fields = Vec::new();
        flow.bbr.snapshot(&mut |name, value| fields.push((name, value)));
        let of = |wanted| fields.iter().find(|(name, _)| *name == wanted).unwrap().1;
        (of("full_bw") != 0, of("lt_is_sampling"))
    };
    assert_eq!(full_bw(&Params::new()), (false, 1));
    let mut as_ns3 = param("rto_resets_full_bw", ParamValue::Bool(false));
    as_ns3.extend(param("policer", ParamValue::Bool(false)));
    assert_eq!(full_bw(&as_ns3), (true, 0));
}

#[test]
fn an_integer_lambda_below_one_is_nothing() {
    let rtprop = |lambda: f64, of: bool| {
        let mut params = param("lambda", ParamValue::Float(lambda));
        params.extend(param("integer_lambda", ParamValue::Bool(of)));
        let mut flow = Flow::new(BbrHsr::from_params(&params).unwrap(), &[]);
        for ms in 0..200 {
            flow.ack(Ack { rtt_us: 20_000 + ms % 40 * 1000, ..CALM });
        }
        BbrHsr::rtprop_us(&flow.bbr)
    };
    assert!(rtprop(0.5, false) > rtprop(0.125, false) && rtprop(0.125, false) > 20_000);
    assert_eq!([0.5, 0.125, 0.0].map(|lambda| rtprop(lambda, true)), [20_000; 3]);
    assert!(rtprop(1.0, true) > 20_000);
}

#[test]
fn bbrplus_as_run_leaves_the_probe_when_inflight_is_small() {
    let phase = |form: &str| {
        let params = param("form", text(form));
        let mut flow = Flow::in_probe_bw(BbrPlus::from_params(&params).unwrap(), &[6, 6, 6]);
        // The flow cruises for two minimum RTTs, then probes with a gain of 320/256.
        flow.acks(45, CALM);
        assert_eq!(flow.bbr.pacing_gain_q8, 320, "{form}");
        flow.phase(CALM)
    };
    assert_eq!(phase("code"), "320/256 for 17 ms\n");
    // By the listing in the thesis [lanigan], the probe ends when more than 1.25 BDP are in flight.
    // In this test, one BDP is in flight, so the probe lasts until the gain cycle ends.
    assert_eq!(phase("listing"), "320/256 for 37 ms\n");
}

#[test]
fn delay_bbr_with_zero_constants_never_sees_a_delay() {
    let visits = |form: &str| {
        let params = param("form", text(form));
        let mut flow = Flow::in_probe_bw(DelayBbr::from_params(&params).unwrap(), &[0, 0, 0, 0]);
        let mut visits = 0;
        let mut before = flow.bbr.state;
        for ms in 0..9_000 {
            flow.ack(Ack { rtt_us: 20_000 + ms % 3000 * 10, inflight: 30, losses: 0 });
            visits += u32::from(flow.bbr.state == State::ProbeRtt && before != State::ProbeRtt);
            before = flow.bbr.state;
        }
        visits
    };
    assert!(visits("text") > 2);
    assert_eq!(visits("code"), 0);
}

/// Runs BBR v1 twice: with Linux's steps chosen at compile time, and with the same steps chosen by
/// run-time parameters. After each ACK, the connections and the private states of the two runs must
/// be equal.
#[test]
fn linux_steps_give_what_a_scenario_with_the_same_steps_gives() {
    let mut plain = Flow::new(Plain, &[]);
    let mut stepped = Flow::new(Ns3, &[]);
    let mut random = Xorshift::new();
    let mut below = |bound| random.below(bound);
    let mut seen = [false; 4];
    for _ in 0..40_000 {
        let losses = if below(500) == 0 { below(3).cast_signed() } else { 0 };
        let rtt_us = i64::from(20_000 + below(20_000));
        let inflight = if seen[State::ProbeRtt as usize] && below(2) == 0 { 4 } else { below(60) };
        match below(2_000) {
            0 => {
                plain.conn.ctl = plain.bbr.set_state(&plain.conn, CaState::Loss, &mut plain.draws);
                stepped.conn.ctl =
                    stepped.bbr.set_state(&stepped.conn, CaState::Loss, &mut stepped.draws);
            }
            1 => {
                plain.conn.ctl.ssthresh = plain.bbr.ssthresh(&plain.conn);
                stepped.conn.ctl.ssthresh = stepped.bbr.ssthresh(&stepped.conn);
                plain.conn.ca_state = CaState::Recovery;
                stepped.conn.ca_state = CaState::Recovery;
            }
            2..20 => {
                plain.conn.ca_state = CaState::Open;
                stepped.conn.ca_state = CaState::Open;
            }
            _ => {}
        }
        plain.ack(Ack { rtt_us, inflight, losses });
        stepped.ack(Ack { rtt_us, inflight, losses });
        assert_eq!(plain.conn, stepped.conn);
        let (mut of_plain, mut of_stepped) = (Vec::new(), Vec::new());
        plain.bbr.snapshot(&mut |name, value| of_plain.push((name, value)));
        stepped.bbr.snapshot(&mut |name, value| of_stepped.push((name, value)));
        assert_eq!(of_plain, of_stepped);
        seen[plain.bbr.state as usize] = true;
    }
    assert_eq!(
        seen,
        [true, false, true, true],
        "all states except DRAIN, which begins and ends at one ACK"
    );
}
