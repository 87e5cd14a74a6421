//! Pictures of a sweep: the metrics that answer its question against a swept key. The other keys
//! are colours and small multiples.
//!
//! Quantities have a numeric axis, logarithmic if the values are geometric. Points without values
//! between them, such as two algorithms, are not joined. Small dots are single seeds; bars are the
//! 95 % intervals of their mean.

mod against;
mod choice;
mod plot;

use std::collections::{BTreeMap, BTreeSet};

use bbrlab_run::{Group, RunSummary};

use self::choice::Keys;
pub use self::choice::SweepChoice;
use self::plot::{Curve, DASHES, Room, Sample};
use super::Picture;
use super::axis::Axis;
use super::canvas::{Canvas, Stroke, TextLook, draw};
use super::font::cut;
use super::grid::Grid;
use super::head::Head;
use super::legend::{self, Entry};
use super::marks::{Form, Mark};
use super::palette;
use super::panel::{Names, Panel, SMALL};
use super::shape::{LOWEST_PANEL, Shape};
use super::swept::{Swept, spread};
use crate::answers::{self, Answer, Metric, flow_groups, link_to_name, most_groups};
use crate::points::Points;
use crate::swept_key::stem;
use crate::table::{value_text, varying_keys};

const PANEL_HEIGHT: f64 = 220.0;
/// Gap between small multiples, which share their y axis.
const GAP_BETWEEN_MULTIPLES: f64 = 20.0;
/// Space below a panel, for its labels and the title of the next panel.
const GAP_Y: f64 = 72.0;
/// More metrics than this are shown only in the table. For competing transfers, the eighth is
/// retransmissions.
const PANELS_SHOWN: usize = 8;
/// Number of metrics shown if there are small multiples.
const ROWS_OF_MULTIPLES: usize = 3;
/// More small multiples than this are too small.
const MULTIPLES_SHOWN: usize = 12;
/// More lines than this are far too many to be distinguished.
const LINES_SHOWN: usize = 32;

/// Draws the pictures of a sweep: one for each swept quantity, which is on the x axis. A sweep of
/// names only has one picture. Without a swept key there is none.
#[must_use]
pub fn sweep_pictures(title: &str, runs: &[RunSummary]) -> Vec<Picture> {
    let Ok(points) = Points::of(runs);
    points.pictures(title)
}

impl Points {
    /// Draws the pictures of these points, as [`sweep_pictures`] does.
    #[must_use]
    pub fn pictures(&self, title: &str) -> Vec<Picture> {
        pictures(title, self, &SweepChoice::default()).unwrap_or_default()
    }
}

/// Draws the pictures of a sweep with the chosen metrics, axis, colours and size.
///
/// # Errors
/// If a metric or a key is unknown, or the panels do not fit the size. The text names the
/// alternatives.
pub fn chosen_sweep_pictures(
    title: &str,
    runs: &[RunSummary],
    choice: &SweepChoice,
) -> Result<Vec<Picture>, String> {
    pictures(title, &Points::with_every_metric(runs), choice)
}

fn pictures(title: &str, points: &Points, choice: &SweepChoice) -> Result<Vec<Picture>, String> {
    if let Some(across) = &choice.against {
        return against::against(title, points, across, choice);
    }
    let Points { groups, usual, .. } = points;
    let swept = varying_keys(groups);
    let figures = choice.figures(groups, usual)?;
    let is_chosen = !figures.is_empty();
    let here: Vec<Answer<'_>> =
        usual.iter().filter(|answer| !answers::is_elsewhere(groups, answer)).cloned().collect();
    let figures = if is_chosen { &figures } else { &here };
    let mut pictures = Vec::new();
    for axis_key in choice.axes(&swept, groups)? {
        let keys = choice.keys(axis_key, &swept, groups)?;
        let (sheet, grid) = Sheet::new(title, points, keys, choice.shape, figures, is_chosen)?;
        pictures.push(Picture {
            name: format!("sweep-{}", axis_key.replace(['.', '[', ']'], "-")),
            svg: sheet.draw(&grid),
        });
    }
    Ok(pictures)
}

