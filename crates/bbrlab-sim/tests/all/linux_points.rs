//! Compares single flows with a real Linux stack on the same dumbbell. The Linux stack ran in
//! virtual time.
//!
//! Linux 6.12.117 ran each point for 50 s, and the flow started at 0.1 s. Our goodput, RTT and
//! queue are compared with Linux's run with seed 1. Our retransmissions are compared with this run
//! at some points, and with five of Linux's runs, each with another seed, at the other points.
//!
//! Our goodput may differ by 2 %, our mean smoothed RTT by 5 %. Differences as large as these
//! bounds come only from chance (BBR's random phase); all other differences are far smaller.

use crate::scenario_text::result;

/// Linux's recorded results: goodput in Mbit/s, mean smoothed RTT in ms, mean queue in packets,
/// retransmissions.
struct Linux {
    goodput_mbps: f64,
    srtt_ms: f64,
    queue_pkts: f64,
    /// Numbers of retransmissions in Linux, one per seed. A microsecond can decide between two
    /// outcomes, for example between 1,500 and 1,972 retransmissions at 100 Mbit/s and 0.5 BDP. Our
    /// number of retransmissions must be near at least one of these numbers.
    retransmissions: &'static [u64],
}

fn check(cc: &str, rate_mbps: u32, rtt_ms: u32, buffer_pkts: u32, linux: &Linux) {
    let result = result(&format!(
        r#"
        title = "one flow compared with a real stack"
        duration = "50s"
        [bottleneck]
        rate = "{rate_mbps}Mbit/s"
        buffer = "{buffer_pkts}pkt"
        [[flows]]
        cc = "{cc}"
        rtt = "{rtt_ms}ms"
        start = "0.1s"
        "#
    ));
    let flow = &result.summary.flows[0];
    let queue = result.summary.links[0].queue_packets.mean.unwrap();
    let (goodput, srtt) = (flow.goodput_mbps.unwrap(), flow.srtt_ms.mean.unwrap());
    let off = |ours: f64, linux: f64| (ours / linux - 1.0) * 100.0;
    let table = format!(
        "{cc} {rate_mbps} Mbit/s {rtt_ms} ms {buffer_pkts} packets, ours against Linux:\n\
         goodput         {goodput:8.3} {:8.3} {:+.2} %\n\
         mean srtt       {srtt:8.3} {:8.3} {:+.2} %\n\
         mean queue      {queue:8.2} {:8.2} {:+.2} %\n\
         retransmissions {:8} {:?}\n",
        linux.goodput_mbps,
        off(goodput, linux.goodput_mbps),
        linux.srtt_ms,
        off(srtt, linux.srtt_ms),
        linux.queue_pkts,
        off(queue, linux.queue_pkts),
        flow.retransmitted_packets.unwrap(),
        linux.retransmissions,
    );
    println!("{table}");
    assert!(off(goodput, linux.goodput_mbps).abs() <= 2.0, "{table}");
    assert!(off(srtt, linux.srtt_ms).abs() <= 5.0, "{table}");
    assert!(off(queue, linux.queue_pkts).abs() <= 5.0, "{table}");
    let is_near = |seed: &u64| {
        (seed * 85..=seed * 115).contains(&(flow.retransmitted_packets.unwrap() * 100))
    };
    assert!(linux.retransmissions.iter().any(is_near), "{table}");
}

#[test]
fn bbr1_at_10_mbps_20_ms_and_1_bdp() {
    check(
        "bbr1",
        10,
        20,
        17,
        &Linux {
            goodput_mbps: 9.4216,
            srtt_ms: 30.386,
            queue_pkts: 8.0158,
            retransmissions: &[40, 40, 40, 40, 40],
        },
    );
}

#[test]
fn bbr1_at_50_mbps_30_ms_and_1_bdp() {
    check(
        "bbr1",
        50,
        30,
        124,
        &Linux {
            goodput_mbps: 46.78,
            srtt_ms: 33.305,
            queue_pkts: 12.695,
            retransmissions: &[288, 288, 288, 288, 288],
        },
    );
}

#[test]
fn bbr1_at_100_mbps_40_ms_and_0_5_bdp() {
    check(
        "bbr1",
        100,
        40,
        165,
        &Linux {
            goodput_mbps: 93.216,
            srtt_ms: 43.157,
            queue_pkts: 24.328,
            retransmissions: &[1972, 1504, 1972, 1972, 1501],
        },
    );
}

#[test]
fn cubic_at_10_mbps_20_ms_and_1_bdp() {
    check(
        "cubic",
        10,
        20,
        17,
        &Linux {
            goodput_mbps: 9.5565,
            srtt_ms: 36.042,
            queue_pkts: 12.601,
            retransmissions: &[62],
        },
    );
}

#[test]
fn cubic_at_100_mbps_40_ms_and_1_bdp() {
    check(
        "cubic",
        100,
        40,
        330,
        &Linux { goodput_mbps: 95.21, srtt_ms: 68.412, queue_pkts: 233.53, retransmissions: &[47] },
    );
}

#[test]
fn cubic_at_50_mbps_30_ms_and_2_bdp() {
    check(
        "cubic",
        50,
        30,
        248,
        &Linux {
            goodput_mbps: 47.696,
            srtt_ms: 77.224,
            queue_pkts: 194.44,
            retransmissions: &[33],
        },
    );
}

/// An application writes far above the rate that its fixed send buffer allows, so thousands of its
/// writes wait. Each waiting write is a separate `send()` when the socket is writable again. Linux
/// 6.12.117 sends 3,013 segments and loses none.
#[test]
fn waiting_writes_are_separate_calls() {
    let result = result(
        r#"
        title = "a rate above what the send buffer allows"
        duration = "3s"
        [stack]
        clock_step = "256ns"
        sndbuf = "104702B"
        [bottleneck]
        rate = "706986000bit/s"
        buffer = "206pkt"
        [[flows]]
        cc = "reno"
        rtt = "59ms"
        rate = "205025940bit/s"
        "#,
    );
    let flow = &result.summary.flows[0];
    assert_eq!((flow.sent_packets, flow.retransmitted_packets), (Some(3013), Some(0)));
}
