//! Pictures of a sweep: its most important metrics along a swept key. Colours and small multiples
//! show the other swept keys.
//!
//! Quantities have a numeric axis, logarithmic if the values form roughly a geometric sequence.
//! Lines join points only if the key can have values between them; no line joins the points of two
//! algorithms. Small dots are single seeds; bars are the 95 % intervals of their mean.

mod against;
mod choice;
mod heat;
mod plot;

use std::collections::{BTreeMap, BTreeSet};

use bbrlab_run::{Group, RunSummary};

use self::choice::Keys;
pub use self::choice::SweepChoice;
use self::plot::{Curve, DASHES, DrawLimits, Sample};
use super::Picture;
use super::axis::Axis;
use super::canvas::{Canvas, Stroke, TextLook, draw};
use super::font::cut;
use super::grid::Grid;
use super::head::Head;
use super::labels::{Words, one_panel};
use super::legend::Entry;
use super::marks::{Form, Mark};
use super::palette;
use super::panel::{LABEL_GAP, LINE, Names, PANEL_TITLE, Panel, SMALL, widest_label};
use super::shape::{LOWEST_PANEL, Shape};
use super::swept::{Swept, spread};
use crate::answers::{self, Answer, Metric, flow_groups, group_names, link_to_name, most_groups};
use crate::axis_title::{axis_title, axis_unit};
use crate::points::Points;
use crate::swept_key::{stem, value_text};
use crate::table::varying_keys;

const PANEL_HEIGHT: f64 = 220.0;
/// Gap between small multiples, which share their y axis.
const GAP_BETWEEN_MULTIPLES: f64 = 20.0;
/// Space below a panel, for its labels and the title of the next panel.
const GAP_Y: f64 = 72.0;
/// Width, in layout points, of the line that shows a fair share.
const FAIR_SHARE: f64 = 0.8;
/// The largest number of metrics in a picture if the user chose no metrics. Metrics beyond this
/// number are only in the table. With eight metrics, the picture of competing transfers includes
/// the last of their metrics, the retransmissions.
const PANELS_SHOWN: usize = 8;
/// The largest number of metrics in a picture with small multiples, if the user chose no metrics.
const ROWS_OF_MULTIPLES: usize = 3;
/// The largest number of small multiples in a plot. More would be too small to read.
const MULTIPLES_SHOWN: usize = 12;
/// The largest number of lines in a panel. More lines could not be distinguished.
const LINES_SHOWN: usize = 32;

/// The note on arrows at the ends of intervals.
const ARROWS: &str = "; arrows: the interval goes beyond the possible values";

/// Draws the pictures of a sweep: one for each swept key with numeric values, which is on the x
/// axis. If no swept key has numeric values, there is one picture; without a swept key, none.
#[must_use]
pub fn sweep_pictures(title: &str, runs: &[RunSummary]) -> Vec<Picture> {
    let Ok(points) = Points::of(runs);
    points.pictures(title)
}

impl Points {
    /// Draws the pictures of these sweep points, as [`sweep_pictures`] does.
    #[must_use]
    pub fn pictures(&self, title: &str) -> Vec<Picture> {
        pictures(title, self, &SweepChoice::default()).unwrap_or_default()
    }
}

/// Draws the pictures of a sweep with the chosen metrics, axis, colours and size.
///
/// # Errors
/// Fails if a metric or a key is unknown, or if the panels do not fit the size. Also fails if the
/// pictures cannot show a choice: groups of flows for a metric without groups, labels of dots
/// without a scatter plot, or a label of an axis in several plots. The text of the error names the
/// alternatives.
pub fn chosen_sweep_pictures(
    title: &str,
    runs: &[RunSummary],
    choice: &SweepChoice,
) -> Result<Vec<Picture>, String> {
    let mut points = Points::with_every_metric(runs);
    choice.add_of_flows(&mut points, runs);
    pictures(title, &points, choice)
}

