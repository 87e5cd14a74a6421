//! The properties that every congestion control must have, whatever the network does.
//!
//! Every property is tested for every algorithm of `Algorithm::ALL`, so a new algorithm is tested
//! as soon as it is in this list. The contract has two kinds of tests:
//!
//! * Histories: sequences of hostile events that TCP allows, which proptest generates. The events
//!   are ACKs of any subset of the packets at any time, losses, timeouts, spurious reductions of
//!   cwnd, and CE marks. The histories include idle times of ten minutes, application-limited
//!   periods, rates from 1 kbit/s to 100 Gbit/s, and counters about to wrap.
//!
//!   After every call, cwnd is at least 1 and within its clamp, the pacing rate is within its
//!   bound, and a burst is at least one packet. The pacing rate of BBRv2 and v3 is at least 1 B/s;
//!   BBRv1 may reach 0, which means no pacing. Nothing panics or overflows.
//! * One flow on a path without losses, except drops at its buffer: after a disruption, the flow
//!   must fill the path again.
//!
//! Histories that once failed are in [`FORMER_FAILURES`]. If a new history fails, proptest prints
//! it and saves it in `tests/proptest-regressions/contract.txt`. With `BBRLAB_SLOW=1`, the test
//! runs 10,000 histories instead of 100.

mod path;
mod sender;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bbrlab_cc::{Algorithm, ParamValue, Params};
use expect_test::expect_file;
use path::{Link, Path};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};
use sender::{Acked, Sender, Start};

/// An event of a history, such as an ACK or a loss.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Time passes.
    Advance { us: u64 },
    /// Sends as many packets as cwnd allows, but at most `packets`.
    Send { packets: u16 },
    /// An ACK for the oldest `packets` outstanding packets.
    Ack { packets: u16, ce: bool },
    /// An ACK that acknowledges every `nth` outstanding packet by SACK blocks.
    Sack { nth: u8 },
    /// A duplicate ACK without new information.
    DupAck,
    /// The oldest `packets` outstanding packets are marked lost.
    Lose { packets: u16 },
    /// A retransmission timeout.
    Rto,
    /// The last reduction of cwnd turns out to be spurious.
    Undo,
    /// The application has no more data to send for now.
    AppLimit,
    /// The connection, as a receiver, receives a packet with or without a CE mark.
    Mark { ce: bool },
    /// A bottleneck delivers two packets every `gap_us`, and the other packets of the cwnd wait in
    /// its queue. The event ends after `acks` ACKs.
    Bottleneck { acks: u16, gap_us: u64 },
    /// `rounds` times, a cwnd of packets is sent, and is acknowledged after `rtt_us`.
    Rounds { rounds: u8, rtt_us: u64 },
}

impl Op {
    fn apply(self, sender: &mut Sender) {
        match self {
            Self::Advance { us } => sender.advance(us * 1000),
            Self::Send { packets } => {
                for _ in 0..u32::from(packets).min(sender.sendable()) {
                    sender.send();
                }
            }
            Self::Ack { packets, ce } => sender.ack(ce, Acked::Oldest(usize::from(packets))),
            Self::Sack { nth } => {
                sender.ack(false, Acked::EveryNth(u64::from(nth.max(1))));
            }
            Self::DupAck => sender.ack(false, Acked::Oldest(0)),
            Self::Lose { packets } => sender.lose(usize::from(packets)),
            Self::Rto => sender.rto(),
            Self::Undo => sender.undo(),
            Self::AppLimit => sender.app_limit(),
            Self::Mark { ce } => sender.receive_mark(ce),
            Self::Bottleneck { acks, gap_us } => {
                for _ in 0..acks {
                    for _ in 0..sender.sendable().min(500) {
                        sender.send();
                    }
                    sender.advance(gap_us * 1000);
                    sender.ack(false, Acked::Oldest(2));
                }
            }
            Self::Rounds { rounds, rtt_us } => {
                for _ in 0..rounds {
                    for _ in 0..sender.sendable().min(500) {
                        sender.send();
                    }
                    sender.advance(rtt_us * 1000);
                    while sender.inflight() > 0 {
                        sender.ack(false, Acked::Oldest(2));
                    }
                }
            }
        }
    }
}

