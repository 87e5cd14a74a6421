//! Checks that TCP flows have the same results whether the engine computes drop-tail links by a
//! virtual clock or by departure events.

use crate::scenario_text::runs;
use bbrlab_sim::{LinkMode, Sim};
use bbrlab_units::Time;

fn check(text: &str) {
    for run in runs(text) {
        let [clock, events] = [LinkMode::VirtualClock, LinkMode::DepartureEvents].map(|mode| {
            let mut sim = Sim::with_links(&run, mode).unwrap();
            sim.advance(Time(run.duration.0));
            let mut result = sim.finish();
            // The number of events may differ between the two methods, so it is not compared.
            result.summary.events = None;
            result
        });
        assert!(clock.summary.data_packets > Some(100), "the run carries something");
        assert_eq!(clock, events, "{:?}", run.point);
    }
}

#[test]
fn results_do_not_depend_on_how_links_are_computed() {
    check(
        r#"
        title = "four algorithms, a buffer that overflows, random loss, a step of the rate"
        duration = "6s"
        [bottleneck]
        rate = [["0s", "20Mbit/s"], ["2s", "8Mbit/s"], ["4s", "30Mbit/s"]]
        buffer = "1bdp"
        loss = 0.001
        [access]
        rate = "100Mbit/s"
        buffer = "50pkt"
        [[flows]]
        cc = "bbr1"
        rtt = "30ms"
        [[flows]]
        cc = "cubic"
        rtt = "40ms"
        start = "0.5s"
        stop = "5s"
        [[flows]]
        cc = "reno"
        rtt = "10ms"
        [[flows]]
        cc = "bbr3"
        rtt = "30ms"
        [sweep]
        "bottleneck.rate_change" = ["keep", "follow"]
        "bottleneck.buffer_unit" = ["pkt", "B"]
        "#,
    );
}

#[test]
fn nor_on_shared_reverse_links_and_paths() {
    check(
        r#"
        title = "two links in a row, and ACKs that queue"
        duration = "5s"
        [[links]]
        name = "a"
        rate = "20Mbit/s"
        delay = "5ms"
        buffer = "40pkt"
        [[links]]
        name = "b"
        rate = "15Mbit/s"
        delay = "10ms"
        buffer = "40pkt"
        loss = 0.002
        loss_at = "before"
        [[links]]
        name = "back"
        rate = "1Mbit/s"
        delay = "15ms"
        buffer = "20pkt"
        [[flows]]
        cc = "cubic"
        path = ["a", "b"]
        return_path = ["back"]
        [[flows]]
        cc = "bbr1"
        path = ["b"]
        return_path = ["back"]
        [[flows]]
        cc = "vegas"
        path = ["a"]
        return_path = ["back"]
        start = "1s"
        "#,
    );
}
