//! The curves of a panel: one per flow, or for many flows one per algorithm with the range of its flows.

use bbrlab_run::Source;
use plotters::style::RGBColor;

use super::{HEADERS, RunPicture, column_of, value};
use crate::picture::{decimate, palette};

/// What a curve shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Throughput,
    Rtt,
    Srtt,
    Cwnd,
    Inflight,
}

/// How samples at the same place of the picture are combined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bin {
    /// Their mean.
    Mean,
    /// Their extremes.
    Extremes,
}

/// Points with rising first coordinates.
type Points = Vec<(f64, f64)>;

/// One line, or several if it is interrupted.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) color: RGBColor,
    pub(super) lines: Vec<Points>,
    /// The flows that the curve is the mean of, if they are few enough to be seen.
    pub(super) members: Vec<Points>,
    /// Least and greatest of the flows that the curve stands for.
    pub(super) band: Option<(Points, Points)>,
}

/// Up to this many flows of an algorithm, each gets a faint line behind their mean.
const MEMBERS_SEEN: usize = 32;

/// The number of windows of a run in which a rate is computed.
const WINDOWS: u32 = 250;

pub(super) fn curves(
    input: &RunPicture<'_>,
    rows: &[Vec<usize>],
    end_s: f64,
    quantity: Quantity,
    bin: Bin,
    single_curves: usize,
) -> Vec<Curve> {
    if rows.len() > single_curves {
        return by_kind(input, rows, end_s, quantity);
    }
    (0u32..)
        .zip(rows)
        .map(|(flow, rows)| {
            let cc = input.run.class(flow).cc.name();
            let lines = if quantity == Quantity::Throughput {
                vec![present(&windowed(input, flow, rows, end_s, quantity, WINDOWS))]
            } else {
                let points = rows
                    .iter()
                    .map(|&row| (input.series.time_s[row], sample(input, row, quantity)));
                match bin {
                    Bin::Extremes => {
                        decimate::lines(points, |time_s| column_of(time_s / end_s * 2.0))
                    }
                    Bin::Mean => {
                        vec![present(&windowed(input, flow, rows, end_s, quantity, WINDOWS))]
                    }
                }
            };
            Curve {
                name: if input.run.flows.len() == 1 {
                    cc.to_owned()
                } else {
                    format!("{flow} {cc}")
                },
                color: palette::line(flow as usize),
                lines,
                members: Vec::new(),
                band: None,
            }
        })
        .collect()
}

/// One curve for all flows of the same algorithm.
fn by_kind(
    input: &RunPicture<'_>,
    rows: &[Vec<usize>],
    end_s: f64,
    quantity: Quantity,
) -> Vec<Curve> {
    let mut kinds: Vec<(String, Vec<u32>)> = Vec::new();
    for flow in (0u32..).take(rows.len()) {
        let name = input.run.class(flow).cc.name().to_owned();
        match kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, flows)) => flows.push(flow),
            None => kinds.push((name, vec![flow])),
        }
    }
    kinds
        .into_iter()
        .enumerate()
        .map(|(place, (name, flows))| {
            let windows: Vec<Vec<(f64, Option<f64>)>> = flows
                .iter()
                .map(|&flow| windowed(input, flow, &rows[flow as usize], end_s, quantity, WINDOWS))
                .collect();
            let mut mean = Vec::new();
            let (mut low, mut high) = (Vec::new(), Vec::new());
            for at in 0..windows.first().map_or(0, Vec::len) {
                let values: Vec<f64> = windows.iter().filter_map(|of_flow| of_flow[at].1).collect();
                if values.is_empty() {
                    continue;
                }
                let x = windows[0][at].0;
                mean.push((x, values.iter().sum::<f64>() / value(values.len() as u64)));
                low.push((x, values.iter().copied().fold(f64::INFINITY, f64::min)));
                high.push((x, values.iter().copied().fold(0.0, f64::max)));
            }
            Curve {
                name: format!("{} {name}: mean, range", flows.len()),
                color: palette::line(place),
                lines: vec![mean],
                members: if windows.len() <= MEMBERS_SEEN {
                    windows.iter().map(|of_flow| present(of_flow)).collect()
                } else {
                    Vec::new()
                },
                band: Some((low, high)),
            }
        })
        .collect()
}

fn present(points: &[(f64, Option<f64>)]) -> Vec<(f64, f64)> {
    points.iter().filter_map(|&(x, y)| y.map(|y| (x, y))).collect()
}

/// The mean of a quantity in each of that many windows of equal length; for throughput, the rate.
fn windowed(
    input: &RunPicture<'_>,
    flow: u32,
    rows: &[usize],
    end_s: f64,
    quantity: Quantity,
    windows: u32,
) -> Vec<(f64, Option<f64>)> {
    let series = input.series;
    let length = end_s / f64::from(windows);
    let mut next = 0;
    let mut before: Option<usize> = None;
    let mut points = Vec::new();
    for window in 0..windows {
        let until = length * f64::from(window + 1);
        let (mut sum, mut n) = (0.0, 0u64);
        let mut last = None;
        while next < rows.len() && series.time_s[rows[next]] <= until + length * 1e-9 {
            last = Some(rows[next]);
            if let Some(y) = sample(input, rows[next], quantity) {
                sum += y;
                n += 1;
            }
            next += 1;
        }
        let middle = until - length / 2.0;
        let y = if quantity == Quantity::Throughput {
            let rate = last.zip(before).and_then(|(last, before)| {
                let time = series.time_s[last] - series.time_s[before];
                (time > 0.0).then(|| wire_bytes(input, flow, before, last) * 8.0 / time / 1e6)
            });
            before = last.or(before);
            rate
        } else {
            (n > 0).then(|| sum / value(n))
        };
        points.push((middle, y));
    }
    points
}

/// Wire bytes delivered between two rows. For bulk flows they follow from the packets, which SACK reports as
/// they arrive: the bytes that the application gets stand still during a repair and jump after it. For sources
/// that write less than full segments they follow from the bytes that the application gets.
fn wire_bytes(input: &RunPicture<'_>, flow: u32, before: usize, last: usize) -> f64 {
    let series = input.series;
    let class = input.run.class(flow);
    let link = input.run.bottleneck.and_then(|link| input.run.links.get(link as usize));
    let framing = link.map_or(0.0, |link| value(link.framing.0));
    let packet = f64::from(class.mss) + HEADERS + framing;
    if class.source == Source::Unlimited {
        let packets =
            series.delivered_packets[last].saturating_sub(series.delivered_packets[before]);
        value(packets) * packet
    } else {
        let bytes = series.received_bytes[last].saturating_sub(series.received_bytes[before]);
        value(bytes) * packet / f64::from(class.mss)
    }
}

fn sample(input: &RunPicture<'_>, row: usize, quantity: Quantity) -> Option<f64> {
    let series = input.series;
    match quantity {
        Quantity::Throughput => None,
        Quantity::Rtt => series.rtt_us[row].map(|us| f64::from(us) / 1e3),
        Quantity::Srtt => series.srtt_us[row].map(|us| f64::from(us) / 1e3),
        Quantity::Cwnd => Some(f64::from(series.cwnd_packets[row])),
        Quantity::Inflight => Some(f64::from(series.inflight_packets[row])),
    }
}
