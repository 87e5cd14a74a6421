//! The time series that a report draws, as JSON: each flow and each link has at most a given number
//! of rows. If a flow or a link has more rows, they are reduced to bins of equal width. In most
//! columns, a bin keeps the smallest and the largest value. For a throughput, a bin keeps the mean;
//! for states of the congestion control, a bin keeps the most important state.
//!
//! Each column has a unit and a list of steps. A step is the difference between a value and the
//! value before it, in units: `{ "unit": 0.001, "steps": [5, 1, null, -2] }` is 0.005, 0.006,
//! missing, 0.004. The format takes two to four bytes per value.

use std::collections::BTreeMap;

use bbrlab_run::{FlowSummary, LinkSummary, QueueSeries, RunSummary, Series};
use serde::Serialize;

/// The largest number of rows of a flow or link that a report draws.
pub const POINTS_MAX: usize = 2_000;

/// The least number of rows to which a flow or a link is reduced. With fewer rows, a curve has no
/// shape.
const POINTS_MIN: usize = 60;

/// The largest number of flows of a run that a report draws.
const FLOWS_MAX: usize = 32;

/// The largest number of links of a run that a report draws.
const LINKS_MAX: usize = 8;

/// Maximum number of digits of a column's largest value when this value is divided by the column's
/// unit (`unit` in the JSON). [`Steps::of`] chooses a unit that is large enough.
const DIGITS: i32 = 5;

const MBPS: f64 = 1e-6;
const MS: f64 = 1e-3;

/// A run in the form in which a report's JSON contains it.
#[derive(Debug, Serialize)]
struct DrawnRun {
    name: String,
    label: String,
    duration_s: f64,
    period_s: f64,
    /// Whether the columns contain all rows of all flows: no rows were reduced to bins, and no flow
    /// was left out.
    complete: bool,
    flows_total: usize,
    flows: Vec<DrawnFlow>,
    links: Vec<DrawnLink>,
    states: Vec<String>,
}

#[derive(Debug, Serialize)]
struct DrawnFlow {
    id: u32,
    name: Option<String>,
    group: String,
    cc: String,
    time: Steps,
    throughput_mbps: Steps,
    rtt_ms: Steps,
    cwnd: Steps,
    inflight: Steps,
    state: Steps,
}

#[derive(Debug, Serialize)]
struct DrawnLink {
    name: String,
    time: Steps,
    packets: Steps,
    drops: Steps,
}

/// A column: each value is an integer multiple of the unit, stored as the difference to the
/// multiple before it.
#[derive(Debug, PartialEq, Serialize)]
struct Steps {
    unit: f64,
    steps: Vec<Option<i64>>,
}

impl Steps {
    /// Stores `values` as a column. The column's unit is `finest` or, for large values, `finest`
    /// times 10, 100 and so on. The column gets the smallest of these units in which the column's
    /// largest value has at most [`DIGITS`] digits.
    fn of(values: &[Option<f64>], finest: f64) -> Self {
        let most = values.iter().flatten().fold(0.0_f64, |most, value| most.max(value.abs()));
        let mut unit = finest;
        while most / unit >= 10_f64.powi(DIGITS) {
            unit *= 10.0;
        }
        let mut last = 0;
        let steps = values
            .iter()
            .map(|value| {
                let now = whole((*value)? / unit);
                Some(now - std::mem::replace(&mut last, now))
            })
            .collect();
        Self { unit, steps }
    }

    /// Stores `times`, in seconds, as a column. The column's unit is the largest whole number of
    /// nanoseconds that divides all times.
    fn of_times(times: &[f64]) -> Self {
        let nanoseconds: Vec<i64> = times.iter().map(|time| whole(time * 1e9)).collect();
        let unit = nanoseconds.iter().fold(0, |unit, &time| divisor(unit, time)).max(1);
        let mut last = 0;
        let steps = nanoseconds
            .iter()
            .map(|&time| Some(time / unit - std::mem::replace(&mut last, time / unit)))
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
        Self { unit: unit as f64 * 1e-9, steps }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "values are far below 2^63; larger values saturate"
)]
fn whole(value: f64) -> i64 {
    value.round() as i64
}

