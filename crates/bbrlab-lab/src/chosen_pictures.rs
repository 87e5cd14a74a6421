//! Pictures to one's own taste: the panels, figures, times, sizes and formats that somebody chose.

use std::path::{Path, PathBuf};

use bbrlab_report::{
    CdfInput, CdfSample, Picture, RunChoice, RunPanel, Shape, SweepChoice, cdf_picture,
    chosen_run_picture, chosen_sweep_pictures,
};
use bbrlab_run::{RunSummary, Transfers};
use bbrlab_scenario::read_span;
use bbrlab_units::Span;

use crate::error::LabError;
use crate::named::{Kind, Results, folders_in, results_in};
use crate::overlaid::{OverlayChoice, PANELS, plot_two};
use crate::papers::papers;
use crate::picture_files::{
    Format, RunFiles, document_of_sweep, plot, read_columns, read_run_files, title_of_sweep,
    write_formats,
};
use crate::run_folder::{SUMMARY_JSON, TRANSFERS_PARQUET};

/// What somebody wants to see. The default is what `run` draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlotChoice {
    /// Panels of a run's picture, by name.
    pub panels: Vec<String>,
    /// Figures of a sweep's picture.
    pub metrics: Vec<String>,
    /// The figure along the axis of a sweep's picture, in place of a swept key.
    pub against: Option<String>,
    /// The swept key along the axis.
    pub x: Option<String>,
    /// The swept key that colours tell apart.
    pub by: Option<String>,
    /// Where the time axis of a run begins: `5s`.
    pub from: Option<String>,
    /// Where it ends.
    pub to: Option<String>,
    /// Width and height: `84x60mm`.
    pub size: Option<String>,
    /// `svg`, `png`, `pdf`.
    pub formats: Vec<String>,
    /// Distributions: `fct`, `rtt`, `queue`.
    pub cdf: Vec<String>,
}

impl PlotChoice {
    fn of_runs(&self) -> bool {
        !self.panels.is_empty() || self.from.is_some() || self.to.is_some()
    }

    fn of_sweeps(&self) -> bool {
        !self.metrics.is_empty()
            || self.against.is_some()
            || self.x.is_some()
            || (self.by.is_some() && self.cdf.is_empty())
    }

    /// What the names of the pictures' files end in, so that chosen pictures do not replace the usual ones.
    fn ending(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.panels.iter().cloned());
        // A picture of one figure against another has both in its name.
        parts.extend(self.metrics.iter().filter(|_| self.against.is_none()).cloned());
        parts.extend(self.by.iter().map(|by| format!("by-{by}")));
        parts.extend(self.from.iter().map(|from| format!("from-{from}")));
        parts.extend(self.to.iter().map(|to| format!("to-{to}")));
        parts.extend(self.size.iter().cloned());
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let mut ending = String::new();
        for part in &parts {
            ending.push('-');
            ending.extend(part.chars().map(plain));
        }
        ending
    }
}

/// Draws the pictures of the results in a folder as somebody chose; returns the files' names.
///
/// # Errors
/// If a choice is unknown or does not fit the results, or a file is damaged.
pub fn plot_as(
    folder: &Path,
    out: Option<&Path>,
    choice: &PlotChoice,
) -> Result<Vec<PathBuf>, LabError> {
    if *choice == PlotChoice::default() {
        return plot(folder, out);
    }
    let chosen = Chosen::new(choice)?;
    let mut files = Vec::new();
    for results in results_in(folder)? {
        let mut pictures = chosen.pictures(&results).map_err(|reason| match reason {
            Reason::Choice(reason) => {
                let of_paper = figure_of_a_paper(&reason).unwrap_or_default();
                LabError::Usage(format!("{}: {reason}{of_paper}", results.path.display()))
            }
            Reason::Lab(error) => error,
        })?;
        for picture in &mut pictures {
            picture.name.push_str(&choice.ending());
        }
        let target = out.map_or_else(|| results.path.clone(), |out| out.join(&results.below));
        files.extend(write_formats(&target, &pictures, &chosen.formats)?);
    }
    if files.is_empty() {
        return Err(LabError::Usage(format!("{}: nothing is swept here", folder.display())));
    }
    Ok(files)
}

/// Where a figure stands that only a paper's tables have, if that is what was not known.
fn figure_of_a_paper(reason: &str) -> Option<String> {
    let name = reason.strip_prefix("unknown metric `")?.split('`').next()?;
    let paper = papers().iter().find(|paper| paper.metrics.iter().any(|own| own.id == name))?;
    Some(format!(
        "; `{name}` is a figure of {key}'s tables, which `bbrlab reproduce {key}` prints",
        key = paper.key
    ))
}

