//! Settings of sockets: the maximum pacing rate, the bounds of buffers, the bound of unsent bytes,
//! and slow start after idle times. The expected values follow from the kernel's rules by
//! arithmetic.

use crate::scenario_text::result;
use bbrlab_run::FlowSummary;

fn flow(text: &str) -> FlowSummary {
    let mut flows = result(text).summary.flows;
    assert_eq!(flows.len(), 1, "one flow");
    flows.remove(0)
}

/// Runs a flow for perfsonar issue 256: the host sends at 10 Gbit/s into a path of 1 Gbit/s with a
/// shallow buffer.
fn fast_host(cc: &str, stack: &str, own: &str) -> FlowSummary {
    flow(&format!(
        r#"
        duration = "6s"
        sample = "off"
        [stack]
        {stack}
        [access]
        rate = "10Gbit/s"
        [bottleneck]
        rate = "1Gbit/s"
        buffer = "100pkt"
        [[flows]]
        cc = "{cc}"
        rtt = "30ms"
        {own}
        "#
    ))
}

/// `SO_MAX_PACING_RATE` counts payload: 900 Mbit/s are 941 Mbit/s on the wire.
#[test]
fn a_maximum_pacing_rate_below_the_path_fills_the_rate_without_retransmissions() {
    for cc in ["cubic", "reno", "bbr1"] {
        for stack in ["", "sender_qdisc = \"fq\""] {
            let flow = fast_host(cc, stack, "max_pacing_rate = \"900Mbit/s\"");
            // The goodput in the steady state counts only from 5 s on, long after slow start.
            let goodput = flow.goodput_ss_mbps.unwrap();
            assert!((898.0..900.5).contains(&goodput), "{cc} {stack}: {goodput}");
            assert_eq!(flow.retransmitted_packets, Some(0), "{cc} {stack}");
        }
    }
    let unpaced = fast_host("cubic", "", "");
    assert!(unpaced.retransmitted_packets > Some(100), "{:?}", unpaced.retransmitted_packets);
}

/// Runs one flow over a long path.
fn long_path(stack: &str, cc: &str, rate: &str, rtt_ms: u32) -> FlowSummary {
    flow(&format!(
        r#"
        duration = "20s"
        sample = "off"
        [stack]
        {stack}
        [bottleneck]
        rate = "{rate}"
        delay = "10ms"
        buffer = "unlimited"
        [[flows]]
        cc = "{cc}"
        rtt = "{rtt_ms}ms"
        "#
    ))
}

/// With `linux-stock`, a send buffer grows to 4 MiB, of which nearly all can be payload. If the
/// buffer limits the flow, all data in the buffer is in flight. The kernel wakes the application
/// when a third of the buffer is free. The sender therefore has between two thirds of 4 MiB and all
/// of it in flight.
///
/// In mahimahi issue 144, one iperf flow over 720 Mbit/s and "80 ms" got about 300 Mbit/s. This
/// rate is in the range that the test demands for an RTT of 80 ms, and above the range for 160 ms.
#[test]
fn the_send_buffer_of_a_stock_kernel_limits_a_long_path() {
    for (cc, rtt_ms) in [("cubic", 80), ("bbr1", 80), ("cubic", 160), ("bbr1", 160)] {
        let flow = long_path("profile = \"linux-stock\"", cc, "720Mbit/s", rtt_ms);
        let whole_mbps = 8.0 * f64::from(4 << 20) / f64::from(rtt_ms) / 1000.0;
        let goodput = flow.goodput_ss_mbps.unwrap();
        let range = 0.65 * whole_mbps..whole_mbps;
        assert!(range.contains(&goodput), "{cc} {rtt_ms}: {goodput}");
        assert!(flow.limited_by.sndbuf.unwrap() > 0.6, "{cc} {rtt_ms}");
        assert_eq!(flow.retransmitted_packets, Some(0));
    }
    let tuned = long_path("", "cubic", "720Mbit/s", 160).goodput_ss_mbps.unwrap();
    assert!(tuned > 680.0, "{tuned}");
}

/// A segment of 1,448 bytes counts as 2,304 bytes of memory, so 6 MiB hold 3.95 MB of payload.
#[test]
fn the_receive_buffer_of_a_stock_kernel_limits_a_long_path() {
    let stack = "tcp_rmem = \"4096 131072 6291456\"";
    let flow = long_path(stack, "cubic", "1Gbit/s", 100);
    let window_mbps = 8.0 * f64::from(6 << 20) * 160.0 / 256.0 / 100.0 / 1000.0;
    let goodput = flow.goodput_ss_mbps.unwrap();
    assert!((goodput / window_mbps - 1.0).abs() < 0.02, "{goodput} {window_mbps}");
    assert!(flow.limited_by.rwnd.unwrap() > 0.9);
}

/// Runs a flow that writes 300 KB once per second and is idle for about 900 ms, four RTOs, in
/// between.
fn pauses(stack: &str) -> FlowSummary {
    flow(&format!(
        r#"
        duration = "20s"
        sample = "off"
        [stack]
        {stack}
        [bottleneck]
        rate = "100Mbit/s"
        [[flows]]
        cc = "reno"
        rtt = "50ms"
        write = {{ bytes = "300KB", every = "1s" }}
        "#
    ))
}

