//! `bbrlab run`: runs scenarios, prints a table and writes pictures and data.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use bbrlab_cost::Estimate;
use bbrlab_lab::{
    Backend, Batch, BatchOptions, ControlTexts, LabError, Named, RECORDS_HELD, Records, SIMULATOR,
    Stop, SummaryOf, Undecided, backend_of, check_backend, check_divisible, check_limit,
    default_out, open_named, part_of, processors, refuse_results, refuse_results_below,
    refuse_second_stdin, run_batch, write_runs_json,
};
use bbrlab_papers::not_a_scenario;
use bbrlab_plugin::Plugins;
use bbrlab_report::{Points, run_table};
use bbrlab_run::{Controls, Runs as _};
use bbrlab_scenario::{Scenario, Until};

use crate::args::{RunArgs, Running, Shard};
use crate::output::{Output, Stopped, Verdict};
use crate::progress::Bar;

/// Runs the scenarios one after the other. The runs of one scenario are computed in parallel,
/// `--jobs` at a time.
pub(crate) fn run(args: &RunArgs, output: &mut Output) -> Verdict {
    let sets = sets(&args.set, args.running.seed);
    let plugins = load(&args.plugin)?;
    refuse_second_stdin(&args.scenarios)?;
    let mut scenarios = Vec::new();
    for name in &args.scenarios {
        if !args.recursive && args.running.out.is_none() {
            refuse_results_below(Path::new(name))?;
        }
        let sets = with_plugins(name, &sets, &plugins);
        scenarios.extend(open_named(name, &sets, args.running.out.is_some(), not_a_scenario)?);
    }
    check_plugins(&scenarios, &plugins)?;
    if args.shard.is_some() {
        scenarios.iter().try_for_each(|named| check_divisible(&named.scenario))?;
    }
    if !args.running.quiet {
        for named in &scenarios {
            notes_of_files(&named.scenario, output);
        }
    }
    let jobs = jobs(&args.running);
    let parts: Vec<Option<BTreeSet<u64>>> = scenarios
        .iter()
        .map(|named| args.shard.map(|shard| part_of(&named.scenario, shard.number, shard.of)))
        .collect();
    let estimates = scenarios.iter().zip(&parts).map(|(named, part)| match part {
        Some(part) => Estimate::of_runs(&named.scenario, part.iter().copied()),
        None => Estimate::of_scenario(&named.scenario),
    });
    let whole = estimates.reduce(Estimate::and).unwrap_or_default();
    check_limit(&whole, jobs, whole.sweep_bytes, args.running.limit)?;
    let stop = output.stop()?;
    let several = scenarios.len() > 1;
    if let Some(out) = args.running.out.as_deref().filter(|_| several) {
        refuse_results(out)?;
    }
    let width = if args.wide { None } else { output.width() };
    let mut records = Vec::new();
    for (named, part) in scenarios.iter().zip(parts) {
        let scenario = &named.scenario;
        let of = part.as_ref().map(|part| part.len() as u64);
        let on = on(args.on, named)?;
        let controls = plugins.controls();
        let batch = one((named, on, controls), part, &args.running, jobs, several, &stop, output)?;
        if !args.running.json {
            output.text(&table(&batch, width)?)?;
        }
        if let (Some(shard), Some(of), false) = (args.shard, of, args.running.quiet) {
            output.note(&of_shard(shard, of, &batch, scenario));
        }
        let interrupted = batch.is_interrupted;
        let left = leftover(&batch, scenario);
        records.push(batch.records);
        if interrupted {
            finish(args.running.json, &records, output)?;
            return Err(LabError::Interrupted(left).into());
        }
    }
    finish(args.running.json, &records, output)
}

fn finish(json: bool, records: &[Records<'_>], output: &mut Output) -> Verdict {
    if json { output.json_by(|out| write_runs_json(out, records)) } else { Ok(()) }
}

/// Describes how many of the sweep's runs the shard has, and how many of the sweep's runs are
/// complete in the folder.
fn of_shard(shard: Shard, of: u64, batch: &Batch<'_>, scenario: &Scenario) -> String {
    let Shard { number, of: shards } = shard;
    let mut text = format!("shard {number} of {shards}: {of} of {}", runs(scenario.runs()));
    if let (Some(complete), Some(out)) = (batch.complete, &batch.out) {
        let out = out.display();
        write!(text, "; {complete} of {} are in {out}", scenario.runs())
            .expect("writing to a string cannot fail");
    }
    text
}

/// Returns the back end that `--on` names. Without `--on`, returns the back end that computed the
/// results in the named folder or, if the user named no folder of results, the simulator.
pub(crate) fn on(
    given: Option<&'static dyn Backend>,
    named: &Named,
) -> Result<&'static dyn Backend, LabError> {
    match (given, &named.folder) {
        (Some(on), _) => Ok(on),
        (None, Some(folder)) => backend_of(folder),
        (None, None) => Ok(SIMULATOR),
    }
}

