//! ns-3 3.40 starves a BBR flow because of a combination of its recovery (`nextseg_rule3 = "any"`)
//! and its rate samples (`rate_ack_interval = "previous"`). With only one of these two settings,
//! the flow does not starve.

use crate::scenario_text::result;

/// Returns the goodput in Mbit/s of one BBR flow over 100 Mbit/s and 24 ms, with a queue of 170
/// packets and windows of 2 MB. The first value is the mean over the ten seconds of the run, the
/// second one is the mean over the last two seconds.
fn one_bbr_flow(stack: &str) -> (f64, f64) {
    let result = result(&format!(
        "duration = \"10s\"\nsample = \"1s\"\n[stack]\n{stack}\nmss = \"1448B\"\nsndbuf = \"2000000B\"\n\
         rcvbuf = \"2000000B\"\n\
         [bottleneck]\nrate = \"100Mbit/s\"\nbuffer = \"170pkt\"\ndevice_queue = \"none\"\n\
         [[flows]]\ncc = \"bbr1\"\nrtt = \"24ms\"\n"
    ));
    let received = &result.series.received_bytes;
    let last = received.len() - 1;
    #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
    let late_bytes = (received[last].0.unwrap() - received[last - 2].0.unwrap()) as f64;
    (result.summary.flows[0].goodput_mbps.unwrap(), late_bytes * 8.0 / 2e6)
}

#[test]
fn the_flow_starves_only_with_both_rule_3_and_the_interval_of_the_sample_before() {
    // ns-3 3.44 gives 85.0 Mbit/s. ns-3 with both settings as in 3.40 gives 2.8 Mbit/s, and the
    // rate is still falling when the run ends.
    let ns3 = "profile = \"ns3\"";
    let (whole, late) = one_bbr_flow(ns3);
    assert!((84.0..86.0).contains(&whole) && late > 96.0, "{whole}, {late} Mbit/s");
    let rule3 = "nextseg_rule3 = \"any\"";
    let interval = "rate_ack_interval = \"previous\"";
    let (whole, late) = one_bbr_flow(&format!("{ns3}\n{rule3}\n{interval}"));
    assert!((2.0..4.0).contains(&whole) && late < 0.3, "{whole}, {late} Mbit/s");
    for one in [rule3, interval] {
        let (_, late) = one_bbr_flow(&format!("{ns3}\n{one}"));
        assert!(late > 95.0, "{one}: {late} Mbit/s");
        let (_, late) = one_bbr_flow(one);
        assert!(late > 90.0, "linux with {one}: {late} Mbit/s");
    }
}