/// The different values of a key, in the order of the sweep.
fn values_of(groups: &[Group], key: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let values = groups.iter().filter_map(|group| group.point.get(key)).map(value_text);
    values.filter(|value| seen.insert(value.clone())).collect()
}

fn value_at(group: &Group, key: &str) -> String {
    group.point.get(key).map_or_else(|| "–".to_owned(), value_text)
}

/// A value as shown in a legend. Names of congestion controls need no key.
fn named(key: &str, value: &str) -> String {
    if stem(key) == "cc" { value.to_owned() } else { format!("{} {value}", stem(key)) }
}

struct Sheet<'a> {
    title: &'a str,
    shape: Shape,
    points: &'a Points,
    keys: Keys<'a>,
    swept: Swept,
    /// Values of the key shown by colours; a single empty one without such a key.
    lines: Vec<String>,
    /// Number of values left out.
    lines_left_out: usize,
    /// The index of the line of each point.
    line_of: Vec<Option<usize>>,
    /// The names of the small multiples, with the indices of their points.
    multiples: Vec<(String, Vec<usize>)>,
    left_out: usize,
    /// Number of metrics for which the size has no space.
    unfit: usize,
    flow_groups: Vec<String>,
    figures: Vec<Answer<'a>>,
    columns: usize,
}

