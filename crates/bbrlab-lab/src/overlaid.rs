//! Two recordings in one picture, one on top of the other: two runs, or a run and what a real
//! kernel did.

use std::path::{Path, PathBuf};

use bbrlab_report::{
    OverTime, Overlay, OverlayPair, OverlayPanel, RunPanel, Shape, overlay_picture, value_text,
};
use bbrlab_run::{QueueSeries, RunSummary, Series};

use crate::error::LabError;
use crate::named::{Kind, results_in};
use crate::picture_files::{Format, RunFiles, read_run_files, write_formats};

/// Throughput is computed in this many windows of the time shown.
const WINDOWS: u32 = 250;

/// Flows beyond this number are not drawn.
pub(crate) const FLOWS_MAX: usize = 4;

/// The panels that two runs can share, in the order in which they are drawn unless somebody
/// chooses.
pub(crate) const PANELS: &[RunPanel] =
    &[RunPanel::Throughput, RunPanel::Rtt, RunPanel::Cwnd, RunPanel::Queue];

/// What was recorded over time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recording<'a> {
    pub(crate) series: &'a Series,
    pub(crate) queue: &'a QueueSeries,
    /// The number of the link whose queue is drawn.
    pub(crate) link: u32,
}

/// The panels of two recordings. `flows` are the numbers and names of those drawn.
pub(crate) fn overlay_panels(
    panels: &[RunPanel],
    flows: &[(u32, String)],
    below: Recording<'_>,
    above: Recording<'_>,
    (start_s, end_s): (f64, f64),
) -> Vec<OverlayPanel> {
    let of_flows = |title: &str, of_row: &dyn Fn(&Series, usize) -> Option<f64>| OverlayPanel {
        title: title.to_owned(),
        pairs: flows
            .iter()
            .map(|(id, name)| OverlayPair {
                name: name.clone(),
                below: over_time(below.series, *id, of_row),
                above: over_time(above.series, *id, of_row),
            })
            .collect(),
    };
    let mut drawn = Vec::new();
    for panel in panels {
        let mut one = match panel {
            RunPanel::State => continue,
            RunPanel::Cwnd => {
                of_flows("cwnd, packets", &|series, row| series.cwnd_packets[row].0.map(f64::from))
            }
            RunPanel::Rtt => of_flows("Smoothed RTT, ms", &|series, row| {
                series.srtt_us[row].map(|us| f64::from(us) / 1e3)
            }),
            RunPanel::Bandwidth => {
                of_flows("Estimated bandwidth, Mbit/s of payload", &|series, row| {
                    megabits(series.bw_bps[row])
                })
            }
            RunPanel::Pacing => of_flows("Pacing rate, Mbit/s", &|series, row| {
                megabits(series.pacing_rate_bps[row])
            }),
            RunPanel::Throughput => {
                let is_told =
                    |of: Recording<'_>| of.series.throughput_bps.iter().any(Option::is_some);
                if is_told(below) && is_told(above) {
                    let mut rates = of_flows("Throughput, Mbit/s on the wire", &|series, row| {
                        megabits(series.throughput_bps[row])
                    });
                    each_line(&mut rates, |line| mean(line, start_s, end_s));
                    rates
                } else {
                    // What one of them does not know is not drawn of the other.
                    #[expect(clippy::cast_precision_loss, reason = "for a picture")]
                    let mut bytes = of_flows(
                        "Payload read by the application, Mbit/s (in steps behind a repair)",
                        &|series, row| series.received_bytes[row].0.map(|bytes| bytes as f64),
                    );
                    each_line(&mut bytes, |line| rate(line, start_s, end_s));
                    bytes
                }
            }
            RunPanel::Queue => OverlayPanel {
                title: "Queue, packets".to_owned(),
                pairs: vec![OverlayPair {
                    name: String::new(),
                    below: queue_over_time(below),
                    above: queue_over_time(above),
                }],
            },
        };
        each_line(&mut one, |line| {
            line.iter().filter(|(time_s, _)| (start_s..=end_s).contains(time_s)).copied().collect()
        });
        drawn.push(one);
    }
    drawn
}

/// Replaces every line of a panel.
fn each_line(panel: &mut OverlayPanel, made: impl Fn(&OverTime) -> OverTime) {
    for pair in &mut panel.pairs {
        pair.below = made(&pair.below);
        pair.above = made(&pair.above);
    }
}

/// What is to be drawn of two runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OverlayChoice {
    pub(crate) panels: Vec<RunPanel>,
    pub(crate) from_s: Option<f64>,
    pub(crate) to_s: Option<f64>,
    pub(crate) shape: Shape,
    pub(crate) formats: Vec<Format>,
    /// What the names of the files end in.
    pub(crate) ending: String,
}