fn any_op() -> impl Strategy<Value = Op> {
    // Durations from 1 us to ten minutes; each power of ten is equally likely.
    let any_us = (0u32..=9, 1u64..10).prop_map(|(decade, digit)| digit * 10u64.pow(decade));
    let any_us = any_us.prop_map(|us| us.min(600_000_000));
    prop_oneof![
        4 => any_us.clone().prop_map(|us| Op::Advance { us }),
        4 => (1u16..600).prop_map(|packets| Op::Send { packets }),
        6 => (1u16..600, any::<bool>()).prop_map(|(packets, ce)| Op::Ack { packets, ce }),
        1 => (1u8..9).prop_map(|nth| Op::Sack { nth }),
        1 => Just(Op::DupAck),
        2 => (1u16..50).prop_map(|packets| Op::Lose { packets }),
        1 => Just(Op::Rto),
        1 => Just(Op::Undo),
        1 => Just(Op::AppLimit),
        1 => any::<bool>().prop_map(|ce| Op::Mark { ce }),
        1 => (1u8..12, any_us).prop_map(|(rounds, rtt_us)| Op::Rounds { rounds, rtt_us }),
        1 => (1u16..400, 1u64..20_000).prop_map(|(acks, gap_us)| Op::Bottleneck { acks, gap_us }),
    ]
}

fn any_start() -> impl Strategy<Value = Start> {
    (
        prop_oneof![Just(1448u32), Just(536), Just(64), Just(8948)],
        prop_oneof![Just(1000u32), Just(250), Just(100)],
        prop_oneof![Just(0u32), Just(u32::MAX - 2000), any::<u32>()],
        prop_oneof![Just(1u32), Just(u32::MAX - 100), any::<u32>()],
        any::<bool>(),
        prop_oneof![Just(0u8), Just(1), Just(17)],
        prop_oneof![Just(u32::MAX), Just(1u32), Just(7)],
    )
        .prop_map(|(mss, hz, jiffies, delivered, has_rtt, ecn_flags, cwnd_clamp)| Start {
            mss,
            hz,
            clock_ns: 1_000_000_000,
            jiffies,
            delivered,
            has_rtt,
            ecn_flags,
            cwnd_clamp,
        })
}

/// Parameters that change an algorithm's rules: the algorithm, the parameter, and a value that is
/// not the parameter's default.
const SETTINGS: &[(&str, &str, &str)] = &[
    ("bbr_hsr", "lambda", "0.125"),
    ("bbr_hsr", "lambda", "16"),
    ("bbr_hsr", "integer_lambda", "true"),
    ("delay_bbr", "probe_rtt", "cwnd"),
    ("delay_bbr", "alpha", "0"),
    ("delay_bbr", "beta", "1"),
    ("delay_bbr", "form", "code"),
    ("bbr1", "min_rtt", "srtt"),
    ("bbr1", "min_rtt_renew", "true"),
    ("bbr1", "margin", "0"),
    ("bbr1", "seed_bw", "true"),
    ("bbr1", "cycle_rand", "8"),
    ("bbr1", "extra_acked", "ns3"),
    ("bbr1", "extra_acked", "off"),
    ("bbr1", "probertt_app_limited", "false"),
    ("bbr1", "quantum", "segment"),
    ("bbr1", "edt", "false"),
    ("bbr1", "policer", "false"),
    ("bbr1", "drain_phase", "full"),
    ("bbrplus", "form", "code"),
    ("cubic", "hystart", "ns3"),
    ("cubic", "wmax_on_rto", "true"),
    ("cubic", "growth", "ns2"),
    ("vegas", "diff", "rtt"),
    ("vegas", "growth", "ns3"),
    ("bbr2", "loss_hook", "false"),
    ("bbr2", "bw_probe_wait", "min_rtt"),
    ("bbr2", "inflight_hi_grows", "false"),
    ("bbr2", "bw_filter_rounds", "10"),
    ("bbr2", "min_rtt", "srtt"),
    ("bbr2", "pacing_margin_percent", "0"),
    ("bbr2", "extra_acked_gain", "0"),
    ("bbr2", "quantum", "segment"),
    ("bbr3", "loss_hook", "false"),
    ("bbr3", "loss_thresh", "3"),
    ("bbr_acd", "halving", "round"),
    ("bbr_acd", "halving", "recovery"),
    ("bbr_acd", "detection", "inert"),
    ("bbr2", "form", "\"2020\""),
    ("bbr2", "ecn_enable", "true"),
    ("bbr2", "cwnd_tso_bduget", "false"),
    ("bbr2", "usage_based_cwnd", "true"),
    ("bbr2", "probe_rtt_cwnd_gain", "0"),
    ("bbr2", "bw_probe_reno_gain", "0"),
    ("bbr2", "undo", "false"),
    ("bbr2", "cwnd_gain_after_probe_rtt", "256"),
    ("bbr2_exp", "ecn_enable", "true"),
];