/// Runs one scenario on a back end with the custom congestion controls `controls`. If `only` is
/// given, computes only the runs whose numbers are in `only`.
pub(crate) fn one<'s>(
    (named, on, controls): (&'s Named, &'static dyn Backend, Controls),
    only: Option<BTreeSet<u64>>,
    running: &Running,
    jobs: usize,
    several: bool,
    stop: &Stop,
    output: &mut Output,
) -> Result<Batch<'s>, Stopped> {
    let scenario = &named.scenario;
    let out = match &running.out {
        // If the user names one folder for several scenarios, each scenario gets its own folder
        // inside this folder.
        Some(out) if several => {
            let own = default_out(scenario, on);
            out.join(own.file_name().expect("the path of a default folder ends with a name"))
        }
        Some(out) => out.clone(),
        None => named.folder.clone().unwrap_or_else(|| default_out(scenario, on)),
    };
    let options = BatchOptions {
        on,
        out: Some(out),
        force: running.force,
        jobs,
        pictures: !running.no_pictures,
        summary: if only.is_some() { SummaryOf::Whole } else { SummaryOf::These },
        only,
        held: RECORDS_HELD,
        controls,
        control_texts: ControlTexts::new(),
        stop: stop.clone(),
    };
    check_backend(scenario, on)?;
    let is_quiet = running.quiet;
    on.prepare(stop, &mut |text| {
        if !is_quiet {
            output.note(text);
        }
    })?;
    let bar = Bar::new(scenario.name(), running.quiet);
    let batch = run_batch(scenario, &options, |progress| bar.show(progress));
    bar.end();
    let batch = batch?;
    if !running.quiet
        && let Some(out) = &batch.out
    {
        let mut note = format!("{}: {} computed", scenario.name(), runs(batch.computed));
        if batch.found > 0 {
            write!(note, ", {} found complete", runs(batch.found))
                .expect("writing to a string cannot fail");
        }
        write!(note, "; results in {}", out.display()).expect("writing to a string cannot fail");
        output.note(&note);
        if let (Some(until), Some(undecided)) = (scenario.until(), &batch.undecided) {
            notes_of_undecided(scenario.name(), until, undecided, output);
        }
    }
    Ok(batch)
}

/// Prints how many sweep points ended with too wide a confidence interval, and how many without
/// values.
fn notes_of_undecided(name: &str, until: &Until, undecided: &Undecided, output: &mut Output) {
    let &Undecided { points, undecided, at_most, valueless } = undecided;
    let of = until.of().name();
    if undecided > 0 {
        output.note(&format!(
            "{name}: {undecided} of {points} points ended at {at_most} seeds: half the 95 % interval of `{of}` is above {} of its mean",
            until.percentage()
        ));
    }
    if valueless > 0 {
        output.note(&format!(
            "{name}: {valueless} of {points} points ended at {} seeds: none of their runs has a value of `{of}`; choose another metric in `repeat.of`, or a number for `repeat`",
            Until::LEAST.min(at_most)
        ));
    }
}

fn table(batch: &Batch<'_>, width: Option<usize>) -> Result<String, LabError> {
    let records = &batch.records;
    Ok(match (records.count(), &batch.partial) {
        (1, _) => run_table(&*records.get(0)?, width),
        (0, Some(partial)) => run_table(partial, width),
        (0, None) => String::new(),
        _ => Points::of(records)?.table(width),
    })
}

fn leftover(batch: &Batch<'_>, scenario: &Scenario) -> String {
    let out = batch.out.as_ref().map(|out| out.display().to_string()).unwrap_or_default();
    if let Some(partial) = &batch.partial {
        return format!(
            "interrupted after {} s of {}; the results up to that time are in {out}",
            partial.sim_s,
            partial.kind_of_time()
        );
    }
    format!(
        "interrupted: {} of {}{} are finished and in {out}; the same command continues",
        batch.records.count(),
        if scenario.until().is_some() { "at most " } else { "" },
        runs(scenario.runs())
    )
}

fn runs(count: u64) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

/// Prints a note about each file that the scenario names, if columns of the file were ignored or
/// values rounded.
pub(crate) fn notes_of_files(scenario: &Scenario, output: &mut Output) {
    for note in scenario.notes() {
        output.note(&note);
    }
}

/// Loads the shared objects of `--plugin`.
pub(crate) fn load(paths: &[PathBuf]) -> Result<Plugins, LabError> {
    Plugins::load(paths).map_err(|reason| LabError::Usage(format!("--plugin {reason}")))
}

/// Returns the values of `--set`, followed by the declarations of the congestion controls in shared
/// objects. For a folder of results, adds no declarations, because the scenario in the folder
/// already has them.
pub(crate) fn with_plugins(name: &str, sets: &[String], plugins: &Plugins) -> Vec<String> {
    let mut sets = sets.to_vec();
    if !Path::new(name).is_dir() {
        sets.extend(plugins.declarations());
    }
    sets
}

/// Returns an error if the results in a folder were computed with another shared object than the
/// loaded one. If a congestion control of the folder's scenario has the name of a loaded one, the
/// SHA-256 of the shared object must equal the SHA-256 in the scenario.
pub(crate) fn check_plugins(scenarios: &[Named], plugins: &Plugins) -> Result<(), LabError> {
    for named in scenarios {
        for outside in named.scenario.outside() {
            let checked = plugins.check(&outside.name, outside.sha256.as_deref());
            let name = named.scenario.name();
            checked.map_err(|reason| LabError::Usage(format!("{name}: {reason}")))?;
        }
    }
    Ok(())
}

/// Returns the values of `--set`, followed by `seed=N` if the user gave `--seed N`.
pub(crate) fn sets(set: &[String], seed: Option<u64>) -> Vec<String> {
    let mut sets = set.to_vec();
    sets.extend(seed.map(|seed| format!("seed={seed}")));
    sets
}

pub(crate) fn jobs(running: &Running) -> usize {
    running.jobs.map_or_else(processors, |jobs| usize::try_from(jobs).unwrap_or(1))
}
