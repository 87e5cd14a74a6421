//! `bbrlab validate linux`: compares the simulator's results with results recorded on a Linux host,
//! for each test point (a scenario on one kernel).

use std::path::PathBuf;

use bbrlab_lab::{Backend, LabError, SIMULATOR, check_installed, processors};
use bbrlab_linux::{
    AIMS, CwndAgreement, LinuxComparison, LinuxOptions, LinuxPoint, LinuxReport, Metric,
    MetricSummary, Pictures, explain_differences, summarise, validate_linux, write_overlays,
};
use bbrlab_report::{Align, Table};
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::output::{Output, Stopped, Verdict, value};
use crate::progress::Bar;

/// Number of plots that are drawn if `--out` is given without `--pictures` and `--picture`.
const PICTURES: usize = 5;

#[derive(Args, Debug)]
pub(crate) struct LinuxArgs {
    /// Folders with a reference: summary.csv and, to compare cwnd and to draw plots, time series
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Compare only scenarios whose names contain one of these texts
    #[arg(long, value_name = "PART", num_args = 1..)]
    only: Vec<String>,
    /// Back end that computes our runs. Points that the back end does not support are left out
    #[arg(long, value_name = "BACKEND", value_parser = bbrlab_lab::backend)]
    on: Option<&'static dyn Backend>,
    /// Number of seeds with which bbrlab runs each scenario of the reference
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Runs in parallel [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    jobs: Option<u32>,
    /// Folder for plots of both stacks, one drawn over the other
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of plots; the scenarios that differ most are drawn
    #[arg(long, value_name = "N", requires = "out", default_value_t = PICTURES)]
    pictures: usize,
    /// Draw plots of these scenarios instead
    #[arg(long, value_name = "SCENARIO", num_args = 1.., requires = "out", conflicts_with = "pictures")]
    picture: Vec<String>,
    /// Print results only: no progress bar, no notes
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn validate(args: &LinuxArgs, output: &mut Output) -> Verdict {
    args.on.map_or(Ok(()), check_installed)?;
    let stop = output.stop()?;
    let options = LinuxOptions {
        only: args.only.clone(),
        seeds: Some(args.seeds),
        on: args.on.filter(|on| on.name() != SIMULATOR.name()),
        jobs: args.jobs.map_or_else(processors, |jobs| jobs as usize),
        stop,
    };
    let bar = Bar::new("validate linux", args.quiet);
    let report = validate_linux(&args.dirs, &options, |progress| bar.show(progress));
    bar.end();
    let report = report.map_err(|error| LabError::Usage(error.to_string()))?;
    if args.json {
        output.json(&document(&report))?;
    } else {
        output.text(&describe(&report))?;
    }
    if report.is_interrupted {
        let text = format!("interrupted; {} test points were compared", report.points.len());
        return Err(LabError::Interrupted(text).into());
    }
    if let Some(out) = &args.out {
        let which = if args.picture.is_empty() {
            Pictures::Worst(args.pictures)
        } else {
            Pictures::Named(args.picture.clone())
        };
        let files = write_overlays(&args.dirs, &options, &report, &which, out)?;
        if !args.quiet {
            output.note(&format!("{} plots in {}", files.len() / 2, out.display()));
        }
    }
    if aims(&report).iter().all(|(_, _, holds)| *holds) { Ok(()) } else { Err(Stopped::Status(1)) }
}

/// Returns each aim for the agreement with Linux, if the aim's metric was measured: its text, the
/// measured value, and whether the aim holds.
fn aims(report: &LinuxReport) -> Vec<(String, f64, bool)> {
    AIMS.iter()
        .filter_map(|aim| {
            let (metric, summary) = report.summary.iter().find(|(m, _)| *m == aim.metric)?;
            let words = format!("{} {}", metric.name(), aim.figure.name());
            Some((words, aim.of(summary), aim.holds(summary)))
        })
        .collect()
}

fn describe(report: &LinuxReport) -> String {
    let mut text = String::new();
    let mut kernels: Vec<&str> = Vec::new();
    for point in &report.points {
        if !kernels.contains(&point.kernel.as_str()) {
            kernels.push(&point.kernel);
        }
    }
    for kernel in kernels {
        let points = || report.points.iter().filter(|point| point.kernel == kernel);
        text.push_str(&format!("kernel {kernel}\n\n{}\n", points_table(points())));
        let cwnd = cwnd_table(points());
        if !cwnd.is_empty() {
            text.push_str(&format!("cwnd, kernel {kernel}\n\n{}\n", cwnd.render()));
        }
    }
    text.push_str(&explain_differences("Linux"));
    text.push('\n');
    for (scenario, reason) in &report.skipped {
        text.push_str(&format!("skipped: {scenario}: {reason}\n"));
    }
    if !report.skipped.is_empty() {
        text.push('\n');
    }
    text.push_str(&families_table(report).render());
    text.push('\n');
    text.push_str(&summary_table(&report.summary).render());
    text.push('\n');
    if let Some((points, summary)) = bbr_under_early_drops(report) {
        text.push_str(&format!(
            "{points} of these points have BBR under a queue or policer that drops early\n\n{}\n",
            summary_table(&summary).render()
        ));
    }
    for (words, figure, holds) in aims(report) {
        let verdict = if holds { "holds" } else { "fails" };
        let bound =
            AIMS.iter().find(|aim| words == format!("{} {}", aim.metric.name(), aim.figure.name()));
        let bound = bound.map_or(0.0, |aim| aim.bound);
        let sign = if words.ends_with("within") { "at least" } else { "at most" };
        text.push_str(&format!("{verdict}: {words} {figure:.4}, {sign} {bound}\n"));
    }
    let cwnd: Vec<CwndAgreement> = report.points.iter().filter_map(|point| point.cwnd).collect();
    if !cwnd.is_empty() {
        let near = cwnd.iter().filter(|agreement| agreement.passes()).count();
        text.push_str(&format!(
            "cwnd: at {near} of {} points, bbrlab's cwnd is within 2 packets or 5 % of Linux's at {:.0} % or more of \
             Linux's samples\n",
            cwnd.len(),
            CwndAgreement::AIM * 100.0
        ));
    }
    text
}

fn points_table<'a>(points: impl Iterator<Item = &'a LinuxPoint>) -> String {
    let mut table = Table::new()
        .column("scenario", "", Align::Left)
        .column("metric", "", Align::Left)
        .column("flow", "", Align::Right)
        .column("bbrlab", "", Align::Right)
        .column("Linux", "", Align::Right)
        .column("beyond seeds", "%", Align::Right)
        .column("tolerance", "%", Align::Right)
        .column("verdict", "", Align::Left);
    for point in points {
        for comparison in &point.comparisons {
            table.row(vec![
                point.scenario.clone(),
                comparison.metric.name().to_owned(),
                comparison.flow.map_or_else(String::new, |flow| flow.to_string()),
                figure(comparison.ours),
                figure(comparison.linux),
                format!("{:.2}", comparison.difference * 100.0),
                format!("{:.0}", comparison.metric.tolerance() * 100.0),
                verdict(comparison).to_owned(),
            ]);
        }
    }
    table.render()
}

fn cwnd_table<'a>(points: impl Iterator<Item = &'a LinuxPoint>) -> Table {
    let mut table = Table::new()
        .column("scenario", "", Align::Left)
        .column("samples", "", Align::Right)
        .column("seeds", "", Align::Right)
        .column("near", "%", Align::Right)
        .column("verdict", "", Align::Left);
    for point in points {
        if let Some(cwnd) = point.cwnd {
            table.row(vec![
                point.scenario.clone(),
                cwnd.samples.to_string(),
                cwnd.seeds.to_string(),
                format!("{:.1}", cwnd.share * 100.0),
                if cwnd.passes() { "near" } else { "off" }.to_owned(),
            ]);
        }
    }
    table
}

