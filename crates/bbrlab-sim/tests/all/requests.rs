//! Requests and answers on one connection, a video player, and random bursts.

use crate::scenario_text::result;
use bbrlab_run::RunResult;

/// Runs a dumbbell of 10 Mbit/s with a base RTT of 40 ms for 20 s. `more` comes after the lines of
/// the first flow.
fn run(flow: &str, more: &str) -> RunResult {
    result(&format!(
        r#"
        duration = "20s"
        sample = "off"
        [bottleneck]
        rate = "10Mbit/s"
        delay = "10ms"
        buffer = "1bdp"
        [[flows]]
        rtt = "40ms"
        {flow}
        {more}
        "#
    ))
}

/// Returns the milliseconds from each request to the last byte of its answer.
fn answers_ms(result: &RunResult) -> Vec<f64> {
    result.transfers.fct_s.iter().flatten().map(|s| s * 1000.0).collect()
}

#[test]
fn an_answer_takes_a_round_trip_and_the_client_thinks_before_it_asks_again() {
    let lines = "cc = \"cubic\"\nbytes = \"1448B\"\nrequests = { think = \"60ms\" }";
    let result = run(lines, "");
    let answers = answers_ms(&result);
    // The time of the first answer includes the handshake, another round trip.
    assert!((answers[0] - 81.2).abs() < 0.3, "{}", answers[0]);
    assert!(answers[1..].iter().all(|ms| (ms - 41.2).abs() < 0.3), "{:?}", &answers[..9]);
    // The client sends a request every 101.2 ms: an answer takes 41.2 ms, and then the client waits
    // for 60 ms.
    assert!(answers.len().abs_diff(198) <= 1, "{}", answers.len());
    let starts = &result.transfers.start_s;
    assert!((starts[2] - starts[1] - 0.1012).abs() < 0.0003);
}

/// Returns the completion times of answers, in milliseconds, on a path with a base RTT of 80 ms and
/// a buffer of 100 packets. `links` comes after the bottleneck's other lines.
fn answers_on(links: &str) -> Vec<f64> {
    answers_ms(&result(&format!(
        r#"
        duration = "20s"
        sample = "off"
        [bottleneck]
        rate = "10Mbit/s"
        buffer = "100pkt"
        {links}
        [[flows]]
        rtt = "80ms"
        cc = "cubic"
        bytes = "1448B"
        requests = {{ think = "60ms" }}
        "#
    )))
}

#[test]
fn a_request_waits_in_the_reverse_direction_like_any_packet() {
    for (links, waits_ms) in [
        ("delay = \"10ms\"", 0.0),
        ("delay = \"10ms\"\nreverse_slot = \"3ms\"", 3.0),
        ("delay = \"25ms\"\nreverse_slot = \"3ms\"", 3.0),
        ("delay = \"25ms\"\nreverse_grant = \"4ms\"", 4.0),
    ] {
        let answers = answers_on(links);
        let expected = 81.2 + waits_ms;
        assert!(answers[1..].iter().all(|ms| (ms - expected).abs() < 0.3), "{links}: {answers:?}");
    }
}

