//! Checks when flows are active, and over which periods rates, shares and RTTs are computed. The
//! expected values were computed by hand.

use crate::scenario_text::result;
use bbrlab_run::{Delays, RunSummary};

fn run(text: &str) -> RunSummary {
    result(&format!("title = \"active times\"\nsample = \"off\"\n{text}")).summary
}

/// The rate over a flow's active time excludes bytes that were still in the network when the flow
/// stopped: they arrive after the active time.
#[test]
fn a_group_gets_no_more_while_it_is_active_than_the_link_carries() {
    let run = run(r#"
        duration = "60s"
        [bottleneck]
        rate = "5Mbit/s"
        delay = "10ms"
        buffer = "4bdp"
        [[flows]]
        cc = "cubic"
        rtt = "100ms"
        stop = "2s"
        [[flows]]
        cc = "bbr1"
        rtt = "100ms"
        start = "10s"
        bytes = "3MB"
        "#);
    let (group, flow) = (&run.flow_groups[0], &run.flows[0]);
    assert_eq!(group.goodput_active_mbps, flow.goodput_mbps);
    assert!(flow.goodput_mbps.unwrap() < 5.0);
}

/// Flows of 100 KB arrive eight times per second during the first 50 s of 100 s. The arriving
/// flows' rate is computed over the time until the last of these flows is over.
#[test]
fn flows_that_come_until_a_stop_are_active_until_the_last_is_over() {
    let run = run(r#"
        duration = "100s"
        [bottleneck]
        rate = "100Mbit/s"
        delay = "10ms"
        buffer = "1bdp"
        [[flows]]
        cc = "cubic"
        rtt = "40ms"
        stop = "50s"
        arrivals = { process = "constant", rate = "8/s" }
        bytes = "100KB"
        "#);
    let flow = &run.flows[0];
    let flows = run.flow_groups[0].flows;
    assert!((399..=400).contains(&flows), "{flows} flows");
    assert!((49.9..50.3).contains(&flow.stop_s.unwrap()), "until {} s", flow.stop_s.unwrap());
    #[expect(clippy::cast_precision_loss, reason = "hundreds")]
    let expected = flows as f64 * 0.8 / flow.stop_s.unwrap();
    for goodput in [flow.goodput_mbps, run.goodput_mbps, run.flow_groups[0].goodput_mbps] {
        assert!((goodput.unwrap() - expected).abs() < 1e-9, "{goodput:?} and {expected}");
    }
}

/// The next connection begins while the last ACKs of the previous one are still in the network. The
/// RTTs that these late ACKs give are counted, too.
#[test]
fn each_packet_of_a_train_has_a_round_trip_time() {
    for gap in ["1ms", "10ms", "50ms"] {
        let run = result(&format!(
            r#"
            title = "a train"
            duration = "20s"
            sample = "off"
            [bottleneck]
            rate = "100Mbit/s"
            delay = "10ms"
            buffer = "1000pkt"
            [[flows]]
            cc = "cubic"
            rtt = "40ms"
            train = {{ bytes = "1KB", count = 100, gap = "{gap}" }}
            "#
        ));
        let flow = &run.summary.flows[0];
        let counted: u64 = run.delays.of(Delays::GROUP_RTT, 0).map(|(_, packets)| packets).sum();
        assert_eq!((flow.delivered_packets, counted), (Some(100), 100), "gap {gap}");
    }
}

/// All packets of the first half second are lost, among them a SYN. A lost SYN does not count as a
/// lost data packet.
#[test]
fn lost_packets_are_data_packets() {
    let run = run(r#"
        duration = "5s"
        [bottleneck]
        rate = "100Mbit/s"
        delay = "1ms"
        buffer = "1000pkt"
        loss = [["0s", 1], ["500ms", 0]]
        [[flows]]
        cc = "cubic"
        rtt = "100ms"
        bytes = "1448B"
        "#);
    let flow = &run.flows[0];
    assert_eq!((flow.rto_count, flow.lost_packets, flow.sent_packets), (Some(1), Some(0), Some(1)));
}

/// A send buffer of 16 KiB has 32 KiB of memory (`tcp_wmem` 32,768 bytes). With this buffer, on a
/// path of 100 Mbit/s and 40 ms with an unlimited queue, a User-Mode Linux with a simulated clock
/// (virtual time) gives 73.24 Mbit/s (76.07 in the steady state). If the buffer limited the data in
/// flight to 32 KiB per round trip, the rate would be only 6.5 Mbit/s.
///
/// More data is in flight, because `tcp_sendmsg_locked` requests memory when it begins an skb, but
/// not when it fills an skb that was split. A departing burst is split off the front of the last
/// skb, so the application can fill the rest of this skb again. Bursts depart as long as cwnd is
/// not full.
#[test]
fn a_small_send_buffer_is_no_bound_on_what_is_in_flight() {
    let run = run(r#"
        duration = "20s"
        [stack]
        sndbuf = "16KiB"
        [bottleneck]
        rate = "100Mbit/s"
        delay = "10ms"
        buffer = "unlimited"
        [[flows]]
        cc = "cubic"
        rtt = "40ms"
        start = "0.1s"
        "#);
    let flow = &run.flows[0];
    assert!((flow.goodput_mbps.unwrap() - 73.24).abs() < 0.5, "{:?}", flow.goodput_mbps);
    assert!((flow.goodput_ss_mbps.unwrap() - 76.07).abs() < 0.5, "{:?}", flow.goodput_ss_mbps);
}

/// When a flow of datagrams stops, some of its datagrams are still in a queue. These datagrams
/// arrive after the stop. The goodput of the flow's group and the goodput of the run include these
/// datagrams. Both goodputs are averages over a time that ends with the run's last flow.
#[test]
fn what_datagrams_deliver_after_their_stop_is_traffic() {
    let run = run(r#"
        duration = "20s"
        [bottleneck]
        rate = "10Mbit/s"
        delay = "10ms"
        buffer = "2000pkt"
        [[flows]]
        cc = "udp"
        rate = "30Mbit/s"
        rtt = "40ms"
        start = "1s"
        stop = "2s"
        [[flows]]
        cc = "cubic"
        rtt = "40ms"
        start = "2s"
        bytes = "8MB"
        "#);
    let (datagrams, bulk) = (&run.flows[0], &run.flows[1]);
    let window_s = bulk.stop_s.unwrap() - 1.0;
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let expected = datagrams.delivered_packets.unwrap() as f64 * 1448.0 * 8.0 / 1e6 / window_s;
    let got = run.flow_groups[0].goodput_mbps.unwrap();
    assert!((got - expected).abs() < 1e-9, "{got} and {expected}");
    assert!(run.goodput_mbps.unwrap() > 9.4, "the link is busy throughout");
}

/// The results of a flow that stops include the RTTs of all its packets, even if the ACK that
/// reports a packet arrives after the stop.
#[test]
fn packets_that_arrive_after_the_stop_have_round_trip_times() {
    let run = result(
        r#"
        title = "a stop before a deep queue is empty"
        duration = "20s"
        sample = "off"
        [bottleneck]
        rate = "5Mbit/s"
        delay = "10ms"
        buffer = "4bdp"
        [[flows]]
        cc = "cubic"
        rtt = "100ms"
        stop = "2s"
        "#,
    );
    let counted: u64 = run.delays.of(Delays::GROUP_RTT, 0).map(|(_, packets)| packets).sum();
    assert_eq!(run.summary.flows[0].delivered_packets, Some(counted));
}

/// On the forward and on the reverse path, packets overtake others by more than 1 ms, the
/// resolution of timestamps. Every packet is counted exactly once, as delivered, duplicate,
/// discarded or dropped, even if PAWS discards it.
#[test]
fn every_packet_that_was_sent_is_in_one_count() {
    let run = run(r#"
        duration = "20s"
        [bottleneck]
        rate = "20Mbit/s"
        delay = "10ms"
        buffer = "1bdp"
        jitter = { up_to = "30ms", keep_order = false }
        [[flows]]
        cc = "reno"
        rtt = "40ms"
        count = 2
        stop = "15s"
        "#);
    let mut discarded = 0;
    for flow in &run.flows {
        let counts =
            [flow.delivered_packets, flow.duplicate_packets, flow.discarded_packets, flow.drops];
        let sum: u64 = counts.iter().flatten().sum();
        assert_eq!(flow.sent_packets, Some(sum), "flow {}: {counts:?}", flow.id);
        discarded += flow.discarded_packets.unwrap();
    }
    assert!(discarded > 10, "{discarded}");
}

/// The flow sends one packet per second (a datagram, or 1000 bytes of a TCP flow) and stops at 3 s,
/// so only the packets at 0, 1 and 2 s are sent.
#[test]
fn nothing_is_sent_at_the_stop() {
    for source in [
        "rate = \"11584bit/s\"\ncc = \"udp\"",
        "cc = \"reno\"\nwrite = { bytes = \"1000B\", every = \"1s\" }",
    ] {
        let run = run(&format!(
            "duration = \"10s\"\n[bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\nbuffer = \"1bdp\"\n\
             [[flows]]\nrtt = \"40ms\"\nstop = \"3s\"\n{source}\n"
        ));
        assert_eq!(run.flows[0].sent_packets, Some(3), "{source}");
    }
}