impl<'a> Sheet<'a> {
    fn new(
        title: &'a str,
        points: &'a Points,
        keys: Keys<'a>,
        shape: Shape,
        figures: &[Answer<'a>],
        is_chosen: bool,
    ) -> Result<(Self, Grid), String> {
        let groups = &points.groups;
        let swept = Swept::new(keys.axis, &values_of(groups, keys.axis));
        let lines =
            keys.color.map_or_else(|| vec![String::new()], |color| values_of(groups, color));
        let (lines, lines_left_out) = spread(&lines, LINES_SHOWN);
        let line_of = |group: &Group| {
            let Some(color) = keys.color else { return Some(0) };
            let value = value_at(group, color);
            lines.iter().position(|line| *line == value)
        };
        let line_of = groups.iter().map(line_of).collect();
        let mut multiples: Vec<(String, Vec<usize>)> = Vec::new();
        let mut place_of: BTreeMap<String, usize> = BTreeMap::new();
        for (at, group) in groups.iter().enumerate() {
            if !group.point.contains_key(keys.axis) {
                continue;
            }
            let parts: Vec<String> =
                keys.multiples.iter().map(|key| named(key, &value_at(group, key))).collect();
            let name = parts.join(", ");
            let place = *place_of.entry(name).or_insert_with_key(|name| {
                multiples.push((name.clone(), Vec::new()));
                multiples.len() - 1
            });
            multiples[place].1.push(at);
        }
        let (multiples, left_out) = spread(&multiples, MULTIPLES_SHOWN);
        let shown = match (is_chosen, multiples.len()) {
            (true, _) => figures.len(),
            (false, 0 | 1) => PANELS_SHOWN,
            (false, _) => ROWS_OF_MULTIPLES,
        };
        let figures = &figures[..figures.len().min(shown)];
        let columns = match (multiples.len(), shape.is_narrow()) {
            (0 | 1, narrow) => (if narrow { 1 } else { 2 }).min(figures.len().max(1)),
            (several, true) => several.min(2),
            (several, false) => several.min(4),
        };
        let keys_axis = keys.axis;
        let mut sheet = Self {
            title,
            shape,
            points,
            keys,
            swept,
            lines,
            lines_left_out,
            line_of,
            multiples,
            left_out,
            unfit: 0,
            flow_groups: names_of_flow_groups(groups, keys_axis),
            figures: figures.to_vec(),
            columns,
        };
        let grid = sheet.fit(is_chosen)?;
        Ok((sheet, grid))
    }

    /// Finds the height of a panel. Metrics that the user did not choose are left out if there is
    /// no space.
    fn fit(&mut self, is_chosen: bool) -> Result<Grid, String> {
        loop {
            let grid = self.grid().stretched(&self.shape);
            let least = if is_chosen { LOWEST_PANEL } else { 2.0 * LOWEST_PANEL };
            if grid.panel_height >= least {
                return Ok(grid);
            }
            if !is_chosen && self.figures.len() > 1 {
                self.figures.pop();
                self.unfit += 1;
                self.columns =
                    self.columns.min(if self.multiples.len() > 1 { 4 } else { self.figures.len() });
            } else if grid.panel_height >= LOWEST_PANEL {
                return Ok(grid);
            } else {
                return Err(grid.no_room(&self.shape, "rows of panels"));
            }
        }
    }

    fn is_multiple(&self) -> bool {
        self.multiples.len() > 1
    }

    fn rows(&self) -> u32 {
        let panels = if self.is_multiple() {
            self.figures.len() * self.multiples.len().div_ceil(self.columns)
        } else {
            self.figures.len().div_ceil(self.columns)
        };
        u32::try_from(panels).expect("a handful")
    }

    fn grid(&self) -> Grid {
        let edges = (self.shape.left(), self.shape.right(12.0, 24.0));
        let (is_multiple, between) = (self.is_multiple(), GAP_BETWEEN_MULTIPLES);
        let mut grid = Grid {
            edges,
            head: self.shape.note_at() + 14.0 + legend::height(&self.legend(), edges.0, edges.1),
            titles: if is_multiple { 38.0 } else { 24.0 },
            rows: self.rows(),
            columns: u32::try_from(self.columns).expect("a handful"),
            gaps: if is_multiple { (between, GAP_Y + 14.0) } else { (74.0, GAP_Y) },
            foot: 0.0,
            panel_height: PANEL_HEIGHT,
        };
        // The gap already includes the space for two rows of names.
        grid.gaps.1 += (self.names(&grid).below() - Names::TwoRows.below()).max(0.0);
        grid
    }

    /// The arrangement of the names below a panel.
    fn names(&self, grid: &Grid) -> Names {
        Names::of(&self.swept.axis, grid.panel_width())
    }

    fn draw(&self, grid: &Grid) -> String {
        draw(&self.shape, grid.height(&self.shape), |canvas| self.paint(canvas, grid))
    }

    fn paint(&self, canvas: &Canvas<'_>, grid: &Grid) {
        let (left, right) = grid.edges;
        let title = (!self.shape.is_narrow()).then_some(self.title);
        let (note, entries) = (self.note(), self.legend());
        let head = Head { title, note: &note, note_at: self.shape.note_at(), entries: &entries };
        head.paint(canvas, left, right);
        let mut spots = grid.spots(canvas);
        let room = self.room();
        for figure in &self.figures {
            let of_figure: Vec<Vec<Curve>> =
                self.multiples.iter().map(|(_, members)| self.curves(figure, members)).collect();
            let y = y_axis(figure, of_figure.iter().flatten(), grid.panel_height);
            // With small multiples, each metric begins a new row.
            let mut row = spots.by_ref().skip_while(|spot| self.is_multiple() && !spot.is_first());
            for ((name, _), curves) in self.multiples.iter().zip(&of_figure) {
                let spot = row.next().expect("there is always a further place");
                let panel = spot.panel(self.swept.axis.clone(), y.clone());
                let is_first = !self.is_multiple() || spot.is_first();
                self.paint_panel(&panel, figure, (name, curves), is_first, (room, grid));
            }
        }
    }

    fn paint_panel(
        &self,
        panel: &Panel<'_, '_>,
        figure: &Answer<'_>,
        (multiple, curves): (&str, &[Curve]),
        is_first: bool,
        (room, grid): (Room, &Grid),
    ) {
        let title = title_of(figure, &self.points.groups, self.flow_groups.len() > 1);
        let width = panel.right - panel.left;
        if self.is_multiple() {
            if is_first {
                let words = TextLook::new(12.0, palette::INK).bold();
                let title = cut(&title, grid.edges.1 - grid.edges.0, 12.0, true);
                panel.canvas.text(&title, (panel.left, panel.top - 26.0), words);
            }
            panel.grid(is_first);
            let name = cut(multiple, width, SMALL, false);
            panel.canvas.text(
                &name,
                (panel.left, panel.top - 10.0),
                TextLook::new(SMALL, palette::INK),
            );
        } else {
            panel.frame(&cut(&title, width, 12.0, true));
        }
        if let Some(gap) = self.swept.gap_at {
            let (x, _) = panel.at(gap, 0.0);
            let stroke = Stroke::new(palette::FRAME, 1.0);
            for shift in [-2.0, 2.0] {
                let (from, to) =
                    ((x + shift - 2.0, panel.bottom + 4.0), (x + shift + 2.0, panel.bottom - 4.0));
                panel.canvas.line(&[from, to], stroke);
            }
        }
        plot::plot(panel, curves, &self.swept, room);
        panel.border();
        panel.x_labels_as(&cut(&self.swept.title, width, SMALL, false), self.names(grid));
    }

    /// The note below the title: seeds, intervals and omissions.
    fn note(&self) -> String {
        let seeds = self.points.groups.iter().map(|group| group.seeds.len()).max().unwrap_or(0);
        let least = self.points.groups.iter().map(|group| group.seeds.len()).min().unwrap_or(0);
        // Points of an incomplete sweep have fewer seeds.
        let of_seeds =
            if least < seeds { format!("{least} to {seeds}") } else { seeds.to_string() };
        let same =
            self.points.groups.iter().filter(|group| group.identical_digests == Some(true)).count();
        let all = self.points.groups.len();
        let short = self.shape.is_narrow();
        let room = self.room();
        let mut note = match (seeds, short) {
            (0 | 1, _) => "one run a point".to_owned(),
            (seeds, _) if same == all => {
                format!("{seeds} seeds, which changed nothing (identical digests): no bars")
            }
            (_, true) if !room.has_marks => {
                format!("mean of {of_seeds} seeds between its 95 % interval")
            }
            (_, false) if !room.has_marks => {
                format!("means over {of_seeds} seeds; thin lines: 95 % intervals of the mean")
            }
            (_, true) => format!("mean of {of_seeds} seeds (dots), bars: 95 %"),
            (_, false) => {
                let dots = self.points.seeds.iter().map(Vec::len).max().unwrap_or(0);
                let dots = match dots.min(room.dots) {
                    dots if dots < seeds => format!("the first {dots} seeds"),
                    _ => "single seeds".to_owned(),
                };
                format!(
                    "means over {of_seeds} seeds; small dots: {dots}; bars: 95 % intervals of the mean"
                )
            }
        };
        if same > 0 && same < all {
            note.push_str(&format!("; seeds changed nothing at {same} of {all} points"));
        }
        let left_out = [
            (self.left_out, self.multiples.len(), "panels"),
            (self.lines_left_out, self.lines.len(), "lines"),
            (self.swept.left_out, self.swept.axis.ticks.len(), "values"),
        ];
        for (left_out, shown, what) in left_out.into_iter().filter(|(left_out, ..)| *left_out > 0) {
            note.push_str(&format!("; {shown} of {} {what} shown", shown + left_out));
        }
        if self.unfit > 0 {
            let shown = self.figures.len();
            note.push_str(&format!("; {shown} of {} figures fit", shown + self.unfit));
        }
        note
    }

    fn legend(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let marked = |mark: Mark| self.room().has_marks.then_some(mark);
        if let Some(key) = self.keys.color {
            for (place, value) in self.lines.iter().enumerate() {
                let color = self.color(place);
                // The key is the algorithm of one class among several, not of all classes.
                let is_of_one =
                    self.flow_groups.len() > 1 && key != "flows.cc" && stem(key) == "cc";
                entries.push(Entry {
                    text: if is_of_one { format!("{key} {value}") } else { named(key, value) },
                    stroke: self.swept.joins.then(|| Stroke::new(color, 1.8)),
                    mark: marked(Mark { color, form: Form::Disc }),
                });
            }
        }
        let has_groups = self.figures.iter().any(|figure| figure.metric.is_per_group());
        if self.flow_groups.len() > 1 && has_groups {
            let several = self.lines.len() > 1;
            for (place, name) in self.flow_groups.iter().enumerate() {
                let (color, form, dash) = self.style(0, Some(place));
                let color = if several { palette::FAINT_INK } else { color };
                let stroke = Stroke { dash, ..Stroke::new(color, 1.8) };
                entries.push(Entry {
                    text: name.clone(),
                    stroke: self.swept.joins.then_some(stroke),
                    mark: marked(Mark { color, form }),
                });
            }
        }
        entries
    }

    fn color(&self, line: usize) -> plotters::style::RGBColor {
        palette::of_many(line, self.lines.len())
    }

    /// With several lines, colours distinguish the lines; marks and dashes distinguish the groups
    /// of flows. A metric of no group is drawn in ink if there is one line and several groups.
    fn style(
        &self,
        line: usize,
        group: Option<usize>,
    ) -> (plotters::style::RGBColor, Form, Option<(f64, f64)>) {
        match group {
            Some(group) if self.lines.len() > 1 => {
                (self.color(line), Form::of(group), DASHES[group % DASHES.len()])
            }
            Some(group) => (palette::line(group), Form::of(group), None),
            None if self.lines.len() > 1 || self.flow_groups.len() < 2 => {
                (self.color(line), Form::Disc, None)
            }
            None => (palette::INK, Form::Disc, None),
        }
    }

    fn room(&self) -> Room {
        let points: usize = self.multiples.iter().map(|(_, members)| members.len()).sum();
        let curves = |figure: &Answer<'_>| {
            if figure.metric.is_per_group() { self.flow_groups.len() } else { 1 }
        };
        Room::of(points * self.figures.iter().map(curves).sum::<usize>(), &self.swept)
    }