fn pictures(title: &str, points: &Points, choice: &SweepChoice) -> Result<Vec<Picture>, String> {
    if let Some(across) = &choice.against {
        return against::against(title, points, across, choice);
    }
    if choice.dot_labels {
        return Err(
            "--dot-labels: expected a scatter, which --metric and --against draw".to_owned()
        );
    }
    if !choice.heatmap.is_empty() {
        return heat::heat_maps(title, points, choice);
    }
    let Points { groups, usual, .. } = points;
    let swept = varying_keys(groups);
    let figures = choice.figures(groups, usual)?;
    let is_chosen = !figures.is_empty();
    let (here, equal) = default_figures(groups, usual, choice);
    let (figures, equal) = if is_chosen { (&figures, Vec::new()) } else { (&here, equal) };
    choice.check_groups(figures)?;
    if choice.labels.y.is_some() && figures.len() > 1 {
        let titles = figures.iter().map(|figure| figure.metric.name());
        return Err(one_panel(titles, "--metric"));
    }
    let axes = choice.axes(&swept, groups)?;
    if choice.labels.x.is_some() && axes.len() > 1 {
        return Err(format!(
            "--xlabel: expected plots along one key, found {}; choose one with --x",
            axes.join(", ")
        ));
    }
    let mut pictures = Vec::new();
    for axis_key in axes {
        let keys = choice.keys(axis_key, &swept, groups)?;
        let (sheet, grid) = Sheet::new(title, points, keys, choice, (figures, &equal), is_chosen)?;
        pictures.push(Picture {
            name: format!("sweep-{}", axis_key.replace(['.', '[', ']'], "-")),
            svg: sheet.draw(&grid),
            entries: sheet.words.names(),
        });
    }
    Ok(pictures)
}

/// Returns the metrics drawn by default, and the titles of the metrics left out because a table
/// would show the same text for all sweep points and groups of flows. If all metrics would be left
/// out, all are drawn instead.
fn default_figures<'a>(
    groups: &[Group],
    usual: &[Answer<'a>],
    choice: &SweepChoice,
) -> (Vec<Answer<'a>>, Vec<&'a str>) {
    let is_drawn = |answer: &&Answer<'_>| {
        !answers::is_only_at_other_links(groups, answer)
            && (choice.groups.is_empty() || answer.metric.is_per_group())
    };
    let (differing, equal): (Vec<_>, Vec<_>) =
        usual.iter().filter(is_drawn).cloned().partition(|answer| differs(groups, answer, choice));
    if differing.is_empty() {
        (equal, Vec::new())
    } else {
        (differing, equal.iter().map(|answer| answer.title).collect())
    }
}

/// Whether the drawn values of a metric would have at least two different texts in a table.
fn differs(groups: &[Group], answer: &Answer<'_>, choice: &SweepChoice) -> bool {
    let mut first = None;
    let places = if answer.metric.is_per_group() { most_groups(groups) } else { 1 };
    let is_drawn = |group: &Group, place: usize| {
        !answer.metric.is_per_group()
            || flow_groups(group).nth(place).is_some_and(|name| choice.shows(name))
    };
    groups.iter().any(|group| {
        let drawn = (0..places).filter(|&place| is_drawn(group, place));
        let mut texts = drawn.map(|place| answers::text(group, answer, place));
        texts.any(|text| *first.get_or_insert_with(|| text.clone()) != text)
    })
}

/// Returns the different values of a key, in the order of the sweep.
fn values_of(groups: &[Group], key: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let values = groups.iter().filter_map(|group| group.point.get(key)).map(value_text);
    values.filter(|value| seen.insert(value.clone())).collect()
}

fn value_at(group: &Group, key: &str) -> String {
    group.point.get(key).map_or_else(|| "–".to_owned(), value_text)
}

/// Returns a value as a legend shows it. The name of a congestion control is shown alone. Any other
/// value follows the last part of its key, as in `buffer 1bdp`.
fn named(key: &str, value: &str) -> String {
    if stem(key) == "cc" { value.to_owned() } else { format!("{} {value}", stem(key)) }
}

/// The corners of a line as pairs of x and y values.
type Line = Vec<(f64, f64)>;

