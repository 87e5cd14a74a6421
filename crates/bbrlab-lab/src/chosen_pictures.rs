//! Draws plots with the panels, metrics, times, sizes and formats that the user chose.

use std::path::{Path, PathBuf};

use bbrlab_backends::LabError;
use bbrlab_report::{
    CdfInput, CdfSample, Labels, OVERLAY_PANELS, Picture, RunChoice, RunPanel, Shape, SweepChoice,
    cdf_picture, chosen_run_picture, chosen_sweep_pictures, runs_where, where_words, which_runs,
};
use bbrlab_run::{Delays, RunSummary, Transfers};
use bbrlab_scenario::read_span;
use bbrlab_units::Span;

use crate::named::{Kind, OtherMeaning, Results, folders_in, results_in};
use crate::overlaid::{OverlayChoice, plot_two};
use crate::own_plots::Draw;
use crate::picture_files::{
    Format, Plots, document_of_sweep, plot, read_columns, read_delays, read_document,
    read_run_files, shared_link, title_of_sweep, write_formats,
};
use crate::picture_names::{check_groups, entries_in_full};
use crate::run_folder::{DELAYS_PARQUET, SCENARIO, SUMMARY_JSON, TRANSFERS_PARQUET, damaged};
use crate::scenario_files::read_kept_scenario;

/// The user's choices for a plot. The default choices give the plot that `bbrlab run` draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlotChoice {
    /// The names of the panels of a run's picture; the usual panels if the list is empty.
    pub panels: Vec<String>,
    /// The metrics of a sweep's picture; the default metrics if the list is empty.
    pub metrics: Vec<String>,
    /// The metric on the x axis of a sweep's picture, instead of a swept key.
    pub against: Option<String>,
    /// The metrics of which heat maps are drawn instead of the sweep's usual picture.
    pub heatmap: Vec<String>,
    /// Values of swept keys, each as `KEY=VALUE`. Only the runs of a sweep with these values are
    /// drawn.
    pub only: Vec<String>,
    /// The swept key on the x axis; `None` for the default key.
    pub x: Option<String>,
    /// The swept key whose values have different colours; with heat maps, the key on the y axis.
    pub by: Option<String>,
    /// The start of a run's time axis, such as `5s`; `None` for the start of the run.
    pub from: Option<String>,
    /// The end of a run's time axis, such as `10s`; `None` for the end of the run.
    pub to: Option<String>,
    /// The width and height of the picture, such as `84x60mm`.
    pub size: Option<String>,
    /// The file formats: `svg`, `png`, `pdf`.
    pub formats: Vec<String>,
    /// The quantities whose distributions are drawn: `fct`, `rtt`, `queue`, `delay`,
    /// `path_queue_delay`.
    pub cdf: Vec<String>,
    /// The groups of flows that are drawn; all if empty.
    pub groups: Vec<String>,
    /// Whether each dot of a scatter plot is labelled with the value of the key along which lines
    /// join the dots.
    pub dot_labels: bool,
    /// The texts that replace the default title, axis names and legends.
    pub labels: Labels,
    /// Whether to overwrite files that bbrlab did not draw.
    pub force: bool,
}

impl PlotChoice {
    fn of_runs(&self) -> bool {
        !self.panels.is_empty() || self.from.is_some() || self.to.is_some()
    }

    fn of_sweeps(&self) -> bool {
        !self.metrics.is_empty()
            || self.against.is_some()
            || !self.heatmap.is_empty()
            || !self.only.is_empty()
            || self.dot_labels
            || self.x.is_some()
            || (self.by.is_some() && self.cdf.is_empty())
    }

