//! Runs a scenario on a back end, for comparisons of back ends.

use std::path::{Path, PathBuf};

use bbrlab_lab::{Backend, LabError, Named, check_backend, check_limit, default_out};
use bbrlab_run::Runs as _;

use crate::args::{CompareArgs, Running};
use crate::output::{Output, Stopped};
use crate::run;

/// The largest estimated work, in data packets, with which a scenario is still run. The value
/// equals the default of `run --limit`.
const LIMIT: u64 = 10_000_000_000;

fn running(args: &CompareArgs, quiet: bool, out: Option<PathBuf>) -> Running {
    Running {
        seed: None,
        jobs: args.jobs,
        out,
        force: false,
        no_pictures: true,
        limit: LIMIT,
        quiet,
        json: args.json,
    }
}

/// The folder with the results of a scenario on a back end, and the CPU time of its runs.
pub(crate) struct Ran {
    pub(crate) folder: PathBuf,
    /// The CPU seconds of all runs, including runs that an earlier command computed; `None` if a
    /// run's results cannot be read.
    pub(crate) cpu_s: Option<f64>,
}

/// Runs a scenario on a back end. The results go into a folder below `out` that is named after the
/// scenario and the back end; without `out`, into the default folder. If `quiet`, shows no progress
/// and no notes.
pub(crate) fn run_on(
    args: &CompareArgs,
    named: &Named,
    on: &'static dyn Backend,
    out: Option<&Path>,
    quiet: bool,
    output: &mut Output,
) -> Result<Ran, Stopped> {
    let plugins = run::load(&args.plugin)?;
    check_backend(&named.scenario, on)?;
    let estimate = bbrlab_cost::Estimate::of_scenario(&named.scenario);
    let jobs = args.jobs.map_or_else(bbrlab_lab::processors, |jobs| jobs as usize);
    check_limit(&estimate, jobs, estimate.sweep_bytes, LIMIT)?;
    let stop = output.stop()?;
    let name = default_out(&named.scenario, on);
    let own = name.file_name().map(PathBuf::from).unwrap_or_default();
    let out = out.map_or(name, |out| out.join(own));
    let running = running(args, quiet, Some(out.clone()));
    let batch =
        run::one((named, on, plugins.controls()), None, &running, jobs, false, &stop, output)?;
    if batch.is_interrupted {
        let text = format!(
            "interrupted: {} runs are finished and in {}; the same command continues",
            batch.records.count(),
            out.display()
        );
        return Err(LabError::Interrupted(text).into());
    }
    // A run that an earlier command completed also has a CPU time: it is read from the run's
    // folder.
    let of_run = |place| batch.records.get(place).ok().and_then(|run| run.cpu_s);
    let cpu_s = (0..batch.records.count()).map(of_run).sum();
    Ok(Ran { folder: out, cpu_s })
}
