//! Compares one-way delays of messages and queueing delays of packets with delays that are computed
//! from rates, sizes and path delays.
//!
//! A datagram of 958 B takes 1,000 B on the wire (IP 20, UDP 8, Ethernet 14), which is 1 ms at
//! 8 Mbit/s.

use crate::scenario_text::{result, results};
use bbrlab_run::{Delay, Delays, FlowSummary, RunResult};

/// The relative width of a bucket in the histogram from which percentiles are computed.
const BUCKET: f64 = 1.0 / 1024.0;

fn flow(result: &RunResult) -> &FlowSummary {
    &result.summary.flows[0]
}

/// Asserts that `found` agrees with `delays_ms`: the mean and the maximum to the nanosecond, and
/// the percentiles up to one bucket of the histogram.
fn assert_delays(found: &Delay, delays_ms: &[f64]) {
    let mut sorted = delays_ms.to_vec();
    sorted.sort_by(f64::total_cmp);
    assert_eq!(found.n, Some(delays_ms.len() as u64));
    let near = |found: Option<f64>, expected: f64, within: f64| {
        let found = found.expect("delays were measured");
        assert!((found - expected).abs() <= within, "{found}, not {expected}");
    };
    near(found.mean, mean(delays_ms), 1e-6);
    near(found.max, sorted[sorted.len() - 1], 1e-6);
    for (found, per_cent) in [(found.p50, 50), (found.p95, 95), (found.p99, 99)] {
        let expected = sorted[(sorted.len() * per_cent).div_ceil(100) - 1];
        near(found, expected, expected * BUCKET);
    }
}

#[expect(clippy::cast_precision_loss, reason = "short lists")]
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the mean of RFC 3550's estimates, J += (|D| - J) / 16, one per delay after the first.
fn mean_jitter(delays_ms: &[f64]) -> f64 {
    let mut jitter = 0.0;
    let estimates: Vec<f64> = delays_ms
        .windows(2)
        .map(|two| {
            jitter += ((two[1] - two[0]).abs() - jitter) / 16.0;
            jitter
        })
        .collect();
    mean(&estimates)
}

/// Runs a flow that sends 200 datagrams, one every 0.5 ms, over the links of `path`. `links`
/// defines these links; all callers give each link a delay of 5 ms.
fn burst(links: &str, path: &str, keys: &str) -> RunResult {
    result(&format!(
        r#"
        duration = "2s"
        {links}
        [[flows]]
        cc = "udp"
        mss = "958B"
        rate = "15.328Mbit/s"
        stop = "100ms"
        path = [{path}]
        {keys}
        "#
    ))
}

/// Returns the delays of the 200 datagrams: `first`, plus `step` for each earlier datagram.
fn rising(first: f64, step: f64) -> Vec<f64> {
    (0..200).map(|number| first + step * f64::from(number)).collect()
}

#[test]
fn without_a_rate_every_message_takes_the_delay_of_the_path() {
    let link = "[[links]]\nname = \"a\"\ndelay = \"5ms\"";
    let sent = burst(link, "\"a\"", "late = \"5ms\"");
    let datagrams = flow(&sent);
    assert_delays(&datagrams.delay_ms, &rising(5.0, 0.0));
    assert_eq!((datagrams.jitter_ms, datagrams.loss_ratio), (Some(0.0), Some(0.0)));
    // A message whose delay equals the bound is not late.
    assert_eq!(datagrams.late_ratio, Some(0.0));
    // Without `latency`, the waits of packets are not measured.
    assert_eq!(datagrams.path_queue_delay_ms.mean, None);
    assert_eq!(sent.series.delay_us.last(), Some(&Some(5000)));
}

