//! `bbrlab compare --on`: a scenario, or random ones, on two back ends, such as the simulator
//! and a real kernel.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_lab::{
    Backend, LabError, Named, PlotChoice, check_backend, check_limit, default_out, open_named,
    plot_overlay, read_results,
};
use bbrlab_linux::{Outlier, RandomScenario, WorldsPoint, compare_worlds, outlier};
use bbrlab_papers::not_a_scenario;
use bbrlab_report::{Align, Table, compare_table, value_text};
use bbrlab_run::{Controls, RunSummary, Runs as _};
use bbrlab_scenario::Scenario;
use serde_json::{Value, json};

use crate::args::{CompareArgs, Running};
use crate::compare::{compared, look};
use crate::output::{Output, Stopped, Verdict};
use crate::run;
use crate::validate_linux::{figure, verdict};

/// Seeds of a random scenario on either back end, unless `--seeds` is given.
const RANDOM_SEEDS: u64 = 3;

/// Seconds of a random scenario.
const RANDOM_S: u64 = 10;

/// Packets that the comparison takes on, as `run` does.
const LIMIT: u64 = 10_000_000_000;

pub(crate) fn compare(args: &CompareArgs, output: &mut Output) -> Verdict {
    let [ours, kernel] = args.on.as_slice() else {
        let found = args.on.iter().map(|on| on.name()).collect::<Vec<_>>().join(",");
        let text = format!("--on: expected two back ends such as sim,linux, found {found}");
        return Err(LabError::Usage(text).into());
    };
    if ours.name() == kernel.name() {
        let text = format!("--on: expected two different back ends, found {} twice", ours.name());
        return Err(LabError::Usage(text).into());
    }
    let both = [*ours, *kernel];
    match (args.random, args.folders.as_slice()) {
        (Some(count), _) => random(args, count, both, output),
        (None, [scenario]) => one(args, scenario, both, output),
        (None, found) => {
            Err(LabError::Usage(format!("expected one scenario with --on, found {}", found.len()))
                .into())
        }
    }
}

fn running(args: &CompareArgs, out: Option<PathBuf>) -> Running {
    Running {
        seed: None,
        jobs: args.jobs,
        out,
        force: false,
        no_pictures: true,
        limit: LIMIT,
        quiet: args.quiet,
        json: args.json,
    }
}

/// The results of both back ends.
struct Both {
    /// The folder of each.
    folders: Vec<PathBuf>,
    /// The CPU seconds of all runs of each; `None` if some were complete before.
    cpu_s: [Option<f64>; 2],
}

