//! Pictures of cwnd, RTT, throughput and queue of Linux's seed 1 and of our first run, one drawn over the
//! other.

use std::path::{Path, PathBuf};

use bbrlab_report::{OverTime, Overlay, OverlayPair, OverlayPanel, Picture, overlay_picture};
use bbrlab_run::{QueueSeries, Run, Series};

use super::reference::ReferencePoint;
use super::{LinuxError, LinuxOptions, LinuxReport, plan, scenario_text, series};
use crate::error::LabError;
use crate::picture_files::write_pictures;

/// Throughput is computed in this many windows of a run.
const WINDOWS: u32 = 250;

/// Flows beyond this number are not drawn.
const FLOWS_MAX: usize = 4;

/// Which points are drawn.
#[derive(Clone, Debug)]
pub enum Pictures {
    /// This many: those that differ most, in multiples of the tolerances.
    Worst(usize),
    /// Those with these names.
    Named(Vec<String>),
}

/// Draws points of a report into a folder, as SVG and PNG; returns the files' names.
///
/// # Errors
/// If a series is damaged, a name is not among the report's points, or a file cannot be written.
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
                return Err(LabError::Usage(format!("no scenario `{name}` among those compared")));
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
        if let Some(mut picture) = picture(&dirs[wanted.dir], &wanted.point).map_err(usage)? {
            // The same scenario may have run on several kernels.
            if pictures.iter().any(|other| other.name == picture.name) {
                picture.name = format!("{}-{}", picture.name, pictures.len() + 1);
            }
            pictures.push(picture);
        }
    }
    write_pictures(out, &pictures)
}

/// The picture of a point; `None` if the folder has no series of it.
fn picture(dir: &Path, point: &ReferencePoint) -> Result<Option<Picture>, LinuxError> {
    let Some(linux) = series::flows(dir, &point.kernel, &point.scenario)? else { return Ok(None) };
    let linux_queue = series::queue(dir, &point.kernel, &point.scenario)?.unwrap_or_default();
    let run: Run = scenario_text::run(point, &point.seeds[0], 1)?;
    let result = bbrlab_sim::simulate(&run)
        .map_err(|reason| LinuxError(format!("{}: {reason}", point.scenario)))?;
    let panel = |title: &str, of_row: &dyn Fn(&Series, usize) -> Option<f64>| OverlayPanel {
        title: title.to_owned(),
        pairs: (0_u32..)
            .zip(point.seeds[0].flows.iter().take(FLOWS_MAX))
            .map(|(id, flow)| OverlayPair {
                name: format!("{id} {}", flow.cc),
                below: over_time(&linux, id, of_row),
                above: over_time(&result.series, id, of_row),
            })
            .collect(),
    };
    let mut throughput = panel(
        "Throughput, Mbit/s of payload",
        #[expect(clippy::cast_precision_loss, reason = "for a picture")]
        &|series, row| Some(series.received_bytes[row] as f64),
    );
    for pair in &mut throughput.pairs {
        pair.below = rate(&pair.below, point.duration_s);
        pair.above = rate(&pair.above, point.duration_s);
    }
    let panels = vec![
        panel("cwnd, packets", &|series, row| Some(f64::from(series.cwnd_packets[row]))),
        panel("Smoothed RTT, ms", &|series, row| series.srtt_us[row].map(|us| f64::from(us) / 1e3)),
        throughput,
        OverlayPanel {
            title: "Queue, packets".to_owned(),
            pairs: vec![OverlayPair {
                name: String::new(),
                below: queue_over_time(&linux_queue),
                above: queue_over_time(&result.queue),
            }],
        },
    ];
    Ok(Some(overlay_picture(&Overlay {
        name: point.scenario.clone(),
        title: point.scenario.clone(),
        facts: format!("kernel {}, its seed 1  ·  ours with seed 1", point.kernel),
        below: "Linux".to_owned(),
        above: "bbrlab".to_owned(),
        end_s: point.duration_s,
        panels,
    })))
}

fn over_time(
    series: &Series,
    flow: u32,
    of_row: &dyn Fn(&Series, usize) -> Option<f64>,
) -> OverTime {
    let rows = (0..series.len()).filter(|&row| series.flow[row] == flow);
    rows.map(|row| (series.time_s[row], of_row(series, row))).collect()
}

fn queue_over_time(queue: &QueueSeries) -> OverTime {
    let rows = (0..queue.len()).filter(|&row| queue.link[row] == 0);
    #[expect(clippy::cast_precision_loss, reason = "for a picture")]
    rows.map(|row| (queue.time_s[row], Some(queue.packets[row] as f64))).collect()
}

/// Cumulative bytes as Mbit/s in windows of equal length.
fn rate(bytes: &OverTime, end_s: f64) -> OverTime {
    let length = end_s / f64::from(WINDOWS);
    let mut points = Vec::new();
    let mut next = 0;
    let mut before: Option<(f64, f64)> = None;
    for window in 0..WINDOWS {
        let until = length * f64::from(window + 1);
        let mut last = None;
        while next < bytes.len() && bytes[next].0 <= until + length * 1e-9 {
            last = bytes[next].1.map(|value| (bytes[next].0, value)).or(last);
            next += 1;
        }
        if let (Some((from_s, from)), Some((to_s, to))) = (before, last)
            && to_s > from_s
        {
            points.push((until - length / 2.0, Some((to - from) * 8e-6 / (to_s - from_s))));
        }
        before = last.or(before);
    }
    points
}