    /// Returns the text at the end of the plots' file names. This text contains the user's choices,
    /// so that chosen plots do not overwrite the default plots.
    fn ending(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.panels.iter().cloned());
        // With `against`, the plot's name already contains the two metrics.
        parts.extend(self.metrics.iter().filter(|_| self.against.is_none()).cloned());
        let by = self.by.iter().filter(|_| self.heatmap.is_empty());
        parts.extend(by.map(|by| format!("by-{by}")));
        parts.extend(self.only.iter().map(|only| format!("where-{only}")));
        parts.extend(self.from.iter().map(|from| format!("from-{from}")));
        parts.extend(self.to.iter().map(|to| format!("to-{to}")));
        parts.extend(self.groups.iter().map(|group| format!("group-{group}")));
        parts.extend(self.size.iter().cloned());
        if self.dot_labels || self.labels != Labels::default() {
            parts.push("labelled".to_owned());
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let mut ending = String::new();
        for part in &parts {
            ending.push('-');
            ending.extend(part.chars().map(plain));
        }
        ending
    }
}

/// Draws the plots of the results in a folder as the user chose. The message about an unknown
/// metric includes the text that `known` returns.
///
/// # Errors
/// Fails if a choice is unknown or does not fit the results, a file is damaged, or a file that
/// bbrlab did not draw is in the way.
pub fn plot_as(
    folder: &Path,
    out: Option<&Path>,
    choice: &PlotChoice,
    known: OtherMeaning,
) -> Result<Plots, LabError> {
    let draw = Draw::of(true, choice.force);
    if *choice == (PlotChoice { force: choice.force, ..PlotChoice::default() }) {
        return plot(folder, out, draw);
    }
    let chosen = Chosen::new(choice)?;
    let mut plots = Plots::default();
    for results in results_in(folder)? {
        let drawn = chosen.pictures(&results).and_then(|pictures| {
            let labels = entries_in_full(&choice.labels, &pictures)?;
            if labels == choice.labels {
                return Ok(pictures);
            }
            let in_full = PlotChoice { labels, ..choice.clone() };
            Chosen::new(&in_full)?.pictures(&results)
        });
        let mut pictures = drawn.map_err(|reason| match reason {
            Reason::Choice(reason) => {
                let elsewhere = other_meaning(&reason, known).unwrap_or_default();
                LabError::Usage(format!("{}: {reason}{elsewhere}", results.path.display()))
            }
            Reason::Lab(error) => error,
        })?;
        for picture in &mut pictures {
            picture.name.push_str(&choice.ending());
        }
        let target = out.map_or_else(|| results.path.clone(), |out| out.join(&results.below));
        plots.add(write_formats(&target, &pictures, &chosen.formats, draw)?);
    }
    if plots.files.is_empty() {
        return Err(LabError::Usage(format!(
            "{}: this sweep has no swept key, so there is nothing to plot",
            folder.display()
        )));
    }
    Ok(plots)
}

/// Returns a text for the error message `reason`, if `reason` says that a metric is unknown. The
/// text describes what else has the metric's name, such as a paper; the function `known` finds it.
/// Returns `None` for other messages, and if nothing else has this name.
fn other_meaning(reason: &str, known: OtherMeaning) -> Option<String> {
    let name = reason.strip_prefix("unknown metric `")?.split('`').next()?;
    Some(format!("; {}", known(name)?))
}

/// Draws the second run over the first in one plot.
///
/// # Errors
/// Fails if the folders are not two single runs, a choice is unknown or does not fit the runs,
/// or a file is damaged.
pub fn plot_overlay(
    folders: &[PathBuf],
    out: Option<&Path>,
    choice: &PlotChoice,
) -> Result<Plots, LabError> {
    let [below, above] = folders else {
        return Err(LabError::Usage(format!(
            "--overlay: expected the folders of two runs, found {} folders",
            folders.len()
        )));
    };
    if choice.of_sweeps() || !choice.cdf.is_empty() || choice.by.is_some() {
        let reason = "--overlay draws two runs over time and cannot be combined with --metric, --against, --heatmap, --x, --by, --where, --dot-labels or --cdf";
        return Err(LabError::Usage(reason.to_owned()));
    }
    let Chosen { run, formats, .. } = Chosen::new(choice)?;
    let panels = if choice.panels.is_empty() { OVERLAY_PANELS.to_vec() } else { run.panels };
    let choice = OverlayChoice {
        panels,
        from_s: run.from_s,
        to_s: run.to_s,
        groups: run.groups,
        shape: run.shape,
        labels: run.labels,
        formats,
        ending: choice.ending(),
        draw: Draw::of(true, choice.force),
    };
    plot_two([below, above], out, &choice)
}

