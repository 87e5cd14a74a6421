//! Jain's index of runs whose flows have known shares.

use crate::scenario_text::result;

/// Checks Jain's index of flows that write at these rates, over a link with enough capacity for
/// all.
fn check(rates: &[&str], expected: f64) {
    let flows = rates.iter().fold(String::new(), |text, rate| {
        text + "[[flows]]\ncc = \"cubic\"\nrtt = \"10ms\"\nrate = \"" + rate + "\"\n"
    });
    let link = "[bottleneck]\nrate = \"100Mbit/s\"\nbuffer = \"1bdp\"\n";
    let text = format!("title = \"known shares\"\nduration = \"10s\"\n{link}{flows}");
    let summary = result(&text).summary;
    for jain in [summary.jain, summary.jain_ss] {
        let jain = jain.expect("something was delivered");
        // The index may differ by 0.002, because each flow may deliver one or two segments more or
        // less in the time over which the index is computed.
        assert!((jain - expected).abs() < 0.002, "{rates:?}: {jain}, not {expected}");
    }
}

/// Jain's index of the rates x of n flows: `(sum x)^2 / (n sum x^2)`.
#[test]
fn jain_is_that_of_the_shares() {
    check(&["2Mbit/s", "2Mbit/s", "2Mbit/s"], 1.0);
    check(&["1Mbit/s", "3Mbit/s"], 16.0 / (2.0 * 10.0));
    check(&["1Mbit/s", "2Mbit/s", "6Mbit/s"], 81.0 / (3.0 * 41.0));
}
