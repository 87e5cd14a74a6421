//! ACKs that arrive at the same time: the first ones wake the application, but the application
//! writes only after TCP has handled all of them.

use crate::scenario_text::result;

/// cwnd in packets every 20 ms from 0.12 s on, measured in Linux 6.12.117 (recorded run
/// `9_slot_reno_50M_30ms_ack10ms_b2`). If the application wrote between two ACKs, TCP would defer
/// other bursts, and the last value would be 209.
const LINUX: [u32; 12] = [10, 10, 10, 10, 20, 20, 40, 42, 80, 105, 160, 206];

#[test]
fn the_application_writes_after_the_last_of_them() {
    let result = result(
        r#"
        title = "ACKs in slots of 10 ms"
        duration = "0.341s"
        sample = "20ms"
        [stack]
        clock_step = "256ns"
        [bottleneck]
        rate = "50Mbit/s"
        buffer = "248pkt"
        delay = "15ms"
        reverse_slot = { min_delay = "10ms", max_delay = "10ms" }
        [[flows]]
        cc = "reno"
        start = "0.1s"
        "#,
    );
    let series = &result.series;
    let rows = series.time_s.iter().zip(&series.cwnd_packets);
    let ours: Vec<u32> =
        rows.filter(|(time, _)| **time > 0.11).map(|(_, cwnd)| cwnd.0.unwrap()).collect();
    assert_eq!(ours, LINUX);
}