/// The reason why a plot cannot be drawn.
enum Reason {
    Choice(String),
    Lab(LabError),
}

impl From<LabError> for Reason {
    fn from(error: LabError) -> Self {
        Self::Lab(error)
    }
}

impl From<String> for Reason {
    fn from(reason: String) -> Self {
        Self::Choice(reason)
    }
}

/// The user's choices for a plot, with their texts parsed.
struct Chosen<'a> {
    choice: &'a PlotChoice,
    run: RunChoice,
    sweep: SweepChoice,
    formats: Vec<Format>,
    cdf: Vec<Distribution>,
}

impl<'a> Chosen<'a> {
    fn new(choice: &'a PlotChoice) -> Result<Self, LabError> {
        let usage = LabError::Usage;
        let shape = choice.size.as_deref().map_or(Ok(Shape::SCREEN), size).map_err(usage)?;
        let panels = if choice.panels.is_empty() {
            RunPanel::USUAL.to_vec()
        } else {
            named("--panels", &choice.panels, RunPanel::NAMED).map_err(usage)?
        };
        let time = |flag: &str, text: &Option<String>| {
            text.as_deref().map(|text| seconds(flag, text)).transpose().map_err(usage)
        };
        let (from_s, to_s) = (time("--from", &choice.from)?, time("--to", &choice.to)?);
        let formats = if choice.formats.is_empty() {
            vec![Format::Svg, Format::Png]
        } else {
            named("--format", &choice.formats, Format::NAMED).map_err(usage)?
        };
        let cdf = named("--cdf", &choice.cdf, Distribution::NAMED).map_err(usage)?;
        let (groups, labels) = (choice.groups.clone(), choice.labels.clone());
        let sweep = SweepChoice {
            metrics: choice.metrics.clone(),
            against: choice.against.clone(),
            heatmap: choice.heatmap.clone(),
            x: choice.x.clone(),
            by: choice.by.clone(),
            groups: groups.clone(),
            only: String::new(),
            dot_labels: choice.dot_labels,
            shape,
            labels: labels.clone(),
        };
        let run = RunChoice { panels, from_s, to_s, groups, shape, labels };
        Ok(Self { choice, run, sweep, formats, cdf })
    }

    fn pictures(&self, results: &Results) -> Result<Vec<Picture>, Reason> {
        if !self.cdf.is_empty() {
            if results.kind == Kind::Run && !self.choice.only.is_empty() {
                return Err("this is a single run; --where needs a sweep".to_owned().into());
            }
            self.check_cdf()?;
            return self.cdf.iter().map(|&of| self.distribution(results, of)).collect();
        }
        match results.kind {
            Kind::Run if self.choice.of_sweeps() => {
                Err("this is a single run; --metric, --against, --heatmap, --x, --by, --where and --dot-labels need a sweep".to_owned().into())
            }
            Kind::Run => {
                let files = read_run_files(&results.path)?;
                check_groups(&self.choice.groups, [&files.summary])?;
                Ok(vec![chosen_run_picture(&files.input(), &self.run)?])
            }
            Kind::Sweep if self.choice.of_runs() => Err(
                "this is a sweep; --panels, --from and --to need a single run: name the folder of one"
                    .to_owned()
                    .into(),
            ),
            Kind::Sweep => {
                let document = document_of_sweep(&results.path)?;
                // A heat map also accepts names such as `flows[0]`, which mean the same flows at
                // all sweep points. No group in the results has such a name, so the groups of a
                // heat map are not checked here.
                if self.choice.heatmap.is_empty() {
                    check_groups(&self.choice.groups, &document.runs)?;
                }
                let title = title_of_sweep(&results.path, &document);
                let runs = runs_where(&document.runs, &self.choice.only)?;
                let only = where_words(&document.runs, &self.choice.only)?;
                let choice = SweepChoice { only, ..self.sweep.clone() };
                Ok(chosen_sweep_pictures(&title, &runs, &choice)?)
            }
        }
    }

