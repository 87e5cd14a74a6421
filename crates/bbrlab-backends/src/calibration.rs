//! The simulator's speed on this machine, measured in a few milliseconds.

use std::sync::OnceLock;

use bbrlab_cost::Estimate;
use bbrlab_run::Controls;
use bbrlab_scenario::Scenario;

use crate::error::LabError;
use crate::execute::execute;
use crate::stop::Stop;

/// The measured run: 1.2 s of benchmark case (a) of `docs/performance.md`. The measured run has
/// some 15,000 events, which take 3 to 10 ms of CPU time.
const MEASURED: &str = r#"
duration = "1200ms"
sample = "off"
[stack]
tso = "off"
[bottleneck]
rate = "50Mbit/s"
delay = "15ms"
buffer = "4bdp"
[[flows]]
cc = "bbr1"
rtt = "30ms"
"#;

/// The number of measurements. Only the fastest measurement is used: caches are cold in the first
/// measurement, and other processes may slow down any measurement.
const MEASUREMENTS: usize = 3;

/// Returns the CPU seconds per event in a run with one flow. Only the first call measures; later
/// calls return the same value.
///
/// # Errors
/// Fails if the simulator rejects the measured scenario, which is a bug.
pub(crate) fn seconds_per_event() -> Result<f64, LabError> {
    static MEASURED: OnceLock<f64> = OnceLock::new();
    match MEASURED.get() {
        Some(&measured) => Ok(measured),
        None => measure().map(|measured| *MEASURED.get_or_init(|| measured)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a measured time")]
fn measure() -> Result<f64, LabError> {
    let scenario = Scenario::parse("calibration", "calibration", MEASURED, None, &[])?;
    let (run, packets) = (scenario.run(0), Estimate::of_run(&scenario, 0).data_packets);
    let mut fastest = f64::INFINITY;
    for _ in 0..MEASUREMENTS {
        let executed = execute(&run, packets, &Controls::none(), &Stop::new(), |_| {});
        let executed = executed.map_err(LabError::Failed)?;
        let events = executed.result.summary.events.unwrap_or(1).max(1);
        fastest = fastest.min(executed.cpu_s / events as f64);
    }
    Ok(fastest)
}
