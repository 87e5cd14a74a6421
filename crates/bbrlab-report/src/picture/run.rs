//! A run over time: throughput, RTT, cwnd and inflight, queue, one below the other on one time axis.

mod curves;

use bbrlab_link::{Buffer, Link, Rate};
use bbrlab_run::{QueueSeries, Run, RunSummary, Series};
use plotters::style::text_anchor::{HPos, VPos};

use self::curves::{Bin, Curve, Quantity, curves};
use super::Picture;
use super::axis::Axis;
use super::canvas::{Canvas, Stroke, Words, draw};
use super::panel::{Key, Panel, SMALL, TITLE};
use super::states::{self, Band};
use super::{decimate, palette};
use crate::number::fixed;
use crate::table::layout_cut;
use crate::table::point_words;

/// What a picture of a run is drawn from.
#[derive(Clone, Copy, Debug)]
pub struct RunPicture<'a> {
    /// The resolved run.
    pub run: &'a Run,
    /// Its figures.
    pub summary: &'a RunSummary,
    /// Its flows over time.
    pub series: &'a Series,
    /// Its queues over time.
    pub queue: &'a QueueSeries,
    /// What made it: version and commit.
    pub made_by: &'a str,
}

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = WIDTH - 22.0;
const PANEL_HEIGHT: f64 = 150.0;
const PANEL_GAP: f64 = 38.0;
const BAND_HEIGHT: f64 = 11.0;
/// With more flows than this, flows of one algorithm are drawn as their mean and their range.
const SINGLE_CURVES: usize = 8;
/// Bytes of the IP and TCP headers with timestamps around a segment's payload.
const HEADERS: f64 = 52.0;

/// The picture of a run.
#[must_use]
pub fn run_picture(input: &RunPicture<'_>) -> Picture {
    let sheet = Sheet::new(input);
    let svg = draw(WIDTH, sheet.height(), |canvas| sheet.paint(canvas));
    Picture { name: "run".to_owned(), svg }
}

struct Sheet<'a> {
    input: &'a RunPicture<'a>,
    /// Rows of the series, by flow.
    rows: Vec<Vec<usize>>,
    end_s: f64,
    /// State bands of the flows that have states, with the flows' numbers.
    states: Vec<(u32, Vec<Band<'a>>)>,
    with_queue: bool,
}