/// Measures bufferbloat: how long a short answer takes while an upload fills the queue of the
/// reverse path. The request waits in that queue, and so does the handshake.
#[test]
fn a_request_waits_behind_an_upload() {
    let answers = |upload: &str, nagle: bool, think: &str| {
        answers_ms(&result(&format!(
            r#"
            duration = "30s"
            sample = "off"
            [stack]
            nagle = {nagle}
            [[links]]
            name = "down"
            rate = "20Mbit/s"
            delay = "10ms"
            [[links]]
            name = "up"
            rate = "1Mbit/s"
            delay = "5ms"
            buffer = "75pkt"
            [[flows]]
            cc = "cubic"
            path = ["down"]
            return_path = ["up"]
            start = "10s"
            bytes = "1000B"
            requests = {{ think = "{think}" }}
            {upload}
            "#
        )))
    };
    let upload = "[[flows]]\ncc = \"cubic\"\npath = [\"up\"]\nreturn_path = [\"down\"]";
    for think in ["100ms", "500ms", "2s"] {
        for nagle in [true, false] {
            let (quiet, full) = (answers("", nagle, think), answers(upload, nagle, think));
            // Propagation takes 15 ms, the transmission of a request 1.3 ms and of an answer 0.4
            // ms. The queue holds 75 packets of 1,514 bytes, which take 908 ms at 1 Mbit/s.
            let median = |answers: &[f64]| {
                let mut sorted = answers[1..].to_vec();
                sorted.sort_by(f64::total_cmp);
                sorted[sorted.len() / 2]
            };
            let [quiet, full] = [&quiet, &full].map(|answers| median(answers));
            assert!(
                (16.0..18.0).contains(&quiet),
                "think {think}, nagle {nagle}: median answer in {quiet} ms"
            );
            assert!(
                (600.0..930.0).contains(&full),
                "think {think}, nagle {nagle}: median answer in {full} ms"
            );
        }
    }
}

/// A lost request is retransmitted by a loss probe, or after a timeout of at least 200 ms.
#[test]
fn a_lost_request_is_sent_again() {
    let answers = answers_on("delay = \"10ms\"\nreverse_loss = 0.2");
    let late = answers.iter().filter(|&&ms| ms > 250.0).count();
    assert!(answers.len() > 40 && late > 5, "{} of {}", late, answers.len());
    assert!(answers.iter().all(|&ms| ms > 81.0));
}

#[test]
fn a_request_takes_the_delay_of_its_time() {
    let answers = answers_on("delay = [[\"0s\", \"10ms\"], [\"10s\", \"20ms\"]]");
    let (first, last) = (answers[1], answers[answers.len() - 1]);
    assert!((first - 81.2).abs() < 0.3 && (last - 101.2).abs() < 0.3, "{first}, {last}");
}

#[test]
fn a_flow_ends_with_its_last_answer() {
    let lines = "cc = \"cubic\"\nbytes = \"100KB\"\nrequests = { count = 5 }";
    let result = run(lines, "");
    assert_eq!(answers_ms(&result).len(), 5);
    let flow = &result.summary.flows[0];
    assert!(flow.stop_s.unwrap() < 1.0 && flow.fct_ms.n == Some(5), "{flow:?}");
}

/// After an idle time longer than an RTO, cwnd is reduced. Linux:
/// `tcp_slow_start_after_idle_check`.
#[test]
fn an_idle_window_restarts() {
    let after = |think: &str| {
        let requests = format!("requests = {{ think = \"{think}\" }}");
        answers_ms(&run(&format!("cc = \"reno\"\nbytes = \"40KB\"\n{requests}"), ""))[5]
    };
    // 28 packets take two round trips with an initial window of ten packets, but only one round
    // trip if the window has kept its larger size.
    let (anew, kept) = (after("3s"), after("10ms"));
    assert!(anew > kept + 20.0, "{anew} {kept}");
}

#[test]
fn bulk_beside_delays_answers() {
    let lines =
        "cc = \"cubic\"\ngroup = \"rpc\"\nbytes = \"1448B\"\nrequests = { think = \"60ms\" }";
    let bulk = "[[flows]]\nrtt = \"40ms\"\ncc = \"cubic\"\ngroup = \"bulk\"";
    let (alone, beside) = (run(lines, ""), run(lines, bulk));
    let p95 = |result: &RunResult| result.summary.flow_groups[0].fct_ms.p95.unwrap();
    assert!(p95(&beside) > p95(&alone) + 20.0, "{} {}", p95(&alone), p95(&beside));
}

#[test]
fn retransmissions_are_those_of_their_answer() {
    let lines = "cc = \"cubic\"\nbytes = \"200KB\"\nrequests = { think = \"60ms\" }";
    let result = run(lines, "[[flows]]\nrtt = \"40ms\"\ncc = \"bbr1\"");
    let sum: u64 =
        result.transfers.retransmitted_packets.iter().map(|again| again.0.unwrap()).sum();
    assert!(sum > 0);
    assert_eq!(sum, result.summary.flows[0].retransmitted_packets.unwrap());
}