/// Returns a table of the differences from Linux, with a row for each family of scenarios. A cell
/// has two differences of a metric: the 95th percentile and the largest.
fn families_table(report: &LinuxReport) -> Table {
    let shown = [
        Metric::Goodput,
        Metric::MeanRtt,
        Metric::MeanQueue,
        Metric::Retransmissions,
        Metric::Jain,
        Metric::Fct,
    ];
    let mut table = Table::new().column("family", "p95, worst in %", Align::Left).column(
        "points",
        "",
        Align::Right,
    );
    for metric in shown {
        let unit = if metric == Metric::Jain { "/100" } else { "" };
        table = table.column(metric.name(), unit, Align::Right);
    }
    let mut families: Vec<&str> = report.points.iter().map(|p| p.family.as_str()).collect();
    families.sort_unstable();
    families.dedup();
    for family in families {
        let points: Vec<&LinuxPoint> =
            report.points.iter().filter(|point| point.family == family).collect();
        let summary = summarise(points.iter().copied());
        let mut row = vec![family.to_owned(), points.len().to_string()];
        for metric in shown {
            let of_it = summary.iter().find(|(m, _)| *m == metric);
            row.push(of_it.map_or_else(String::new, |(_, s)| {
                format!("{:.1}, {:.1}", s.p95 * 100.0, s.worst * 100.0)
            }));
        }
        table.row(row);
    }
    table
}

