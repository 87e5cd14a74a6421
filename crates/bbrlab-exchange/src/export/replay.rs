//! Simulates a stored run again, because the files of a run do not contain its packets.

use std::path::Path;

use bbrlab_lab::{LabError, RunFiles, read_run_files};
use bbrlab_run::{Run, SIMULATOR};
use bbrlab_sim::{PacketEvent, Sim};
use bbrlab_units::Time;

/// A run of the simulator, read from its folder.
pub(super) struct Replay {
    pub(super) run: Run,
    digest: Option<String>,
    /// The folder's path, for messages.
    shown: String,
}

/// Simulated time per step, in nanoseconds. Only the packets of one step are in memory.
const STEP_NS: u64 = 10_000_000;

impl Replay {
    /// Reads the run in a folder, so that it can be simulated again.
    ///
    /// # Errors
    /// Fails if the folder is not the folder of one run of the simulator, if its files are damaged,
    /// or if the run has a custom congestion control.
    pub(super) fn open(folder: &Path) -> Result<Self, LabError> {
        let shown = folder.display().to_string();
        let usage = |reason: &str| LabError::Usage(format!("{shown}: {reason}"));
        if !folder.join("run.json").is_file() {
            return Err(usage(
                "expected the folder of one run, with run.json; if this is a sweep, name the folder of one of its runs",
            ));
        }
        let RunFiles { run, summary, .. } = read_run_files(folder)?;
        if summary.backend != SIMULATOR {
            return Err(usage(&format!(
                "computed by {}; only a run of the simulator can be computed again packet by packet",
                summary.backend
            )));
        }
        if let Some(outside) = run.outside().first() {
            return Err(usage(&outside.absent()));
        }
        Ok(Self { run, digest: summary.digest, shown })
    }

    /// Simulates the run and calls `see` with every packet that a sending host sends or receives,
    /// in the order of time.
    ///
    /// # Errors
    /// Fails if `see` fails, or the digest differs from the digest in `summary.json`.
    pub(super) fn packets<E: From<LabError>>(
        &self,
        mut see: impl FnMut(&PacketEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |reason: String| LabError::Failed(format!("{}: {reason}", self.shown));
        let mut sim = Sim::new(&self.run).map_err(failed)?;
        sim.record_packets();
        let mut until = 0;
        while until < self.run.duration.0 {
            until = (until + STEP_NS).min(self.run.duration.0);
            sim.advance(Time(until));
            sim.take_packets().iter().try_for_each(&mut see)?;
        }
        let digest = sim.finish().summary.digest;
        if self.digest.is_some() && digest != self.digest {
            let [found, expected] = [digest, self.digest.clone()].map(Option::unwrap_or_default);
            let reason = format!(
                "the simulation of this run has the digest {found}, expected {expected} as in summary.json: another version of bbrlab computed the results; to recompute them, use `bbrlab run {}`",
                self.shown
            );
            return Err(failed(reason).into());
        }
        Ok(())
    }
}
