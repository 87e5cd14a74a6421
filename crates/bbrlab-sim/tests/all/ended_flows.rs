//! A flow that has ended causes no further cost: no event, no row of the flow series, no sample of
//! the queues at its private links.

use crate::scenario_text::results;
use bbrlab_run::RunResult;

/// Runs a long flow and a flow with `changes`, each with its own access links.
fn run(changes: &str) -> RunResult {
    results(&format!(
        r#"
        title = "a transfer and a lasting flow"
        duration = "4s"
        [bottleneck]
        rate = "10Mbit/s"
        delay = "5ms"
        buffer = "1bdp"
        [access]
        rate = "100Mbit/s"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        start = "0.5s"
        {changes}
        "#
    ))
    .remove(0)
}

/// Returns the times of a flow's first and last row, and the number of its rows.
fn rows_of(result: &RunResult, flow: u32) -> (f64, f64, usize) {
    let times = result.series.flow.iter().zip(&result.series.time_s);
    let own: Vec<f64> = times.filter(|&(&of, _)| of == flow).map(|(_, &at)| at).collect();
    (own[0], *own.last().unwrap(), own.len())
}

/// Returns the time of the last row of a link's queue, and the number of its rows.
fn queue_rows_of(result: &RunResult, name: &str) -> (f64, usize) {
    let place = result.summary.links.iter().position(|link| link.name == name).unwrap();
    let times = result.queue.link.iter().zip(&result.queue.time_s);
    let own: Vec<f64> = times.filter(|&(&of, _)| of as usize == place).map(|(_, &at)| at).collect();
    (*own.last().unwrap(), own.len())
}

/// Returns the seconds from the first to the last of `rows` rows.
fn spanned(rows: usize) -> f64 {
    f64::from(u32::try_from(rows - 1).unwrap()) / 100.0
}

fn private_links(result: &RunResult, flow: u32) -> Vec<String> {
    let own = format!("[{flow}]");
    let names = result.summary.links.iter().map(|link| link.name.clone());
    names.filter(|name| name.ends_with(&own)).collect()
}

#[test]
fn a_transfer_has_rows_from_its_start_to_its_last_acknowledgement() {
    let result = run("bytes = \"100KB\"");
    let end = result.summary.flows[1].stop_s.unwrap();
    assert!((0.55..2.0).contains(&end), "{end}");
    let (first, last, count) = rows_of(&result, 1);
    assert!((first - 0.5).abs() < 1e-9, "{first}");
    assert!(last < end && last > end - 0.011, "{last}, ended at {end}");
    assert!((spanned(count) - (last - first)).abs() < 1e-9, "the flow has a row every 10 ms");
    assert_eq!(rows_of(&result, 0).2, 401);
    let own = private_links(&result, 1);
    assert!(!own.is_empty());
    for name in own {
        assert!((queue_rows_of(&result, &name).0 - last).abs() < 1e-9, "{name}");
    }
    for name in private_links(&result, 0) {
        assert_eq!(queue_rows_of(&result, &name).1, 401);
    }
    assert_eq!(queue_rows_of(&result, "bottleneck").1, 401);
}

#[test]
fn a_stopped_flow_has_rows_until_what_it_wrote_is_acknowledged() {
    let result = run("stop = \"2s\"");
    assert!(
        (result.summary.flows[1].stop_s.unwrap() - 2.0).abs() < 1e-9,
        "the active time ends at the stop time"
    );
    let (_, last, count) = rows_of(&result, 1);
    // At the stop, the send buffer holds hundreds of kilobytes. The flow gets half of 10 Mbit/s,
    // which is 6 kB per 10 ms, so this data is acknowledged only well after 2 s. The flow has rows
    // until its last byte is acknowledged.
    assert!((2.02..3.9).contains(&last), "{last}");
    let place = result.series.flow.iter().rposition(|&flow| flow == 1).unwrap();
    assert!(result.series.inflight_packets[place].0.unwrap() > 0, "and not longer");
    assert!(count < 401);
}

#[test]
fn a_train_lives_until_its_last_transfer_is_acknowledged() {
    let result = run("train = { bytes = \"15KB\", count = 4, gap = \"300ms\" }");
    let (_, last, count) = rows_of(&result, 1);
    assert!(last > 1.4, "{last}");
    assert!((spanned(count) - (last - 0.5)).abs() < 1e-9, "pauses have rows");
}

#[test]
fn rows_of_every_ack_end_too() {
    let text = r#"
        title = "every ACK"
        duration = "3s"
        sample = "ack"
        [bottleneck]
        rate = "10Mbit/s"
        buffer = "1bdp"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        bytes = "100KB"
        "#;
    let result = results(text).remove(0);
    let last = *result.series.time_s.last().unwrap();
    assert!(
        (last - result.summary.flows[0].stop_s.unwrap()).abs() < 1e-9,
        "the last row is at the ACK that ends the flow"
    );
}

#[test]
fn when_all_flows_have_ended_nothing_happens_any_more() {
    let events = |duration: &str, source: &str| {
        let text = format!(
            r#"
            title = "short flows, some stopped"
            duration = "{duration}"
            sample = "off"
            [stack]
            hz = 250
            [bottleneck]
            rate = "20Mbit/s"
            buffer = "20pkt"
            loss = 0.01
            [access]
            rate = "100Mbit/s"
            [[flows]]
            cc = "bbr1"
            rtt = "20ms"
            count = 20
            start_step = "30ms"
            {source}
            "#
        );
        results(&text).remove(0).summary
    };
    for source in [
        "bytes = \"15KB\"",
        "train = { bytes = \"3KB\", count = 3, gap = \"50ms\" }",
        "rate = \"500kbit/s\"\nstop = \"2s\"",
        "on = \"100ms\"\noff = \"50ms\"\nstop = \"2s\"",
    ] {
        let (short, long) = (events("20s", source), events("200s", source));
        assert!(short.data_packets > Some(100), "{source}");
        assert_eq!((short.events, &short.digest), (long.events, &long.digest), "{source}");
    }
}