/// Draws the second run on top of the first, into `out` or the second's folder; returns the files'
/// names.
pub(crate) fn plot_two(
    folders: [&Path; 2],
    out: Option<&Path>,
    choice: &OverlayChoice,
) -> Result<Vec<PathBuf>, LabError> {
    if choice.panels.contains(&RunPanel::State) {
        let reason = "--overlay: the states of two runs cannot lie on top of each other; leave `state` out of --panels";
        return Err(LabError::Usage(reason.to_owned()));
    }
    let (below_path, above_path) = (single_run(folders[0])?, single_run(folders[1])?);
    let (below, above) = (read_run_files(&below_path)?, read_run_files(&above_path)?);
    let longest = below.summary.sim_s.max(above.summary.sim_s);
    let time = (choice.from_s.unwrap_or(0.0), choice.to_s.unwrap_or(longest).min(longest));
    if time.0 >= time.1 {
        return Err(LabError::Usage(format!(
            "--from {} s is not before the end of what is drawn, {} s",
            time.0, time.1
        )));
    }
    let flows = shared_flows(&below.summary, &above.summary);
    let panels =
        overlay_panels(&choice.panels, &flows, recording(&below)?, recording(&above)?, time);
    let [below_name, above_name] =
        told_apart(&below, &above).unwrap_or_else(|| [name_of(&below_path), name_of(&above_path)]);
    let all = below.summary.flows.len().max(above.summary.flows.len());
    let drawn = overlay_picture(&Overlay {
        name: format!("overlay-{}", name_of(&below_path)),
        title: if below.title() == above.title() {
            below.title()
        } else {
            format!("{}  ·  {}", below.title(), above.title())
        },
        facts: if all > flows.len() {
            format!("the first {} of {all} flows are drawn", flows.len())
        } else {
            String::new()
        },
        below: below_name,
        above: above_name,
        start_s: time.0,
        end_s: time.1,
        shape: choice.shape,
        panels,
    });
    let mut picture = drawn.map_err(LabError::Usage)?;
    picture.name.push_str(&choice.ending);
    write_formats(out.unwrap_or(&above_path), &[picture], &choice.formats)
}

/// The folder of the one run that is in a folder.
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

/// Runs of one scenario by what differs: swept values, algorithms, seeds. Folders' names would end
/// in two hashes.
fn told_apart(below: &RunFiles, above: &RunFiles) -> Option<[String; 2]> {
    let (one, other) = (&below.summary, &above.summary);
    if one.scenario != other.scenario {
        return Some([one.scenario.clone(), other.scenario.clone()]);
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

/// The flows that both runs have, by number: the two may run different algorithms.
fn shared_flows(below: &RunSummary, above: &RunSummary) -> Vec<(u32, String)> {
    let pairs = below.flows.iter().zip(&above.flows).take(FLOWS_MAX);
    pairs
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
    let links = &files.summary.links;
    let shared = links
        .iter()
        .position(|link| link.name == "bottleneck")
        .or_else(|| links.iter().position(|link| !link.is_private()));
    let link = shared
        .map_or(Ok(0), u32::try_from)
        .map_err(|_| LabError::Usage("more links than can be numbered".to_owned()))?;
    Ok(Recording { series: &files.series, queue: &files.queue, link })
}

fn over_time(
    series: &Series,
    flow: u32,
    of_row: &dyn Fn(&Series, usize) -> Option<f64>,
) -> OverTime {
    let rows = (0..series.len()).filter(|&row| series.flow[row] == flow);
    rows.map(|row| (series.time_s[row], of_row(series, row))).collect()
}

fn queue_over_time(of: Recording<'_>) -> OverTime {
    let rows = (0..of.queue.len()).filter(|&row| of.queue.link[row] == of.link);
    #[expect(clippy::cast_precision_loss, reason = "for a picture")]
    rows.map(|row| (of.queue.time_s[row], Some(of.queue.packets[row] as f64))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "for a picture")]
fn megabits(bits: Option<u64>) -> Option<f64> {
    bits.map(|bits| bits as f64 / 1e6)
}

/// Cumulative bytes as Mbit/s in windows of equal length.
fn rate(bytes: &OverTime, start_s: f64, end_s: f64) -> OverTime {
    let mut before: Option<(f64, f64)> = None;
    in_windows(bytes, start_s, end_s, |rows| {
        let last = rows.iter().rev().find_map(|&(time_s, value)| Some((time_s, value?)));
        let rate = last.zip(before).and_then(|((to_s, to), (from_s, from))| {
            (to_s > from_s).then(|| (to - from) * 8e-6 / (to_s - from_s))
        });
        before = last.or(before);
        rate
    })
}

/// The mean of the values in windows of equal length.
fn mean(values: &OverTime, start_s: f64, end_s: f64) -> OverTime {
    in_windows(values, start_s, end_s, |rows| {
        let told = || rows.iter().filter_map(|&(_, value)| value);
        #[expect(clippy::cast_precision_loss, reason = "for a picture")]
        let count = told().count() as f64;
        (count > 0.0).then(|| told().sum::<f64>() / count)
    })
}

/// A figure of the rows in each window that has one, at the middle of the window.
fn in_windows(
    rows: &OverTime,
    start_s: f64,
    end_s: f64,
    mut figure: impl FnMut(&[(f64, Option<f64>)]) -> Option<f64>,
) -> OverTime {
    let length = (end_s - start_s) / f64::from(WINDOWS);
    let mut points = Vec::new();
    let mut first = rows.partition_point(|&(time_s, _)| time_s < start_s);
    for window in 0..WINDOWS {
        let until = start_s + length * f64::from(window + 1);
        let behind = rows.partition_point(|&(time_s, _)| time_s <= until + length * 1e-9);
        if let Some(value) = figure(&rows[first..behind.max(first)]) {
            points.push((until - length / 2.0, Some(value)));
        }
        first = behind.max(first);
    }
    points
}