#[test]
fn in_a_queue_each_datagram_waits_for_those_before_it() {
    let link = "[[links]]\nname = \"a\"\ndelay = \"5ms\"\nrate = \"8Mbit/s\"\nbuffer = \"1000pkt\"";
    for queue in ["droptail", "fq_codel"] {
        let link = format!("{link}\nqueue = {{ discipline = \"{queue}\" }}");
        let with = |keys| burst(&link, "\"a\"", keys);
        let sent = with("latency = true\nlate = \"50.2ms\"");
        let datagrams = flow(&sent);
        if queue == "droptail" {
            // A datagram is written every 0.5 ms and takes 1 ms of service, so each datagram waits
            // 0.5 ms longer than the one before.
            let delays = rising(6.0, 0.5);
            assert_delays(&datagrams.delay_ms, &delays);
            let jitter = datagrams.jitter_ms.unwrap();
            assert!((jitter - mean_jitter(&delays)).abs() < 1e-6, "{jitter}");
            assert!(
                (datagrams.path_queue_delay_ms.mean.unwrap() - mean(&rising(0.0, 0.5))).abs()
                    < 1e-9
            );
            // Datagram k has a delay of 6 + 0.5 k ms, which exceeds the bound of 50.2 ms from k =
            // 89 on.
            assert_eq!(datagrams.late_ratio, Some(111.0 / 200.0));
        }
        // On a path with a single queue, the flow's queueing delays equal the link's.
        let buckets = |metric| sent.delays.of(metric, 0).collect::<Vec<_>>();
        let of_link = &sent.summary.links[0].queue_delay_ms;
        let mean = datagrams.path_queue_delay_ms.mean.unwrap();
        assert!((mean - of_link.mean.unwrap()).abs() < 1e-9, "{queue}: {mean} {of_link:?}");
        assert_eq!(buckets(Delays::FLOW_QUEUE_DELAY), buckets(Delays::GROUP_QUEUE_DELAY));
        assert_eq!(buckets(Delays::FLOW_DELAY), buckets(Delays::GROUP_DELAY));
        // Measuring the delays changes no other result.
        let without = with("");
        assert_eq!(without.summary.digest, sent.summary.digest);
        assert_eq!(without.summary.links, sent.summary.links);
        assert_eq!(flow(&without).delay_ms, datagrams.delay_ms);
    }
}

#[test]
fn over_two_queues_the_waits_add_up() {
    let links = r#"
        [[links]]
        name = "a"
        delay = "5ms"
        rate = "8Mbit/s"
        buffer = "1000pkt"
        [[links]]
        name = "b"
        delay = "5ms"
        rate = "4Mbit/s"
        buffer = "1000pkt"
    "#;
    let sent = burst(links, "\"a\", \"b\"", "latency = true");
    // Datagram k is sent at 0.5 k ms. Without the propagation delays, its transmission ends at k +
    // 1 ms on the first link, and at 2 k + 3 ms on the second link. The propagation delays of the
    // two links add 10 ms. Datagram k therefore has a delay of 13 + 1.5 k ms.
    assert_delays(&flow(&sent).delay_ms, &rising(13.0, 1.5));
    let waits = &flow(&sent).path_queue_delay_ms;
    assert!((waits.mean.unwrap() - mean(&rising(0.0, 1.5))).abs() < 1e-9, "{waits:?}");
    let group = &sent.summary.flow_groups[0];
    assert_eq!((&group.path_queue_delay_ms, &group.delay_ms), (waits, &flow(&sent).delay_ms));
}

/// Runs a flow that writes 100 B every 5 ms, over an RTT of 20 ms without a queue.
fn small_writes(nagle: bool) -> RunResult {
    result(&format!(
        r#"
        duration = "1s"
        [stack]
        nagle = {nagle}
        delack = {{ every = 1 }}
        [[links]]
        name = "a"
        delay = "10ms"
        [[flows]]
        cc = "cubic"
        path = ["a"]
        latency = true
        write = {{ bytes = "100B", every = "5ms" }}
        "#
    ))
}

