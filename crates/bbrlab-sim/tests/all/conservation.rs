//! Every packet is accounted for, no matter when the run ends: `Sim::finish` asserts it.

use std::fmt::Write as _;

use crate::scenario_text::runs;
use bbrlab_sim::Sim;
use bbrlab_units::{Span, Time};
use proptest::prelude::*;

#[test]
fn several_flows_loss_stop_and_an_end_in_mid_flight() {
    let run = &runs(
        r#"
        title = "everything at once"
        duration = "3s"
        [stack]
        tso = "whole"
        [bottleneck]
        rate = "10Mbit/s"
        buffer = "20pkt"
        loss = { model = "gilbert-elliott", p = 0.01, r = 0.3, loss_good = 0.001, loss_bad = 0.4 }
        reverse_rate = "1Mbit/s"
        jitter = "2ms"
        [access]
        rate = "50Mbit/s"
        buffer = "30pkt"
        [[flows]]
        cc = "bbr1"
        rtt = "40ms"
        count = 3
        start_step = "100ms"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        stop = "1.5s"
        [[flows]]
        cc = "reno"
        rtt = "60ms"
        train = { bytes = "30000B", count = 10, gap = "50ms" }
        [[flows]]
        cc = "udp"
        rtt = "30ms"
        rate = "500kbit/s"
        on = { distribution = "exponential", mean = "50ms" }
        off = "20ms"
        stop = "2s"
        [[flows]]
        cc = "cubic"
        rtt = "30ms"
        video = { rate = "1Mbit/s", piece = "200ms", buffer = "1s" }
        [[flows]]
        cc = "cubic"
        rtt = "30ms"
        arrivals = { rate = "40/s", at_most = 5 }
        sizes = { distribution = "pareto", mean = "9KB" }
        "#,
    )[0];
    for end_ms in [1, 35, 120, 777, 1500, 1501, 2999, 3000] {
        let mut sim = Sim::new(run).unwrap();
        sim.advance(Time(0) + Span::from_millis(end_ms));
        let result = sim.finish();
        let summary = result.summary;
        let link = &summary.links[0];
        assert!(link.drops <= link.arrivals);
        for flow in &summary.flows {
            assert!(flow.delivered_packets <= flow.sent_packets);
            assert!(flow.out_of_order_packets <= flow.delivered_packets);
            assert!(
                flow.delivered_packets.unwrap() + flow.duplicate_packets.unwrap_or(0)
                    <= flow.sent_packets.unwrap()
            );
            assert!(Some(flow.retransmitted_packets.unwrap()) <= flow.sent_packets);
            let limits = flow.limited_by;
            let shares = [limits.cwnd, limits.pacing, limits.rwnd, limits.sndbuf, limits.app];
            let sum: f64 = shares.iter().flatten().sum();
            // The shares of time in `limited_by` add up to 1. UDP flows have no such shares. The
            // class with arrivals, the last table of flows, has no such shares until its first flow
            // has arrived.
            if flow.stop_s.unwrap() > flow.start_s.unwrap() && (flow.id < 5 || limits.app.is_some())
            {
                assert!((sum - 1.0).abs() < 1e-9, "{limits:?}");
            }
        }
    }
}

