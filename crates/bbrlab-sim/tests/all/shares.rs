//! Tests the shares of groups while all flows compete, and over the whole run.

use crate::scenario_text::{result, results};

/// A download of 25 MB next to an endless flow. The download's share of the whole run is the same
/// for every congestion control, because each downloads the same bytes. The download's share while
/// both flows are active differs between the congestion controls.
#[test]
fn the_share_of_a_download_while_it_lasts_depends_on_its_congestion_control() {
    let text = include_str!("shares/share_while_active.toml")
        .replace("repeat = 10", "")
        .replace("\"flows[0].cc\" = [\"reno\", \"cubic\"]", "");
    let runs = results(&text);
    // Expected goodput in Mbit/s of the download with each of the five congestion controls, next to
    // Reno, with seed 1. Download and Reno together get 9.5 Mbit/s.
    for (run, expected) in runs.iter().zip([8.54, 4.55, 6.84, 5.41, 4.67]) {
        let download = &run.summary.flow_groups[1];
        let (share, goodput) =
            (download.share_active.unwrap(), download.goodput_active_mbps.unwrap());
        assert!((goodput - expected).abs() < 0.005, "{goodput}, not {expected}");
        // The two flows compete from the download's start to its end and together get 9.5 Mbit/s in
        // this time. The download's goodput is therefore its share of 9.5 Mbit/s.
        assert!((share * 9.5 - goodput).abs() < 0.03 * goodput, "{share} of 9.5, not {goodput}");
        assert!((download.share.unwrap() - 0.117).abs() < 0.002);
    }
    assert_eq!(runs.len(), 5);
}

#[test]
fn shares_in_the_steady_state_exist_only_while_all_are_active() {
    let two = |stop: &str| {
        result(&format!(
            r#"
            duration = "12s"
            [bottleneck]
            rate = "10Mbit/s"
            [[flows]]
            cc = "cubic"
            rtt = "20ms"
            group = "a"
            {stop}
            [[flows]]
            cc = "cubic"
            rtt = "20ms"
            group = "b"
            "#
        ))
        .summary
        .flow_groups
    };
    let [lasting, brief] = ["", "stop = \"4s\""].map(two);
    let sum = |share: fn(&bbrlab_run::FlowGroup) -> Option<f64>| {
        lasting.iter().map(|group| share(group).unwrap()).sum::<f64>()
    };
    assert!((sum(|it| it.share_ss) - 1.0).abs() < 1e-9);
    assert!((sum(|it| it.share_active) - 1.0).abs() < 1e-9);
    // The steady state of a run of 12 s begins after 5 s, when the flow that stops at 4 s is over.
    assert!(brief.iter().all(|group| group.share_ss.is_none() && group.share_active.is_some()));
}

/// Group `a` consists of two flows, of which one ends before the other starts. The run has no time
/// in which all flows are active, and the groups have only shares of the whole run.
#[test]
fn a_group_that_is_active_in_two_pieces_never_competes_as_a_whole() {
    let groups = result(
        r#"
        duration = "12s"
        [bottleneck]
        rate = "10Mbit/s"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        group = "a"
        stop = "3s"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        group = "a"
        start = "9s"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        group = "b"
        "#,
    )
    .summary
    .flow_groups;
    assert!(groups.iter().all(|group| group.share_active.is_none() && group.share_ss.is_none()));
    let whole: f64 = groups.iter().map(|group| group.share.unwrap()).sum();
    assert!((whole - 1.0).abs() < 1e-9, "{whole}");
    // `goodput_active_mbps` of `a` is computed over the active times of its two flows, together 6
    // of 12 s. With this metric, bytes that the receiver gets after the active time of its flow do
    // not count, so the factor can be below 2. After the first flow's `stop`, such bytes are still
    // in the send buffer.
    let [a, _] = &groups[..] else { panic!("two groups") };
    let factor = a.goodput_active_mbps.unwrap() / a.goodput_mbps.unwrap();
    assert!((1.8..=2.0).contains(&factor), "{factor}");
}
