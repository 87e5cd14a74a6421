//! Tests of whole instances of BBRv2 and BBRv3, without kernel traces.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::bbr_bounded::{Model, Params as Numbers, Sock};
use crate::bbr2::{Bbr2, Exp};
use crate::bbr3::{Bbr3, Constants};
use crate::runtime_params::RuntimeParams;
use crate::xorshift::Xorshift;
use crate::{
    Algorithm, CaState, CongestionControl, Conn, Control, Draw, LostSkb, ParamValue, Params,
    RateSample,
};

/// A source of random numbers that always returns 0, the smallest number.
struct Least;

impl Draw for Least {
    fn below(&mut self, _bound: u32) -> u32 {
        0
    }
}

/// A path of 10 Mbit/s and 40 ms, with a BDP of about 34 packets. Each ACK acknowledges all packets
/// of a round trip.
struct Path {
    conn: Conn,
    /// Packets per second that the bottleneck delivers.
    rate_pps: u32,
}

const RTT_US: u32 = 40_000;

impl Path {
    fn new() -> Self {
        let ctl = Control {
            cwnd: 10,
            cwnd_clamp: u32::MAX,
            ssthresh: Control::INFINITE_SSTHRESH,
            pacing_rate: u64::MAX,
            ..Control::default()
        };
        let conn = Conn {
            ctl,
            clock_ns: 1_000_000_000,
            max_pacing_rate: u64::MAX,
            hz: 1000,
            mss: 1448,
            min_rtt_us: RTT_US,
            srtt_us: RTT_US << 3,
            delivered: 1,
            pacing_shift: 10,
            gso_max_size: 65_536,
            ..Conn::default()
        };
        Self { conn, rate_pps: 864 }
    }

    /// Simulates a round trip: sends the packets that cwnd and pacing rate allow, and delivers them
    /// at the bottleneck's rate at most.
    fn round(&mut self, cc: &mut impl CongestionControl, losses: u32) {
        let paced = self.conn.ctl.pacing_rate / 1448 * u64::from(RTT_US) / 1_000_000;
        let cwnd = self.conn.ctl.cwnd.min(u32::try_from(paced).unwrap_or(u32::MAX)).max(1);
        let prior_delivered = self.conn.delivered;
        let needed_us = cwnd * 1_000_000 / self.rate_pps;
        let round_us = needed_us.max(RTT_US);
        self.conn.clock_ns += u64::from(round_us) * 1000;
        self.conn.wstamp_ns = self.conn.clock_ns;
        self.conn.delivered_mstamp = self.conn.tcp_mstamp();
        self.conn.jiffies += round_us / 1000;
        self.conn.delivered += cwnd - losses;
        self.conn.lost += losses;
        self.conn.is_cwnd_limited = cwnd == self.conn.ctl.cwnd;
        self.conn.inflight = 0;
        let rs = RateSample {
            delivered: (cwnd - losses).cast_signed(),
            interval_us: i64::from(round_us),
            rtt_us: i64::from(round_us),
            losses: losses.cast_signed(),
            lost: losses.cast_signed(),
            acked_sacked: cwnd - losses,
            prior_in_flight: cwnd,
            prior_delivered,
            tx_in_flight: cwnd,
            ..RateSample::default()
        };
        self.conn.ctl = cc.cong_control(&self.conn, &rs, &mut Least);
    }
}

fn check(algorithm: Algorithm, params: &Params, losses_by_round: &[u32], expected: &Expect) {
    let mut cc = algorithm.build(params).unwrap();
    let mut path = Path::new();
    path.conn.ctl = cc.init(&path.conn, &mut Least);
    let mut lines = String::new();
    for &losses in losses_by_round {
        path.round(&mut cc, losses);
        let info = cc.info(&path.conn);
        let bound = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |v| v.to_string());
        writeln!(
            lines,
            "{} cwnd {} hi {} lo {}",
            info.state,
            path.conn.ctl.cwnd,
            bound(info.inflight_hi),
            bound(info.inflight_lo)
        )
        .unwrap();
    }
    expected.assert_eq(&lines);
}

