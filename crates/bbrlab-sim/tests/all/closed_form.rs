//! Serialisation, RTT and queue compared with closed-form results, to the nanosecond.

use crate::scenario_text::result;

/// Converts a result in seconds to whole nanoseconds.
#[expect(clippy::cast_possible_truncation, reason = "a minute at most")]
fn ns(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

#[test]
fn a_lone_packet_takes_its_delays_and_serialisations() {
    let result = result(
        r#"
        title = "one segment"
        duration = "1s"
        [bottleneck]
        rate = "50Mbit/s"
        buffer = "10pkt"
        [[flows]]
        cc = "reno"
        rtt = "30ms"
        bytes = "1448B"
        "#,
    );
    // A SYN of 74 B goes forward, and the SYN-ACK comes back over a path without a rate. The ACK
    // (66 B) and the data (1,514 B) then go forward, one directly after the other. At 50 Mbit/s
    // each byte takes 160 ns.
    let expected = 15_000_000 + 74 * 160 + 15_000_000 + (66 + 1514) * 160 + 15_000_000;
    assert_eq!(result.transfers.fct_s[0].map(ns), Some(expected));
    // The RTT samples are 30,011.84 us for the SYN and 30,252.80 us for the segment after the ACK.
    // Each sample is measured as the difference of two clock values in whole microseconds.
    let flow = &result.summary.flows[0];
    let sample = flow.rtt_sample_ms;
    assert_eq!((sample.min, sample.max), (Some(30.011), Some(30.253)));
    // The segment is the only data packet, so its RTT is both the minimum and the maximum.
    assert_eq!((flow.rtt_ms.min, flow.rtt_ms.max), (Some(30.253), Some(30.253)));
}

#[test]
fn a_window_above_the_bdp_waits_in_the_queue() {
    let result = result(
        r#"
        title = "a window of 20 packets on a path of 8.26"
        duration = "20s"
        sample = "1ms"
        [stack]
        rwnd = "28960B"
        delack = { every = 1 }
        tso = "off"
        [bottleneck]
        rate = "10Mbit/s"
        buffer = "64pkt"
        [[flows]]
        cc = "reno"
        rtt = "10ms"
        "#,
    );
    let service_ns = 1514 * 800;
    // The window `rwnd` is 20 packets. The link never idles, and each ACK releases one packet, so
    // the link sends 20 packets in every RTT. An RTT is therefore 20 service times.
    let rtt = result.summary.flows[0].rtt_ms;
    let twenty_ms = f64::from(20 * service_ns) / 1e6;
    assert_eq!((rtt.p50, rtt.max), (Some(twenty_ms), Some(twenty_ms)));
    // Packets that are not propagating are in the queue. A round trip takes 24.224 ms, of which 10
    // ms are propagation. The remaining time is spent in the queue, at 1.2112 ms per packet.
    let steady = result.queue.time_s.partition_point(|&time| time < 1.0);
    let (mut least, mut most) = (u64::MAX, 0);
    for &packets in &result.queue.packets[steady..] {
        least = least.min(packets);
        most = most.max(packets);
    }
    assert_eq!((least, most), (11, 12));
    let goodput = result.summary.flows[0].goodput_ss_mbps.unwrap();
    let ceiling = 10.0 * 1448.0 / 1514.0;
    assert!((goodput / ceiling - 1.0).abs() < 1e-4, "{goodput} against {ceiling}");
}

#[test]
fn a_window_below_the_bdp_gives_one_window_per_round_trip() {
    let result = result(
        r#"
        title = "a window of 10 packets on a path of 124"
        duration = "20s"
        sample = "1ms"
        [stack]
        rwnd = "14480B"
        delack = { every = 1 }
        tso = "off"
        [bottleneck]
        rate = "50Mbit/s"
        buffer = "64pkt"
        [[flows]]
        cc = "reno"
        rtt = "30ms"
        "#,
    );
    // Once the link has spaced the packets of the first burst, no packet waits.
    let flow = &result.summary.flows[0];
    let rtt_ns = 30_000_000.0 + 1514.0 * 160.0;
    let steady = result.series.time_s.partition_point(|&time| time < 1.0);
    for &rtt_us in &result.series.rtt_us[steady..] {
        // The RTT of 30,242.24 us is measured as the difference of two clock values in whole
        // microseconds.
        assert!(matches!(rtt_us, Some(30_242 | 30_243)), "{rtt_us:?}");
    }
    let expected = 10.0 * 1448.0 * 8.0 / rtt_ns * 1e3;
    let goodput = flow.goodput_ss_mbps.unwrap();
    // In the 15 s of the steady state, 496 windows of data, ten packets each, arrive. A window of
    // data that arrives at the end may or may not be counted, so the relative tolerance is 1/400.
    assert!((goodput / expected - 1.0).abs() < 1.0 / 400.0, "{goodput} against {expected}");
    let limited = flow.limited_by;
    assert!(limited.rwnd.unwrap() > 0.98, "{limited:?}");
}