impl<'a> Sheet<'a> {
    fn new(input: &'a RunPicture<'a>) -> Self {
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); input.run.flows.len()];
        for (row, &flow) in input.series.flow.iter().enumerate() {
            if let Some(of_flow) = rows.get_mut(flow as usize) {
                of_flow.push(row);
            }
        }
        let end_s = input.run.duration.as_secs_f64().max(1e-9);
        let column = |time_s: f64| column_of(time_s / end_s);
        let mut with_states = Vec::new();
        if rows.len() <= SINGLE_CURVES {
            for (flow, of_flow) in (0u32..).zip(&rows) {
                let samples = of_flow
                    .iter()
                    .map(|&row| (input.series.time_s[row], &*input.series.state[row]));
                let stop_s =
                    input.summary.flows.get(flow as usize).map_or(end_s, |flow| flow.stop_s);
                let bands = states::bands(samples, stop_s, column);
                if bands.iter().any(|(_, _, state)| !state.is_empty()) {
                    with_states.push((flow, bands));
                }
            }
        }
        Self { input, rows, end_s, states: with_states, with_queue: !input.queue.is_empty() }
    }

    fn panels(&self) -> u32 {
        if self.with_queue { 4 } else { 3 }
    }

    fn strip_top() -> f64 {
        78.0
    }

    fn first_top(&self) -> f64 {
        let rows = u32::try_from(self.states.len()).expect("at most eight");
        let strip = if rows == 0 { -14.0 } else { f64::from(rows) * (BAND_HEIGHT + 2.0) };
        Self::strip_top() + strip + 28.0
    }

    fn height(&self) -> f64 {
        self.first_top() + f64::from(self.panels()) * (PANEL_HEIGHT + PANEL_GAP) + 12.0
    }

    fn panel<'c, 's>(&self, canvas: &'c Canvas<'s>, place: u32, y: Axis) -> Panel<'c, 's> {
        let top = self.first_top() + f64::from(place) * (PANEL_HEIGHT + PANEL_GAP);
        Panel {
            canvas,
            left: LEFT,
            right: RIGHT,
            top,
            bottom: top + PANEL_HEIGHT,
            x: Axis::exactly(0.0, self.end_s, 11),
            y,
        }
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        self.head(canvas);
        self.strip(canvas);
        self.throughput(canvas);
        self.rtt(canvas);
        self.window(canvas);
        if self.with_queue {
            self.queue(canvas);
        }
    }

    fn head(&self, canvas: &Canvas<'_>) {
        let RunPicture { run, summary, .. } = self.input;
        let title = if run.title.is_empty() { &run.scenario } else { &run.title };
        canvas.words(&layout_cut(title, 110), (LEFT, 24.0), Words::new(TITLE, palette::INK).bold());
        let mut facts = vec![run.scenario.clone()];
        if !run.point.is_empty() {
            facts.push(point_words(&run.point));
        }
        facts.push(format!("{} profile", summary.profile));
        facts.push(format!("seed {}", run.seed));
        facts.push(format!("hash {}", run.scenario_hash.get(..12).unwrap_or(&run.scenario_hash)));
        facts.push(self.input.made_by.to_owned());
        let facts = layout_cut(&facts.join("  ·  "), 160);
        canvas.words(&facts, (LEFT, 44.0), Words::new(SMALL, palette::FAINT_INK));
    }

    /// A strip for each flow with its states, and the legend above them.
    fn strip(&self, canvas: &Canvas<'_>) {
        if self.states.is_empty() {
            return;
        }
        let all: Vec<Vec<Band<'_>>> = self.states.iter().map(|(_, bands)| bands.clone()).collect();
        states::legend(canvas, &all, RIGHT, Self::strip_top() - 11.0);
        let words = Words::new(12.0, palette::INK).bold();
        canvas.words("State", (LEFT, Self::strip_top() - 11.0), words);
        let mut top = Self::strip_top();
        for (flow, bands) in &self.states {
            for &(from, to, state) in bands {
                if state.is_empty() {
                    continue;
                }
                let place =
                    |time_s: f64| LEFT + (time_s / self.end_s).clamp(0.0, 1.0) * (RIGHT - LEFT);
                // A state that occurs in a column is drawn at least as wide as the column.
                let (left, right) = (place(from), place(to).max(place(from) + 1.0));
                canvas.fill((left, top), (right, top + BAND_HEIGHT), palette::state(state), 1.0);
            }
            let words = Words::new(SMALL - 1.0, palette::INK).anchor(HPos::Right, VPos::Center);
            canvas.words(&self.flow_name(*flow), (LEFT - 6.0, top + BAND_HEIGHT / 2.0), words);
            top += BAND_HEIGHT + 2.0;
        }
    }

    /// If exactly one flow has states, its start-up, drain and ProbeRTT shade every panel.
    fn shade(&self, panel: &Panel<'_, '_>) {
        let [(_, bands)] = self.states.as_slice() else { return };
        for &(from, to, state) in bands {
            if matches!(state, "STARTUP" | "DRAIN" | "PROBE_RTT") {
                let (left, _) = panel.at(from, 0.0);
                let (right, _) = panel.at(to, 0.0);
                let color = palette::state(state);
                panel.canvas.fill(
                    (left, panel.top),
                    (right.max(left + 1.0), panel.bottom),
                    color,
                    0.22,
                );
            }
        }
    }

    fn flow_name(&self, flow: u32) -> String {
        let cc = self.input.run.class(flow).cc.name();
        if self.rows.len() == 1 { cc.to_owned() } else { format!("{flow} {cc}") }
    }

    fn curves(&self, quantity: Quantity, bin: Bin) -> Vec<Curve> {
        curves(self.input, &self.rows, self.end_s, quantity, bin, SINGLE_CURVES)
    }

    fn keys_of(curves: &[Curve], width: f64) -> Vec<Key> {
        curves
            .iter()
            .map(|curve| Key { text: curve.name.clone(), stroke: Stroke::new(curve.color, width) })
            .collect()
    }

    fn throughput(&self, canvas: &Canvas<'_>) {
        let curves = self.curves(Quantity::Throughput, Bin::Mean);
        let link = self.main_link();
        let mut rates = link.map_or_else(Vec::new, |link| rate_steps(&link.rate, self.end_s));
        let mut rate_name = "link rate".to_owned();
        if self.rows.len() > SINGLE_CURVES {
            // The mean of many flows should be compared with an equal share of the link, not with its whole
            // rate.
            let n = self.rows.len() as u64;
            for (_, rate) in &mut rates {
                *rate /= value(n);
            }
            rate_name = format!("link rate / {n}");
        }
        let top = greatest(&curves).max(rates.iter().map(|&(_, rate)| rate).fold(0.0, f64::max));
        let panel = self.panel(canvas, 0, Axis::around(0.0, top, 5));
        panel.frame("Throughput, Mbit/s on the wire");
        self.shade(&panel);
        let reference = Stroke::new(palette::REFERENCE, 1.0).dashed(5.0, 3.0);
        panel.line(&rates, reference);
        draw_curves(&panel, &curves, 1.4);
        let mut keys = Self::keys_of(&curves, 2.0);
        if !rates.is_empty() {
            keys.push(Key { text: rate_name, stroke: reference });
        }
        panel.legend(&keys);
        panel.border();
    }

    fn rtt(&self, canvas: &Canvas<'_>) {
        let smoothed = self.curves(Quantity::Srtt, Bin::Extremes);
        let samples = if self.rows.len() == 1 {
            self.curves(Quantity::Rtt, Bin::Extremes)
        } else {
            Vec::new()
        };
        let mut base_ms: Vec<f64> = Vec::new();
        for class in &self.input.run.classes {
            let rtt_ms = class.base_rtt.as_secs_f64() * 1e3;
            if !base_ms.contains(&rtt_ms) {
                base_ms.push(rtt_ms);
            }
        }
        base_ms.truncate(4);
        let top = greatest(&smoothed).max(greatest(&samples));
        let low = base_ms.iter().copied().fold(top, f64::min);
        let panel = self.panel(canvas, 1, Axis::around(low, top.max(low), 5));
        panel.frame("RTT, ms");
        self.shade(&panel);
        let reference = Stroke::new(palette::REFERENCE, 1.0).dashed(5.0, 3.0);
        for &rtt_ms in &base_ms {
            panel.line(&[(0.0, rtt_ms), (self.end_s, rtt_ms)], reference);
        }
        for curve in &samples {
            for line in &curve.lines {
                panel.line(line, Stroke::new(palette::line(5), 0.8).alpha(0.75));
            }
        }
        draw_curves(&panel, &smoothed, 1.2);
        let mut keys = Vec::new();
        if !samples.is_empty() {
            keys.push(Key {
                text: "sample".to_owned(),
                stroke: Stroke::new(palette::line(5), 2.0),
            });
            keys.push(Key {
                text: "smoothed".to_owned(),
                stroke: Stroke::new(palette::line(0), 2.0),
            });
        }
        let bases: Vec<String> = base_ms.iter().map(|&rtt_ms| trimmed(rtt_ms)).collect();
        keys.push(Key { text: format!("base RTT {} ms", bases.join(", ")), stroke: reference });
        panel.legend(&keys);
        panel.border();
    }

    fn window(&self, canvas: &Canvas<'_>) {
        let cwnd = self.curves(Quantity::Cwnd, Bin::Extremes);
        let inflight = self.curves(Quantity::Inflight, Bin::Extremes);
        let bdp = self.bdp_packets();
        let top = greatest(&cwnd).max(greatest(&inflight)).max(bdp.unwrap_or(0.0));
        let panel = self.panel(canvas, 2, Axis::around(0.0, top, 5));
        panel.frame("cwnd and inflight, packets");
        self.shade(&panel);
        let single = self.rows.len() == 1;
        let thin = |curve: &Curve| {
            if single {
                Stroke::new(palette::line(1), 0.9).alpha(0.8)
            } else {
                Stroke::new(curve.color, 0.7).alpha(0.4)
            }
        };
        for curve in &inflight {
            for line in &curve.lines {
                panel.line(line, thin(curve));
            }
        }
        draw_curves(&panel, &cwnd, 1.3);
        let grey = |width| Stroke::new(palette::FAINT_INK, width);
        let mut keys = if single {
            vec![
                Key { text: "cwnd".to_owned(), stroke: Stroke::new(palette::line(0), 2.0) },
                Key { text: "inflight".to_owned(), stroke: Stroke::new(palette::line(1), 2.0) },
            ]
        } else {
            vec![
                Key { text: "cwnd".to_owned(), stroke: grey(2.0) },
                Key { text: "inflight".to_owned(), stroke: grey(0.8).alpha(0.7) },
            ]
        };
        if let Some(bdp) = bdp {
            let reference = Stroke::new(palette::REFERENCE, 1.0).dashed(5.0, 3.0);
            panel.line(&[(0.0, bdp), (self.end_s, bdp)], reference);
            keys.push(Key { text: format!("BDP {} packets", fixed(bdp, 0)), stroke: reference });
        }
        panel.legend(&keys);
        panel.border();
        if !self.with_queue {
            panel.x_labels("time, s");
        }
    }

    fn queue(&self, canvas: &Canvas<'_>) {
        let queue = self.input.queue;
        let shown = self.shown_links();
        let buffer = self.main_link().and_then(|link| self.buffer_packets(link));
        let top = (0..queue.len())
            .filter(|&row| shown.contains(&queue.link[row]))
            .map(|row| value(queue.packets[row]))
            .fold(0.0, f64::max);
        let panel = self.panel(canvas, 3, Axis::around(0.0, top.max(1.0), 5));
        panel.frame("Queue, packets");
        self.shade(&panel);
        let mut keys = Vec::new();
        let mut any_drops = false;
        for (place, &link) in shown.iter().enumerate() {
            let rows = (0..queue.len()).filter(|&row| queue.link[row] == link);
            let points =
                rows.clone().map(|row| (queue.time_s[row], Some(value(queue.packets[row]))));
            let lines = decimate::lines(points, |time_s| panel.column(time_s));
            let stroke = Stroke::new(palette::line(place), 1.1);
            for line in &lines {
                panel.line(line, stroke);
            }
            if shown.len() > 1 {
                let name =
                    self.input.summary.links.get(link as usize).map(|link| link.name.clone());
                keys.push(Key {
                    text: name.unwrap_or_default(),
                    stroke: Stroke::new(palette::line(place), 2.0),
                });
            }
            let mut before = 0;
            let mut last_column = i64::MIN;
            for row in rows {
                let column = panel.column(queue.time_s[row]);
                if queue.drops[row] > before && column != last_column {
                    any_drops = true;
                    last_column = column;
                    let (x, _) = panel.at(queue.time_s[row], 0.0);
                    let tick = [(x, panel.top), (x, panel.top + 5.0)];
                    canvas.line(&tick, Stroke::new(palette::DROP, 0.8));
                }
                before = queue.drops[row];
            }
        }
        let reference = Stroke::new(palette::REFERENCE, 1.0).dashed(5.0, 3.0);
        if any_drops {
            keys.push(Key { text: "drops".to_owned(), stroke: Stroke::new(palette::DROP, 2.0) });
        }
        if let Some(buffer) = buffer {
            let text = format!("buffer {} packets", fixed(buffer, 0));
            if buffer <= panel.y.high {
                panel.line(&[(0.0, buffer), (self.end_s, buffer)], reference);
                keys.push(Key { text, stroke: reference });
            } else {
                keys.push(Key { text: format!("{text} (above)"), stroke: reference });
            }
        }
        panel.legend(&keys);
        panel.border();
        panel.x_labels("time, s");
    }

    /// The link that the flows share: the dumbbell's bottleneck, or else the first with a limited rate.
    fn main_link(&self) -> Option<&'a Link> {
        let run = self.input.run;
        let bottleneck = run.bottleneck.and_then(|link| run.links.get(link as usize));
        bottleneck.or_else(|| run.links.iter().find(|link| link.rate.is_limited()))
    }

    /// The bottleneck if there is one, else up to four links with the longest mean queues, in the order of the
    /// summary. Access links of single flows are shown only if there are no other links.
    fn shown_links(&self) -> Vec<u32> {
        let links = &self.input.summary.links;
        let mut by_queue: Vec<(u32, f64, bool)> = (0u32..)
            .zip(links)
            .map(|(at, link)| {
                let is_private = link.name.starts_with("left[") || link.name.starts_with("right[");
                (at, link.queue_packets.mean.unwrap_or(0.0), is_private)
            })
            .collect();
        if by_queue.iter().any(|link| !link.2) {
            by_queue.retain(|link| !link.2);
        }
        by_queue.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let main = links.iter().position(|link| link.name == "bottleneck");
        let keep = if main.is_some() { 1 } else { 4 };
        let mut shown: Vec<u32> = match main {
            Some(main) => vec![u32::try_from(main).expect("links are bounded")],
            None => by_queue.iter().take(keep).map(|link| link.0).collect(),
        };
        shown.sort_unstable();
        shown
    }

    /// Wire bytes of a full packet on the main link.
    fn wire_bytes(&self, mss: u32) -> f64 {
        let framing = self.main_link().map_or(0.0, |link| value(link.framing.0));
        f64::from(mss) + HEADERS + framing
    }

    fn bdp_packets(&self) -> Option<f64> {
        let [class] = self.input.run.classes.as_slice() else { return None };
        if self.rows.len() != 1 {
            return None;
        }
        let Rate::Constant(rate) = &self.main_link()?.rate else { return None };
        Some(value(rate.0) / 8.0 * class.base_rtt.as_secs_f64() / self.wire_bytes(class.mss))
    }

    fn buffer_packets(&self, link: &Link) -> Option<f64> {
        match link.buffer {
            Buffer::Unlimited => None,
            Buffer::Packets(packets) => Some(value(packets.0)),
            Buffer::Bytes(bytes) => {
                let mss = self.input.run.classes.first()?.mss;
                Some(value(bytes.0) / self.wire_bytes(mss))
            }
        }
    }
}