/// Returns the greatest common divisor.
fn divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one.abs() } else { divisor(other, one % other) }
}

/// The two values to which a bin is reduced.
#[derive(Clone, Copy)]
enum Kept {
    /// The mean, twice.
    Mean,
    /// The smallest and the largest value, in the order in which they occur.
    Extremes,
    /// The state with the largest weight in the bin, as both values. If several states have this
    /// weight, the last of these states is kept.
    State,
}

/// The rows of a flow or a link: the times of the values in its columns, the indices of its rows in
/// the series and, if the rows were reduced, their bins.
struct Rows<'a> {
    times: Vec<f64>,
    places: Vec<usize>,
    bins: Option<Bins<'a>>,
}

/// The bins of a flow's or a link's rows. `bounds` has, for each bin, the index in `places` of its
/// first row, and the index after its last row. `weight` returns the weight of a state of a
/// congestion control from the state's number. A bin of states shows only the state with the
/// largest weight (see [`weight_of`]).
struct Bins<'a> {
    bounds: Vec<(usize, usize)>,
    weight: &'a dyn Fn(f64) -> u8,
}

impl<'a> Rows<'a> {
    /// Returns the rows unchanged, or as bins if there are more rows than `points`.
    fn of(
        all: &[f64],
        rows: Vec<usize>,
        points: usize,
        duration_s: f64,
        weight: &'a dyn Fn(f64) -> u8,
    ) -> Self {
        if rows.len() <= points {
            let times = rows.iter().map(|&row| all[row]).collect();
            return Self { times, places: rows, bins: None };
        }
        let count = (points / 2).max(1);
        let (last, bins) = (number(count as u64 - 1), number(count as u64));
        // The two points of a bin are a quarter and three quarters of its width after its start.
        // The width is a multiple of four nanoseconds, so that these times are whole nanoseconds.
        let width = ((duration_s * 1e9 / bins / 4.0).ceil() * 4.0).max(4.0) * 1e-9;
        let (mut times, mut bounds) = (Vec::new(), Vec::new());
        let mut place = 0;
        while place < rows.len() {
            // The row at the end of the run belongs to the last bin.
            let bin_of = |row: usize| (all[row] / width).floor().min(last);
            let bin = bin_of(rows[place]);
            let begin = place;
            while place < rows.len() && bin_of(rows[place]) <= bin {
                place += 1;
            }
            bounds.push((begin, place));
            times.extend([(bin + 0.25) * width, (bin + 0.75) * width]);
        }
        Self { times, places: rows, bins: Some(Bins { bounds, weight }) }
    }

    /// Returns a column with the result of `value` for each row. If the rows were reduced to bins,
    /// the column has two values for each bin, which `kept` selects.
    fn column(&self, kept: Kept, finest: f64, value: impl Fn(usize) -> Option<f64>) -> Steps {
        let Some(Bins { bounds, weight }) = &self.bins else {
            let values: Vec<_> = self.places.iter().map(|&row| value(row)).collect();
            return Steps::of(&values, finest);
        };
        let mut values = Vec::with_capacity(bounds.len() * 2);
        for &(begin, end) in bounds {
            let known = self.places[begin..end].iter().filter_map(|&row| value(row));
            let [first, second] = match kept {
                Kept::Mean => mean(known),
                Kept::Extremes => extremes(known),
                Kept::State => heaviest(known, weight),
            };
            values.extend([first, second]);
        }
        Steps::of(&values, finest)
    }
}

fn mean(known: impl Iterator<Item = f64>) -> [Option<f64>; 2] {
    let (sum, count) = known.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    [(count > 0.0).then(|| sum / count); 2]
}