/// Draws the second run on top of the first; returns the files' names.
///
/// # Errors
/// If there are not two single runs, a choice is unknown or does not fit them, or a file is damaged.
pub fn plot_overlay(
    folders: &[PathBuf],
    out: Option<&Path>,
    choice: &PlotChoice,
) -> Result<Vec<PathBuf>, LabError> {
    let [below, above] = folders else {
        return Err(LabError::Usage(format!(
            "--overlay: expected the folders of two runs, found {}",
            folders.len()
        )));
    };
    if choice.of_sweeps() || !choice.cdf.is_empty() || choice.by.is_some() {
        let reason = "--overlay draws two runs over time; --metric, --against, --x, --by and --cdf are for other pictures";
        return Err(LabError::Usage(reason.to_owned()));
    }
    let Chosen { run, formats, .. } = Chosen::new(choice)?;
    let panels = if choice.panels.is_empty() { PANELS.to_vec() } else { run.panels };
    let choice = OverlayChoice {
        panels,
        from_s: run.from_s,
        to_s: run.to_s,
        shape: run.shape,
        formats,
        ending: choice.ending(),
    };
    plot_two([below, above], out, &choice)
}

/// Why a picture cannot be drawn.
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

/// A choice that has been read.
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
        let sweep = SweepChoice {
            metrics: choice.metrics.clone(),
            against: choice.against.clone(),
            x: choice.x.clone(),
            by: choice.by.clone(),
            shape,
        };
        Ok(Self { choice, run: RunChoice { panels, from_s, to_s, shape }, sweep, formats, cdf })
    }

    fn pictures(&self, results: &Results) -> Result<Vec<Picture>, Reason> {
        if !self.cdf.is_empty() {
            return self.cdf.iter().map(|&of| self.distribution(results, of)).collect();
        }
        match results.kind {
            Kind::Run if self.choice.of_sweeps() => {
                Err("this is a single run, and --metric, --against, --x and --by are for sweeps".to_owned().into())
            }
            Kind::Run => {
                let files = read_run_files(&results.path)?;
                Ok(vec![chosen_run_picture(&files.input(), &self.run)?])
            }
            Kind::Sweep if self.choice.of_runs() => Err(
                "this is a sweep, and --panels, --from and --to are for single runs: name the folder of one"
                    .to_owned()
                    .into(),
            ),
            Kind::Sweep => {
                let document = document_of_sweep(&results.path)?;
                let title = title_of_sweep(&results.path, &document);
                Ok(chosen_sweep_pictures(&title, &document.runs, &self.sweep)?)
            }
        }
    }

    fn distribution(&self, results: &Results, of: Distribution) -> Result<Picture, Reason> {
        let folders: Vec<PathBuf> = match results.kind {
            Kind::Run => vec![results.path.clone()],
            Kind::Sweep => {
                let runs =
                    folders_in(&results.path).into_iter().map(|name| results.path.join(name));
                runs.filter(|folder| folder.join(SUMMARY_JSON).is_file()).collect()
            }
        };
        let mut read = Vec::new();
        for folder in folders {
            let files = read_run_files(&folder)?;
            let samples = self.samples(&folder, &files, of)?;
            read.push((files, samples));
        }
        // Folders lie in the order of their names, the runs in that of the sweep; another's may lie among them.
        if results.kind == Kind::Sweep {
            let order = document_of_sweep(&results.path)?.runs;
            let place = |run: &RunSummary| {
                let is_it = |other: &RunSummary| {
                    other.scenario_hash == run.scenario_hash && other.seed == run.seed
                };
                order.iter().position(is_it)
            };
            read.retain(|(files, _)| place(&files.summary).is_some());
            if read.len() < order.len() {
                let shown = results.path.display();
                return Err(LabError::Usage(format!(
                    "{shown}: the folders of {} of its {} runs are missing; bbrlab run {shown} computes them again",
                    order.len() - read.len(),
                    order.len()
                ))
                .into());
            }
            read.sort_by_key(|(files, _)| place(&files.summary));
        }
        let title = read.first().map_or_else(String::new, |(files, _)| files.title());
        let mut runs = Vec::new();
        let mut samples = Vec::new();
        for (run, (files, of_run)) in read.into_iter().enumerate() {
            samples.extend(of_run.into_iter().map(|sample| CdfSample { run, ..sample }));
            runs.push(files.summary);
        }
        Ok(cdf_picture(&CdfInput {
            name: format!("cdf-{}", of.name()),
            title: &title,
            of: of.title(),
            without: "not completed",
            runs: &runs,
            samples,
            by: self.choice.by.clone(),
            shape: self.run.shape,
        })?)
    }

    /// The values of a run, a sample for each group of flows.
    fn samples(
        &self,
        folder: &Path,
        files: &RunFiles,
        of: Distribution,
    ) -> Result<Vec<CdfSample>, Reason> {
        let summary = &files.summary;
        let mut samples: Vec<CdfSample> = Vec::new();
        let mut add = |group: &str, value: Option<f64>| {
            let place =
                samples.iter().position(|sample| sample.group == group).unwrap_or_else(|| {
                    let group = group.to_owned();
                    samples.push(CdfSample { run: 0, group, values: Vec::new(), without: 0 });
                    samples.len() - 1
                });
            match value {
                Some(value) => samples[place].values.push(value),
                None => samples[place].without += 1,
            }
        };
        let group_of = |flow: u32| summary.flows.get(flow as usize).map_or("", |flow| &flow.group);
        let is_shown = |time_s: f64| {
            self.run.from_s.is_none_or(|from_s| time_s >= from_s)
                && self.run.to_s.is_none_or(|to_s| time_s <= to_s)
        };
        match of {
            Distribution::Fct => {
                if !folder.join(TRANSFERS_PARQUET).exists() {
                    let reason =
                        "no transfers here: completion times need flows with `bytes` or `train`";
                    return Err(reason.to_owned().into());
                }
                let transfers = read_columns(
                    folder,
                    TRANSFERS_PARQUET,
                    Transfers::FIGURES,
                    Transfers::from_columns,
                )?;
                for row in (0..transfers.len()).filter(|&row| is_shown(transfers.start_s[row])) {
                    let fct_ms = transfers.fct_s[row].map(|fct_s| fct_s * 1e3);
                    add(group_of(transfers.flow[row]), fct_ms);
                }
            }
            Distribution::Rtt => {
                let series = &files.series;
                for row in (0..series.len()).filter(|&row| is_shown(series.time_s[row])) {
                    if let Some(rtt_us) = series.rtt_us[row] {
                        add(group_of(series.flow[row]), Some(f64::from(rtt_us) / 1e3));
                    }
                }
            }
            Distribution::Queue => {
                let queue = &files.queue;
                let shared = summary.links.iter().position(|link| link.name == "bottleneck");
                let shared =
                    shared.or_else(|| summary.links.iter().position(|link| !link.is_private()));
                let Some(at) = shared else {
                    return Err("no flows share a link here".to_owned().into());
                };
                let name = &summary.links[at].name;
                let link = files.run.links.iter().find(|link| link.name == *name);
                // Before and after all traffic the queue is empty for a trivial reason.
                let starts = summary.flows.iter().map(|flow| flow.start_s);
                let ends = summary.flows.iter().map(|flow| flow.stop_s);
                let busy = starts.fold(f64::INFINITY, f64::min)..=ends.fold(0.0, f64::max);
                let of_link = (0..queue.len()).filter(|&row| queue.link[row] as usize == at);
                for row in of_link.filter(|&row| busy.contains(&queue.time_s[row])) {
                    let rate = link.and_then(|link| {
                        link.rate.at(bbrlab_units::Time(nanoseconds(queue.time_s[row])))
                    });
                    if let (Some(bytes), Some(rate)) = (queue.bytes[row].0, rate)
                        && is_shown(queue.time_s[row])
                        && rate.0 > 0
                    {
                        #[expect(clippy::cast_precision_loss, reason = "for a picture")]
                        add(name, Some(bytes as f64 * 8e3 / rate.0 as f64));
                    }
                }
            }
        }
        Ok(samples)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times of a run")]
fn nanoseconds(time_s: f64) -> u64 {
    (time_s * 1e9).round() as u64
}

/// Of what there are distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distribution {
    Fct,
    Rtt,
    Queue,
}

impl Distribution {
    const NAMED: &[(&str, Self)] =
        &[("fct", Self::Fct), ("rtt", Self::Rtt), ("queue", Self::Queue)];

    fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, of)| *of == self).map_or("", |(name, _)| name)
    }

    fn title(self) -> &'static str {
        match self {
            Self::Fct => "completion time, ms",
            Self::Rtt => "RTT, ms",
            Self::Queue => "queue delay, ms",
        }
    }
}

/// The things of those names.
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

/// A time as scenarios write it; without a unit, seconds.
fn seconds(flag: &str, text: &str) -> Result<f64, String> {
    let bare = text.trim().parse::<f64>().ok().filter(|s| s.is_finite() && *s >= 0.0);
    match bare {
        Some(seconds) => Ok(seconds),
        None => read_span(text)
            .map(Span::as_secs_f64)
            .map_err(|found| format!("{flag}: expected a time such as 5s or 500ms, {found}")),
    }
}

/// A size: on paper in mm, cm or in, on a screen in px.
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
        return Err(format!("--size: expected sides of {what}, found `{text}`"));
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
