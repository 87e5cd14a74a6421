//! Results about waiting times after a link's queue: packets that have left the queue wait for
//! `netem` slots, or for grants to send.

use crate::scenario_text::result;
use bbrlab_run::{RunSummary, WaitSummary};

/// Runs a flow over 20 Mbit/s with 5 ms of delay in each direction. The flow sends a packet with
/// 1,200 B of payload every 9.6 ms, so each packet waits alone.
fn summary(link: &str) -> RunSummary {
    let text = format!(
        "duration = \"10s\"\n[bottleneck]\nrate = \"20Mbit/s\"\ndelay = \"5ms\"\nbuffer = \"9pkt\"\n{link}\n\
         [[flows]]\ncc = \"udp\"\nrtt = \"20ms\"\nrate = \"1Mbit/s\"\nmss = \"1200B\"\n"
    );
    result(&text).summary
}

fn only(summary: &RunSummary) -> &WaitSummary {
    let [wait] = summary.waits.as_slice() else { panic!("one wait: {:?}", summary.waits) };
    wait
}

#[test]
fn a_packet_that_asks_alone_waits_for_its_grant() {
    let summary = summary("grant = \"4ms\"");
    let wait = only(&summary);
    assert_eq!(wait.name, "bottleneck.grants");
    assert!((wait.wait_ms.mean.unwrap() - 4.0).abs() < 1e-9, "{wait:?}");
    // Each reported percentile and maximum is the middle of a histogram's bucket, so it may differ
    // by 1/128.
    for ms in [wait.wait_ms.p95, wait.wait_ms.max] {
        assert!((ms.unwrap() / 4.0 - 1.0).abs() < 1.0 / 128.0, "{wait:?}");
    }
    let link = &summary.links[0];
    assert_eq!(
        wait.arrivals, link.departures,
        "each packet that leaves the queue waits for a grant"
    );
    let [arrived, left, waits, drops] =
        [wait.arrivals, wait.departures, wait.queued_at_end, wait.drops].map(Option::unwrap);
    assert_eq!((arrived, drops), (left + waits + drops, 0));
}

#[test]
fn the_delay_inside_slots_is_no_wait() {
    // The link delays a packet by 5 ms. After that, the packet waits 4 ms for the next slot, and
    // only these 4 ms count as waiting time.
    let summary = summary("slot = \"4ms\"");
    let wait = only(&summary);
    assert_eq!(wait.name, "bottleneck.slots");
    assert!((wait.wait_ms.mean.unwrap() - 4.0).abs() < 1e-9, "{wait:?}");
    assert!((wait.wait_ms.max.unwrap() / 4.0 - 1.0).abs() < 1.0 / 128.0, "{wait:?}");
}

#[test]
fn what_a_limit_drops_is_counted_where_it_waits() {
    let summary = summary("grant = { delay = \"90ms\", limit = 3 }");
    let names: Vec<&str> = summary.waits.iter().map(|wait| wait.name.as_str()).collect();
    assert_eq!(names, ["bottleneck.grants"]);
    let drops = summary.waits[0].drops;
    assert!(drops > Some(100), "{:?}", summary.waits[0]);
    assert_eq!(summary.flows[0].drops, drops);
    assert_eq!(summary.links[0].drops, Some(0), "all drops happen where packets wait for grants");
}

#[test]
fn where_nothing_waits_there_are_no_figures() {
    assert!(summary("").waits.is_empty());
}