/// Returns every algorithm with its default parameters, followed by each row of [`SETTINGS`]: the
/// row's algorithm with the row's parameter.
fn configurations() -> impl Iterator<Item = (Algorithm, Params)> {
    let defaults = Algorithm::ALL.iter().map(|&algorithm| (algorithm, Vec::new()));
    let others = SETTINGS.iter().map(|&(name, key, value)| {
        let algorithm = Algorithm::from_name(name).expect("an algorithm's name");
        (algorithm, vec![(key.to_owned(), setting(value))])
    });
    defaults.chain(others)
}

/// Parses a value of [`SETTINGS`] as a scenario's value: a boolean, a number, or else a text.
fn setting(value: &str) -> ParamValue {
    if let Ok(switch) = value.parse() {
        return ParamValue::Bool(switch);
    }
    if let Ok(whole) = value.parse() {
        return ParamValue::Int(whole);
    }
    value.parse().map_or(ParamValue::Text(value.trim_matches('"').to_owned()), ParamValue::Float)
}

/// Runs one history with every configuration of every algorithm. The sender checks the contract
/// after each call of one of the algorithm's callbacks.
fn run_history(start: Start, ops: &[Op]) {
    for (algorithm, params) in configurations() {
        let mut sender = Sender::new(algorithm, &params, start);
        for op in ops {
            op.apply(&mut sender);
        }
    }
}

fn any_history() -> impl Strategy<Value = (Start, Vec<Op>)> {
    (any_start(), prop::collection::vec(any_op(), 1..120))
}

fn config() -> Config {
    let slow = std::env::var_os("BBRLAB_SLOW").is_some();
    Config {
        cases: if slow { 10_000 } else { 100 },
        rng_seed: RngSeed::Fixed(1),
        source_file: Some(file!()),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource(
            "proptest-regressions",
        ))),
        ..Config::default()
    }
}

