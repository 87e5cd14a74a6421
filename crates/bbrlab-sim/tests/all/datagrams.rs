//! UDP flows: datagrams at a rate that does not respond to loss.

use crate::scenario_text::result;
use bbrlab_run::{FlowSummary, RunResult};

/// Runs a dumbbell of 10 Mbit/s for 20 s, in which the first flow sends datagrams of 1,200 B.
fn run(lines: &str, more: &str) -> RunResult {
    result(&format!(
        r#"
        duration = "20s"
        [bottleneck]
        rate = "10Mbit/s"
        delay = "10ms"
        buffer = "1bdp"
        [[flows]]
        cc = "udp"
        mss = "1200B"
        rtt = "40ms"
        {lines}
        {more}
        "#
    ))
}

fn datagrams(result: &RunResult) -> &FlowSummary {
    &result.summary.flows[0]
}

#[test]
fn a_datagram_leaves_every_so_often_and_takes_28_bytes_of_headers() {
    let result = run("rate = \"2.4Mbit/s\"", "");
    let flow = datagrams(&result);
    // 250 datagrams per second are sent for 20 s. The datagrams that were sent in the last 20 ms
    // are still in the network at the end.
    assert_eq!(flow.sent_packets, Some(5_001));
    assert_eq!(flow.delivered_packets, Some(4_995));
    assert!((flow.goodput_mbps.unwrap() - 2.4).abs() < 0.01, "{flow:?}");
    let link = &result.summary.links[0];
    let used = 250.0 * (1200.0 + 28.0 + 14.0) * 8.0 / 10e6;
    assert!((link.utilization.unwrap() - used).abs() < 0.001, "{link:?}");
    assert_eq!((flow.cc.as_str(), flow.rto_count, flow.rtt_ms.mean), ("udp", None, None));
    assert_eq!(result.series.received_bytes.last().unwrap().0, Some(4_995 * 1_200));
}

#[test]
fn over_any_periods_a_source_sends_its_rate_while_it_is_on() {
    // The tested on and off periods last 200 us to 1 s. At the source's rates, a datagram takes 150
    // ms or 9.6 ms, so some periods are shorter and some are much longer. The run lasts 20 s, and
    // the source is on for half of this time.
    for (rate, kbit) in [("64kbit/s", 64), ("1Mbit/s", 1_000)] {
        for period in ["200us", "5ms", "20ms", "1s"] {
            let keys = format!("rate = \"{rate}\"\non = \"{period}\"\noff = \"{period}\"");
            let sent = run(&keys, "").summary.flows[0].sent_packets.unwrap();
            let of_rate = kbit * 1_000 * 10 / 8 / 1_200;
            assert!(sent.abs_diff(of_rate) <= 1, "{keys}: {sent} of {of_rate}");
            // In the second run, the same source sends over TCP, in segments of 1,448 bytes.
            let more = format!("[[flows]]\ncc = \"cubic\"\nrtt = \"40ms\"\n{keys}");
            let tcp = run("rate = \"8kbit/s\"", &more).summary.flows[1].sent_packets.unwrap();
            let of_rate = kbit * 1_000 * 10 / 8 / 1_448;
            assert!(tcp.abs_diff(of_rate) <= 2, "{keys}: {tcp} of {of_rate}");
        }
    }
}

#[test]
fn what_the_link_cannot_carry_is_dropped_and_nothing_is_sent_again() {
    let result = run("rate = \"20Mbit/s\"\nstop = \"10s\"", "");
    let flow = datagrams(&result);
    let (sent, received) = (flow.sent_packets.unwrap(), flow.delivered_packets.unwrap());
    assert!(
        flow.drops.unwrap() > sent * 2 / 5 && flow.retransmitted_packets.unwrap() == 0,
        "{flow:?}"
    );
    assert!(received + flow.drops.unwrap() <= sent);
    assert!((flow.stop_s.unwrap() - 10.0).abs() < 1e-9);
}

#[test]
fn a_flow_that_backs_off_gets_what_datagrams_leave() {
    let bbr = "[[flows]]\ncc = \"bbr3\"\nrtt = \"40ms\"";
    let result = run("rate = \"6Mbit/s\"", bbr);
    let [udp, bbr] = [0, 1].map(|id: usize| result.summary.flows[id].goodput_mbps.unwrap());
    assert!(udp > 5.7 && (2.5..4.0).contains(&bbr), "{udp} {bbr}");
    assert!(result.summary.jain.unwrap() < 0.98);
    let groups: Vec<&str> = result.summary.flow_groups.iter().map(|group| &*group.group).collect();
    assert_eq!(groups, ["udp", "bbr3"]);
}