fn extremes(known: impl Iterator<Item = f64>) -> [Option<f64>; 2] {
    let mut found: Option<(f64, f64, bool)> = None;
    for value in known {
        let (least, most, rises) = found.get_or_insert((value, value, true));
        if value < *least {
            (*least, *rises) = (value, false);
        }
        if value > *most {
            (*most, *rises) = (value, true);
        }
    }
    match found {
        Some((least, most, true)) => [Some(least), Some(most)],
        Some((least, most, false)) => [Some(most), Some(least)],
        None => [None; 2],
    }
}

fn heaviest(known: impl Iterator<Item = f64>, weight: &dyn Fn(f64) -> u8) -> [Option<f64>; 2] {
    let heavier = |before: Option<f64>, code: f64| match before {
        Some(before) if weight(before) > weight(code) => Some(before),
        _ => Some(code),
    };
    [known.fold(None, heavier); 2]
}

/// Returns the weight of a congestion control's state. A bin shows its state with the largest
/// weight. Phases that may be shorter than a bin have weight 2, so that they do not disappear.
fn weight_of(state: &str) -> u8 {
    match state {
        "" => 0,
        "STARTUP" | "DRAIN" | "PROBE_RTT" => 2,
        _ => 1,
    }
}

impl DrawnRun {
    /// Returns a run with at most `points` rows per flow and link.
    fn of(run: RunToDraw<'_>, points: usize) -> Self {
        let RunToDraw { summary, series, queue, label, period_s } = run;
        let mut states: Vec<String> = Vec::new();
        let mut codes = Vec::with_capacity(series.state.len());
        for state in &series.state {
            let known = states.iter().position(|known| known == state);
            codes.push(known.unwrap_or_else(|| {
                states.push(state.clone().into_owned());
                states.len() - 1
            }));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the code of a state is its index"
        )]
        let weight = |code: f64| states.get(code as usize).map_or(0, |state| weight_of(state));
        let ids: Vec<u32> = summary.flows.iter().take(FLOWS_MAX).map(|flow| flow.id).collect();
        let of_flows = places(&series.flow, &ids);
        let links = links_drawn(summary);
        let of_links = places(&queue.link, &links);
        let longest = of_flows.iter().chain(&of_links).map(Vec::len).max().unwrap_or(0);
        let bin_s = summary.sim_s / number((points / 2).max(1) as u64);
        let flow = |(flow, rows): (&FlowSummary, Vec<usize>)| {
            let rows = Rows::of(&series.time_s, rows, points, summary.sim_s, &weight);
            let scaled = |value: Option<u64>, unit: f64| value.map(|value| number(value) * unit);
            DrawnFlow {
                id: flow.id,
                name: flow.name.clone(),
                group: flow.group.clone(),
                cc: flow.cc.clone(),
                throughput_mbps: rows
                    .column(Kept::Mean, MBPS, |row| scaled(series.throughput_bps[row], MBPS)),
                rtt_ms: rows.column(Kept::Extremes, MS, |row| {
                    scaled(series.rtt_us[row].map(u64::from), MS)
                }),
                cwnd: rows.column(Kept::Extremes, 1.0, |row| {
                    scaled(series.cwnd_packets[row].0.map(u64::from), 1.0)
                }),
                inflight: rows.column(Kept::Extremes, 1.0, |row| {
                    scaled(series.inflight_packets[row].0.map(u64::from), 1.0)
                }),
                state: rows.column(Kept::State, 1.0, |row| Some(number(codes[row] as u64))),
                time: Steps::of_times(&rows.times),
            }
        };
        let link = |(link, rows): (&LinkSummary, Vec<usize>)| {
            let rows = Rows::of(&queue.time_s, rows, points, summary.sim_s, &weight);
            DrawnLink {
                name: link.name.clone(),
                packets: rows.column(Kept::Extremes, 1.0, |row| Some(number(queue.packets[row]))),
                drops: rows.column(Kept::Extremes, 1.0, |row| queue.drops[row].0.map(number)),
                time: Steps::of_times(&rows.times),
            }
        };
        Self {
            name: summary.scenario.clone(),
            label: label.to_owned(),
            duration_s: summary.sim_s,
            period_s: if longest <= points { period_s } else { period_s.max(bin_s) },
            complete: longest <= points && ids.len() == summary.flows.len(),
            flows_total: summary.flows.len(),
            flows: summary.flows.iter().zip(of_flows).map(flow).collect(),
            links: links
                .iter()
                .filter_map(|&at| summary.links.get(at as usize))
                .zip(of_links)
                .map(link)
                .collect(),
            states: states.clone(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "charts need no more than 53 bits")]
fn number(value: u64) -> f64 {
    value as f64
}

/// Returns the indices of the links whose queues are drawn, at most `LINKS_MAX`: the first of the
/// links that flows share or, if flows share no link, the first of all links.
fn links_drawn(summary: &RunSummary) -> Vec<u32> {
    let none_shared = summary.links.iter().all(LinkSummary::is_private);
    let is_drawn = |link: &LinkSummary| none_shared || !link.is_private();
    let drawn = summary.links.iter().enumerate().filter(|(_, link)| is_drawn(link));
    drawn.filter_map(|(at, _)| u32::try_from(at).ok()).take(LINKS_MAX).collect()
}

/// Returns, for each of the wanted flows or links, the indices of its rows. `keys` has the flow or
/// link of each row.
fn places(keys: &[u32], wanted: &[u32]) -> Vec<Vec<usize>> {
    let place: BTreeMap<u32, usize> =
        wanted.iter().enumerate().map(|(at, &key)| (key, at)).collect();
    let mut places = vec![Vec::new(); wanted.len()];
    for (row, key) in keys.iter().enumerate() {
        if let Some(&at) = place.get(key) {
            places[at].push(row);
        }
    }
    places
}

/// The input of [`drawn_json`]: a run whose curves a report draws.
#[derive(Clone, Copy, Debug)]
pub struct RunToDraw<'a> {
    /// The run's results.
    pub summary: &'a RunSummary,
    /// The time series of the flows.
    pub series: &'a Series,
    /// The time series of the links.
    pub queue: &'a QueueSeries,
    /// The run's name among the runs of the page.
    pub label: &'a str,
    /// The longest time between two rows, in seconds.
    pub period_s: f64,
}