struct Sheet<'a> {
    title: &'a str,
    choice: &'a SweepChoice,
    shape: Shape,
    words: Words,
    points: &'a Points,
    keys: Keys<'a>,
    swept: Swept,
    /// Values of the key that colours show; one empty value if there is no such key.
    lines: Vec<String>,
    /// Number of values of the colours' key that have no line, because a panel cannot show more
    /// lines.
    lines_left_out: usize,
    /// For each point of the sweep: the index of its line.
    line_of: Vec<Option<usize>>,
    /// The names of the small multiples, each with the indices of its sweep points.
    multiples: Vec<(String, Vec<usize>)>,
    left_out: usize,
    /// Number of metrics for which the picture has no space.
    unfit: usize,
    flow_groups: Vec<String>,
    /// The indices of the groups of flows that are drawn.
    drawn_groups: Vec<usize>,
    figures: Vec<Answer<'a>>,
    /// The titles of metrics that are not drawn because they are equal at all sweep points and for
    /// all groups.
    equal: Vec<&'a str>,
    columns: usize,
    /// The left edge of panels, after the widest label of their y axes.
    left: f64,
}

impl<'a> Sheet<'a> {
    fn new(
        title: &'a str,
        points: &'a Points,
        keys: Keys<'a>,
        choice: &'a SweepChoice,
        (figures, equal): (&[Answer<'a>], &[&'a str]),
        is_chosen: bool,
    ) -> Result<(Self, Grid), String> {
        let (groups, shape) = (&points.groups, choice.shape);
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
        let is_drawn = |place: &usize| {
            let mut names = groups.iter().filter_map(|group| flow_groups(group).nth(*place));
            choice.groups.is_empty() || names.any(|name| choice.shows(name))
        };
        let mut sheet = Self {
            title,
            choice,
            shape,
            words: Words::new(&choice.labels),
            points,
            keys,
            swept,
            lines,
            lines_left_out,
            line_of,
            multiples,
            left_out,
            unfit: 0,
            flow_groups: names_of_flow_groups(groups, keys_axis, choice),
            drawn_groups: with_values((0..most_groups(groups)).filter(is_drawn), figures, groups),
            figures: figures.to_vec(),
            equal: equal.to_vec(),
            columns,
            left: shape.left(),
        };
        sheet.left = sheet.left.max(sheet.widest_label() + LABEL_GAP);
        let grid = sheet.fit(is_chosen)?;
        Ok((sheet, grid))
    }

