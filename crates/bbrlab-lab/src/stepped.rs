//! Simulates one run in steps that the caller chooses, so that the caller can read or change values
//! between steps.

use bbrlab_run::{Controls, Run, RunResult};
use bbrlab_sim::{LinkMode, Sim, Status, refuse_failed};
use bbrlab_units::Time;

/// A run in progress.
#[derive(Debug)]
pub struct SteppedRun {
    sim: Sim,
    controls: Controls,
}

impl SteppedRun {
    /// Creates a run at time zero, with the custom congestion controls that it needs.
    ///
    /// # Errors
    /// Fails if the simulation rejects the run, or a custom congestion control has failed.
    pub fn new(run: &Run, controls: Controls) -> Result<Self, String> {
        Ok(Self { sim: Sim::with_controls(run, LinkMode::VirtualClock, &controls)?, controls })
    }

    /// Runs every event up to and including the time `until_ns`, but at most to the end of the run.
    /// Returns whether the run has ended.
    ///
    /// # Errors
    /// Fails if a custom congestion control has failed.
    ///
    /// # Panics
    /// Panics if an assertion in the simulator fails, which is a bug.
    pub fn advance(&mut self, until_ns: u64) -> Result<bool, String> {
        let status = self.sim.advance(Time(until_ns));
        refuse_failed(&self.controls)?;
        Ok(status == Status::Done)
    }

    /// Ends the run, and returns its results up to the present simulated time.
    ///
    /// # Panics
    /// Panics like [`Self::advance`].
    #[must_use]
    pub fn finish(self) -> RunResult {
        self.sim.finish()
    }
}