    fn curves(&self, figure: &Answer<'_>, members: &[usize]) -> Vec<Curve> {
        let per_group = figure.metric.is_per_group();
        let flow_groups = if per_group { self.flow_groups.len() } else { 1 };
        let mut curves = Vec::new();
        for line in 0..self.lines.len() {
            for place in 0..flow_groups {
                let of_group = (per_group && flow_groups > 1).then_some(place);
                let (color, form, dash) = self.style(line, of_group);
                let on_line = |at: &&usize| self.line_of[**at] == Some(line);
                let mut samples: Vec<Sample> = members
                    .iter()
                    .filter(on_line)
                    .filter_map(|&at| self.sample(at, figure, place))
                    .collect();
                samples.sort_by(|one, other| one.x.total_cmp(&other.x));
                if !samples.is_empty() {
                    curves.push(Curve { mark: Mark { color, form }, dash, samples });
                }
            }
        }
        curves
    }

    fn sample(&self, at: usize, figure: &Answer<'_>, place: usize) -> Option<Sample> {
        let group = &self.points.groups[at];
        // With a single group of flows the share is always 1. It also corresponds to neither of the
        // two groups at other points.
        if figure.metric == Metric::PerGroup("share") && flow_groups(group).count() == 1 {
            return None;
        }
        let metric = answers::position(group, figure.metric, place)?;
        let (mean, half) = answers::value(group, figure.metric, place);
        let scaled = |value: f64| value * figure.scale;
        Some(Sample {
            x: self.swept.place(&value_at(group, self.keys.axis))?,
            mean: scaled(mean?),
            half: half.map(scaled),
            seeds: self.points.seeds[at]
                .iter()
                .filter_map(|seed| seed.get(metric).copied().flatten().map(scaled))
                .collect(),
        })
    }
}