#[test]
fn with_nagle_a_write_waits_for_the_ack_of_the_one_before() {
    // The connection is established after 20 ms. Until then all writes wait; then the first write
    // is sent alone. From the first delivered write on, an ACK arrives every 20 ms and releases all
    // writes that wait.
    let delays = |sent_at: fn(u32) -> u32| -> Vec<f64> {
        let writes = (0..200).map(|number| 5 * number);
        let delays = writes.map(|at| (sent_at(at) + 10, at)).filter(|&(read, _)| read <= 1000);
        delays.map(|(read, at)| f64::from(read - at)).collect()
    };
    let without = small_writes(false);
    assert_delays(&flow(&without).delay_ms, &delays(|at| at.max(20)));
    let with = small_writes(true);
    let sent_at = |at| match at {
        0 => 20,
        _ => (at / 20 + 1).max(2) * 20,
    };
    assert_delays(&flow(&with).delay_ms, &delays(sent_at));
    assert_eq!(flow(&with).path_queue_delay_ms.p99, Some(0.0));
    assert_eq!(flow(&with).loss_ratio, None);
}

#[test]
fn a_policer_loses_datagrams_and_delays_none() {
    let result = result(
        r#"
        duration = "2s"
        [[links]]
        name = "a"
        delay = "5ms"
        police = { rate = "4Mbit/s", burst = "10000B" }
        [[flows]]
        cc = "udp"
        mss = "958B"
        rate = "7.664Mbit/s"
        stop = "1s"
        path = ["a"]
        "#,
    );
    // 1,000 datagrams of 1,000 B are sent, one per ms. The bucket holds 10,000 B and gains 500 B
    // per ms.
    let (mut tokens, mut dropped) = (10_000, 0);
    for _ in 0..1000 {
        if tokens >= 1000 {
            tokens -= 1000;
        } else {
            dropped += 1;
        }
        tokens = (tokens + 500).min(10_000);
    }
    let flow = flow(&result);
    assert_eq!((flow.sent_packets, flow.policer_drops), (Some(1000), Some(dropped)));
    #[expect(clippy::cast_precision_loss, reason = "few datagrams")]
    let expected = dropped as f64 / 1000.0;
    assert_eq!(flow.loss_ratio, Some(expected));
    assert_eq!(result.summary.flow_groups[0].loss_ratio, Some(expected));
    assert_eq!((flow.delay_ms.mean, flow.jitter_ms), (Some(5.0), Some(0.0)));
}

#[test]
fn a_request_waits_behind_an_upload() {
    let result = result(
        r#"
        duration = "3s"
        [[links]]
        name = "down"
        delay = "10ms"
        [[links]]
        name = "up"
        delay = "10ms"
        rate = "8Mbit/s"
        buffer = "1000pkt"
        [[flows]]
        cc = "cubic"
        path = ["down"]
        return_path = ["up"]
        start = "1050ms"
        bytes = "1000B"
        requests = { think = "100ms", count = 3 }
        latency = true
        late = "100ms"
        # 100 datagrams within 1 ms, which take the uplink until 1,100 ms.
        [[flows]]
        cc = "udp"
        mss = "958B"
        rate = "766.4Mbit/s"
        start = "1s"
        stop = "1001ms"
        path = ["up"]
        "#,
    );
    let page = flow(&result);
    // The SYN is sent at 1,050 ms, and waits behind the datagrams for 50 ms. On the uplink, the SYN
    // (74 B) takes 74 us, the ACK of the handshake 66 us, and the request of 100 B 166 us. SYN,
    // SYN-ACK, request and answer each cross the path once; each crossing takes 10 ms.
    let first = 50.0 + 0.074 + 0.066 + 0.166 + 4.0 * 10.0;
    // When the next request is sent, the ACK of the previous answer has already left the uplink.
    let further = 0.166 + 2.0 * 10.0;
    assert_delays(&page.delay_ms, &[first, further, further]);
    assert_eq!(page.delay_ms.mean, page.fct_ms.mean);
    assert_eq!((page.late_ratio, page.path_queue_delay_ms.mean), (Some(0.0), Some(0.0)));
    let upload = &result.summary.flows[1];
    assert_eq!((upload.delay_ms.n, upload.loss_ratio), (Some(100), Some(0.0)));
}