#[test]
fn startup_ends_on_a_plateau_and_drains() {
    check(
        Algorithm::Bbr2,
        &Params::new(),
        &[0; 12],
        &expect![[r#"
        STARTUP cwnd 20 hi - lo -
        STARTUP cwnd 40 hi - lo -
        STARTUP cwnd 80 hi - lo -
        STARTUP cwnd 160 hi - lo -
        STARTUP cwnd 258 hi - lo -
        PROBE_BW_DOWN cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
    "#]],
    );
}

#[test]
fn version_3_finds_the_plateau_too() {
    check(
        Algorithm::Bbr3,
        &Params::new(),
        &[0; 12],
        &expect![[r#"
        STARTUP cwnd 20 hi - lo -
        STARTUP cwnd 40 hi - lo -
        STARTUP cwnd 80 hi - lo -
        STARTUP cwnd 160 hi - lo -
        STARTUP cwnd 160 hi - lo -
        PROBE_BW_DOWN cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
    "#]],
    );
}

#[test]
fn a_lossy_round_outside_probes_cuts_the_lower_bound_but_not_below_what_was_delivered() {
    let mut losses = [0; 8];
    losses[7] = 4;
    check(
        Algorithm::Bbr3,
        &Params::new(),
        &losses,
        &expect![[r#"
        STARTUP cwnd 20 hi - lo -
        STARTUP cwnd 40 hi - lo -
        STARTUP cwnd 80 hi - lo -
        STARTUP cwnd 160 hi - lo -
        STARTUP cwnd 160 hi - lo -
        PROBE_BW_DOWN cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 156 hi - lo -
        PROBE_BW_CRUISE cwnd 109 hi - lo 109
    "#]],
    );
}

#[test]
fn a_timeout_outside_probes_bounds_inflight_by_the_window_before_it() {
    fn inflight_lo(form: &str) -> Option<u32> {
        let params = vec![("form".to_owned(), ParamValue::Text(form.to_owned()))];
        let mut cc = Algorithm::Bbr2.build(&params).unwrap();
        let mut path = Path::new();
        path.conn.ctl = cc.init(&path.conn, &mut Least);
        for _ in 0..9 {
            path.round(&mut cc, 0);
        }
        path.conn.ctl.cwnd = 20;
        cc.ssthresh(&path.conn);
        path.conn.ctl.cwnd = 30;
        cc.set_state(&path.conn, CaState::Loss, &mut Least);
        cc.info(&path.conn).inflight_lo
    }
    assert_eq!(inflight_lo("2021"), Some(30));
    assert_eq!(inflight_lo("2020"), Some(20));
}

#[test]
fn an_ack_before_init_paces_at_one_byte_per_second_and_draws_nothing() {
    struct Never;
    impl Draw for Never {
        fn below(&mut self, bound: u32) -> u32 {
            panic!("drew below {bound}")
        }
    }
    let mut cc = Algorithm::Bbr2.build(&Params::new()).unwrap();
    let mut path = Path::new();
    path.conn.ctl.pacing_rate = 0;
    let rs = RateSample {
        delivered: 1,
        interval_us: 40_000,
        rtt_us: 40_000,
        acked_sacked: 1,
        ..RateSample::default()
    };
    let ctl = cc.cong_control(&path.conn, &rs, &mut Never);
    assert_eq!(ctl.pacing_rate, 1);
    let skb = LostSkb { pcount: 1, in_flight: 1, delivered_mstamp: 1, ..LostSkb::default() };
    cc.skb_marked_lost(&path.conn, &skb, &mut Never);
}

#[test]
fn parameters_out_of_the_kernels_range_are_refused() {
    fn refusal(name: &str, value: ParamValue) -> String {
        Algorithm::Bbr2.build(&vec![(name.to_owned(), value)]).unwrap_err().to_string()
    }
    expect!["parameter `ecn_factor`: found 256, expected a whole number from 0 to 255"]
        .assert_eq(&refusal("ecn_factor", ParamValue::Int(256)));
    expect!["parameter `undo`: found 2, expected true or false"]
        .assert_eq(&refusal("undo", ParamValue::Int(2)));
    expect![[r#"parameter `form`: found 2020, expected "2021" or "2020""#]]
        .assert_eq(&refusal("form", ParamValue::Int(2020)));
}

/// Tests `packets_in_net_at_edt` (Linux: `bbr_packets_in_net_at_edt`). Gains are in 1/256. BBR
/// counts the next burst as in flight only if the pacing gain is above 256, that is, above 1. A
/// gain of exactly 256 occurs when an idle flow returns from PROBE_RTT to STARTUP, finds the pipe
/// full and enters DRAIN before PROBE_RTT's gain has changed.
#[test]
fn a_burst_is_added_to_what_is_in_the_network_only_above_a_gain_of_one() {
    const DEPARTURE_MS: u64 = 3;
    let conn = Conn {
        clock_ns: 1_000_000_000,
        wstamp_ns: 1_000_000_000 + DEPARTURE_MS * 1_000_000,
        ..Path::new().conn
    };
    let mut sk = Sock::new(&conn);
    let mut model = Model::init(RuntimeParams::<Numbers>::default(), &mut sk);
    // A burst holds the bytes that the pacing rate sends in 2^-10 s, but at most `gso_max_size`
    // bytes. At 10 Gbit/s, this limit applies: 45 segments.
    sk.ctl.pacing_rate = 1_250_000_000;
    model.params.gso_max_size = 65_536;
    // A bandwidth of one packet per millisecond, rounded up, in packets per microsecond shifted
    // left by 24 bits.
    model.max_bw.take((1 << 24) / 1000 + 1);
    let mut in_net = |gain: u16| {
        model.pacing_gain = gain;
        model.packets_in_net_at_edt(&sk, 20)
    };
    assert_eq!([88, 232, 256].map(&mut in_net), [17; 3]);
    assert_eq!([257, 320, 710].map(&mut in_net), [17 + 45; 3]);
}

/// Without `plans_segments`, the inflight target is computed as in Linux's
/// `bbr_quantization_budget`. With `plans_segments`, the inflight target is computed as in
/// [lanigan-code], the code of a thesis of 2020, whose `InFlight` adds three segments to the BDP.
#[test]
fn the_target_holds_three_bursts_or_three_segments_more() {
    let conn = Path::new().conn;
    let mut sk = Sock::new(&conn);
    let mut model = Model::init(RuntimeParams::<Numbers>::default(), &mut sk);
    // At 8 Mbit/s, a burst has two packets, the minimum.
    sk.ctl.pacing_rate = 1_000_000;
    model.params.gso_max_size = 65_536;
    model.params.cwnd_tso_budget = true;
    // The rate is one packet per millisecond, in packets per microsecond shifted left by 24 bits.
    let bw = (1 << 24) / 1000 + 1;
    let mut target = |min_rtt_us: u32, plans_segments: bool| {
        model.min_rtt.min_rtt_us = min_rtt_us;
        model.params.plans_segments = plans_segments;
        model.inflight(&sk, bw, 256)
    };
    assert_eq!([20_000, 1_000].map(|rtt_us| target(rtt_us, false)), [21, 6]);
    assert_eq!([20_000, 1_000].map(|rtt_us| target(rtt_us, true)), [24, 5]);
}

/// Runs BBRv3 twice: with its parameters as compile-time constants, and with the same values as
/// run-time parameters. After each round trip, the connections and the private states of the two
/// runs must be equal.
#[test]
fn constants_give_what_parameters_with_the_same_values_give() {
    let mut fixed = Bbr3::with(Constants);
    let mut runtime = Bbr3::with(RuntimeParams(*Constants));
    let (mut fixed_path, mut runtime_path) = (Path::new(), Path::new());
    fixed_path.conn.ctl = fixed.init(&fixed_path.conn, &mut Least);
    runtime_path.conn.ctl = runtime.init(&runtime_path.conn, &mut Least);
    let mut random = Xorshift::new();
    let mut below = |bound| random.below(bound);
    let mut states = Vec::new();
    for round in 0..2_000 {
        let losses = if below(20) == 0 { below(4) } else { 0 };
        let rate_pps = if below(100) == 0 { 200 + below(2_000) } else { fixed_path.rate_pps };
        (fixed_path.rate_pps, runtime_path.rate_pps) = (rate_pps, rate_pps);
        fixed_path.round(&mut fixed, losses);
        runtime_path.round(&mut runtime, losses);
        assert_eq!(fixed_path.conn, runtime_path.conn, "round {round}");
        let (mut of_fixed, mut of_runtime) = (Vec::new(), Vec::new());
        fixed.snapshot(&mut |name, value| of_fixed.push((name, value)));
        runtime.snapshot(&mut |name, value| of_runtime.push((name, value)));
        assert_eq!(of_fixed, of_runtime, "round {round}");
        states.push(fixed.info(&fixed_path.conn).state);
    }
    states.sort_unstable();
    states.dedup();
    assert_eq!(
        states.len(),
        6,
        "all states except DRAIN, which begins and ends within a round: {states:?}"
    );
}

/// `plan_burst` stores the size of a burst with its inputs. A stored size must equal the size that
/// `tso_segs` computes from the same inputs.
#[test]
fn a_planned_burst_follows_from_its_inputs() {
    let mut conn = Path::new().conn;
    let mut model = Model::init(RuntimeParams(*Constants), &mut Sock::new(&conn));
    for step in 0..4_u32 {
        for mss in [0, 1, 536, 1448] {
            for min_rtt_us in [0, 100, RTT_US, u32::MAX] {
                for pacing_rate in [0, 1_000_000, 1_000_000, 1_250_000_000, u64::MAX] {
                    conn.mss = mss;
                    conn.pacing_shift = [10, 10, 0, 64][step as usize];
                    conn.ctl.pacing_rate = pacing_rate;
                    model.min_rtt.min_rtt_us = min_rtt_us;
                    let sk = Sock::new(&conn);
                    let segs = model.tso_segs(&sk, mss, 65_536);
                    assert_eq!(model.tso_segs_goal(&sk), segs);
                    assert_eq!(model.plan_burst(&sk), segs);
                    assert_eq!(model.tso_segs_goal(&sk), segs);
                }
            }
        }
    }
}

#[test]
fn the_state_is_small() {
    assert!(size_of::<Bbr2<Exp>>() <= 440, "{}", size_of::<Bbr2<Exp>>());
    assert!(
        size_of::<Bbr3<RuntimeParams<Numbers>>>() <= 320,
        "{}",
        size_of::<Bbr3<RuntimeParams<Numbers>>>()
    );
    assert!(size_of::<Bbr3<Constants>>() <= 232, "{}", size_of::<Bbr3<Constants>>());
}
