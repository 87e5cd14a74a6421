//! Sources whose rate changes, and receiving applications that read slowly. The expected values are
//! computed from the rates, sizes and delays.

use bbrlab_run::RunSummary;

use crate::scenario_text::result;

fn run(text: &str) -> RunSummary {
    let network = r#"
        title = "applications"
        sample = "off"
        [bottleneck]
        rate = "10Mbit/s"
        delay = "10ms"
        buffer = "2bdp"
        "#;
    let (top, flows) = text.split_once("[[flows]]").expect("it has flows");
    let network = network.replace("sample", &format!("{top}\nsample"));
    result(&format!("{network}[[flows]]\nrtt = \"40ms\"\n{flows}")).summary
}

/// A datagram has 10,000 bits: 200 datagrams in 2 s at 1 Mbit/s and 800 in 2 s at 4 Mbit/s. After
/// the on period, the source pauses.
#[test]
fn datagrams_follow_a_schedule_of_rates() {
    let run = run(r#"
        duration = "6s"
        [[flows]]
        cc = "udp"
        mss = "1250B"
        start = "500ms"
        rate = [["0s", "1Mbit/s"], ["2s", "4Mbit/s"], ["4s", "0bit/s"]]
        "#);
    assert_eq!(run.flows[0].sent_packets, Some(1000));
}

/// The source writes at 2 Mbit/s for 10 s, and then as fast as the link of 10 Mbit/s allows. The
/// link's payload rate is 10 · 1448 / 1500 Mbit/s.
#[test]
fn a_rate_may_end_in_bulk() {
    let run = run(r#"
        duration = "20s"
        [[flows]]
        cc = "cubic"
        rate = [["0s", "2Mbit/s"], ["10s", "unlimited"]]
        "#);
    let mbit = run.flows[0].goodput_mbps.unwrap() * 20.0;
    let expected = 10.0 * 2.0 + 10.0 * 10.0 * 1448.0 / 1500.0;
    assert!((expected - 2.0..expected).contains(&mbit), "{mbit} of {expected} Mbit");
}

/// After 5 s without a limit, the source writes at 1 Mbit/s. Data that the socket has accepted
/// before is still sent at the link's rate.
#[test]
fn bulk_may_end_in_a_rate() {
    let run = run(r#"
        duration = "20s"
        [[flows]]
        cc = "cubic"
        rate = [["0s", "unlimited"], ["5s", "1Mbit/s"]]
        "#);
    let mbit = run.flows[0].goodput_mbps.unwrap() * 20.0;
    let expected = 5.0 * 10.0 * 1448.0 / 1500.0 + 15.0;
    assert!((expected - 2.0..expected + 4.0).contains(&mbit), "{mbit} of {expected} Mbit");
}

/// A reader of 2 Mbit/s limits the flow by its advertised window, without losses. The application
/// reads one segment of 1448 bytes every 5.792 ms.
#[test]
fn a_slow_reader_closes_the_window() {
    let run = run(r#"
        duration = "60s"
        [[flows]]
        cc = "cubic"
        read = "2Mbit/s"
        "#);
    let flow = &run.flows[0];
    let reads = 60.0 / 0.005_792;
    let most = reads * 1448.0 * 8.0 / 60e6;
    let goodput = flow.goodput_mbps.unwrap();
    assert!((most * 0.99..=most).contains(&goodput), "{goodput} of {most} Mbit/s");
    assert_eq!(flow.retransmitted_packets, Some(0));
}

/// The application reads 64 KiB once per second.
#[test]
fn a_reader_may_read_in_steps() {
    let run = run(r#"
        duration = "20500ms"
        [[flows]]
        cc = "reno"
        read = { bytes = "64KiB", every = "1s" }
        "#);
    // The read at the start of the flow finds no data; the twenty later reads each return 64 KiB.
    let bytes = run.flows[0].goodput_mbps.unwrap() * 20.5e6 / 8.0;
    assert!((bytes - 20.0 * 65_536.0).abs() < 1.0, "{bytes} bytes");
}

/// Until 5 s the application reads nothing. The window closes when the receive buffer is full, and
/// the sender sends window probes at growing intervals. The receiver's first read opens the window
/// again.
#[test]
fn a_closed_window_opens_with_the_first_read() {
    let run = run(r#"
        duration = "20s"
        stack = { rcvbuf = "64KiB" }
        [[flows]]
        cc = "cubic"
        bytes = "1MB"
        read = [["0s", "0bit/s"], ["5s", "unlimited"]]
        "#);
    let flow = &run.flows[0];
    let fct_s = flow.fct_ms.p50.unwrap() / 1000.0;
    // 1 MB takes 0.83 s at 10 Mbit/s. A window of 64 KiB per 40 ms allows 13 Mbit/s, so it does not
    // slow the transfer.
    assert!((5.6..6.4).contains(&fct_s), "{fct_s} s");
    assert_eq!(flow.retransmitted_packets, Some(0));
}

/// The schedule of reads begins at the flow's start and continues over all connections of a train.
#[test]
fn a_train_is_read_slowly_on_each_connection() {
    let run = run(r#"
        duration = "20s"
        [[flows]]
        cc = "cubic"
        start = "1s"
        train = { bytes = "100KB", count = 3, gap = "100ms" }
        read = "400kbit/s"
        "#);
    // 100 KB at 400 kbit/s take 2 s.
    let fct = &run.flows[0].fct_ms;
    assert_eq!(fct.n, Some(3));
    assert!((2000.0..2300.0).contains(&fct.p50.unwrap()), "{:?}", fct.p50);
}

/// A message of one segment is written every 100 ms, and the application reads once per second, so
/// the delays of ten messages in a row are 100 ms apart. The reads are at whole seconds; a message
/// that is written at the time t arrives 21.2 ms later.
#[test]
fn messages_wait_for_a_reader_that_reads_in_steps() {
    let run = run(r#"
        duration = "20s"
        [[flows]]
        cc = "cubic"
        write = { bytes = "1448B", every = "100ms" }
        read = { bytes = "64KiB", every = "1s" }
        latency = true
        "#);
    let delay = &run.flows[0].delay_ms;
    let [mean, most] = [delay.mean, delay.max].map(Option::unwrap);
    assert!((most - mean - 450.0).abs() < 15.0, "{delay:?}");
    assert!(most <= 1000.0 + 21.2, "{delay:?}");
}
