//! Draws our version of the papers' figures and tables, in the papers' layout, from the measured
//! rows and from the runs with the first seed. `papers/study/` declares the layout.
//!
//! We know the papers' plots only from their captions and from the papers' text. If the panels,
//! points or axes of a plot are unknown, the note of our plot describes what our plot shows.

mod along;
mod cache;
pub(crate) mod declared;
mod grid;
mod names;
mod over_time;
mod place;
#[cfg(test)]
pub(super) mod tests;

use bbrlab_lab::LabError;
use bbrlab_report::{
    AbsentItem, Drawing, PaperItem, Plate, PlatePanel, Scale, Shown, plate_picture,
};

use self::cache::RunCache;
use self::declared::{Along, Body, Draws, Figure, Panel};
use super::Reproduced;
use crate::papers::{Experiment, Key, paper_of, papers};

/// Returns the figures of a paper, in the paper's order.
fn figures_of(paper: &str) -> &'static [Figure] {
    paper_of(paper).map_or(&[], |paper| &paper.study.figures)
}

/// Draws the figures and tables that the paper's file in `papers/study/` declares for an
/// experiment, from the experiment's rows and runs.
///
/// # Errors
/// Fails if the series of a run cannot be read.
pub(super) fn items(reproduced: &Reproduced) -> Result<Vec<PaperItem>, LabError> {
    let experiment = papers()
        .iter()
        .flat_map(|paper| &paper.experiments)
        .find(|experiment| experiment.id == reproduced.id)
        .expect("it was run");
    let paper = experiment.id.split('.').next().unwrap_or_default();
    let own = figures_of(paper).iter().filter(|figure| *figure.experiment == *experiment.of());
    own.map(|figure| item(experiment, reproduced, figure)).collect()
}

/// Returns the figures and tables that the report omits because their experiments were not run. A
/// paper is skipped if none of its experiments was run.
pub(super) fn absent(run: &[&Reproduced]) -> Vec<AbsentItem> {
    let mut absent = Vec::new();
    for paper in papers() {
        let is_of = |one: &&&Reproduced| one.id.starts_with(&format!("{}.", paper.key));
        if !run.iter().any(|one| is_of(&one)) {
            continue;
        }
        for figure in figures_of(&paper.key) {
            let is_run = |one: &&Reproduced| {
                one.id == *figure.experiment
                    || one.id.starts_with(&format!("{}.", &*figure.experiment))
            };
            if !run.iter().any(is_run) {
                absent.push(AbsentItem {
                    number: format!("{} {}", paper.key, figure.number),
                    title: figure.title.clone(),
                    command: format!("bbrlab reproduce {}", &*figure.experiment),
                });
            }
        }
    }
    absent
}

fn item(
    experiment: &Experiment,
    reproduced: &Reproduced,
    figure: &'static Figure,
) -> Result<PaperItem, LabError> {
    let absent = || Shown::Absent(format!("bbrlab reproduce {}", experiment.id));
    let shown = match &figure.body {
        Body::Table(of) => {
            grid::table(experiment, &reproduced.measured, of).map_or_else(absent, Shown::Table)
        }
        Body::Panels(columns, panels) => {
            let mut cache = RunCache::default();
            let mut drawn = Vec::new();
            for panel in panels {
                drawn.extend(panels_of(experiment, reproduced, panel, &mut cache)?);
            }
            if drawn.iter().all(|panel| panel.drawing.is_err()) {
                absent()
            } else {
                Shown::Picture(plate_picture(&Plate {
                    name: name_of(&experiment.id, &figure.number),
                    title: format!("{}. {}", figure.number, figure.title),
                    note: note_of(&drawn).to_owned(),
                    columns: *columns,
                    panels: drawn,
                }))
            }
        }
    };
    Ok(PaperItem {
        number: figure.number.clone(),
        title: figure.title.clone(),
        note: figure.note.clone(),
        shown,
    })
}

/// Returns the file name, without ending, of the picture of a figure.
fn name_of(experiment: &str, number: &str) -> String {
    let words = number.replace([',', '(', ')'], "").replace([' ', '.'], "-").to_lowercase();
    format!("{}-{words}", experiment.replace('.', "-"))
}