    /// Checks that the user's other choices can be combined with `--cdf`, which draws
    /// distributions.
    fn check_cdf(&self) -> Result<(), String> {
        if self.choice.dot_labels {
            return Err(
                "--dot-labels: expected a scatter, which --metric and --against draw, found --cdf"
                    .to_owned(),
            );
        }
        if self.choice.labels.x.is_some() && self.cdf.len() > 1 {
            return Err(format!(
                "--xlabel: expected one distribution, found {}: each has a different quantity on the x axis",
                self.choice.cdf.join(", ")
            ));
        }
        if !self.choice.groups.is_empty() && self.cdf.contains(&Distribution::Queue) {
            return Err("--group: expected --cdf fct or --cdf rtt, found queue, where the packets of all flows wait".to_owned());
        }
        Ok(())
    }

    fn distribution(&self, results: &Results, of: Distribution) -> Result<Picture, Reason> {
        if of != Distribution::Fct && (self.run.from_s.is_some() || self.run.to_s.is_some()) {
            return Err(format!(
                "--cdf {} shows whole runs, like the percentiles in tables; only --cdf fct allows --from and --to",
                of.name()
            )
            .into());
        }
        let (runs, only) = self.chosen_runs(results)?;
        let Some((folder, summary)) = runs.first() else {
            return Err("no run is complete yet".to_owned().into());
        };
        check_groups(&self.choice.groups, runs.iter().map(|(_, summary)| summary))?;
        let title = title_of(folder, summary)?;
        let link = shared_link(summary).map(|(_, name)| name);
        let axis = match of {
            Distribution::Fct => "completion time, ms".to_owned(),
            Distribution::Rtt => "RTT, ms".to_owned(),
            Distribution::Delay => "one-way delay, ms".to_owned(),
            Distribution::PathQueue => "queue delay over the path, ms".to_owned(),
            Distribution::Queue => {
                format!(
                    "queue delay at {}, ms",
                    link.ok_or("this run has no link that several flows share".to_owned())?
                )
            }
        };
        let mut samples = Vec::new();
        for (run, (folder, summary)) in runs.iter().enumerate() {
            let of_run = match of {
                Distribution::Fct => self.completion_times(folder, summary)?,
                Distribution::Rtt => rtts(folder, summary)?,
                Distribution::Delay => delays(folder, summary)?,
                Distribution::PathQueue => path_queue_delays(folder, summary)?,
                Distribution::Queue => queue_delays(folder, summary)?,
            };
            let of_run = of_run.ok_or_else(|| {
                let shown = results.path.display();
                LabError::Usage(format!(
                    "{} has no {DELAYS_PARQUET}, because an earlier version wrote the run; `bbrlab run {shown}` adds it",
                    folder.display()
                ))
            })?;
            let is_drawn = |sample: &CdfSample| {
                self.choice.groups.is_empty() || self.choice.groups.contains(&sample.group)
            };
            let drawn = of_run.into_iter().filter(is_drawn);
            samples.extend(drawn.map(|sample| CdfSample { run, ..sample }));
        }
        let summaries: Vec<RunSummary> = runs.into_iter().map(|(_, summary)| summary).collect();
        Ok(cdf_picture(&CdfInput {
            name: format!("cdf-{}", of.name()),
            title: &title,
            of: &axis,
            counted: match of {
                Distribution::Fct => "transfers",
                Distribution::Delay => "messages",
                Distribution::Rtt | Distribution::Queue | Distribution::PathQueue => "packets",
            },
            without: "not completed",
            runs: &summaries,
            samples,
            by: self.choice.by.clone(),
            only: &only,
            shape: self.run.shape,
            labels: self.choice.labels.clone(),
        })?)
    }

