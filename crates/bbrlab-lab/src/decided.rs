//! Runs a scenario: as one batch, or, if its `repeat` has `until`, batch after batch until no sweep
//! point needs more seeds.

use std::collections::BTreeSet;

use bbrlab_backends::LabError;
use bbrlab_run::Runs as _;
use bbrlab_scenario::Scenario;

use crate::batch::{Batch, BatchOptions, SummaryOf, run_these};
use crate::finish::write_sweep;
use crate::lock::Lock;
use crate::pool::Progress;
use crate::records::{Held, Records};
use crate::run_folder::Maker;
use crate::seed_plan::SeedPlan;

/// Runs all runs of a scenario, or those that `options` selects. The caller must have checked with
/// `check_limit` that the amount of work is accepted.
///
/// # Errors
/// Fails if a file cannot be written, or the folder contains other results or other files.
///
/// # Panics
/// Panics if an assertion in the simulator fails, which is a bug.
pub fn run_batch<'s>(
    scenario: &'s Scenario,
    options: &BatchOptions,
    mut watch: impl FnMut(Progress),
) -> Result<Batch<'s>, LabError> {
    match SeedPlan::of(scenario) {
        None => run_these(scenario, options, watch),
        Some(_) if options.only.is_some() => Err(check_divisible(scenario).expect_err("a plan")),
        Some(plan) => run_decided(scenario, options, plan, &mut watch),
    }
}

/// Returns an error if the runs of a scenario cannot be divided over processes. Runs cannot be
/// divided if `repeat` has `until`, because each decision about more seeds needs all runs of a
/// sweep point.
///
/// # Errors
/// Fails if the scenario's `repeat` has `until`.
pub fn check_divisible(scenario: &Scenario) -> Result<(), LabError> {
    if scenario.until().is_none() {
        return Ok(());
    }
    Err(LabError::Usage(format!(
        "{}: the runs of a scenario whose `repeat` has `until` cannot be divided over shards or workers: \
         all seeds of a point decide together whether more are needed; set `repeat` to a number",
        scenario.name()
    )))
}

/// Runs the batches of a plan, until no sweep point needs more seeds. Results of earlier batches
/// are read from memory or from the folder.
///
/// # Errors
/// Fails like [`run_batch`].
fn run_decided<'s>(
    scenario: &'s Scenario,
    options: &BatchOptions,
    mut plan: SeedPlan<'s>,
    watch: &mut dyn FnMut(Progress),
) -> Result<Batch<'s>, LabError> {
    // Without a folder, hold the results of all runs in memory, because they cannot be read again.
    let mut held = Held::new(if options.out.is_some() { options.held } else { u64::MAX });
    let mut numbers = BTreeSet::new();
    let (mut computed, mut repeated, mut found) = (0, 0, 0);
    while !plan.is_complete() {
        let these = BatchOptions {
            only: Some(plan.next_batch()),
            summary: SummaryOf::Later,
            ..options.clone()
        };
        let batch = run_these(scenario, &these, &mut *watch)?;
        computed += batch.computed;
        repeated += batch.repeated;
        found += batch.found;
        numbers.extend(batch.records.numbers());
        if batch.is_interrupted {
            held.join(batch.records);
            break;
        }
        for (number, run) in batch.records.numbers().zip(batch.records.each()) {
            let run = run?;
            plan.take(number, &run);
        }
        held.join(batch.records);
    }
    let maker = Maker::with(options.on);
    let records = Records::new(scenario, &maker, options.out.clone(), numbers.into_iter(), held);
    if let Some(out) = options.out.as_ref().filter(|_| options.summary != SummaryOf::Later) {
        let _lock = Lock::take(out)?;
        write_sweep(scenario, &records, out, options.draw())?;
    }
    Ok(Batch {
        records,
        out: options.out.clone(),
        computed,
        repeated,
        found,
        complete: None,
        is_interrupted: !plan.is_complete(),
        partial: None,
        undecided: plan.undecided().filter(|_| plan.is_complete()),
    })
}
