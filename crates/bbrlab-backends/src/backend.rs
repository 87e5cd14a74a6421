//! The interface of back ends, which compute runs. `list.rs` lists all back ends.
//!
//! A back end gets a run with all of the run's settings, and returns the run's results: metrics and
//! time series. A metric that the back end does not measure is `None`.

use bbrlab_cost::Estimate;
use bbrlab_run::{Controls, Place, Run};
use bbrlab_scenario::Scenario;

use crate::error::LabError;
use crate::execute::Executed;
use crate::stop::Stop;

/// A program that computes runs, such as the simulator, a Linux kernel or ns-3.
pub trait Backend: std::fmt::Debug + Sync {
    /// Returns the back end's name: lower-case letters and digits. `--on`, result files and the
    /// names of result folders use this name.
    fn name(&self) -> &'static str;

    /// Returns the back end's version. The command `run` computes stored runs again if another
    /// version of the back end computed them.
    fn version(&self) -> String;

    /// Whether the back end supports every scenario. If true, callers can skip [`Self::refusals`].
    fn can_do_all(&self) -> bool {
        false
    }

    /// Returns the parts of a run that the back end does not support. The result is empty if the
    /// back end supports the run.
    fn refusals(&self, run: &Run) -> Vec<Refusal>;

    /// Converts an estimate of runs to the CPU seconds that they will take on this machine.
    ///
    /// # Errors
    /// Fails if the time cannot be predicted, for example because the back end is not installed.
    fn cpu_s(&self, estimate: &Estimate) -> Result<f64, LabError>;

    /// Converts an estimate of runs to the real time in seconds that they will take. Returns `None`
    /// if the back end does not compute in real time, that is, one second per second of a run.
    fn real_s(&self, estimate: &Estimate) -> Option<f64> {
        let _ = estimate;
        None
    }

    /// Whether a run gives the same results, byte for byte, each time and on every machine.
    fn is_repeatable(&self) -> bool;

    /// Builds the missing files that runs need, for example a program that is compiled once. Calls
    /// `note` before work that takes longer than a second. Without this call, [`Self::execute`]
    /// builds these files.
    ///
    /// # Errors
    /// Fails if the back end is not installed, or the work fails.
    fn prepare(&self, stop: &Stop, note: &mut dyn FnMut(&str)) -> Result<(), LabError> {
        let _ = (stop, note);
        Ok(())
    }

    /// Computes a run. Calls `watch` with the finished share of the run, from 0 to 1.
    ///
    /// # Errors
    /// Fails if the back end rejects the run or cannot finish it.
    fn execute(&self, task: &Task<'_>, watch: &mut dyn FnMut(f64)) -> Result<Executed, String>;
}

/// A run to be computed.
#[derive(Debug)]
pub struct Task<'a> {
    /// The run.
    pub run: &'a Run,
    /// The run's expected number of data packets.
    pub packets: u64,
    /// The custom congestion controls that the run needs.
    pub controls: &'a Controls,
    /// The request to stop early, which the user can make while the run is computed.
    pub stop: &'a Stop,
}

/// A part of a run that a back end does not support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The part of the scenario that has the unsupported value, such as a link or a `[[flows]]`
    /// table.
    pub place: Place,
    /// The key of the unsupported value in the part `place`. For the reverse direction of a link,
    /// the key lacks the prefix `reverse_`, which [`Run::key`] adds.
    pub key: &'static str,
    /// The reason why the value is not supported.
    pub reason: String,
    /// The nearest supported value, if there is one.
    pub nearest: Option<String>,
}

impl Refusal {
    /// Returns a message for users: the key, the reason, and the nearest supported value.
    #[must_use]
    pub fn text(&self, run: &Run, on: &dyn Backend) -> String {
        let key = run.key(self.place, self.key);
        let nearest = self.nearest.as_ref().map(|nearest| format!("; the nearest is {nearest}"));
        format!("`{key}`: {} {}{}", on.name(), self.reason, nearest.unwrap_or_default())
    }
}

/// Checks that a back end supports all sweep points of a scenario.
///
/// # Errors
/// Fails if the back end does not support a sweep point of the scenario. The message lists the
/// values that are not supported and, if the back end is not installed, says so.
pub fn check_backend(scenario: &Scenario, on: &dyn Backend) -> Result<(), LabError> {
    check_points(scenario, on, 0..scenario.points())
}

/// Checks that a back end supports the sweep points `points` of a scenario.
///
/// # Errors
/// Fails if the back end does not support one of these sweep points.
pub fn check_points(
    scenario: &Scenario,
    on: &dyn Backend,
    points: impl IntoIterator<Item = u64>,
) -> Result<(), LabError> {
    if on.can_do_all() {
        return Ok(());
    }
    let mut all: Vec<String> = Vec::new();
    for point in points {
        let run = scenario.run(point * scenario.repeat());
        for refusal in on.refusals(&run) {
            let text = refusal.text(&run, on);
            if !all.contains(&text) {
                all.push(text);
            }
        }
        if all.len() >= REFUSALS_MAX {
            break;
        }
    }
    if all.is_empty() {
        return Ok(());
    }
    all.extend(check_installed(on).err().map(|error| error.to_string()));
    Err(LabError::Usage(format!("{}: {}", scenario.name(), all.join("\n"))))
}

/// Checks that a back end is installed, so that a command can fail before it does other work.
///
/// # Errors
/// Fails if a part of the back end, such as its kernel, is not installed.
pub fn check_installed(on: &dyn Backend) -> Result<(), LabError> {
    if on.can_do_all() { Ok(()) } else { on.cpu_s(&Estimate::default()).map(drop) }
}

/// If the sweep points checked so far have this number of different refusals, or more, no further
/// points are checked.
const REFUSALS_MAX: usize = 20;
