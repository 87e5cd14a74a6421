//! With a coarse clock (`clock_step`), an event that falls between two steps happens at the later
//! step. With steps below 500 ns, the event often happens one step after the later step, because
//! the timers of the emulated network cannot be set for less than 500 ns. A coarse clock has no
//! other effect.

use crate::scenario_text::results;

/// With a buffer of two packets, an ACK-clocked burst arrives in the same clock step in which the
/// packet before it departs. Throughput depends on whether the departing packet's buffer space is
/// already free when the burst arrives. On a real stack whose clock has steps of 256 ns, the space
/// is not free yet, and throughput is 2.2 Mbit/s. With exact times the space is always free.
#[test]
fn in_a_tiny_buffer_a_coarse_clock_decides_ties_the_other_way() {
    let results = results(
        r#"
        title = "CUBIC in two packets of buffer"
        duration = "20s"
        [bottleneck]
        rate = "10Mbit/s"
        buffer = "2pkt"
        [[flows]]
        cc = "cubic"
        left_delay = "0ms"
        right_delay = "10ms"
        start = "0.1s"
        [sweep]
        "stack.clock_step" = ["1ns", "256ns"]
        "#,
    );
    let goodput = |place: usize| results[place].summary.flows[0].goodput_mbps.unwrap();
    assert!(goodput(0) > 7.0, "exact: {}", goodput(0));
    assert!(goodput(1) < 3.0, "256 ns: {}", goodput(1));
}

/// A single flow of Scalable TCP sends over a link with a buffer of one packet. An ACK-clocked
/// burst arrives at the buffer in the same microsecond in which a packet departs from the buffer.
/// Arrival and departure can each happen one clock step late, and this lateness decides which of
/// the two comes first. On a real stack whose clock has steps of 256 ns, this flow gets 2.61 Mbit/s
/// (922 drops in 15 s). On the same stack, CUBIC with two packets of buffer gets 2.56 Mbit/s.
#[test]
fn late_timers_decide_ties_as_often_as_on_a_real_stack() {
    let goodput = |cc: &str, packets: u32| {
        let results = results(&format!(
            r#"
            title = "{cc} in {packets} packets of buffer"
            duration = "15s"
            repeat = 4
            [stack]
            clock_step = "256ns"
            [bottleneck]
            rate = "3.36Mbit/s"
            buffer = "{packets}pkt"
            [[flows]]
            cc = "{cc}"
            left_delay = "0ms"
            right_delay = "6ms"
            start = "0.1s"
            "#
        ));
        let sum: f64 =
            results.iter().map(|result| result.summary.flows[0].goodput_mbps.unwrap()).sum();
        sum / f64::from(u32::try_from(results.len()).unwrap())
    };
    // The last value of each case is Linux's goodput in Mbit/s. If no arrival or departure in our
    // simulator were one clock step late, our three goodputs would be 1.44, 2.17 and 2.07 Mbit/s.
    for (cc, packets, linux) in [("scalable", 1, 2.607), ("cubic", 2, 2.559), ("hybla", 2, 2.233)] {
        let ours = goodput(cc, packets);
        assert!((ours / linux - 1.0).abs() < 0.04, "{cc}: {ours}, Linux {linux}");
    }
}

#[test]
fn periodic_writes_go_on_under_a_coarse_clock() {
    let results = results(
        r#"
        title = "64 KiB every 50 ms"
        duration = "5s"
        [bottleneck]
        rate = "50Mbit/s"
        buffer = "1bdp"
        [[flows]]
        cc = "reno"
        rtt = "30ms"
        write = { bytes = "65536B", every = "50ms" }
        [sweep]
        "stack.clock_step" = ["1ns", "256ns", "10us"]
        "#,
    );
    for result in results {
        let goodput = result.summary.flows[0].goodput_mbps.unwrap();
        assert!((goodput - 10.486).abs() < 0.2, "{goodput}");
    }
}

/// A token bucket of one packet, on a host whose timers fire once per millisecond. At most the
/// content of the bucket, one packet, leaves at each firing of the timer, so the throughput stays
/// below the bucket's rate. As the manual page of `tc-tbf` says, `burst` must be at least the rate
/// times the timer's period.
#[test]
fn a_bucket_smaller_than_rate_times_step_does_not_reach_its_rate() {
    let results = results(
        r#"
        title = "a token bucket and a coarse clock"
        duration = "1s"
        [stack]
        clock_step = "1ms"
        [bottleneck]
        rate = "100Mbit/s"
        burst = "1600B"
        buffer = "1000pkt"
        [[flows]]
        cc = "udp"
        rate = "110Mbit/s"
        rtt = "10ms"
        [sweep]
        "bottleneck.burst" = ["1600B", "12500B", "20KB"]
        "#,
    );
    let departures: Vec<u64> =
        results.iter().filter_map(|result| result.summary.links[0].departures).collect();
    // On the test's link, more than 9 packets of 1,490 bytes arrive per millisecond. In nearly
    // every one of a thousand milliseconds, one packet leaves with a bucket of 1,600 bytes, and 8
    // packets leave with 12,500 bytes. With 20 KB, as many packets leave as the rate allows.
    let expected = [980..=1000, 7_900..=8_000, 8_250..=8_390];
    for (departures, expected) in departures.iter().zip(expected) {
        assert!(expected.contains(departures), "{departures}, not {expected:?}");
    }
}
