//! The simulator's speed on this machine, measured in a few milliseconds.

use std::sync::OnceLock;

use crate::bench::bench_case;
use crate::error::LabError;

/// Simulated milliseconds of a measurement. Such a run has some 15,000 events, which take 3 to 10
/// ms of CPU time.
const SIMULATED_MS: u32 = 1200;

/// The number of measurements. Only the fastest is used, because the first measurement has cold
/// caches and other processes may slow any of them.
const MEASUREMENTS: usize = 3;

/// Returns the CPU seconds per event in a run with one flow. The first call measures them.
///
/// # Errors
/// Fails if the simulator rejects the measured case, which is a bug.
pub(crate) fn seconds_per_event() -> Result<f64, LabError> {
    static MEASURED: OnceLock<f64> = OnceLock::new();
    match MEASURED.get() {
        Some(&measured) => Ok(measured),
        None => measure().map(|measured| *MEASURED.get_or_init(|| measured)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a measured time")]
fn measure() -> Result<f64, LabError> {
    let case = bench_case("a")?;
    let mut fastest = f64::INFINITY;
    for _ in 0..MEASUREMENTS {
        let result = case.run(SIMULATED_MS, None)?;
        fastest = fastest.min(result.cpu_s / result.events.max(1) as f64);
    }
    Ok(fastest)
}
