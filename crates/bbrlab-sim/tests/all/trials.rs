//! Scenarios from questions of users, about where packets wait: ACKs on an uplink, and data at
//! several links.

use crate::scenario_text::results;
use bbrlab_run::RunResult;

/// Returns the mean queueing delay of a link, in milliseconds.
fn mean_wait(run: &RunResult, name: &str) -> f64 {
    let link = run.summary.links.iter().find(|link| link.name == name).expect("a link");
    link.queue_delay_ms.mean.expect("packets crossed it")
}

/// The path has 10 Mbit/s down and 100 kbit/s up. With a deep queue on the uplink, the ACKs of a
/// download wait for seconds, but the download's data does not wait.
#[test]
fn on_a_slow_uplink_the_acks_wait() {
    let runs = results(include_str!("trials/asymmetric_100k_up.toml"));
    let cubic = runs.last().expect("twelve points");
    assert_eq!(cubic.summary.point["bottleneck.reverse_buffer"], "1000pkt");
    assert!(mean_wait(cubic, "bottleneck") < 1.0);
    let acks = mean_wait(cubic, "bottleneck.reverse");
    // A full queue of 1,000 ACKs, of 66 B or more each, takes at least 5.28 s to leave at 100
    // kbit/s. The queue is not always full, so the mean wait is shorter: about 2 s.
    assert!((1980.0..1995.0).contains(&acks), "{acks}");
}

/// ACKs arrive in bursts 40 ms apart. BBR paces one receive window of data over the time between
/// two bursts. With a larger receive window, the flow gets nearly the whole link.
#[test]
fn the_receive_window_that_limits_a_paced_flow_is_named() {
    let text = include_str!("trials/ack_bursts_40ms.toml");
    let large = text.replace("[bottleneck]", "[stack]\nrcvbuf = \"4MB\"\n[bottleneck]");
    let [auto, large] = [text, &large].map(|text| results(text)[1].summary.flows[0].clone());
    assert!(auto.goodput_ss_mbps.unwrap() < 52.0, "{:?}", auto.goodput_ss_mbps);
    assert!(large.goodput_ss_mbps.unwrap() > 90.0, "{:?}", large.goodput_ss_mbps);
    assert!(auto.limited_by.rwnd.unwrap() > 0.5, "{:?}", auto.limited_by);
    assert_eq!(large.limited_by.rwnd, Some(0.0), "{:?}", large.limited_by);
}

/// Three bottlenecks in a row: a packet waits longer on its whole path than at a single link. The
/// metric `path_queue_delay_ms` measures the wait on the whole path.
#[test]
fn on_three_bottlenecks_a_packet_waits_at_each() {
    let text = include_str!("trials/parking_lot_web.toml")
        .replace("group = \"bulk\"", "group = \"bulk\"\nlatency = true")
        .replace("repeat = 3", "repeat = 1");
    let runs = results(&text);
    let bulk = &runs[0].summary.flow_groups[0];
    let path = bulk.path_queue_delay_ms.mean.expect("it is measured");
    let links = ["a", "b", "c"].map(|name| mean_wait(&runs[0], name));
    assert!((60.5..61.5).contains(&path), "{path}");
    // A link's mean is computed over the packets of all flows. The mean wait of only the paced bulk
    // flow's packets differs from the link's mean by a few percent.
    let sum: f64 = links.iter().sum();
    assert!(links.iter().all(|&wait| wait > 15.0) && (sum / path - 1.0).abs() < 0.05, "{links:?}");
}