/// Returns the note below a figure: which runs its lines, discs or boxes show, and whether rings
/// show printed values.
fn note_of(panels: &[PlatePanel]) -> &'static str {
    let drawings = || panels.iter().flat_map(|panel| &panel.drawing);
    let is_printed = drawings().any(|drawing| match drawing {
        Drawing::Curves(of) | Drawing::Stacked(of) => {
            of.curves.iter().flat_map(|curve| &curve.points).any(|point| point.published.is_some())
        }
        Drawing::Boxes(boxes) => boxes.iter().any(|one| one.published.is_some()),
        Drawing::OverTime(of) => of.lines.iter().any(|line| !line.published.is_empty()),
    });
    match (drawings().next(), is_printed) {
        (Some(Drawing::OverTime(_)), false) => "the first seed",
        (Some(Drawing::OverTime(_)), true) => "the first seed; rings: as printed",
        (Some(Drawing::Boxes(_)), false) => "boxes: the flows of all seeds",
        (Some(Drawing::Boxes(_)), true) => {
            "boxes: the flows of all seeds; rings: mean and standard deviation as printed"
        }
        (Some(Drawing::Stacked(_)), _) => "medians over the seeds",
        (_, false) => {
            "discs: medians over the seeds, with their intervals; the paper prints no numbers"
        }
        (_, true) => "discs: medians over the seeds, with their intervals; rings: as printed",
    }
}

fn panels_of(
    experiment: &Experiment,
    reproduced: &Reproduced,
    panel: &Panel,
    cache: &mut RunCache,
) -> Result<Vec<PlatePanel>, LabError> {
    let rows = &reproduced.measured;
    let mut heres = match &panel.draws {
        Draws::Curves(along) | Draws::Stacked(along) => {
            along::panels(rows, along, &panel.at, &panel.each)
        }
        Draws::Boxes(_) => vec![Vec::new()],
        Draws::OverTime(_) => over_time::panels(&reproduced.runs, &panel.at, &panel.each),
    };
    if heres.is_empty() {
        heres.push(Vec::new());
    }
    let paper = experiment.id.split('.').next().unwrap_or_default();
    let mut drawn = Vec::new();
    for here in &heres {
        let found = match &panel.draws {
            Draws::Curves(along) | Draws::Stacked(along) => {
                let of = along::curves(experiment, rows, along, &panel.at, (&panel.each, here));
                let is_stacked = matches!(panel.draws, Draws::Stacked(_));
                let draw = if is_stacked { Drawing::Stacked } else { Drawing::Curves };
                (!of.curves.is_empty()).then(|| draw(of))
            }
            Draws::Boxes(along) => match along::boxes(experiment, rows, along, &panel.at) {
                Drawing::Boxes(boxes) if boxes.is_empty() => None,
                drawing => Some(drawing),
            },
            Draws::OverTime(of) => {
                let (each, at) = ((panel.each.as_slice(), here.as_slice()), &panel.at);
                over_time::lines(experiment, &reproduced.runs, of, at, each, cache)?
            }
        };
        let why = || format!("not run here: bbrlab reproduce {}", experiment.id);
        drawn.push(framed(experiment, panel, describe(paper, panel, here), found.ok_or_else(why)));
    }
    Ok(drawn)
}

/// Returns a panel's title: the declared title, and the values of the keys that distinguish the
/// panel from other panels with the same declaration.
fn describe(paper: &str, panel: &Panel, here: &[Key]) -> String {
    let parts = [panel.title.clone(), names::joined(paper, &panel.each, here)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

fn framed(
    experiment: &Experiment,
    panel: &Panel,
    title: String,
    drawing: Result<Drawing, String>,
) -> PlatePanel {
    let of_metric = |along: &Along| {
        let x_title = names::heading(&along.key);
        (x_title, names::metric(&experiment.id, &along.metric), along.scale)
    };
    let (x_title, y_title, scale) = match &panel.draws {
        Draws::Curves(along) | Draws::Stacked(along) | Draws::Boxes(along) => of_metric(along),
        Draws::OverTime(of) => {
            let scale =
                if over_time::is_far_from_zero(of) { Scale::Around } else { Scale::FromZero };
            ("time, s".to_owned(), over_time::title_of(of).to_owned(), scale)
        }
    };
    // Panels for different bottleneck rates have separate y axes.
    let rate = panel.at.get("bandwidth_mbps");
    let shared = format!("{y_title} {rate:?}");
    PlatePanel { title, x_title, y_title, shared, scale, drawing }
}
