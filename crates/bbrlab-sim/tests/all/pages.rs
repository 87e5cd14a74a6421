//! Compares the times of page loads with times that are counted in round trips.

use crate::scenario_text::result;
use bbrlab_run::RunResult;

/// Runs a browser with two connections over an RTT of 20 ms. Each web page is loaded in two rounds:
/// one object in the first, then four in the second.
fn browser(duration: &str, page: &str) -> RunResult {
    result(&format!(
        r#"
        duration = "{duration}"
        [[links]]
        name = "a"
        delay = "10ms"
        [[flows]]
        cc = "cubic"
        path = ["a"]
        count = 2
        bytes = "1000B"
        late = "80ms"
        page = {{ objects = [1, 4], think = "100ms"{page} }}
        "#
    ))
}

#[test]
fn a_page_is_loaded_when_all_objects_of_its_last_round_have_been_read() {
    let result = browser("1s", ", count = 3");
    // A handshake and a request take 20 ms each, so the first connection has read the only object
    // of the first round at 40 ms. The first connection reads objects of the second round at 60 and
    // 80 ms. The second connection opens at 40 ms and reads its first object at 80 ms. The last of
    // the four objects of the second round is read at 100 ms. Pages after the first need three
    // round trips.
    let group = &result.summary.flow_groups[0];
    let pages = &group.delay_ms;
    assert_eq!((pages.n, group.late_ratio), (Some(3), Some(1.0 / 3.0)));
    assert!((pages.mean.unwrap() - 220.0 / 3.0).abs() < 1e-6, "{pages:?}");
    assert!((pages.p50.unwrap() - 60.0).abs() < 0.1, "{pages:?}");
    assert!((pages.p99.unwrap() - 100.0).abs() < 0.1, "{pages:?}");
    assert_eq!((group.flows, group.fct_ms.n, group.fct_ms.unfinished), (2, Some(15), Some(0)));
    // The pages start at 0, 200 and 360 ms. After the last page the connections end.
    for flow in &result.summary.flows {
        assert!((flow.stop_s.unwrap() - 0.42).abs() < 1e-6, "{flow:?}");
    }
}

#[test]
fn a_page_that_is_loading_at_the_end_is_late_after_the_bound() {
    // The second page begins at 200 ms.
    let result = browser("250ms", "");
    let group = &result.summary.flow_groups[0];
    assert_eq!((group.delay_ms.n, group.late_ratio), (Some(1), Some(0.5)));
}

#[test]
fn connections_that_no_page_needs_are_not_opened() {
    let text = |count| {
        format!(
            r#"
            duration = "5s"
            [bottleneck]
            rate = "10Mbit/s"
            delay = "5ms"
            [[flows]]
            cc = "cubic"
            rtt = "40ms"
            count = {count}
            stop = "3s"
            sizes = {{ distribution = "pareto", mean = "30KB" }}
            page = {{ objects = [1, 3], think = "100ms" }}
            "#
        )
    };
    // The sizes are drawn in the order of the objects, not per connection. A round has at most
    // three objects, so no page needs the fourth connection. The delays with four connections
    // therefore equal the delays with three.
    let [three, four] = [3, 4].map(|count| result(&text(count)));
    assert_eq!(three.summary.flow_groups[0].delay_ms, four.summary.flow_groups[0].delay_ms);
    assert_eq!(four.summary.flows[3].sent_packets, Some(0));
    let other = result(&text(1));
    assert!(other.summary.flow_groups[0].delay_ms.n < three.summary.flow_groups[0].delay_ms.n);
}
