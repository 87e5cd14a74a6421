//! Memory of a whole run. This test has its own process, because the system reports the peak memory
//! only for a whole process.

#[path = "all/scenario_text/mod.rs"]
mod scenario_text;

use scenario_text::result;

/// Returns the peak memory of this process in bytes; `None` if the system does not report it.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// When a flow is over, its slot is reused and only its counts remain. A run therefore needs memory
/// only for the flows that are active at once, some dozens in this test.
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
    assert_eq!(group.rejected, Some(0));
    if let Some(peak) = peak_bytes() {
        assert!(peak < 100_000_000, "{peak} B");
    }
}