#[test]
fn contract_holds_under_hostile_but_legal_histories() {
    TestRunner::new(config())
        .run(&any_history(), |(start, ops)| {
            run_history(start, &ops);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Returns the names of the states (such as STARTUP) that `algorithm` reaches in 400 histories. The
/// tests above cover the algorithm only if the histories reach all of its states.
fn states_reached(algorithm: Algorithm) -> Vec<&'static str> {
    let mut runner = TestRunner::new(config());
    let mut states = BTreeSet::new();
    for _ in 0..400 {
        let (start, ops) = any_history().new_tree(&mut runner).unwrap().current();
        let mut sender = Sender::new(algorithm, &Vec::new(), start);
        for op in ops {
            op.apply(&mut sender);
            states.insert(sender.state());
        }
    }
    Vec::from_iter(states)
}

#[test]
fn histories_reach_every_state_of_bbr1() {
    let states = ["DRAIN", "PROBE_BW", "PROBE_RTT", "STARTUP"];
    assert_eq!(states_reached(Algorithm::Bbr1), states);
}

#[test]
fn histories_reach_every_state_of_bbr2_and_bbr3() {
    let states = [
        "DRAIN",
        "PROBE_BW_CRUISE",
        "PROBE_BW_DOWN",
        "PROBE_BW_REFILL",
        "PROBE_BW_UP",
        "PROBE_RTT",
        "STARTUP",
    ];
    for algorithm in [Algorithm::Bbr2, Algorithm::Bbr2Exp, Algorithm::Bbr3, Algorithm::Bbr3Ietf] {
        assert_eq!(states_reached(algorithm), states, "{}", algorithm.name());
    }
}

/// Histories that failed once, each with a description of the fault that it showed.
const FORMER_FAILURES: &[(&str, &[Op])] = &[];

#[test]
fn histories_that_failed_once_stay_fixed() {
    for (what, ops) in FORMER_FAILURES {
        println!("{what}");
        run_history(Start::default(), ops);
    }
}

#[test]
fn same_history_gives_the_same_connection() {
    let ops = [
        Op::Rounds { rounds: 20, rtt_us: 20_000 },
        Op::Send { packets: 100 },
        Op::Lose { packets: 3 },
        Op::Ack { packets: 50, ce: false },
        Op::Rounds { rounds: 20, rtt_us: 30_000 },
    ];
    for (algorithm, params) in configurations() {
        let run = || {
            let mut sender = Sender::new(algorithm, &params, Start::default());
            for op in ops {
                op.apply(&mut sender);
            }
            sender.conn
        };
        assert_eq!(run(), run(), "{}", algorithm.name());
    }
}

/// `contract/histories.txt` has a line for each configuration, with three values: the packets
/// delivered in 30 histories, the sum of the final cwnds of the histories, and a digest. The digest
/// covers the algorithm's outputs and state after each operation. Kernel traces exist only for
/// Linux's algorithms; this file also shows unintended changes of the other algorithms.
/// `cargo xtask bless` rewrites the file.
#[test]
fn histories_end_as_they_did() {
    let mut runner = TestRunner::new(config());
    let mut history = || any_history().new_tree(&mut runner).unwrap().current();
    let histories: Vec<(Start, Vec<Op>)> = (0..30).map(|_| history()).collect();
    let mut list = String::new();
    for (algorithm, params) in configurations() {
        let (mut delivered, mut cwnds, mut digest) = (0, 0, 0);
        for (start, ops) in &histories {
            let mut sender = Sender::new(algorithm, &params, *start);
            for op in ops {
                op.apply(&mut sender);
                sender.add_to(&mut digest);
            }
            delivered += sender.delivered_total;
            cwnds += u64::from(sender.conn.ctl.cwnd);
        }
        list.push_str(algorithm.name());
        for (key, value) in &params {
            write!(list, " {key} = {value}").unwrap();
        }
        writeln!(list, ": {delivered} delivered, cwnd {cwnds}, digest {digest:016x}").unwrap();
    }
    expect_file!["contract/histories.txt"].assert_eq(&list);
}

/// A link that every algorithm can fill: 10 Mbit/s, an RTT of 20 ms, and a buffer of two BDPs.
const EASY: Link = Link { rate_bps: 10_000_000, rtt_ns: 20_000_000, buffer_pkts: 34 };

const SECOND_NS: u64 = 1_000_000_000;

/// Returns the share of a path's capacity that a flow uses in the last 10 s of the 30 s after
/// `disruption`. The path has no losses except drops at its buffer.
fn share_after(
    algorithm: Algorithm,
    params: &Params,
    link: Link,
    disruption: impl Fn(&mut Sender, &mut Path),
) -> f64 {
    let mut sender = Sender::new(algorithm, params, Start::default());
    let mut path = Path::new(link, &sender);
    disruption(&mut sender, &mut path);
    let start_ns = sender.conn.clock_ns;
    path.run(&mut sender, start_ns + 20 * SECOND_NS);
    let before = sender.delivered_total;
    path.run(&mut sender, start_ns + 30 * SECOND_NS);
    let delivered = sender.delivered_total - before;
    let capacity = path.capacity(10 * SECOND_NS);
    f64::from(u32::try_from(delivered).unwrap()) / f64::from(u32::try_from(capacity).unwrap())
}

/// Checks that every algorithm uses at least 90 % of the link's capacity after `disruption`. BBR
/// leaves 2 % unused because of PROBE_RTT. Reno uses the whole link: its cwnd reaches three BDPs,
/// and half of this still fills the path.
fn check_fills_the_path(what: &str, disruption: impl Fn(&mut Sender, &mut Path)) {
    let mut failures = Vec::new();
    for (algorithm, params) in configurations() {
        let share = share_after(algorithm, &params, EASY, &disruption);
        if share < 0.9 {
            failures.push(format!("{} {params:?}: {share:.3}", algorithm.name()));
        }
    }
    assert!(
        failures.is_empty(),
        "used less than the expected share of the link {what}: {failures:?}"
    );
}

#[test]
fn fills_a_clean_path() {
    check_fills_the_path("from the start", |_, _| {});
}

#[test]
fn fills_the_path_after_ten_minutes_idle() {
    check_fills_the_path("after ten minutes idle", |sender, path| {
        path.run(sender, sender.conn.clock_ns + 5 * SECOND_NS);
        path.drain(sender);
        sender.advance(600 * SECOND_NS);
    });
}

#[test]
fn fills_the_path_after_short_pauses() {
    check_fills_the_path("after idle restarts", |sender, path| {
        for _ in 0..20 {
            path.run(sender, sender.conn.clock_ns + SECOND_NS / 4);
            path.drain(sender);
            sender.advance(SECOND_NS / 2);
        }
    });
}

#[test]
fn fills_the_path_after_a_storm_of_timeouts() {
    check_fills_the_path("after ten timeouts", |sender, path| {
        path.run(sender, sender.conn.clock_ns + 5 * SECOND_NS);
        for k in 0..10 {
            path.cut();
            sender.rto();
            sender.advance(SECOND_NS << k.min(5));
            sender.send();
        }
        path.cut();
        sender.rto();
    });
}

#[test]
fn fills_the_path_after_undone_recoveries() {
    check_fills_the_path("after undone recoveries", |sender, path| {
        for _ in 0..20 {
            path.run(sender, sender.conn.clock_ns + SECOND_NS / 4);
            sender.pretend_recovery();
            sender.undo();
        }
    });
}

/// Runs every configuration of every algorithm over `link` for `run_ns`, and checks that packets
/// arrive. The sender checks the contract after each call of one of the algorithm's callbacks.
fn check_survives(link: Link, mss: u32, run_ns: u64) {
    for (algorithm, params) in configurations() {
        let start = Start { mss, has_rtt: false, ..Start::default() };
        let mut sender = Sender::new(algorithm, &params, start);
        let mut path = Path::new(link, &sender);
        path.run(&mut sender, start.clock_ns + run_ns);
        assert!(sender.delivered_total > 0, "{}: nothing arrived", algorithm.name());
    }
}

#[test]
fn survives_100_gbit_per_second() {
    let link = Link { rate_bps: 100_000_000_000, rtt_ns: 100_000, buffer_pkts: 200 };
    check_survives(link, 8948, SECOND_NS / 20);
}

#[test]
fn survives_1_kbit_per_second() {
    let link = Link { rate_bps: 1000, rtt_ns: 50_000_000, buffer_pkts: 5 };
    check_survives(link, 536, 3600 * SECOND_NS);
}