/// Runs a scenario on both back ends; returns the folders of the results.
fn run_both(
    args: &CompareArgs,
    named: &Named,
    both: [&'static dyn Backend; 2],
    output: &mut Output,
) -> Result<Both, Stopped> {
    for on in both {
        check_backend(&named.scenario, on)?;
    }
    let estimate = bbrlab_cost::Estimate::of_scenario(&named.scenario);
    let jobs = args.jobs.map_or_else(bbrlab_lab::processors, |jobs| jobs as usize);
    check_limit(&estimate, jobs, estimate.sweep_bytes, LIMIT)?;
    let stop = output.stop()?;
    let mut folders = Vec::new();
    let mut cpu_s = [None; 2];
    for (on, cpu_s) in both.into_iter().zip(&mut cpu_s) {
        let name = default_out(&named.scenario, on);
        let own = name.file_name().map(PathBuf::from).unwrap_or_default();
        let out = args.out.as_ref().map_or(name.clone(), |out| out.join(own));
        let running = running(args, Some(out.clone()));
        let batch =
            run::one((named, on, Controls::none()), None, &running, jobs, false, &stop, output)?;
        if batch.is_interrupted {
            let text = format!(
                "interrupted: {} runs are finished and in {}; the same command continues",
                batch.records.count(),
                out.display()
            );
            return Err(LabError::Interrupted(text).into());
        }
        // Runs that were complete before have no CPU time in their files.
        let of_run = |place| batch.records.get(place).ok().and_then(|run| run.cpu_s);
        *cpu_s = (0..batch.records.count()).map(of_run).sum();
        folders.push(out);
    }
    Ok(Both { folders, cpu_s })
}

fn one(
    args: &CompareArgs,
    scenario: &Path,
    both: [&'static dyn Backend; 2],
    output: &mut Output,
) -> Verdict {
    let mut sets: Vec<String> = args.seeds.iter().map(|seeds| format!("repeat={seeds}")).collect();
    sets.extend(args.seed.iter().map(|seed| format!("seed={seed}")));
    let name = scenario.to_string_lossy();
    let mut found = open_named(&name, &sets, true, not_a_scenario)?;
    let Some(named) = found.pop().filter(|_| found.is_empty()) else {
        return Err(LabError::Usage(format!("{name}: expected one scenario")).into());
    };
    let Both { folders, cpu_s } = run_both(args, &named, both, output)?;
    let mut documents =
        folders.iter().map(|folder| read_results(folder)).collect::<Result<Vec<_>, _>>()?;
    let kernel = documents.pop().map(|it| it.runs).unwrap_or_default();
    let ours = documents.pop().map(|it| it.runs).unwrap_or_default();
    let points = compare_worlds(&ours, &kernel);
    let picture = overlay(&folders)?;
    if args.json {
        let mut document = document(both, &kernel, &points, &picture);
        document["cpu_s"] = json!(cpu_s);
        return output.json(&document);
    }
    let (_, mut comparison) = compared(&folders, output)?;
    comparison.keep(&args.metric).map_err(crate::compare::unknown)?;
    let names: Vec<String> = both.iter().map(|on| on.name().to_owned()).collect();
    output.text(&compare_table(&names, &comparison, look(args, output)))?;
    output.text(&format!("\n{}", describe(both, &kernel, &points)))?;
    if let [Some(one), Some(other)] = cpu_s {
        let [a, b] = both.map(Backend::name);
        let ratio = other / one.max(1e-9);
        output.text(&format!("CPU time: {a} {one:.3} s, {b} {other:.3} s, ratio {ratio:.0}\n"))?;
    }
    for file in picture {
        output.text(&format!("{}\n", file.display()))?;
    }
    Ok(())
}

/// Draws the kernel's run over ours, if the scenario has a single run.
fn overlay(folders: &[PathBuf]) -> Result<Vec<PathBuf>, LabError> {
    if folders.iter().any(|folder| read_results(folder).is_ok_and(|it| it.runs.len() > 1)) {
        return Ok(Vec::new());
    }
    plot_overlay(folders, None, &PlotChoice::default())
}

fn version(runs: &[RunSummary]) -> &str {
    runs.first().map_or("", |run| &run.backend_version)
}

fn point_text(point: &WorldsPoint) -> String {
    let keys = point.point.iter().map(|(key, value)| format!("{key} = {}", value_text(value)));
    keys.collect::<Vec<_>>().join(", ")
}

fn describe(both: [&dyn Backend; 2], kernel: &[RunSummary], points: &[WorldsPoint]) -> String {
    let mut text = String::new();
    for point in points {
        let keys = point_text(point);
        if !keys.is_empty() {
            text += &format!("{keys}\n\n");
        }
        let mut table = Table::new()
            .column("metric", "", Align::Left)
            .column("flow", "", Align::Right)
            .column(both[0].name(), "", Align::Right)
            .column(both[1].name(), "", Align::Right)
            .column("difference", "%", Align::Right)
            .column("verdict", "", Align::Left);
        for comparison in &point.comparisons {
            table.row(vec![
                comparison.metric.name().to_owned(),
                comparison.flow.map_or_else(String::new, |flow| flow.to_string()),
                figure(comparison.ours),
                figure(comparison.linux),
                format!("{:.2}", comparison.difference * 100.0),
                verdict(comparison).to_owned(),
            ]);
        }
        text += &table.render();
        text.push('\n');
    }
    let agree = points.iter().filter(|point| point.agrees()).count();
    let [one, other] = both.map(Backend::name);
    text + &format!(
        "{one} and {other} {} agree in all metrics at {agree} of {} points\n",
        version(kernel),
        points.len()
    )
}

fn document(
    both: [&dyn Backend; 2],
    kernel: &[RunSummary],
    points: &[WorldsPoint],
    picture: &[PathBuf],
) -> Value {
    let of_point = |point: &WorldsPoint| {
        let comparisons = point.comparisons.iter().map(|comparison| {
            json!({
                "metric": comparison.metric.name(),
                "flow": comparison.flow,
                both[0].name(): comparison.ours,
                both[1].name(): comparison.linux,
                "difference": comparison.difference,
                "agrees": comparison.passes(),
            })
        });
        json!({
            "point": point.point,
            "seeds": point.seeds,
            "comparisons": comparisons.collect::<Vec<_>>(),
            "agrees": point.agrees(),
        })
    };
    json!({
        "on": both.map(Backend::name),
        "version": version(kernel),
        "points": points.iter().map(of_point).collect::<Vec<_>>(),
        "pictures": picture,
    })
}

/// Draws scenarios, compares them, and makes those that differ smaller.
fn random(
    args: &CompareArgs,
    count: u64,
    both: [&'static dyn Backend; 2],
    output: &mut Output,
) -> Verdict {
    let seed = args.seed.unwrap_or(1);
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("bbrlab-runs"));
    let folder = folder.join(format!("random-{seed}"));
    fs::create_dir_all(&folder).map_err(|error| {
        LabError::Failed(format!(
            "cannot write {}: {}",
            folder.display(),
            bbrlab_lab::plain(&error)
        ))
    })?;
    let mut found = Vec::new();
    for number in 0..count {
        let drawn = RandomScenario::draw(seed, number, RANDOM_S);
        if let Some(outlier) = differs(args, &drawn, &folder, both, output)? {
            found.push(shrink(args, drawn, outlier, &folder, both, output)?);
        }
    }
    if args.json {
        let all = found.iter().map(|(file, smallest, outlier)| {
            json!({
                "scenario": smallest.name(),
                "file": file,
                "text": smallest.text(),
                "metric": outlier.metric,
                both[0].name(): outlier.ours,
                both[1].name(): outlier.kernel,
                "excess": outlier.excess,
            })
        });
        let outliers: Vec<Value> = all.collect();
        return output.json(&json!({ "seed": seed, "scenarios": count, "outliers": outliers }));
    }
    let mut table = Table::new()
        .column("scenario", "", Align::Left)
        .column("metric", "", Align::Left)
        .column(both[0].name(), "", Align::Right)
        .column(both[1].name(), "", Align::Right)
        .column("bounds", "", Align::Right)
        .column("smallest that differs", "", Align::Left);
    found.sort_by(|a, b| b.2.excess.total_cmp(&a.2.excess));
    for (file, smallest, outlier) in &found {
        table.row(vec![
            smallest.name().to_owned(),
            outlier.metric.to_owned(),
            figure(outlier.ours),
            figure(outlier.kernel),
            format!("{:.1}", outlier.excess),
            file.display().to_string(),
        ]);
    }
    if !found.is_empty() {
        output.text(&format!("{}\n", table.render()))?;
    }
    let agree = count - found.len() as u64;
    output.text(&format!("{agree} of {count} random scenarios of seed {seed} agree\n"))
}

/// Writes a scenario's file, runs it on both back ends and compares them.
fn differs(
    args: &CompareArgs,
    drawn: &RandomScenario,
    folder: &Path,
    both: [&'static dyn Backend; 2],
    output: &mut Output,
) -> Result<Option<Outlier>, Stopped> {
    let sets = [format!("repeat={}", args.seeds.unwrap_or(RANDOM_SEEDS))];
    let scenario = Scenario::parse(drawn.name(), drawn.name(), &drawn.text(), None, &sets)
        .map_err(LabError::Scenario)?;
    let named = Named { scenario, folder: None };
    write(&folder.join(format!("{}.toml", drawn.name())), &drawn.text())?;
    let own = CompareArgs { out: Some(folder.to_owned()), folders: Vec::new(), ..copy(args) };
    let folders = run_both(&own, &named, both, output)?.folders;
    let [ours, kernel] = [&folders[0], &folders[1]].map(|folder| read_results(folder));
    Ok(outlier(&ours?.runs, &kernel?.runs))
}

fn copy(args: &CompareArgs) -> CompareArgs {
    CompareArgs {
        folders: args.folders.clone(),
        on: args.on.clone(),
        seeds: args.seeds,
        random: args.random,
        seed: args.seed,
        out: args.out.clone(),
        jobs: args.jobs,
        quiet: args.quiet,
        paired: args.paired.clone(),
        metric: args.metric.clone(),
        wide: args.wide,
        json: args.json,
    }
}

/// Leaves out parts of a scenario as long as it still differs. Returns its file and the rest.
fn shrink(
    args: &CompareArgs,
    mut smallest: RandomScenario,
    mut worst: Outlier,
    folder: &Path,
    both: [&'static dyn Backend; 2],
    output: &mut Output,
) -> Result<(PathBuf, RandomScenario, Outlier), Stopped> {
    'smaller: loop {
        for smaller in smallest.smaller() {
            if let Some(outlier) = differs(args, &smaller, folder, both, output)? {
                (smallest, worst) = (smaller, outlier);
                continue 'smaller;
            }
        }
        break;
    }
    let file = folder.join(format!("{}.toml", smallest.name()));
    write(&file, &smallest.text())?;
    Ok((file, smallest, worst))
}

fn write(path: &Path, text: &str) -> Result<(), LabError> {
    fs::write(path, text).map_err(|error| {
        LabError::Failed(format!("cannot write {}: {}", path.display(), bbrlab_lab::plain(&error)))
    })
}