#[test]
fn datagrams_pause_with_on_and_off() {
    let result = run("rate = \"2.4Mbit/s\"\non = \"1s\"\noff = \"3s\"", "");
    // The source has five on-periods of 250 datagrams. The bounds allow each on-period one datagram
    // fewer, or two more: one at its start and one at its end.
    let sent = datagrams(&result).sent_packets.unwrap();
    assert!((1_245..=1_260).contains(&sent), "{sent}");
}

/// Runs datagrams of 1,000 B over an otherwise idle link with the given keys.
fn over(seed: u64, keys: &str) -> RunResult {
    result(&format!(
        r#"
        duration = "20s"
        seed = {seed}
        [bottleneck]
        rate = "10Mbit/s"
        delay = "10ms"
        buffer = "1bdp"
        {keys}
        [[flows]]
        cc = "udp"
        mss = "1000B"
        rtt = "40ms"
        rate = "1Mbit/s"
        "#
    ))
}

#[test]
fn corrupt_datagrams_are_in_the_digest() {
    let [one, two] = [1, 2].map(|seed| over(seed, "corrupt = 0.1").summary);
    assert_ne!(one.flows[0].delivered_packets, two.flows[0].delivered_packets);
    assert_ne!(one.digest, two.digest);
    let [one, two] = [1, 2].map(|seed| over(seed, "").summary.digest);
    assert_eq!(one, two, "without random numbers, a seed changes nothing");
}

#[test]
fn a_datagram_is_lost_if_none_of_its_copies_arrives() {
    for (keys, expected) in [
        ("duplicate = 1\ncorrupt = 0.5", 0.25),
        ("duplicate = 0.05\ncorrupt = 0.02", 0.02 * (0.95 + 0.05 * 0.02)),
        ("corrupt = 0.3", 0.3),
    ] {
        let seeds = 1..=20;
        let of = |seed| {
            let summary = over(seed, keys).summary;
            assert_eq!(summary.flows[0].loss_ratio, summary.flow_groups[0].loss_ratio);
            summary.flows[0].loss_ratio.unwrap()
        };
        let ratios: Vec<f64> = seeds.map(of).collect();
        let mean = ratios.iter().sum::<f64>() / 20.0;
        let squares = ratios.iter().map(|it| (it - mean).powi(2)).sum::<f64>();
        let error = (squares / 19.0 / 20.0).sqrt();
        assert!((mean - expected).abs() < 3.0 * error, "{keys}: {mean} ± {error}, not {expected}");
    }
}

/// Each link with a rate or a policer adds its own framing to the 1,000 bytes of the IP packet,
/// whatever framing earlier links have added.
#[test]
fn each_link_has_its_own_framing() {
    let result = result(
        r#"
        duration = "20s"
        [[links]]
        name = "a"
        rate = "10Mbit/s"
        buffer = "10pkt"
        framing = "0B"
        [[links]]
        name = "wire"
        delay = "1ms"
        [[links]]
        name = "b"
        rate = "1Mbit/s"
        buffer = "10pkt"
        framing = "1000B"
        [[links]]
        name = "c"
        rate = "10Mbit/s"
        buffer = "10pkt"
        framing = "250B"
        [[flows]]
        cc = "udp"
        mss = "972B"
        rate = "194.4kbit/s"
        path = ["a", "wire", "b", "c"]
        latency = true
        "#,
    );
    let summary = &result.summary;
    let link = |name: &str| summary.links.iter().find(|link| link.name == name).unwrap();
    // 25 datagrams per second leave, 500 in all; the last datagram is still in the network at the
    // end.
    for (name, bytes, rate) in [("a", 1000.0, 10e6), ("b", 2000.0, 1e6), ("c", 1250.0, 10e6)] {
        let used = link(name).utilization.unwrap();
        assert!((used - 25.0 * bytes * 8.0 / rate).abs() < 0.002 * used, "{name}: {used}");
    }
    // The delay is 0.8 ms on `a`, 1 ms on `wire`, 16 ms on `b` and 1 ms on `c`.
    assert!((summary.flows[0].delay_ms.mean.unwrap() - 18.8).abs() < 1e-9);
    assert!((summary.flows[0].throughput_mbps.unwrap() - 0.25).abs() < 0.001);
}