#[test]
fn a_message_that_is_not_read_counts_as_late_after_the_bound() {
    let result = result(
        r#"
        duration = "1s"
        [[links]]
        name = "a"
        delay = "10ms"
        loss = [["0s", 0], ["500ms", 1]]
        [[flows]]
        cc = "cubic"
        path = ["a"]
        late = "100ms"
        write = { bytes = "1448B", every = "50ms" }
        "#,
    );
    // The flow writes at 0, 50, ... 1000 ms. The 11 writes from 500 ms on are lost. The last three
    // of them are not late, because they have waited for at most 100 ms when the run ends.
    let flow = flow(&result);
    assert_eq!(flow.delay_ms.n, Some(10));
    assert_eq!(flow.late_ratio, Some(8.0 / 21.0), "{flow:?}");
}

#[test]
fn voice_beside_bulk_is_late_behind_drop_tail_and_not_behind_fq_codel() {
    let runs = results(include_str!("latency/voice_delay.toml"));
    let voices: Vec<_> = runs.iter().map(|run| &run.summary.flow_groups[2]).collect();
    let [droptail, fq_codel] = &voices[..] else { panic!("two points") };
    // The queue holds up to 83 packets, many of them ACKs. Even if all 83 waiting packets and the
    // packet in service were full segments, their transmission and the propagation would take only
    // 214 ms. No datagram has a delay above this bound.
    assert!((150.0..=214.0).contains(&droptail.delay_ms.max.unwrap()), "{droptail:?}");
    assert!((0.15..0.23).contains(&droptail.loss_ratio.unwrap()), "{droptail:?}");
    // A datagram of 214 B waits in the queue, is sent in 0.3424 ms at 5 Mbit/s, and propagates for
    // 10 ms.
    for voice in [droptail, fq_codel] {
        let waits = voice.path_queue_delay_ms.mean.unwrap();
        assert!((voice.delay_ms.mean.unwrap() - waits - 10.3424).abs() < 1e-5, "{voice:?}");
    }
    // In `fq_codel` a sparse flow has priority, so it waits for at most a few packets.
    assert!((10.0..20.0).contains(&fq_codel.delay_ms.p95.unwrap()), "{fq_codel:?}");
    assert_eq!(fq_codel.loss_ratio, Some(0.0));
}

#[test]
fn messages_take_the_delay_of_the_path_without_nagle_and_wait_for_acks_with_it() {
    let runs = results(include_str!("latency/message_delay.toml"));
    let [with, without] = &runs[..] else { panic!("two points") };
    assert!((flow(without).delay_ms.p50.unwrap() - 10.0).abs() < 0.1, "{without:?}");
    assert!(flow(with).delay_ms.p50.unwrap() > 20.0, "{with:?}");
}

/// Runs datagrams of 1,000 B on the wire over link `a`, then over link `b` of 8 Mbit/s, which takes
/// 1 ms per datagram. `a` has the given keys, and each link has a delay of 5 ms.
fn over_a_disturbed_link(keys: &str, rate: &str) -> RunResult {
    result(&format!(
        r#"
        duration = "10s"
        [[links]]
        name = "a"
        delay = "5ms"
        {keys}
        [[links]]
        name = "b"
        delay = "5ms"
        rate = "8Mbit/s"
        buffer = "1000pkt"
        [[flows]]
        cc = "udp"
        mss = "958B"
        rate = "{rate}"
        path = ["a", "b"]
        late = "12.5ms"
        latency = true
        "#
    ))
}