/// Returns a run as JSON, with at most [`POINTS_MAX`] rows per flow and link. If the JSON would
/// have more than `bytes_max` bytes, the number of rows is reduced, but not below 60. With 60 rows,
/// the JSON may be longer than `bytes_max`.
///
/// # Panics
/// Never in practice: the JSON contains only numbers and strings, which can always be written.
#[must_use]
pub fn drawn_json(run: RunToDraw<'_>, bytes_max: usize) -> String {
    let mut points = POINTS_MAX;
    loop {
        let json = serde_json::to_string(&DrawnRun::of(run, points)).expect("numbers and strings");
        if json.len() <= bytes_max || points <= POINTS_MIN {
            return json;
        }
        points = (points * 3 / 4).max(POINTS_MIN);
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_run::{MaybeKnown, QueueRow, QueueSeries, Series, SeriesRow};
    use serde_json::Value;

    use super::{POINTS_MAX, RunToDraw, Steps, drawn_json};
    use crate::table::tests::sample_run;

    /// Returns the time series of a run of 100 s, with this many rows per flow. The values look
    /// random.
    pub(crate) fn series(rows: u32) -> (Series, QueueSeries) {
        let (mut series, mut queue) = (Series::default(), QueueSeries::default());
        let mut random = 1_u32;
        let mut next = |most: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % most
        };
        for row in 0..rows {
            let time_s = 100.0 * f64::from(row) / f64::from(rows);
            for flow in 0..2 {
                series.push(SeriesRow {
                    time_s,
                    flow,
                    throughput_bps: Some(u64::from(next(50_000_000))),
                    rtt_us: Some(30_000 + next(60_000)),
                    cwnd_packets: MaybeKnown(Some(next(500))),
                    inflight_packets: MaybeKnown(Some(next(500))),
                    state: if row % 1000 == 500 { "PROBE_RTT" } else { "PROBE_BW" }.into(),
                    ..SeriesRow::default()
                });
            }
            let packets = if row == 77 { 9_999 } else { u64::from(next(250)) };
            let drops = MaybeKnown(Some(u64::from(row)));
            queue.push(QueueRow { time_s, packets, drops, ..QueueRow::default() });
        }
        (series, queue)
    }

    fn json(rows: u32, bytes_max: usize) -> (Value, usize) {
        let (series, queue) = series(rows);
        let summary = sample_run();
        let (summary, series, queue) = (&summary, &series, &queue);
        let run = RunToDraw { summary, series, queue, label: "seed 1", period_s: 0.01 };
        let text = drawn_json(run, bytes_max);
        (serde_json::from_str(&text).expect("JSON"), text.len())
    }

    fn values(steps: &Value) -> Vec<f64> {
        let unit = steps["unit"].as_f64().expect("a unit");
        let mut now = 0.0;
        let steps = steps["steps"].as_array().expect("steps").iter();
        steps
            .map(|step| {
                now += step.as_f64().expect("a step");
                now * unit
            })
            .collect()
    }

    #[test]
    fn steps_are_whole_and_fine_enough() {
        let steps = Steps::of(&[Some(0.005), None, Some(0.004)], 1e-3);
        assert_eq!(steps, Steps { unit: 1e-3, steps: vec![Some(5), None, Some(-1)] });
        let coarse = Steps::of(&[Some(123_456_789.0)], 1.0);
        assert_eq!(coarse, Steps { unit: 1e4, steps: vec![Some(12_346)] });
        let times = Steps::of_times(&[0.0, 0.01, 0.03]);
        assert_eq!(times.steps, [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn a_short_run_keeps_every_row() {
        let (run, _) = json(1_500, usize::MAX);
        assert_eq!(run["complete"], true);
        assert_eq!(values(&run["flows"][1]["time"]).len(), 1_500);
    }

    #[test]
    fn a_long_run_is_reduced_and_keeps_extremes_and_short_states() {
        let (run, _) = json(10_000, usize::MAX);
        assert_eq!(run["complete"], false);
        for column in ["time", "throughput_mbps", "rtt_ms", "cwnd", "inflight", "state"] {
            let points = values(&run["flows"][0][column]).len();
            assert!(points <= POINTS_MAX && points > 1_900, "{column}: {points}");
        }
        let times = values(&run["flows"][0]["time"]);
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]) && times[0] >= 0.0);
        let packets = values(&run["links"][0]["packets"]);
        assert!(packets.contains(&9_999.0), "the spike to 9,999 packets in one row is missing");
        let code = run["states"].as_array().unwrap().iter().position(|state| state == "PROBE_RTT");
        #[expect(clippy::cast_precision_loss, reason = "a code")]
        let code = code.expect("the state") as f64;
        let states = values(&run["flows"][0]["state"]);
        assert_eq!(states.iter().filter(|&&state| (state - code).abs() < 0.5).count(), 20);
    }

    #[test]
    fn fewer_points_are_drawn_where_there_is_less_room() {
        let (whole, size) = json(10_000, usize::MAX);
        let (less, smaller) = json(10_000, size / 3);
        assert!(smaller <= size / 3);
        let points = |run: &Value| values(&run["flows"][0]["time"]).len();
        assert!(points(&less) < points(&whole) / 2 && points(&less) > 100);
    }
}
