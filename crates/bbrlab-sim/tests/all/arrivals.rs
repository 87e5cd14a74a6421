//! Flows of a class with arrivals arrive at the scenario's rate and have the scenario's sizes. Each
//! flow completes once, and its state is freed when it is over.

use crate::scenario_text::result;
use bbrlab_run::{FlowGroup, RunResult};

/// Runs a dumbbell of 10 Mbit/s for 60 s. `web` contains the lines of the class with arrivals, and
/// `more` the lines after them.
fn run(bottleneck: &str, web: &str, more: &str) -> RunResult {
    result(&format!(
        r#"
        duration = "60s"
        sample = "off"
        [bottleneck]
        rate = "10Mbit/s"
        delay = "10ms"
        {bottleneck}
        [[flows]]
        cc = "cubic"
        rtt = "40ms"
        group = "web"
        {web}
        {more}
        "#
    ))
}

fn web(result: &RunResult) -> &FlowGroup {
    &result.summary.flow_groups[0]
}

/// Keys with which 20 flows of ten packets each arrive per second.
const TEN: &str = "arrivals = { rate = \"20/s\" }\nbytes = \"14480B\"";

#[test]
fn flows_come_as_often_as_the_scenario_says_and_all_of_them_complete() {
    let result = run("", TEN, "");
    let web = web(&result);
    // 20 flows per second for 60 s are 1,200 flows; four standard deviations of this Poisson number
    // are 139.
    assert!(web.flows.abs_diff(1200) < 139, "{}", web.flows);
    let fct = &web.fct_ms;
    assert_eq!(fct.n.unwrap() + fct.unfinished.unwrap(), web.flows);
    assert!(fct.unfinished.unwrap() <= 5, "{fct:?}");
    // For a flow alone, the handshake takes a round trip of 40 ms, and the data half a round trip
    // and 12 ms of serialisation.
    assert!((72.0..85.0).contains(&fct.p50.unwrap()), "{fct:?}");
    let flow = &result.summary.flows[0];
    assert_eq!(result.summary.flows.len(), 1);
    assert_eq!(flow.delivered_packets.unwrap() / 10, fct.n.unwrap());
    assert_eq!(flow.fct_ms.p50, fct.p50);
    assert!(flow.cwnd_packets.mean.is_some_and(|cwnd| (9.0..25.0).contains(&cwnd)), "{flow:?}");
    assert_eq!(result.transfers.len() as u64, web.flows);
}

#[test]
fn load_is_a_share_of_the_links_rate() {
    let result = run("", "arrivals = { load = \"30%\" }\nbytes = \"14480B\"", "");
    let used = result.summary.links[0].utilization.unwrap();
    assert!((0.27..0.33).contains(&used), "{used}");
}

#[test]
fn sizes_follow_the_distribution() {
    let lines = "arrivals = { load = \"30%\" }\n\
                 sizes = { distribution = \"pareto\", mean = \"20KB\", shape = 1.5, max = \"1MB\" }";
    let result = run("", lines, "");
    let mut sizes = result.transfers.bytes.clone();
    sizes.sort_unstable();
    let n = sizes.len();
    assert!(n > 500 && sizes[n - 1] <= 1_000_000);
    // Sizes above `max` are reduced to `max`. With the smallest size m, the mean is then 3 m - 2
    // m^1.5 / 1000 bytes, which is 20 KB for an m of 7,062 B. The median is 2^(1 / 1.5) times the
    // smallest size.
    assert!(sizes[0].abs_diff(7_000) < 200, "{}", sizes[0]);
    assert!(sizes[n / 2].abs_diff(11_200) < 1_200, "{}", sizes[n / 2]);
}

#[test]
fn flows_with_a_bulk_flow_take_longer() {
    let bulk = "[[flows]]\ncc = \"cubic\"\nrtt = \"40ms\"\ngroup = \"bulk\"";
    let (alone, beside) = (run("", TEN, ""), run("buffer = \"4bdp\"", TEN, bulk));
    let median = |result: &RunResult| web(result).fct_ms.p50.unwrap();
    assert!(median(&beside) > 2.0 * median(&alone), "{} {}", median(&beside), median(&alone));
    let groups = &beside.summary.flow_groups;
    assert_eq!(groups[1].group, "bulk");
    // Jain's index does not include flows of classes with arrivals, so only one flow remains and
    // there is no index.
    assert_eq!(beside.summary.jain, None);
}

#[test]
fn flows_above_at_most_are_rejected() {
    let lines = "arrivals = { rate = \"200/s\", at_most = 20 }\nbytes = \"14480B\"";
    let result = run("buffer = \"unlimited\"", lines, "");
    // 200 flows per second offer 24.2 Mbit/s to a link of 10 Mbit/s.
    assert!(result.summary.links[0].utilization.unwrap() > 0.9);
    let web = web(&result);
    let came = web.flows + web.rejected.unwrap();
    assert!(web.flows < 6_000 && came.abs_diff(12_000) < 440, "{} of {came}", web.flows);
    assert!(web.fct_ms.unfinished.unwrap() <= 20);
}

/// Packets that arrive after the end of their flow are dropped. The next flow, which reuses the
/// ended flow's slot, receives only its own bytes.
#[test]
fn the_next_flow_in_a_place_gets_only_its_own_packets() {
    let path = "loss = 0.05\njitter = { up_to = \"60ms\", keep_order = false }\nbuffer = \"20pkt\"";
    let lines = "arrivals = { rate = \"100/s\", at_most = 3 }\n\
                 sizes = { distribution = \"exponential\", mean = \"3KB\" }";
    let result = run(path, lines, "");
    let flow = &result.summary.flows[0];
    let (sizes, fct) = (&result.transfers.bytes, &result.transfers.fct_s);
    let completed = sizes.iter().zip(fct).filter(|(_, fct)| fct.is_some());
    let bytes: u64 = completed.map(|(bytes, _)| bytes).sum();
    let bytes = f64::from(u32::try_from(bytes).unwrap());
    let read = flow.goodput_mbps.unwrap() * 60.0 * 1e6 / 8.0;
    assert!(web(&result).fct_ms.n.unwrap() > 200, "{:?}", web(&result));
    // `read` also includes what was read of unfinished flows. At most three flows are unfinished.
    assert!((bytes..=bytes + 1e5).contains(&(read + 1.0)), "{bytes} {read}");
}

#[test]
fn no_flow_arrives_after_the_stop() {
    let result = run("", &format!("{TEN}\nstart = \"10s\"\nstop = \"20s\""), "");
    assert!(web(&result).flows.abs_diff(200) < 57, "{:?}", web(&result));
    let starts = &result.transfers.start_s;
    assert!(starts.iter().all(|start| (10.0..20.0).contains(start)));
    assert_eq!(web(&result).fct_ms.unfinished, Some(0));
}
