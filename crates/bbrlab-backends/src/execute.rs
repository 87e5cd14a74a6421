//! Simulates one run in slices, so that its progress can be shown and the user can interrupt it.
//! The results are returned in memory; `run_folder` writes them to files.

use bbrlab_run::{Controls, Run, RunResult};
use bbrlab_sim::{LinkMode, Sim, Status, refuse_failed};
use bbrlab_units::Time;
use cpu_time::ThreadTime;

use crate::stop::Stop;

/// Number of data packets per slice. A slice takes some ten milliseconds of CPU time.
const PACKETS_PER_SLICE: u64 = 50_000;

/// Number of data packets per slice of a run with custom congestion controls. A packet of such a
/// run may take ten times the CPU time of a packet in other runs.
const PACKETS_PER_SLICE_OUTSIDE: u64 = 5_000;

/// The results of a run (metrics and time series) and its CPU time.
#[derive(Debug)]
pub struct Executed {
    /// The metrics and time series.
    pub result: RunResult,
    /// CPU seconds, including the set-up and the summary.
    pub cpu_s: f64,
    /// Whether the run reached its end, and was not interrupted.
    pub is_complete: bool,
}

/// Simulates a run with the custom congestion controls that it needs. `packets` is the expected
/// number of data packets. At regular intervals of simulated time, `watch` is called with the share
/// of the run that is done, from 0 to 1.
///
/// # Errors
/// Fails if the simulation rejects the run, or a custom congestion control has failed.
///
/// # Panics
/// Panics if an assertion in the simulator fails, which is a bug.
pub fn execute(
    run: &Run,
    packets: u64,
    controls: &Controls,
    stop: &Stop,
    mut watch: impl FnMut(f64),
) -> Result<Executed, String> {
    let started = ThreadTime::now();
    let mut sim = Sim::with_controls(run, LinkMode::VirtualClock, controls)?;
    let per_slice = if controls.is_empty() { PACKETS_PER_SLICE } else { PACKETS_PER_SLICE_OUTSIDE };
    let slices = (packets / per_slice).clamp(1, 1_000_000);
    let end = run.duration.0;
    let mut is_complete = false;
    for slice in 1..=slices {
        // Compute the product with 128 bits, because a run may last 10^15 ns and have up to 10^6
        // slices.
        let until = u128::from(end) * u128::from(slice) / u128::from(slices);
        let until = Time(
            u64::try_from(until).expect("the time is not after the run's end, which fits 64 bits"),
        );
        let status = sim.advance(until);
        refuse_failed(controls)?;
        if status == Status::Done {
            is_complete = true;
            break;
        }
        #[expect(clippy::cast_precision_loss, reason = "a progress bar shows the share")]
        watch(slice as f64 / slices as f64);
        if stop.is_requested() {
            break;
        }
    }
    let mut result = sim.finish();
    let cpu_s = started.elapsed().as_secs_f64();
    result.summary.cpu_s = Some(cpu_s);
    Ok(Executed { result, cpu_s, is_complete })
}