    /// Returns the runs that have the chosen values of swept keys, each with its folder, and a text
    /// with these values. The list is empty if no run is complete.
    fn chosen_runs(
        &self,
        results: &Results,
    ) -> Result<(Vec<(PathBuf, RunSummary)>, String), Reason> {
        let (folders, runs): (Vec<PathBuf>, Vec<RunSummary>) =
            runs_with_folders(results)?.into_iter().unzip();
        if runs.is_empty() {
            return Ok((Vec::new(), String::new()));
        }
        let only = where_words(&runs, &self.choice.only)?;
        let is_chosen = which_runs(&runs, &self.choice.only)?;
        let all = folders.into_iter().zip(runs).zip(is_chosen);
        Ok((all.filter(|(_, is_chosen)| *is_chosen).map(|(run, _)| run).collect(), only))
    }

    /// Returns the completion times of a run's transfers, one [`CdfSample`] for each group of
    /// flows.
    fn completion_times(
        &self,
        folder: &Path,
        summary: &RunSummary,
    ) -> Result<Option<Vec<CdfSample>>, Reason> {
        if !folder.join(TRANSFERS_PARQUET).exists() {
            let reason = "no transfers here: completion times need flows with `bytes`, `train`, \
                          `requests`, `video` or `arrivals`";
            return Err(reason.to_owned().into());
        }
        let transfers =
            read_columns(folder, TRANSFERS_PARQUET, Transfers::FIGURES, Transfers::from_columns)?;
        let is_shown = |time_s: f64| {
            self.run.from_s.is_none_or(|from_s| time_s >= from_s)
                && self.run.to_s.is_none_or(|to_s| time_s <= to_s)
        };
        let mut samples: Vec<CdfSample> = Vec::new();
        for row in (0..transfers.len()).filter(|&row| is_shown(transfers.start_s[row])) {
            let flow = summary.flows.get(transfers.flow[row] as usize);
            let group = flow.map_or("", |flow| &flow.group);
            let place = samples.iter().position(|sample| sample.group == group);
            let place = place.unwrap_or_else(|| {
                samples.push(sample(group, Vec::new()));
                samples.len() - 1
            });
            match transfers.fct_s[row] {
                Some(fct_s) => samples[place].values.push((fct_s * 1e3, 1)),
                None => samples[place].without += 1,
            }
        }
        Ok(Some(samples))
    }
}

/// Returns the runs in a folder of results, each with the run's own folder, in the order of the
/// sweep.
fn runs_with_folders(results: &Results) -> Result<Vec<(PathBuf, RunSummary)>, LabError> {
    let of_run = |folder: PathBuf| {
        let run = read_document(&folder)?.runs.into_iter().next();
        let run = run.ok_or_else(|| damaged(&folder.join(SUMMARY_JSON), "it contains no run"))?;
        Ok::<_, LabError>((folder, run))
    };
    if results.kind == Kind::Run {
        return Ok(vec![of_run(results.path.clone())?]);
    }
    let order = document_of_sweep(&results.path)?.runs;
    let folders = folders_in(&results.path).into_iter().map(|name| results.path.join(name));
    let mut found = Vec::new();
    // The folders are sorted by name instead of in the order of the sweep, and may include folders
    // of runs that do not belong to the sweep.
    for folder in folders.filter(|folder| folder.join(SUMMARY_JSON).is_file()) {
        let (folder, run) = of_run(folder)?;
        let is_it =
            |other: &RunSummary| other.scenario_hash == run.scenario_hash && other.seed == run.seed;
        if let Some(place) = order.iter().position(is_it) {
            found.push((place, folder, run));
        }
    }
    if found.len() < order.len() {
        let shown = results.path.display();
        return Err(LabError::Usage(format!(
            "{shown}: the folders of {} of its {} runs are missing; `bbrlab run {shown}` computes them again",
            order.len() - found.len(),
            order.len()
        )));
    }
    found.sort_by_key(|(place, ..)| *place);
    Ok(found.into_iter().map(|(_, folder, run)| (folder, run)).collect())
}

