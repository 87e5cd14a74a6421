//! The simulator as a back end. The simulator supports every scenario.

use bbrlab_cost::Estimate;
use bbrlab_run::Run;

use crate::backend::{Backend, Refusal, Task};
use crate::calibration::seconds_per_event;
use crate::error::LabError;
use crate::execute::{Executed, execute};
use bbrlab_results::VERSION;

/// The simulator of `bbrlab-sim`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simulator;

impl Backend for Simulator {
    fn name(&self) -> &'static str {
        bbrlab_run::SIMULATOR
    }

    fn version(&self) -> String {
        VERSION.to_owned()
    }

    fn can_do_all(&self) -> bool {
        true
    }

    fn refusals(&self, _: &Run) -> Vec<Refusal> {
        Vec::new()
    }

    fn cpu_s(&self, estimate: &Estimate) -> Result<f64, LabError> {
        Ok(estimate.work * seconds_per_event()?)
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn execute(&self, task: &Task<'_>, watch: &mut dyn FnMut(f64)) -> Result<Executed, String> {
        execute(task.run, task.packets, task.controls, task.stop, watch)
    }
}
