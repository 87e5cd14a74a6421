//! `bbrlab compare --on`: a scenario on two back ends, such as the simulator and a real kernel.

use std::path::{Path, PathBuf};

use bbrlab_lab::{
    Backend, LabError, PlotChoice, check_backend, check_installed, open_named, path_of_run,
    plot_overlay, read_results,
};
use bbrlab_linux::{WorldsPoint, compare_worlds, explain_differences};
use bbrlab_papers::not_a_scenario;
use bbrlab_report::{Align, Table, compare_table, value_text};
use bbrlab_run::RunSummary;
use serde_json::{Value, json};

use crate::args::CompareArgs;
use crate::compare::{compared, look};
use crate::output::{Output, Verdict};
use crate::run;
use crate::run_on::run_on;
use crate::validate_linux::{figure, verdict};

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
    both.into_iter().try_for_each(check_installed)?;
    match (args.random, args.folders.as_slice()) {
        (Some(count), _) => crate::random_worlds::random(args, count, both, output),
        (None, [scenario]) => one(args, scenario, both, output),
        (None, found) => {
            Err(LabError::Usage(format!("expected one scenario with --on, found {}", found.len()))
                .into())
        }
    }
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
    let plugins = run::load(&args.plugin)?;
    let sets = run::with_plugins(&name, &sets, &plugins);
    let mut found = open_named(&name, &sets, true, not_a_scenario)?;
    let Some(named) = found.pop().filter(|_| found.is_empty()) else {
        return Err(LabError::Usage(format!("{name}: expected one scenario")).into());
    };
    run::check_plugins(std::slice::from_ref(&named), &plugins)?;
    // Nothing is run if one of the back ends cannot run the scenario.
    for on in both {
        check_backend(&named.scenario, on)?;
    }
    let of = |on| run_on(args, &named, on, args.out.as_deref(), args.quiet, output);
    let ran = both.into_iter().map(of).collect::<Result<Vec<_>, _>>()?;
    let cpu_s = [ran[0].cpu_s, ran[1].cpu_s];
    let folders: Vec<PathBuf> = ran.into_iter().map(|ran| ran.folder).collect();
    let mut documents =
        folders.iter().map(|folder| read_results(folder)).collect::<Result<Vec<_>, _>>()?;
    let kernel = documents.pop().map(|it| it.runs).unwrap_or_default();
    let ours = documents.pop().map(|it| it.runs).unwrap_or_default();
    let points = compare_worlds(&ours, &kernel);
    let pairs = pairs(&points, &folders, [&ours, &kernel]);
    let pictures = overlays(&pairs, folders.last().map(PathBuf::as_path))?;
    let note = |text: &str, output: &mut Output| {
        if !args.quiet {
            output.note(text);
        }
    };
    if let Some(left_out) = left_out(&pairs) {
        note(&left_out, output);
    }
    if let Some(text) = single_seeds(both, &points) {
        note(&text, output);
    }
    let is_exact = named.scenario.run(0).stack.clock_step.0 <= 1;
    if is_exact
        && both.iter().any(|on| on.name() == "linux")
        && !points.iter().all(WorldsPoint::agrees)
    {
        note(STEPS, output);
    }
    if args.json {
        let mut document = document(both, &kernel, &points, &pictures);
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
    for file in pictures {
        output.text(&format!("{}\n", file.display()))?;
    }
    Ok(())
}

/// The note about differences that the steps of the kernel's clock may explain. With a buffer of a
/// few packets, these steps decide whether a packet arrives before or after another one departs.
const STEPS: &str = "the kernel's clock has steps, the simulator's has none: before you rely on a difference, add \
                     `clock_step = \"256ns\"` to `[stack]`, which imitates the steps";

/// The maximum number of plots of a comparison. If a sweep has more points, only the first points
/// have plots.
const PLOTS_MAX: usize = 12;

/// Draws a plot for each of the first [`PLOTS_MAX`] pairs, with the runs on both back ends in the
/// same charts. Returns the plots' files.
fn overlays(pairs: &[[PathBuf; 2]], out: Option<&Path>) -> Result<Vec<PathBuf>, LabError> {
    let mut files = Vec::new();
    for pair in pairs.iter().take(PLOTS_MAX) {
        files.extend(plot_overlay(pair, out, &PlotChoice::default())?.files);
    }
    Ok(files)
}

/// For each compared sweep point, returns the folders of the point's first run on the first and on
/// the second back end.
fn pairs(
    points: &[WorldsPoint],
    folders: &[PathBuf],
    runs: [&[RunSummary]; 2],
) -> Vec<[PathBuf; 2]> {
    let first = |point: &WorldsPoint, place: usize| {
        let run = runs[place].iter().find(|run| run.point == point.point)?;
        Some(path_of_run(&folders[place], run))
    };
    points.iter().filter_map(|point| Some([first(point, 0)?, first(point, 1)?])).collect()
}

/// Returns the note about the sweep points for which no plot is drawn; `None` if each point has a
/// plot.
fn left_out(pairs: &[[PathBuf; 2]]) -> Option<String> {
    let [one, other] = pairs.get(PLOTS_MAX)?.each_ref().map(|path| path.display());
    Some(format!(
        "plots show the first {PLOTS_MAX} of {} points; for another point: bbrlab plot --overlay {one} {other}",
        pairs.len()
    ))
}

/// Returns the note that one seed is not enough to tell differences by chance from differences
/// between the back ends; `None` if every sweep point has several seeds on the first back end.
fn single_seeds(both: [&dyn Backend; 2], points: &[WorldsPoint]) -> Option<String> {
    let single = |place: usize| points.iter().any(|point| point.seeds[place] == 1);
    let names: Vec<&str> =
        (0..2).filter(|&place| single(place)).map(|place| both[place].name()).collect();
    (!names.is_empty() && single(0)).then(|| {
        format!(
            "one seed on {}: metrics that depend on chance can differ between any two seeds, and with one \
             seed, a verdict cannot tell such a difference from a difference between the back ends; use `--seeds 5`",
            names.join(" and ")
        )
    })
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
            .column("beyond seeds", "%", Align::Right)
            .column("tolerance", "%", Align::Right)
            .column("verdict", "", Align::Left);
        for comparison in &point.comparisons {
            table.row(vec![
                comparison.metric.name().to_owned(),
                comparison.flow.map_or_else(String::new, |flow| flow.to_string()),
                figure(comparison.ours),
                figure(comparison.linux),
                format!("{:.2}", comparison.difference * 100.0),
                format!("{:.0}", comparison.metric.tolerance() * 100.0),
                verdict(comparison).to_owned(),
            ]);
        }
        text += &table.render();
        text.push('\n');
    }
    let agree = points.iter().filter(|point| point.agrees()).count();
    let [one, other] = both.map(Backend::name);
    if !points.is_empty() {
        text += &explain_differences(other);
        text.push('\n');
    }
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
                "tolerance": comparison.metric.tolerance(),
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