/// Creates a sample for a distribution. `group` is the name of the link or of the group of flows at
/// which the sample was measured. `values` lists each measured value with the number of times it
/// was measured.
fn sample(group: &str, values: Vec<(f64, u64)>) -> CdfSample {
    CdfSample { run: 0, group: group.to_owned(), values, without: 0 }
}

/// Reads the times that packets waited in the queue of the link that [`shared_link`] chooses.
/// Returns `None` if these times were measured but not stored.
fn queue_delays(folder: &Path, summary: &RunSummary) -> Result<Option<Vec<CdfSample>>, LabError> {
    let Some((at, name)) = shared_link(summary) else { return Ok(Some(Vec::new())) };
    let waited: Vec<_> = read_delays(folder)?.of(Delays::QUEUE_DELAY, at).collect();
    let is_kept = !waited.is_empty() || summary.links[at].queue_delay_ms.p50.is_none();
    Ok(is_kept.then(|| vec![sample(name, waited)]))
}

/// Reads the round-trip times of packets, for each group of flows that has such times. Returns
/// `None` if round-trip times were measured but not stored.
fn rtts(folder: &Path, summary: &RunSummary) -> Result<Option<Vec<CdfSample>>, LabError> {
    let delays = read_delays(folder)?;
    let measured = summary.flow_groups.iter().enumerate().filter(|(_, of)| of.rtt_ms.p95.is_some());
    let samples: Vec<CdfSample> = measured
        .map(|(at, of)| sample(&of.group, delays.of(Delays::GROUP_RTT, at).collect()))
        .collect();
    Ok(Some(samples).filter(|all| all.iter().all(|sample| !sample.values.is_empty())))
}

/// Reads the one-way delays of messages, for each group of flows that has such delays; `None` if
/// the delays were measured but not stored.
fn delays(folder: &Path, summary: &RunSummary) -> Result<Option<Vec<CdfSample>>, Reason> {
    let measured = summary.flow_groups.iter().enumerate();
    let measured: Vec<_> = measured.filter(|(_, of)| of.delay_ms.n > Some(0)).collect();
    if measured.is_empty() {
        let reason = "no delays of messages here: they are measured for datagrams (`cc = \"udp\"`) \
                      and for flows with `latency = true` or `late`";
        return Err(reason.to_owned().into());
    }
    let delays = read_delays(folder)?;
    let samples = measured
        .into_iter()
        .map(|(at, of)| sample(&of.group, delays.of(Delays::GROUP_DELAY, at).collect()));
    let samples: Vec<CdfSample> = samples.collect();
    Ok(Some(samples).filter(|all| all.iter().all(|sample| !sample.values.is_empty())))
}

/// Reads the queueing delays of packets over the whole path, for each group of flows that has such
/// delays; `None` if the delays were measured but not stored.
fn path_queue_delays(
    folder: &Path,
    summary: &RunSummary,
) -> Result<Option<Vec<CdfSample>>, Reason> {
    let measured = summary.flow_groups.iter().enumerate();
    let measured: Vec<_> =
        measured.filter(|(_, of)| of.path_queue_delay_ms.p50.is_some()).collect();
    if measured.is_empty() {
        let reason = "no queue delays over paths here: they are measured for flows with \
                      `latency = true`";
        return Err(reason.to_owned().into());
    }
    let delays = read_delays(folder)?;
    let samples = measured
        .into_iter()
        .map(|(at, of)| sample(&of.group, delays.of(Delays::GROUP_QUEUE_DELAY, at).collect()));
    let samples: Vec<CdfSample> = samples.collect();
    Ok(Some(samples).filter(|all| all.iter().all(|sample| !sample.values.is_empty())))
}

/// Returns the title of a run's scenario or, if it has no title, the scenario's name.
fn title_of(folder: &Path, summary: &RunSummary) -> Result<String, LabError> {
    if summary.is_measured() {
        return Ok(summary.scenario.clone());
    }
    let scenario = read_kept_scenario(&folder.join(SCENARIO), &[])?;
    let title = if scenario.title().is_empty() { &summary.scenario } else { scenario.title() };
    Ok(title.to_owned())
}

