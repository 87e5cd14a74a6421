//! Draws two runs in one plot, the second over the first.

use std::path::{Path, PathBuf};

use bbrlab_backends::LabError;
use bbrlab_report::{
    Labels, OVERLAY_FLOWS_MAX, Overlay, Recording, RunPanel, Shape, overlay_panels,
    overlay_picture, value_text,
};
use bbrlab_run::{FlowSummary, RunSummary};

use crate::named::{Kind, results_in};
use crate::own_plots::Draw;
use crate::picture_files::{Format, Plots, RunFiles, read_run_files, shared_link, write_formats};
use crate::picture_names::{check_groups, entries_in_full};

/// The user's choices for a plot of two runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OverlayChoice {
    pub(crate) panels: Vec<RunPanel>,
    pub(crate) from_s: Option<f64>,
    pub(crate) to_s: Option<f64>,
    /// The groups of flows that are drawn; all if empty.
    pub(crate) groups: Vec<String>,
    pub(crate) shape: Shape,
    pub(crate) labels: Labels,
    pub(crate) formats: Vec<Format>,
    /// The text at the end of the plots' file names.
    pub(crate) ending: String,
    /// Whether the plot is drawn, and which existing files it may replace.
    pub(crate) draw: Draw,
}

/// Draws the second run over the first in one plot. Writes the plot into `out`, or into the second
/// run's folder if `out` is `None`.
pub(crate) fn plot_two(
    folders: [&Path; 2],
    out: Option<&Path>,
    choice: &OverlayChoice,
) -> Result<Plots, LabError> {
    if choice.panels.contains(&RunPanel::State) {
        let reason = "--overlay: the panel `state` cannot show two runs; omit it from --panels";
        return Err(LabError::Usage(reason.to_owned()));
    }
    let (below_path, above_path) = (single_run(folders[0])?, single_run(folders[1])?);
    let (below, above) = (read_run_files(&below_path)?, read_run_files(&above_path)?);
    let longest = below.summary.sim_s.max(above.summary.sim_s);
    let time = (choice.from_s.unwrap_or(0.0), choice.to_s.unwrap_or(longest).min(longest));
    if time.0 >= time.1 {
        return Err(LabError::Usage(format!(
            "--from {} s is not before the end of the plot, {} s",
            time.0, time.1
        )));
    }
    let usage = LabError::Usage;
    check_groups(&choice.groups, [&below.summary, &above.summary]).map_err(usage)?;
    if !choice.groups.is_empty() && choice.panels.iter().all(|panel| *panel == RunPanel::Queue) {
        let reason = "--group: expected a panel of flows, found a queue, where the packets of all flows wait";
        return Err(LabError::Usage(reason.to_owned()));
    }
    let is_drawn =
        |flow: &&FlowSummary| choice.groups.is_empty() || choice.groups.contains(&flow.group);
    let flows = shared_flows(&below.summary, &above.summary, is_drawn);
    let count = |of: &RunFiles| of.summary.flows.iter().filter(is_drawn).count();
    let all = count(&below).max(count(&above));
    let panels =
        overlay_panels(&choice.panels, &flows, recording(&below)?, recording(&above)?, time);
    let [below_name, above_name] = distinct_labels(&below, &above)
        .unwrap_or_else(|| [name_of(&below_path), name_of(&above_path)]);
    let overlay = Overlay {
        name: format!("overlay-{}", name_of(&below_path)),
        title: if below.title() == above.title() {
            below.title()
        } else {
            format!("{}  ·  {}", below.title(), above.title())
        },
        facts: facts(&below.summary, &above.summary, flows.len(), all),
        below: below_name,
        above: above_name,
        start_s: time.0,
        end_s: time.1,
        shape: choice.shape,
        labels: choice.labels.clone(),
        panels,
    };
    let mut picture = overlay_picture(&overlay).map_err(usage)?;
    let labels = entries_in_full(&choice.labels, std::slice::from_ref(&picture)).map_err(usage)?;
    if labels != overlay.labels {
        picture = overlay_picture(&Overlay { labels, ..overlay }).map_err(usage)?;
    }
    picture.name.push_str(&choice.ending);
    write_formats(out.unwrap_or(&above_path), &[picture], &choice.formats, choice.draw)
}