/// The title of a metric's panel, with its unit. `has_groups` is whether several groups of flows
/// are distinguished.
fn title_of(figure: &Answer<'_>, groups: &[Group], has_groups: bool) -> String {
    let name = figure.metric.name();
    let title = match name {
        "share" => "Share of the goodput",
        "fct_ms.p50" => "Completion time, median",
        "fct_ms.p95" => "Completion time, p95",
        "fct_ms.p99" => "Completion time, p99",
        "fct_ms.unfinished" => "Transfers not completed",
        "goodput_active_mbps" => "Goodput while active",
        "goodput_mbps" if figure.metric == Metric::Run(name) && has_groups => {
            "Goodput of all flows"
        }
        "goodput_mbps" => "Goodput",
        "queue_delay_ms.mean" => "Mean queue delay",
        "retransmitted_packets" => "Retransmissions",
        "out_of_order_packets" => "Arrived out of order",
        "duplicate_packets" => "Arrived twice",
        "rtt_ms.mean" => "Mean RTT",
        "utilization" => "Utilisation",
        "drop_ratio" => "Dropped by the queue",
        "random_losses" => "Lost at random",
        "policer_drops" => "Dropped by the policer",
        "thinned_acks" => "ACKs left out by thinning",
        "turned_away" => "Flows turned away",
        "marks" => "Marked",
        "jain" => "Jain's index",
        _ => figure.title,
    };
    let of_link = link_to_name(groups, figure.metric);
    let title = of_link.map_or_else(|| title.to_owned(), |link| format!("{title} of {link}"));
    let unit = if figure.unit == "pkt" { "packets" } else { figure.unit };
    if unit.is_empty() { title } else { format!("{title}, {unit}") }
}