/// A quantity whose distribution can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distribution {
    Fct,
    Rtt,
    Queue,
    Delay,
    PathQueue,
}

impl Distribution {
    const NAMED: &[(&str, Self)] = &[
        ("fct", Self::Fct),
        ("rtt", Self::Rtt),
        ("queue", Self::Queue),
        ("delay", Self::Delay),
        ("path_queue_delay", Self::PathQueue),
    ];

    fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, of)| *of == self).map_or("", |(name, _)| name)
    }
}

/// Returns the values in `known` that have these names. `flag` is the command-line flag for the
/// message about an unknown name.
fn named<T: Copy>(flag: &str, names: &[String], known: &[(&str, T)]) -> Result<Vec<T>, String> {
    let one = |name: &String| {
        let found = known.iter().find(|(known, _)| known == name);
        found.map(|&(_, thing)| thing).ok_or_else(|| {
            let all: Vec<&str> = known.iter().map(|&(name, _)| name).collect();
            format!("{flag}: unknown `{name}`; known are {}", all.join(", "))
        })
    };
    names.iter().map(one).collect()
}

/// Parses a time as scenarios write it. A number without a unit is in seconds.
fn seconds(flag: &str, text: &str) -> Result<f64, String> {
    let bare = text.trim().parse::<f64>().ok().filter(|s| s.is_finite() && *s >= 0.0);
    match bare {
        Some(seconds) => Ok(seconds),
        None => read_span(text)
            .map(Span::as_secs_f64)
            .map_err(|found| format!("{flag}: expected a time such as 5s or 500ms, {found}")),
    }
}

/// Parses the size of a plot: in `mm`, `cm` or `in` (inches) for paper, or in `px` for a screen.
fn size(text: &str) -> Result<Shape, String> {
    let wrong = || format!("--size: expected a size such as 84x60mm or 1600x900px, found `{text}`");
    let units = [("mm", 1.0), ("cm", 10.0), ("in", 25.4), ("px", 0.0)];
    let unit = units.iter().find_map(|&(unit, mm)| Some((text.strip_suffix(unit)?, mm)));
    let (numbers, mm) = unit.ok_or_else(wrong)?;
    let (width, height) = numbers.split_once('x').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let (width, height) = number(width).zip(number(height)).ok_or_else(wrong)?;
    let (least, most, what) = if mm == 0.0 {
        (200.0, 10_000.0, "200 to 10000 px")
    } else {
        (30.0, 1500.0, "30 to 1500 mm")
    };
    let factor = if mm == 0.0 { 1.0 } else { mm };
    if [width, height].iter().any(|side| !(least..=most).contains(&(side * factor))) {
        return Err(format!("--size: expected width and height of {what}, found `{text}`"));
    }
    Ok(if mm == 0.0 { Shape::pixels(width, height) } else { Shape::paper(width * mm, height * mm) })
}

#[cfg(test)]
mod tests {
    use super::{seconds, size};
    use bbrlab_report::Shape;

    #[test]
    fn sizes_and_times_are_read_or_refused_with_an_example() {
        assert_eq!(size("84x60mm"), Ok(Shape::paper(84.0, 60.0)));
        assert_eq!(size("8.4x6cm"), Ok(Shape::paper(84.0, 60.0)));
        assert_eq!(size("1600x900px"), Ok(Shape::pixels(1600.0, 900.0)));
        for wrong in ["84", "84x60", "84x", "axbmm", "1x1mm", "infx2mm"] {
            assert!(size(wrong).is_err_and(|told| told.contains(wrong)), "{wrong}");
        }
        assert_eq!(seconds("--from", "500ms"), Ok(0.5));
        assert_eq!(seconds("--from", "2"), Ok(2.0));
        assert!(
            seconds("--to", "soon").is_err_and(|told| told.contains("--to") && told.contains("5s"))
        );
    }
}