/// Returns the number and the summary of the test points at which a BBR flow crosses a bottleneck
/// that drops packets before its buffer is full. These points are also shown in a separate table,
/// because BBR tolerates many such drops. BBRv1 reduces its rate only if it detects a policer;
/// BBRv2 and BBRv3 respond only above a loss rate of 2 %.
fn bbr_under_early_drops(report: &LinuxReport) -> Option<(usize, Vec<(Metric, MetricSummary)>)> {
    let points: Vec<&LinuxPoint> =
        report.points.iter().filter(|point| point.is_bbr_under_early_drops).collect();
    (!points.is_empty()).then(|| (points.len(), summarise(points.iter().copied())))
}

fn summary_table(summary: &[(Metric, MetricSummary)]) -> Table {
    let mut table = Table::new()
        .column("metric", "", Align::Left)
        .column("n", "", Align::Right)
        .column("median", "%", Align::Right)
        .column("p95", "%", Align::Right)
        .column("worst", "%", Align::Right)
        .column("tolerance", "%", Align::Right)
        .column("within", "% of n", Align::Right);
    let percent = |share: f64| format!("{:.2}", share * 100.0);
    for (metric, summary) in summary {
        table.row(vec![
            metric.name().to_owned(),
            summary.n.to_string(),
            percent(summary.median),
            percent(summary.p95),
            percent(summary.worst),
            format!("{:.0}", metric.tolerance() * 100.0),
            format!("{:.1}", summary.within * 100.0),
        ]);
    }
    table
}

pub(crate) fn verdict(comparison: &LinuxComparison) -> &'static str {
    if comparison.passes() { "agrees" } else { "differs" }
}

/// Formats a value with about four significant digits. The number of decimals is not fixed, because
/// goodputs, milliseconds and counts share a column.
pub(crate) fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// The JSON document that `validate linux --json` prints.
#[derive(Serialize)]
struct Document<'a> {
    points: Vec<OfPoint<'a>>,
    skipped: Vec<Skipped<'a>>,
    summary: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bbr_under_early_drops: Option<Map<String, Value>>,
}

#[derive(Serialize)]
struct OfPoint<'a> {
    kernel: &'a str,
    scenario: &'a str,
    family: &'a str,
    cc: &'a [String],
    linux_seeds: usize,
    metrics: Vec<OfComparison>,
    cwnd: Option<OfCwnd>,
}

#[derive(Serialize)]
struct OfComparison {
    metric: &'static str,
    flow: Option<usize>,
    ours: f64,
    linux: f64,
    difference: f64,
    tolerance: f64,
    verdict: &'static str,
}

#[derive(Serialize)]
struct OfCwnd {
    samples: usize,
    seeds: u64,
    near: f64,
}

#[derive(Serialize)]
struct Skipped<'a> {
    scenario: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct OfMetric {
    n: usize,
    median: Option<f64>,
    p95: Option<f64>,
    worst: Option<f64>,
}

fn document(report: &LinuxReport) -> Document<'_> {
    let skipped = report.skipped.iter().map(|(scenario, reason)| Skipped { scenario, reason });
    Document {
        points: report.points.iter().map(of_point).collect(),
        skipped: skipped.collect(),
        summary: by_metric(&report.summary),
        bbr_under_early_drops: bbr_under_early_drops(report)
            .map(|(_, summary)| by_metric(&summary)),
    }
}

fn by_metric(summary: &[(Metric, MetricSummary)]) -> Map<String, Value> {
    let in_few_points = [Metric::Marks, Metric::SecondDrops, Metric::SecondUtilization];
    let metrics = Metric::ALL.into_iter().filter(|metric| !in_few_points.contains(metric));
    let entries = metrics.map(|metric| {
        let of_it = summary.iter().find(|(m, _)| *m == metric).map(|(_, s)| *s);
        let of_it = OfMetric {
            n: of_it.map_or(0, |s| s.n),
            median: of_it.map(|s| s.median),
            p95: of_it.map(|s| s.p95),
            worst: of_it.map(|s| s.worst),
        };
        (metric.name().to_owned(), value(of_it))
    });
    entries.collect()
}

fn of_point(point: &LinuxPoint) -> OfPoint<'_> {
    let metrics = point.comparisons.iter().map(|c| OfComparison {
        metric: c.metric.name(),
        flow: c.flow,
        ours: c.ours,
        linux: c.linux,
        difference: c.difference,
        tolerance: c.metric.tolerance(),
        verdict: verdict(c),
    });
    OfPoint {
        kernel: &point.kernel,
        scenario: &point.scenario,
        family: &point.family,
        cc: &point.cc,
        linux_seeds: point.linux_seeds,
        metrics: metrics.collect(),
        cwnd: point.cwnd.map(|cwnd| OfCwnd {
            samples: cwnd.samples,
            seeds: cwnd.seeds,
            near: cwnd.share,
        }),
    }
}