/// The names of the groups of flows by index. Up to four names that differ between points are
/// joined by slashes.
fn names_of_flow_groups(groups: &[Group], axis: &str) -> Vec<String> {
    let values = values_of(groups, axis);
    (0..most_groups(groups))
        .map(|place| {
            let mut names: Vec<&str> = Vec::new();
            for name in groups.iter().filter_map(|group| flow_groups(group).nth(place)) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let owner = axis.rsplit_once('.').map_or(axis, |(owner, _)| owner);
            match names.as_slice() {
                // The axis already shows the names.
                [_, _, ..]
                    if names.iter().all(|&name| values.iter().any(|value| value == name)) =>
                {
                    owner.to_owned()
                }
                [_, _, _, _, _, ..] => format!("group {}", place + 1),
                _ => names.join(" / "),
            }
        })
        .collect()
}

/// Shares and indexes have an axis of their whole range. Axes of other metrics begin at zero.
fn y_axis<'a>(figure: &Answer<'_>, curves: impl Iterator<Item = &'a Curve>, height: f64) -> Axis {
    let greatest =
        curves.flat_map(|curve| &curve.samples).map(Sample::greatest).fold(0.0, f64::max);
    axis_of(figure, greatest, height)
}

/// The y axis of a metric with this greatest value.
fn axis_of(figure: &Answer<'_>, greatest: f64, height: f64) -> Axis {
    let wanted = if height < 120.0 { 3 } else { 6 };
    let name = figure.metric.name();
    let is_whole = matches!(name, "share" | "utilization") || name.starts_with("limited_by");
    if is_whole || name.starts_with("jain") {
        return Axis::up_to(figure.scale, wanted);
    }
    Axis::from_zero(greatest, wanted)
}