    /// Returns the grid with the height of the panels. If the panels would be too low, removes
    /// metrics from the picture, the last ones first, unless the user chose them.
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
        let edges = (self.left, self.shape.right(12.0, 24.0));
        let (is_multiple, between) = (self.is_multiple(), GAP_BETWEEN_MULTIPLES);
        let mut grid = Grid {
            edges,
            head: self.head(edges).height(),
            titles: if is_multiple { 38.0 } else { 24.0 },
            rows: self.rows(),
            columns: u32::try_from(self.columns).expect("a handful"),
            gaps: if is_multiple { (between, GAP_Y + 14.0) } else { (74.0, GAP_Y) },
            foot: 0.0,
            panel_height: PANEL_HEIGHT,
        };
        // `GAP_Y` has space for two rows of names below the x axis. Vertical names need more.
        grid.gaps.1 += (self.names(&grid).below() - Names::TwoRows.below()).max(0.0);
        let labels = &self.words.labels;
        let more_y = labels.more_y(self.title_room(&grid));
        grid.titles += more_y;
        grid.gaps.1 += labels.more_x(grid.panel_width()) + more_y;
        grid
    }

    /// Returns the width for the title of a metric. In a sweep's plot, all small multiples of a
    /// metric share one title.
    fn title_room(&self, grid: &Grid) -> f64 {
        if self.is_multiple() { grid.edges.1 - grid.edges.0 } else { grid.panel_width() }
    }

    fn head(&self, edges: (f64, f64)) -> Head {
        let note = self.choice.noted(self.note());
        Head::new(&self.words.labels, &self.shape, self.title, &note, self.legend(), edges)
    }

    /// Returns the width of the widest label of all y axes; 0 for a wide sheet, because it has
    /// space for any label.
    fn widest_label(&self) -> f64 {
        if !self.shape.is_narrow() {
            return 0.0;
        }
        let mut widest: f64 = 0.0;
        for figure in &self.figures {
            let curves =
                self.multiples.iter().flat_map(|(_, members)| self.curves(figure, members));
            let curves: Vec<Curve> = curves.collect();
            for height in [LOWEST_PANEL, PANEL_HEIGHT] {
                let axis = y_axis(figure, curves.iter(), height);
                widest = widest.max(widest_label(&axis));
            }
        }
        widest
    }

    /// Returns the arrangement of the names below a panel.
    fn names(&self, grid: &Grid) -> Names {
        Names::of(&self.swept.axis, grid.panel_width())
    }

    fn draw(&self, grid: &Grid) -> String {
        draw(&self.shape, grid.height(&self.shape), |canvas| self.paint(canvas, grid))
    }

    fn paint(&self, canvas: &Canvas<'_>, grid: &Grid) {
        self.head(grid.edges).paint(canvas);
        let mut spots = grid.spots(canvas);
        let limits = self.limits();
        for figure in &self.figures {
            let of_figure: Vec<Vec<Curve>> =
                self.multiples.iter().map(|(_, members)| self.curves(figure, members)).collect();
            let y = y_axis(figure, of_figure.iter().flatten(), grid.panel_height);
            // With small multiples, each metric begins a new row.
            let mut row = spots.by_ref().skip_while(|spot| self.is_multiple() && !spot.is_first());
            for ((name, members), curves) in self.multiples.iter().zip(&of_figure) {
                let spot = row.next().expect("the grid has enough places");
                let panel = spot.panel(self.swept.axis.clone(), y.clone());
                let is_first = !self.is_multiple() || spot.is_first();
                let fair = self.fair_shares(figure, members);
                let curves = (name.as_str(), curves.as_slice(), fair.as_slice());
                self.paint_panel(&panel, figure, curves, is_first, (limits, grid));
            }
        }
    }

    fn paint_panel(
        &self,
        panel: &Panel<'_, '_>,
        figure: &Answer<'_>,
        (multiple, curves, fair): (&str, &[Curve], &[Line]),
        is_first: bool,
        (limits, grid): (DrawLimits, &Grid),
    ) {
        let mut title = title_of(figure, &self.points.groups, self.flow_groups.len() > 1);
        if let Some(name) = self.only_group().filter(|_| figure.metric.is_per_group()) {
            title.push_str(&format!(" ({})", self.words.entry(name)));
        }
        let width = panel.right - panel.left;
        let title = self.words.labels.y_lines(&title, self.title_room(grid));
        if self.is_multiple() {
            if is_first {
                let words = TextLook::new(PANEL_TITLE, palette::INK).bold();
                let mut y = panel.top - 26.0;
                for line in title.iter().rev() {
                    panel.canvas.text(line, (panel.left, y), words);
                    y -= LINE;
                }
            }
            panel.grid(is_first);
            let name = cut(multiple, width, SMALL, false);
            panel.canvas.text(
                &name,
                (panel.left, panel.top - 10.0),
                TextLook::new(SMALL, palette::INK),
            );
        } else {
            panel.frame(&title);
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
        for line in fair {
            panel.line(line, Stroke::new(palette::FRAME, FAIR_SHARE));
        }
        plot::plot(panel, curves, &self.swept, limits, figure.greatest() * figure.scale);
        panel.border();
        let title = self.words.labels.x_lines(&self.swept.title, width);
        panel.x_labels_as(&title, self.names(grid));
    }

    /// Returns the lines that show the fair share of each drawn group of flows; empty if the
    /// panel's metric is not `share`, or if the flows do not share one link. If a group's fair
    /// share is equal at all sweep points, its line crosses the panel. Otherwise the line joins the
    /// points; on an axis of names, there is a short line at each name instead.
    fn fair_shares(&self, figure: &Answer<'_>, members: &[usize]) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        // Flows that wait at different links do not share one link, so no fair share is drawn.
        let is_of_one_link = answers::links_to_show(&self.points.groups).len() < 2;
        if figure.metric != Metric::PerGroup("share") || !is_of_one_link {
            return lines;
        }
        let axis = &self.swept.axis;
        for &place in &self.drawn_groups {
            let point = |&at: &usize| {
                // At a sweep point with a single group of flows, the fair share is 1 and gets no
                // line.
                let of_all = self.points.fair[at].get(place).filter(|&&fair| fair < 1.0)?;
                let x = self.swept.place(&value_at(&self.points.groups[at], self.keys.axis))?;
                Some((x, of_all * figure.scale))
            };
            let mut points: Line = members.iter().filter_map(point).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            points.dedup();
            let Some(&(_, first)) = points.first() else { continue };
            let found = if points.iter().all(|&(_, fair)| fair.to_bits() == first.to_bits()) {
                vec![vec![(axis.low, first), (axis.high, first)]]
            } else if self.swept.joins {
                vec![points]
            } else {
                points.iter().map(|&(x, fair)| vec![(x - 0.4, fair), (x + 0.4, fair)]).collect()
            };
            for line in found {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        lines
    }

    /// Whether some panel has a line at a fair share.
    fn has_fair_shares(&self) -> bool {
        let figures = self.figures.iter();
        let mut panels =
            figures.flat_map(|figure| self.multiples.iter().map(move |of| (figure, of)));
        panels.any(|(figure, (_, members))| !self.fair_shares(figure, members).is_empty())
    }

    /// Whether the bar of some interval ends in an arrow.
    fn has_arrows(&self) -> bool {
        self.limits().has_marks
            && self.figures.iter().any(|figure| {
                let mut panels = self.multiples.iter().map(|(_, of)| self.curves(figure, of));
                let greatest = figure.greatest() * figure.scale;
                panels.any(|curves| {
                    curves.iter().flat_map(|it| &it.samples).any(|it| it.is_beyond(greatest))
                })
            })
    }

    /// Returns the note below the title: seeds, intervals and omissions.
    fn note(&self) -> String {
        let seeds = self.points.groups.iter().map(|group| group.seeds.len()).max().unwrap_or(0);
        let least = self.points.groups.iter().map(|group| group.seeds.len()).min().unwrap_or(0);
        // In an incomplete sweep, some points have fewer seeds than others.
        let of_seeds =
            if least < seeds { format!("{least} to {seeds}") } else { seeds.to_string() };
        let same =
            self.points.groups.iter().filter(|group| group.identical_digests == Some(true)).count();
        let all = self.points.groups.len();
        let short = self.shape.is_narrow();
        let limits = self.limits();
        let mut note = match (seeds, short) {
            (0 | 1, _) => "one run per point".to_owned(),
            (seeds, _) if same == all => {
                format!("{seeds} seeds with identical digests: no bars")
            }
            (_, true) if !limits.has_marks => {
                format!("mean of {of_seeds} seeds; thin lines: 95 % CI")
            }
            (_, false) if !limits.has_marks => {
                format!("means over {of_seeds} seeds; thin lines: 95 % intervals of the mean")
            }
            (_, true) => format!("mean of {of_seeds} seeds; dots: single seeds; bars: 95 % CI"),
            (_, false) => {
                let dots = self.points.seeds.iter().map(Vec::len).max().unwrap_or(0);
                let dots = match dots.min(limits.dots) {
                    dots if dots < seeds => format!("the first {dots} seeds"),
                    _ => "single seeds".to_owned(),
                };
                format!(
                    "means over {of_seeds} seeds; small dots: {dots}; bars: 95 % intervals of the mean"
                )
            }
        };
        if same > 0 && same < all {
            note.push_str(&format!("; identical digests at {same} of {all} points"));
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
            note.push_str(&format!("; {shown} of {} metrics fit", shown + self.unfit));
        }
        if !self.equal.is_empty() && !short {
            note.push_str(&format!("; the same everywhere: {}", self.equal.join(", ")));
        }
        if self.has_fair_shares() {
            note.push_str("; grey: fair share");
        }
        if self.has_arrows() {
            note.push_str(if short { "; arrows: beyond range" } else { ARROWS });
        }
        note
    }

    /// Returns the name of the drawn group of flows if the panels' titles must name it. The titles
    /// must name the group if only one of several groups is drawn and the panels have several
    /// lines. The legend then describes only the colours of the lines.
    fn only_group(&self) -> Option<&str> {
        let [only] = self.drawn_groups[..] else { return None };
        let is_named = self.lines.len() > 1 && self.flow_groups.len() > 1;
        let own = self.keys.color.and_then(|key| self.group_of(key));
        (is_named && own != Some(only)).then(|| self.flow_groups[only].as_str())
    }

    fn legend(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let marked = |mark: Mark| self.limits().has_marks.then_some(mark);
        let has_groups = self.figures.iter().any(|figure| figure.metric.is_per_group());
        let has_groups = has_groups && self.flow_groups.len() > 1;
        let own = self.keys.color.and_then(|key| self.group_of(key)).filter(|_| has_groups);
        if let Some(key) = self.keys.color {
            let drawn = self.lines.iter().enumerate();
            for (line, value) in drawn.filter(|&(line, _)| self.has_group_of(line)) {
                let (color, form, dash) = self.style(line, own);
                // The swept key sets the algorithm of one class of flows, and other classes keep
                // their algorithms, so the entry names the key.
                let is_of_one = self.flow_groups.len() > 1
                    && key != "flows.cc"
                    && stem(key) == "cc"
                    && (own.is_none() || self.drawn_groups.len() > 1);
                entries.push(Entry {
                    text: self.words.entry(&if is_of_one {
                        format!("{key} {value}")
                    } else {
                        named(key, value)
                    }),
                    stroke: self.swept.joins.then(|| Stroke { dash, ..Stroke::new(color, 1.8) }),
                    mark: marked(Mark { color, form }),
                });
            }
        }
        if has_groups && self.only_group().is_none() {
            let several = self.lines.len() > 1;
            for &place in self.drawn_groups.iter().filter(|&&place| Some(place) != own) {
                let name = &self.flow_groups[place];
                let (color, form, dash) = self.style(0, Some(place));
                let color = if several { palette::FAINT_INK } else { color };
                let stroke = Stroke { dash, ..Stroke::new(color, 1.8) };
                entries.push(Entry {
                    text: self.words.entry(name),
                    stroke: self.swept.joins.then_some(stroke),
                    mark: marked(Mark { color, form }),
                });
            }
        }
        entries
    }

    /// Returns the lowest index of a drawn group of flows whose name equals the value of `key` at
    /// each sweep point that has the group. If such a group exists, the legend's entries for the
    /// values of `key` already name the group, and show the group's symbols.
    ///
    /// Metrics of the whole run are drawn with the symbols of group 0. If such a metric is drawn,
    /// only group 0 can be returned, because the legend's symbols must not differ from the
    /// metric's.
    fn group_of(&self, key: &str) -> Option<usize> {
        let is_it = |&place: &usize| {
            self.points.groups.iter().all(|group| {
                flow_groups(group).nth(place).is_none_or(|name| name == value_at(group, key))
            })
        };
        let of_groups = self.figures.iter().all(|figure| figure.metric.is_per_group());
        self.drawn_groups.iter().copied().filter(|&place| place == 0 || of_groups).find(is_it)
    }

    /// Whether a drawn group of flows exists at some point of the line with this index.
    fn has_group_of(&self, line: usize) -> bool {
        let of_line = self.points.groups.iter().zip(&self.line_of);
        let mut of_line = of_line.filter(|(_, of)| **of == Some(line));
        self.choice.groups.is_empty()
            || of_line.any(|(group, _)| flow_groups(group).any(|name| self.choice.shows(name)))
    }

    fn color(&self, line: usize) -> plotters::style::RGBColor {
        palette::of_many(line, self.lines.len())
    }

    /// Returns the colour, the shape of the marks and the dashes of a curve. A line is a value of
    /// the key that colours show; it has one curve for each drawn group of flows. With several
    /// lines, the colour of a curve shows its line, and marks and dashes show its group. With one
    /// line and several groups, a metric of the whole run is drawn in the colour of text.
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

    fn limits(&self) -> DrawLimits {
        let points: usize = self.multiples.iter().map(|(_, members)| members.len()).sum();
        let curves = |figure: &Answer<'_>| {
            if figure.metric.is_per_group() { self.drawn_groups.len() } else { 1 }
        };
        DrawLimits::of(points * self.figures.iter().map(curves).sum::<usize>(), &self.swept)
    }

    fn curves(&self, figure: &Answer<'_>, members: &[usize]) -> Vec<Curve> {
        let per_group = figure.metric.is_per_group();
        let places = if per_group { &self.drawn_groups[..] } else { &[0] };
        let mut curves = Vec::new();
        for line in 0..self.lines.len() {
            for &place in places {
                let of_group = (per_group && self.flow_groups.len() > 1).then_some(place);
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
        // The share of a single group of flows is always 1, so it is not drawn. If other sweep
        // points have two groups, neither of the two corresponds to the single group.
        if figure.metric == Metric::PerGroup("share") && flow_groups(group).count() == 1 {
            return None;
        }
        let is_drawn = |name| self.choice.shows(name);
        if figure.metric.is_per_group() && !flow_groups(group).nth(place).is_some_and(is_drawn) {
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

/// Returns those groups in `drawn` that have a value of at least one drawn metric, because the
/// legend must not list groups without a point in any panel. If no group has such a value, or if no
/// drawn metric is a metric of groups, returns all groups in `drawn`.
fn with_values(
    drawn: impl Iterator<Item = usize>,
    figures: &[Answer<'_>],
    groups: &[Group],
) -> Vec<usize> {
    let drawn: Vec<usize> = drawn.collect();
    let of_groups = figures.iter().filter(|figure| figure.metric.is_per_group());
    let there: Vec<usize> =
        of_groups.flat_map(|figure| answers::places(groups, figure.metric)).collect();
    let kept: Vec<usize> = drawn.iter().copied().filter(|place| there.contains(place)).collect();
    if kept.is_empty() { drawn } else { kept }
}

/// Returns the title of a metric's panel, with its unit. `has_groups` states whether several groups
/// of flows are distinguished.
fn title_of(figure: &Answer<'_>, groups: &[Group], has_groups: bool) -> String {
    let name = figure.metric.name();
    let title = match figure.metric {
        Metric::Run("goodput_mbps") if has_groups => axis_title(name, " of all flows"),
        Metric::PerFlow(_) => axis_title(name, " per flow"),
        metric => {
            let link = link_to_name(groups, metric);
            axis_title(name, &link.map_or_else(String::new, |link| format!(" of {link}")))
        }
    };
    let unit = axis_unit(figure.unit);
    if unit.is_empty() { title } else { format!("{title}, {unit}") }
}

/// Returns the names of the groups of flows by index. If the name of a group differs between sweep
/// points, up to four names that the plot shows are joined by slashes. If the plot shows more names
/// of the group, the result has the shorter name that [`group_names`] returns.
fn names_of_flow_groups(groups: &[Group], axis: &str, choice: &SweepChoice) -> Vec<String> {
    let values = values_of(groups, axis);
    let short = group_names(groups);
    (0..most_groups(groups))
        .map(|place| {
            let mut names: Vec<&str> = Vec::new();
            let all = groups.iter().filter_map(|group| flow_groups(group).nth(place));
            for name in all.filter(|name| choice.shows(name)) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let owner = axis.rsplit_once('.').map_or(axis, |(owner, _)| owner);
            match names.as_slice() {
                // If all names are values on the axis, the result is the name of the scenario's
                // table that sets them, such as `flows[0]`.
                [_, _, ..]
                    if names.iter().all(|&name| values.iter().any(|value| value == name)) =>
                {
                    owner.to_owned()
                }
                [_, _, _, _, _, ..] => short[place].clone(),
                _ => names.join(" / "),
            }
        })
        .collect()
}

/// Returns the y axis of a metric's panel. For the metrics `share` and `utilization`, for
/// `limited_by` and for Jain's index, the y axis shows the whole possible range. For other metrics,
/// the y axis extends from zero to a round number above the greatest value.
fn y_axis<'a>(figure: &Answer<'_>, curves: impl Iterator<Item = &'a Curve>, height: f64) -> Axis {
    let greatest =
        curves.flat_map(|curve| &curve.samples).map(Sample::greatest).fold(0.0, f64::max);
    axis_of(figure, greatest, height)
}

/// Returns the y axis of a metric whose greatest drawn value is `greatest`, for a panel of this
/// height.
fn axis_of(figure: &Answer<'_>, greatest: f64, height: f64) -> Axis {
    let wanted = if height < 120.0 { 3 } else { 6 };
    let name = figure.metric.name();
    let is_whole = matches!(name, "share" | "utilization") || name.starts_with("limited_by");
    if is_whole || name.starts_with("jain") {
        return Axis::up_to(figure.scale, wanted);
    }
    Axis::from_zero(greatest, wanted)
}
