//! Memory of a whole run: this test alone is in its process, whose peak the system tells.

#[path = "all/scenario_text/mod.rs"]
mod scenario_text;

use scenario_text::result;

/// The most memory that this process has held, in bytes; `None` where the system does not tell.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// A flow that is over leaves its place to the next and only counts behind, so that a run needs
/// memory for the flows that are under way at once, here some dozens.
#[test]
fn a_hundred_thousand_short_flows_take_less_than_a_hundred_megabytes() {
    let result = result(
        r#"
        title = "short flows"
        duration = "100.5s"
        [bottleneck]
        rate = "100Mbit/s"
        delay = "5ms"
        buffer = "1bdp"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        arrivals = { rate = "1000/s" }
        sizes = { distribution = "pareto", mean = "6KB", shape = 1.2 }
        "#,
    );
    let group = &result.summary.flow_groups[0];
    assert!(group.flows >= 100_000 && group.fct_ms.n > Some(99_000), "{group:?}");
    assert_eq!(group.turned_away, Some(0));
    if let Some(peak) = peak_bytes() {
        assert!(peak < 100_000_000, "{peak} B");
    }
}
