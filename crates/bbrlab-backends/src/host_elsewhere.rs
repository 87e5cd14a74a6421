//! The back end `host` on systems that are not Linux.

use bbrlab_cost::Estimate;
use bbrlab_run::Run;

use crate::backend::{Backend, Refusal, Task};
use crate::error::LabError;
use crate::execute::Executed;
use crate::stop::Stop;

const REASON: &str = "the back end `host` runs only on Linux";

/// The machine's own kernel, which is not Linux.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host;

impl Backend for Host {
    fn name(&self) -> &'static str {
        bbrlab_run::HOST
    }

    fn version(&self) -> String {
        "no Linux".to_owned()
    }

    fn refusals(&self, _: &Run) -> Vec<Refusal> {
        Vec::new()
    }

    fn cpu_s(&self, _: &Estimate) -> Result<f64, LabError> {
        Err(LabError::Usage(REASON.to_owned()))
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn prepare(&self, _: &Stop, _: &mut dyn FnMut(&str)) -> Result<(), LabError> {
        Err(LabError::Usage(REASON.to_owned()))
    }

    fn execute(&self, _: &Task<'_>, _: &mut dyn FnMut(f64)) -> Result<Executed, String> {
        Err(REASON.to_owned())
    }
}
