//! Plots of cwnd, RTT, throughput and queue. Each panel shows both Linux's run with seed 1 and our
//! first run.

use std::path::{Path, PathBuf};

use bbrlab_lab::{Draw, LabError, write_pictures};
use bbrlab_report::{
    Labels, OVERLAY_FLOWS_MAX, OVERLAY_PANELS, Overlay, Picture, Recording, Shape, overlay_panels,
    overlay_picture,
};
use bbrlab_run::Run;

use super::reference::ReferencePoint;
use super::{LinuxError, LinuxOptions, LinuxReport, plan, scenario_text, series, tasks};

/// The test points to draw.
#[derive(Clone, Debug)]
pub enum Pictures {
    /// The given number of test points with the largest differences, measured as multiples of the
    /// tolerances.
    Worst(usize),
    /// The test points of the scenarios with these names.
    Named(Vec<String>),
}

/// Draws test points of a report into a folder, as SVG and PNG; returns the file names.
///
/// # Errors
/// Fails if a series is damaged, a name is not among the report's points, or a file cannot be
/// written.
pub fn write_overlays(
    dirs: &[PathBuf],
    options: &LinuxOptions,
    report: &LinuxReport,
    which: &Pictures,
    out: &Path,
) -> Result<Vec<PathBuf>, LabError> {
    let usage = |error: LinuxError| LabError::Usage(error.to_string());
    let mut order: Vec<_> = report.points.iter().collect();
    match which {
        Pictures::Worst(_) => order.sort_by(|a, b| b.worst().total_cmp(&a.worst())),
        Pictures::Named(names) => {
            if let Some(name) =
                names.iter().find(|name| !order.iter().any(|p| p.scenario == **name))
            {
                return Err(LabError::Usage(format!(
                    "`{name}` is not among the compared scenarios"
                )));
            }
            order.retain(|point| names.contains(&point.scenario));
        }
    }
    let (wanted, _) = plan(dirs, options).map_err(usage)?;
    let mut pictures: Vec<Picture> = Vec::new();
    for point in order {
        if matches!(which, Pictures::Worst(count) if pictures.len() >= *count) {
            break;
        }
        let found = wanted.iter().find(|wanted| {
            wanted.point.kernel == point.kernel && wanted.point.scenario == point.scenario
        });
        let Some(wanted) = found else { continue };
        let drawn = picture(&dirs[wanted.dir], &wanted.point, options).map_err(usage)?;
        if let Some(mut picture) = drawn {
            // A scenario may have test points on several kernels, which need different file names.
            if pictures.iter().any(|other| other.name == picture.name) {
                picture.name = format!("{}-{}", picture.name, pictures.len() + 1);
            }
            pictures.push(picture);
        }
    }
    write_pictures(out, &pictures, Draw::ReplaceOwn)
}

/// Returns the plots of a test point; `None` if the folder has no series for the point.
fn picture(
    dir: &Path,
    point: &ReferencePoint,
    options: &LinuxOptions,
) -> Result<Option<Picture>, LinuxError> {
    let Some(linux) = series::flows(dir, &point.kernel, &point.scenario)? else { return Ok(None) };
    let linux_queue = series::queue(dir, &point.kernel, &point.scenario)?.unwrap_or_default();
    let run: Run = scenario_text::run(point, &point.seeds[0], 1)?;
    let result = tasks::execute(point, &run, options)?.result;
    let flows: Vec<(u32, String)> = (0_u32..)
        .zip(point.seeds[0].flows.iter().take(OVERLAY_FLOWS_MAX))
        .map(|(id, flow)| (id, format!("{id} {}", flow.cc)))
        .collect();
    let panels = overlay_panels(
        OVERLAY_PANELS,
        &flows,
        Recording { series: &linux, queue: &linux_queue, link: 0 },
        Recording { series: &result.series, queue: &result.queue, link: 0 },
        (0.0, point.duration_s),
    );
    let drawn = overlay_picture(&Overlay {
        name: point.scenario.clone(),
        title: point.scenario.clone(),
        facts: format!("kernel {}; both runs have seed 1", point.kernel),
        below: "Linux".to_owned(),
        above: options
            .on
            .map_or_else(|| "bbrlab".to_owned(), |on| format!("{} {}", on.name(), on.version())),
        start_s: 0.0,
        end_s: point.duration_s,
        shape: Shape::SCREEN,
        labels: Labels::default(),
        panels,
    });
    drawn.map(Some).map_err(LinuxError)
}