/// Returns the text under the title: the swept values, if they are equal in both runs; and the
/// number of shown flows, if some flows are not shown.
fn facts(below: &RunSummary, above: &RunSummary, shown: usize, all: usize) -> String {
    let mut facts: Vec<String> = Vec::new();
    if below.point == above.point {
        facts.extend(
            below.point.iter().map(|(key, value)| format!("{key} = {}", value_text(value))),
        );
    }
    if all > shown {
        facts.push(format!("the first {shown} of {all} flows are shown"));
    }
    facts.join("  ·  ")
}

/// Returns the folder of the run that `folder` contains. Returns an error for a sweep or for
/// several results.
fn single_run(folder: &Path) -> Result<PathBuf, LabError> {
    let results = results_in(folder)?;
    match results.as_slice() {
        [one] if one.kind == Kind::Run => Ok(one.path.clone()),
        _ => Err(LabError::Usage(format!(
            "{}: --overlay draws single runs, and this is a sweep: name the folder of one of its runs",
            folder.display()
        ))),
    }
}

fn name_of(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns labels for two runs from the first property in which the runs differ: scenario, back
/// end, swept values, algorithms, seed. `None` if all are equal. Names of folders would be less
/// readable labels, because folder names end in hashes.
fn distinct_labels(below: &RunFiles, above: &RunFiles) -> Option<[String; 2]> {
    let (one, other) = (&below.summary, &above.summary);
    if one.scenario != other.scenario {
        return Some([one.scenario.clone(), other.scenario.clone()]);
    }
    if one.backend != other.backend {
        return Some([one, other].map(|of| format!("{} {}", of.backend, of.backend_version)));
    }
    let values = |of: &RunSummary, against: &RunSummary| -> Vec<String> {
        let differs = of.point.iter().filter(|(key, value)| against.point.get(*key) != Some(value));
        differs.map(|(key, value)| format!("{key} {}", value_text(value))).collect()
    };
    let algorithms = |of: &RunSummary| -> Vec<String> {
        let mut names: Vec<String> = of.flows.iter().map(|flow| flow.cc.clone()).collect();
        names.dedup();
        names
    };
    let both = [(values(one, other), values(other, one)), (algorithms(one), algorithms(other))];
    let mut differing = both
        .into_iter()
        .filter(|(one, other)| one != other && !one.is_empty() && !other.is_empty());
    if let Some((one, other)) = differing.next() {
        return Some([one.join(", "), other.join(", ")]);
    }
    (one.seed != other.seed).then(|| [one.seed, other.seed].map(|seed| format!("seed {seed}")))
}

/// Returns the flows that both runs have, matched by number, because the runs may use different
/// algorithms. A flow is drawn if it is in a chosen group in at least one run.
fn shared_flows(
    below: &RunSummary,
    above: &RunSummary,
    is_drawn: impl Fn(&&FlowSummary) -> bool,
) -> Vec<(u32, String)> {
    let pairs = below.flows.iter().zip(&above.flows);
    let drawn = pairs.filter(|(one, other)| is_drawn(one) || is_drawn(other));
    drawn
        .take(OVERLAY_FLOWS_MAX)
        .map(|(one, other)| {
            let name = if one.name == other.name && one.cc == other.cc {
                format!("{} {}", one.id, one.cc)
            } else {
                format!("{} {} / {}", one.id, one.cc, other.cc)
            };
            (one.id, name)
        })
        .collect()
}

fn recording(files: &RunFiles) -> Result<Recording<'_>, LabError> {
    let link = shared_link(&files.summary)
        .map_or(Ok(0), |(at, _)| u32::try_from(at))
        .map_err(|_| LabError::Usage("more links than can be numbered".to_owned()))?;
    Ok(Recording { series: &files.series, queue: &files.queue, link })
}