/// Generates additional keys of the bottleneck.
fn extra() -> impl Strategy<Value = String> {
    let plain = prop::sample::select(vec![
        "",
        "jitter = \"3ms\"",
        "reverse_rate = \"100kbit/s\"",
        "reorder = { ratio = 0.1, by = \"5ms\" }",
        "police = { rate = \"200kbit/s\", burst = \"4KB\" }",
        "burst = \"3KB\"\npeak_rate = { rate = \"20Mbit/s\", mtu = \"1600B\" }",
        "loss = [[\"0s\", 0], [\"100ms\", 1], [\"300ms\", 0.01]]",
        "delay = [[\"0s\", \"0ms\"], [\"1us\", \"1s\"], [\"700ms\", \"0ms\"], [\"900ms\", \"7ms\"]]",
        "delay = [[\"0s\", \"0ms\"], [\"1us\", \"1s\"], [\"700ms\", \"0ms\"]]\nkeep_order = false\nreverse_rate = \"1Mbit/s\"",
        "delay = [[\"0s\", \"0ms\"], [\"500ms\", \"90ms\"]]\nslot = \"4ms\"\nqueue = \"codel\"\njitter = \"1ms\"\nreorder = { ratio = 0.1, by = \"5ms\" }",
        "grant = \"4ms\"\nreverse_grant = { delay = \"1ns\", every = \"1ns\", bytes = \"1B\" }",
        "delay = [[\"0s\", \"0ms\"], [\"500ms\", \"90ms\"]]\ngrant = { delay = \"1ms\", every = \"7ms\", bytes = \"4KB\", limit = 3 }\njitter = \"1ms\"",
        "reverse_grant = { delay = \"1000000000s\", every = \"1000000000s\" }\nreverse_rate = \"1Mbit/s\"",
        "airtime = \"1ms\"\nreverse_rate = \"forward\"",
        "airtime = { overhead = \"0s\", packets = 1000000000, time = \"1ns\" }\nreverse_rate = \"1Mbit/s\"\nqueue = \"fq_codel\"",
        "airtime = { overhead = \"300ms\", packets = 3 }\nreverse_rate = \"forward\"\nreverse_queue = \"pie\"\njitter = \"3ms\"",
        "ack_thinning = 1000\nreverse_slot = \"1ms\"",
        "ack_thinning = 2\nreverse_rate = \"100kbit/s\"",
        "slot = \"4ms\"\nreverse_slot = \"1ns\"",
        "slot = { min_delay = \"0ms\", max_delay = \"1ns\", packets = 1, limit = 1 }",
        "slot = { min_delay = \"1ms\", max_delay = \"90ms\", bytes = \"1B\", limit = 7 }\njitter = \"1ms\"",
        "reverse_slot = { min_delay = \"1s\", max_delay = \"1000000000s\", packets = 1 }\nreverse_rate = \"1Mbit/s\"",
    ]);
    let queue = prop::sample::select(vec![
        "\"codel\"",
        "{ discipline = \"codel\", target = \"1us\", interval = \"1us\" }",
        "\"fq_codel\"",
        "{ discipline = \"fq_codel\", flows = 1, quantum = \"256B\", ce_threshold = \"1us\" }",
        "\"pie\"",
        "{ discipline = \"pie\", target = \"1us\", tupdate = \"1us\", alpha = 32, beta = 32, bytemode = true }",
        "\"fq_pie\"",
        "\"red\"",
        "{ discipline = \"red\", min = \"1B\", max = \"2B\", probability = 1, adaptive = true }",
        "\"dualpi2\"",
        "{ discipline = \"dualpi2\", drop_enqueue = true, any_ect = true, classic_protection = 0 }",
        "\"fq\"",
        "{ discipline = \"fq\", flow_limit = 1, quantum = \"256B\", initial_quantum = \"256B\" }",
        "{ discipline = \"sfq\", depth = 1, divisor = 1, perturb = \"1ms\" }",
        "\"cake\"",
        "{ discipline = \"cake\", tins = \"diffserv8\", rtt = \"1us\", memlimit = \"1B\" }",
        "{ discipline = \"cake\", ack_filter = true }\nreverse_rate = \"100kbit/s\"",
        "{ discipline = \"cake\", isolation = \"flowblind\", ack_filter = \"aggressive\" }\nreverse_rate = \"20kbit/s\"",
        "\"prio\"",
    ]);
    prop_oneof![plain.prop_map(str::to_owned), queue.prop_map(|queue| format!("queue = {queue}"))]
}

/// Generates a small random network: valid, but with extreme values.
fn scenario() -> impl Strategy<Value = String> {
    let cc = prop::sample::select(
        bbrlab_cc::Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>(),
    );
    let flow = (
        cc,
        0_u32..4,
        prop::sample::select(vec![
            "",
            "stop = \"1s\"",
            "bytes = \"20000B\"",
            "rate = \"300kbit/s\"",
        ]),
        prop::sample::select(vec![1_u32, 7, 100, 700]),
    );
    (
        (1_u64..10_000_000, 1_u32..200, 0.0..0.3_f64, any::<u64>()),
        prop::collection::vec(flow, 1..4),
        prop::sample::select(vec!["cut", "whole", "off"]),
        extra(),
        prop::sample::select(vec!["pkt", "B"]),
        any::<bool>(),
    )
        .prop_map(|((rate, buffer, loss, seed), flows, tso, extra, unit, sack)| {
            // The buffer holds at least one packet: a buffer smaller than a full packet is an
            // error.
            let buffer = if unit == "B" { 1_300 + u64::from(buffer) * 300 } else { u64::from(buffer) };
            // `extra` may already set `loss`.
            let loss = if extra.starts_with("loss") { String::new() } else { format!("loss = {loss}\n") };
            let mut text = format!(
                "title = \"random\"\nduration = \"2500ms\"\nseed = {}\n\
                 [stack]\ntso = \"{tso}\"\nsack = {sack}\n\
                 [bottleneck]\nrate = \"{rate}bit/s\"\nbuffer = \"{buffer}{unit}\"\n{loss}{extra}\n",
                seed >> 1,
            );
            for (cc, start, source, rtt) in flows {
                let start = start * 100;
                write!(
                    text,
                    "[[flows]]\ncc = \"{cc}\"\nrtt = \"{rtt}ms\"\nstart = \"{start}ms\"\n{source}\n"
                )
                .expect("a string takes everything");
            }
            text
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Every run ends without a panic and accounts for every packet. Advancing in steps of any
    /// length gives the same result as advancing in one step.
    #[test]
    fn random_networks_keep_the_books(text in scenario(), step_us in 1_000_u64..700_000) {
        let run = &runs(&text)[0];
        let mut sim = Sim::new(run).unwrap();
        let mut at = Time::ZERO;
        while at < Time(run.duration.0) {
            at += Span::from_micros(step_us);
            sim.advance(at);
        }
        let stepped = sim.finish();
        let whole = bbrlab_sim::simulate(run).unwrap();
        prop_assert_eq!(stepped, whole);
    }
}