#[test]
fn without_slow_start_after_idle_cwnd_is_kept() {
    let [restarts, keeps] = ["", "slow_start_after_idle = false"].map(|stack| {
        let cwnd = pauses(stack).cwnd_packets;
        cwnd.mean.unwrap() / cwnd.max.unwrap()
    });
    assert!(restarts < 0.85 && keeps > 0.95, "{restarts} {keeps}");
}

/// With a smaller bound of unsent bytes the application writes more often, but the flow is equally
/// fast.
#[test]
fn few_unsent_bytes_do_not_slow_a_flow() {
    for sender in ["", "sndbuf = \"1MB\""] {
        let goodput = |lowat: &str| {
            let stack = format!("{sender}\n{lowat}");
            let path = long_path(&stack, "cubic", "20Mbit/s", 50);
            path.goodput_ss_mbps.unwrap()
        };
        let (whole, little) = (goodput(""), goodput("notsent_lowat = \"16KiB\""));
        assert!((little / whole - 1.0).abs() < 0.01, "{sender}: {whole} {little}");
    }
}

/// Runs a flow over a link of 100 Mbit/s with a queue of 1,000 packets. The key in `device` can
/// make this link the network device of the flow's host.
fn station(cc: &str, device: &str, link: &str) -> bbrlab_run::FlowSummary {
    let mut run = result(&format!(
        r#"
        duration = "20s"
        sample = "off"
        [bottleneck]
        rate = "100Mbit/s"
        buffer = "1000pkt"
        {link}
        [[flows]]
        cc = "{cc}"
        rtt = "20ms"
        latency = true
        {device}
        "#
    ));
    run.summary.flows.remove(0)
}

/// TCP Small Queues limit the data in the device to about a millisecond at the pacing rate, or to
/// two bursts, whichever is more. The queue that CUBIC fills is therefore in the socket and not in
/// the device.
#[test]
fn small_queues_keep_the_device_short() {
    let [without, ethernet] =
        ["", "device = \"ethernet\""].map(|device| station("cubic", device, ""));
    let p95 = |flow: &bbrlab_run::FlowSummary| flow.path_queue_delay_ms.p95.unwrap();
    // A full queue of 1,000 packets of 1,514 bytes takes 121 ms to leave.
    assert!(p95(&without) > 80.0, "{}", p95(&without));
    // In slow start, TCP paces at 200 % of cwnd per RTT, and cwnd is at most twice the data in
    // flight. The data of a millisecond at the pacing rate therefore takes at most 4 ms at the
    // link's rate. Although no packet is lost, HyStart ends slow start within 0.3 s. From then on,
    // TCP paces at 120 %, and the data of a millisecond takes less time.
    //
    // TCP sends a burst if the data in the device is below the limit, so the last burst may exceed
    // the limit. The last burst has at most the data of a millisecond at the pacing rate. At the
    // link's rate, it therefore takes at most 4 ms, too. Limit and last burst together take at most
    // 8 ms.
    assert!(p95(&ethernet) < 8.0, "{}", p95(&ethernet));
    for flow in [without, ethernet] {
        assert!(flow.goodput_mbps.unwrap() > 92.0, "{:?}", flow.goodput_mbps);
    }
}

/// A Wi-Fi station sends up to 64 packets per slot, and slots are 2 to 8 ms apart. If the device
/// has only the data of a millisecond, most of a slot remains unused. Linux's mac80211 therefore
/// lets TCP queue the data of eight milliseconds.
#[test]
fn aggregation_needs_more_than_a_millisecond_in_the_device() {
    let slots = "slot = { min_delay = \"2ms\", max_delay = \"8ms\", packets = 64 }";
    for cc in ["cubic", "bbr1", "bbr3"] {
        let [ethernet, wifi] = ["ethernet", "wifi"].map(|device| {
            station(cc, &format!("device = \"{device}\""), slots).goodput_mbps.unwrap()
        });
        assert!(wifi > 92.0 && ethernet < 0.8 * wifi, "{cc}: {ethernet} and {wifi} Mbit/s");
    }
}

/// TCP's count of data that waits in the device must decrease after drops in the device, after
/// random losses, and when a new connection begins. If the count did not decrease, TCP would send
/// too little.
#[test]
fn a_device_forgets_what_it_dropped() {
    for (link, flow) in [
        ("queue = { discipline = \"codel\" }", ""),
        ("loss = 0.02", ""),
        ("loss = 0.02\nloss_at = \"before\"", "bytes = \"2MB\""),
        ("police = { rate = \"20Mbit/s\", burst = \"20KB\" }", ""),
        ("grant = { delay = \"4ms\", every = \"2ms\", limit = 20 }", ""),
        ("", "train = { bytes = \"300KB\", count = 40, gap = \"1ms\" }"),
        ("", "requests = { count = 40 }\nbytes = \"300KB\""),
    ] {
        let [without, with] = ["", "device = \"wifi\""]
            .map(|device| station("cubic", &format!("{device}\n{flow}"), link));
        let ratio = with.goodput_mbps.unwrap() / without.goodput_mbps.unwrap();
        assert!(ratio > 0.5, "{link} {flow}: {ratio}");
        assert_eq!(with.fct_ms.n, without.fct_ms.n, "{link} {flow}");
    }
}