#[test]
fn a_player_fills_its_buffer_and_then_takes_what_it_plays() {
    let lines = "cc = \"cubic\"\nvideo = { rate = \"2Mbit/s\", piece = \"2s\", buffer = \"8s\" }";
    let result = run(lines, "");
    // The player fills its buffer of 8 s within 2 s. With a full buffer, the player requests a
    // chunk of 500 kB every 2 s.
    let pieces = result.transfers.start_s.len();
    assert!((12..=13).contains(&pieces), "{pieces}");
    let starts = &result.transfers.start_s;
    assert!((starts[9] - starts[8] - 2.0).abs() < 0.001, "{starts:?}");
    assert_eq!(result.transfers.bytes[3], 500_000);
    assert_eq!(result.summary.flows[0].stalled_s, Some(0.0));
}

#[test]
fn a_player_stands_still_where_the_link_is_too_slow_for_it() {
    let result = run("cc = \"cubic\"\nvideo = { rate = \"20Mbit/s\" }", "");
    // A chunk of 4 s of playing time takes 8.4 s to arrive. The player reaches the end of the first
    // chunk 4.4 s before the second arrives. The third does not arrive before the run ends.
    let stalled = result.summary.flows[0].stalled_s.unwrap();
    assert!((4.2..4.8).contains(&stalled), "{stalled}");
}

#[test]
fn random_bursts_take_the_share_of_their_times() {
    let distribution =
        |mean: &str| format!("{{ distribution = \"exponential\", mean = \"{mean}\" }}");
    let lines = format!(
        "cc = \"cubic\"\non = {}\noff = {}\nrate = \"4Mbit/s\"",
        distribution("100ms"),
        distribution("300ms")
    );
    let result = run(&lines, "");
    // The source is on for about a quarter of the time, so the goodput is about a quarter of 4
    // Mbit/s. The tolerance is wide, because there are only some 50 periods of each kind.
    let goodput = result.summary.flows[0].goodput_mbps.unwrap();
    assert!((0.6..1.5).contains(&goodput), "{goodput}");
}

#[test]
fn a_slowdown_is_that_of_the_base_rtt_at_the_start() {
    let result = result(
        r#"
        duration = "10s"
        sample = "off"
        [bottleneck]
        rate = "10Mbit/s"
        delay = [["0s", "30ms"], ["5s", "10ms"]]
        [[flows]]
        rtt = "100ms"
        cc = "cubic"
        bytes = "1448B"
        requests = { think = "100ms" }
        "#,
    );
    // Two answers may have a slowdown other than 1: the first answer, whose time includes the
    // handshake, and the answer that was requested before the delay changed and read afterwards.
    let alone =
        result.transfers.slowdown.iter().flatten().skip(1).filter(|x| (**x - 1.0).abs() < 1e-9);
    let ended = result.transfers.fct_s.iter().flatten().count();
    assert!(alone.count() >= ended - 2, "{:?}", result.transfers.slowdown);
}

/// The distribution has a step, so an answer has either 2 KB, with a probability of 90 %, or 1 MB.
#[test]
fn answers_may_have_two_sizes() {
    let points = "points = [[\"2KB\", \"90%\"], [\"1MB\", \"90%\"], [\"1MB\", 1]]";
    let sizes = format!("sizes = {{ distribution = \"cdf\", {points} }}");
    let lines = format!("cc = \"cubic\"\nrequests = {{ count = 100 }}\n{sizes}");
    let bytes = run(&lines, "").transfers.bytes;
    let [small, large] =
        [2000, 1_000_000].map(|size| bytes.iter().filter(|&&it| it == size).count());
    assert_eq!((bytes.len(), small + large), (100, 100));
    // The standard deviation of the number of large answers is sqrt(100 * 0.1 * 0.9) = 3.
    assert!((1..=19).contains(&large), "{large}");
}