/// The rate over time as the corners of a line, in Mbit/s.
fn rate_steps(rate: &Rate, end_s: f64) -> Vec<(f64, f64)> {
    match rate {
        Rate::Unlimited => Vec::new(),
        Rate::Constant(_) | Rate::Trace(_) => {
            let rate = rate.at_start().map_or(0.0, |rate| value(rate.0) / 1e6);
            vec![(0.0, rate), (end_s, rate)]
        }
        Rate::Schedule(steps) => {
            let mut corners: Vec<(f64, f64)> = Vec::new();
            for &(from, rate) in steps.iter() {
                let from_s = from.as_secs_f64();
                if from_s > end_s {
                    break;
                }
                if let Some(&(_, before)) = corners.last() {
                    corners.push((from_s, before));
                }
                corners.push((from_s, value(rate.0) / 1e6));
            }
            if let Some(&(_, last)) = corners.last() {
                corners.push((end_s, last));
            }
            corners
        }
    }
}

fn draw_curves(panel: &Panel<'_, '_>, curves: &[Curve], width: f64) {
    for curve in curves {
        if let Some((low, high)) = &curve.band {
            panel.band(low, high, curve.color, if curve.members.is_empty() { 0.18 } else { 0.10 });
        }
        for member in &curve.members {
            panel.line(member, Stroke::new(curve.color, 0.7).alpha(0.35));
        }
    }
    for curve in curves {
        for line in &curve.lines {
            panel.line(line, Stroke::new(curve.color, width));
        }
    }
}

fn greatest(curves: &[Curve]) -> f64 {
    curves
        .iter()
        .flat_map(|curve| {
            let band = curve.band.iter().flat_map(|(_, high)| high);
            curve.lines.iter().flatten().chain(band)
        })
        .map(|&(_, y)| y)
        .fold(0.0, f64::max)
}

/// The column at a share of a panel's width. Columns are half a point wide.
#[expect(clippy::cast_possible_truncation, reason = "places on a sheet")]
fn column_of(share: f64) -> i64 {
    (share * (RIGHT - LEFT)) as i64
}

#[expect(clippy::cast_precision_loss, reason = "for a picture")]
fn value(count: u64) -> f64 {
    count as f64
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