#[test]
fn a_corrupt_packet_crosses_further_queues_and_its_wait_is_not_recorded() {
    let sent = over_a_disturbed_link("rate = \"80Mbit/s\"\ncorrupt = 0.1", "3.832Mbit/s");
    let flow = flow(&sent);
    assert!((0.08..0.12).contains(&flow.loss_ratio.unwrap()), "{:?}", flow.loss_ratio);
    // A datagram is sent every 2 ms. The transmission of a datagram takes 0.1 ms on the first link
    // and 1 ms on the second, so no datagram waits.
    let delay = &flow.delay_ms;
    assert_eq!((delay.mean, delay.max), (Some(11.1), Some(11.1)));
    assert_eq!(flow.path_queue_delay_ms.mean, Some(0.0));
}

/// Datagrams are sent at half of the rate of the link `b`, so only their copies wait at `b`. The
/// transmission of an original at `b` takes 1 ms. The copy arrives at `b` 1 ns after the original,
/// so the copy waits for 1 ms minus 1 ns. Every copy reuses the memory of an earlier packet; that
/// packet's wait must not be added to the copy's wait.
#[test]
fn a_copy_has_its_own_waits() {
    let sent = over_a_disturbed_link("rate = \"80Mbit/s\"\nduplicate = 0.5", "3.832Mbit/s");
    let waits = &flow(&sent).path_queue_delay_ms;
    let copies = flow(&sent).duplicate_packets.unwrap();
    let packets = flow(&sent).delivered_packets.unwrap() + copies;
    #[expect(clippy::cast_precision_loss, reason = "some thousands")]
    let share = copies as f64 / packets as f64;
    assert!((waits.mean.unwrap() - share).abs() < 1e-5, "{waits:?}, {share}");
    assert!(waits.p99.unwrap() < 1.001, "{waits:?}");
}

#[test]
fn the_second_arrival_of_a_datagram_is_neither_goodput_nor_late() {
    let once = over_a_disturbed_link("", "3.832Mbit/s");
    let twice = over_a_disturbed_link("duplicate = 1", "3.832Mbit/s");
    let (once, twice) = (flow(&once), flow(&twice));
    assert_eq!(once.duplicate_packets, None);
    assert_eq!(twice.duplicate_packets, twice.delivered_packets);
    assert_eq!(twice.goodput_mbps, once.goodput_mbps);
    assert_eq!((twice.delay_ms.n, twice.late_ratio), (once.delay_ms.n, Some(0.0)));
}

/// The delay of a copy is drawn separately, and only the earlier of the two arrivals counts. On
/// average, the smaller of two normal draws is 1/√π = 0.564 standard deviations below the mean of
/// one draw.
#[test]
fn a_copy_has_its_own_random_delay() {
    let jitter = "jitter = { spread = \"1ms\", distribution = \"normal\", keep_order = false }";
    let mean = |duplicate: &str| {
        let sent = over_a_disturbed_link(&format!("{duplicate}\n{jitter}"), "0.9Mbit/s");
        flow(&sent).delay_ms.mean.unwrap()
    };
    let (once, twice) = (mean(""), mean("duplicate = 1"));
    assert!((once - 11.0).abs() < 0.15 && (once - twice - 0.564).abs() < 0.1, "{once}, {twice}");
}

/// The earlier of a datagram's two copies counts. A jitter uniform below 6 ms has a mean of 3 ms,
/// and the smaller of two such jitters has a mean of 2 ms. With `reorder`, a datagram is late only
/// if both of its copies are delayed.
#[test]
fn a_copy_has_its_own_jitter_and_its_own_place_in_the_order() {
    for (effect, once, twice) in [
        ("jitter = { up_to = \"6ms\", keep_order = false }", 3.0, 2.0),
        ("reorder = { ratio = 0.5, by = \"4ms\" }", 2.0, 1.0),
    ] {
        for (duplicate, expected) in [("", once), ("duplicate = 1", twice)] {
            let sent = over_a_disturbed_link(&format!("{duplicate}\n{effect}"), "0.9Mbit/s");
            let mean = flow(&sent).delay_ms.mean.unwrap() - 11.0;
            assert!((mean - expected).abs() < 0.15, "{effect}, {duplicate}: {mean}");
        }
    }
}
