//! Draws two metrics of a sweep against each other, such as the share of the link against the
//! delay.
//!
//! Each combination of swept values is drawn as a point. Colours show one key. Points are joined
//! along the values of another key; the point of a larger value has a larger mark. Small multiples
//! show the remaining keys.

use bbrlab_run::Group;

use super::choice::SweepChoice;
use super::{ARROWS, MULTIPLES_SHOWN, named, names_of_flow_groups, title_of, value_at, values_of};
use crate::answers::{self, Answer, Metric, is_beyond};
use crate::chosen_answers::chosen_answer;
use crate::picture::Picture;
use crate::picture::axis::{Axis, Ratios};
use crate::picture::canvas::{Canvas, Stroke, TextLook, draw};
use crate::picture::font::{cut, width_of};
use crate::picture::grid::Grid;
use crate::picture::head::Head;
use crate::picture::labels::{Words, one_panel};
use crate::picture::legend::Entry;
use crate::picture::marks::{Form, Mark};
use crate::picture::palette;
use crate::picture::panel::{LABEL_GAP, LINE, Names, PANEL_TITLE, Panel, SMALL, widest_label};
use crate::picture::shape::Shape;
use crate::picture::swept::Swept;
use crate::points::Points;
use crate::swept_key::{stem, swept_key};
use crate::table::varying_keys;

const PANEL_HEIGHT: f64 = 200.0;
/// Maximum width of a picture's only panel, if the user chose no size for the picture. The picture
/// becomes as narrow as this panel.
const LARGEST_SQUARE: f64 = 560.0;
/// Space below a panel, for its labels and the name of the next panel.
const GAP_Y: f64 = 74.0;
/// Height of the names of panels. [`GAP_Y`] includes this height, because a name is in the gap
/// below the row above.
const TITLES: f64 = 28.0;
const GAP_X: f64 = 26.0;
/// Sizes of the marks at the least and the greatest value of the key along which points are joined.
const SIZES: (f64, f64) = (2.2, 4.6);

/// Draws the chosen metrics of a sweep on the y axis against the metric `across` on the x axis, one
/// picture for each metric on the y axis.
///
/// # Errors
/// Fails if a metric or a key is unknown, if more colours would be needed than can be
/// distinguished, or if the panels do not fit the size. Also fails if groups of flows are chosen
/// for a metric without groups, or if a label of the y axis is set for several metrics.
pub(super) fn against(
    title: &str,
    points: &Points,
    across: &str,
    choice: &SweepChoice,
) -> Result<Vec<Picture>, String> {
    let Points { groups, usual, .. } = points;
    let swept = varying_keys(groups);
    let across = chosen_answer(across, groups, usual)?;
    let chosen = choice.figures(groups, usual)?;
    let figures = if chosen.is_empty() { &usual[..usual.len().min(1)] } else { &chosen[..] };
    choice.check_groups(figures)?;
    if choice.labels.y.is_some() && figures.len() > 1 {
        let titles = figures.iter().map(|figure| figure.metric.name());
        return Err(one_panel(titles, "--metric"));
    }
    let parts = Parts::new(choice, &swept, groups)?;
    let draw = |figure: &Answer<'_>| {
        let sheet = Sheet::new(title, points, &parts, choice, figure, &across)?;
        let name = |answer: &Answer<'_>| answer.metric.name().replace(['.', '[', ']'], "-");
        Ok(Picture {
            name: format!("{}-against-{}", name(figure), name(&across)),
            svg: sheet.draw()?,
            entries: sheet.words.names(),
        })
    };
    figures.iter().map(draw).collect()
}

/// The role of each swept key in a plot. A key determines the colour of points, the order in which
/// lines join the points, or the small multiple that contains them.
struct Parts<'a> {
    color: Option<&'a str>,
    /// The key along which points are joined, with the positions of its values.
    joined: Option<(&'a str, Swept)>,
    multiples: Vec<&'a str>,
}

impl<'a> Parts<'a> {
    fn new(choice: &SweepChoice, swept: &'a [String], groups: &[Group]) -> Result<Self, String> {
        let along = |key: &'a str| (key, Swept::new(key, &values_of(groups, key)));
        let joined = if let Some(wanted) = &choice.x {
            Some(along(swept_key(wanted, swept)?))
        } else {
            let is_free = |key: &&String| choice.by.as_deref() != Some(*key) && stem(key) != "cc";
            let mut all = swept.iter().filter(is_free).map(|key| along(key));
            all.find(|(_, swept)| swept.joins)
        };
        let joined_key = joined.as_ref().map(|&(key, _)| key);
        let others = || swept.iter().map(String::as_str).filter(|key| Some(*key) != joined_key);
        let color = match &choice.by {
            Some(wanted) => Some(swept_key(wanted, swept)?),
            None => others().find(|key| stem(key) == "cc").or_else(|| others().next()),
        };
        if color.is_some() && color == joined_key {
            let key = color.unwrap_or_default();
            return Err(format!("lines join points along `{key}`: --by needs another swept key"));
        }
        let several = color.map_or(0, |key| values_of(groups, key).len());
        if several > palette::COLORS {
            let key = color.unwrap_or_default();
            return Err(format!(
                "`{key}` has {several} values, but there are only {} distinct colours: choose another key with --by",
                palette::COLORS
            ));
        }
        let multiples = others().filter(|key| Some(*key) != color).collect();
        Ok(Self { color, joined, multiples })
    }
}

/// A point of the picture: the two metrics with one combination of swept values.
struct Dot {
    x: f64,
    y: f64,
    /// Half the width of the 95 % interval of `x`, and half the width of the interval of `y`.
    half: (Option<f64>, Option<f64>),
    size: f64,
    /// The value of the key along which points are joined; without such a key, the value of the
    /// key shown by colours.
    label: String,
}

/// A rectangle of a picture.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn contains(&self, other: &Self) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }

    /// Returns the possible positions of a text next to this area, the best first: the four
    /// corners, then right, left, above and below. If the area contains a point, the point's error
    /// bars run horizontally and vertically through the area, so they do not cross the corners.
    fn neighbours(&self, (width, height): (f64, f64)) -> [Self; 8] {
        const GAP: f64 = 2.0;
        let (left, right) = (self.left - GAP - width, self.right + GAP);
        let (above, below) = (self.top - GAP - height, self.bottom + GAP);
        let x = f64::midpoint(self.left, self.right) - width / 2.0;
        let y = f64::midpoint(self.top, self.bottom) - height / 2.0;
        [
            (right, above),
            (right, below),
            (left, above),
            (left, below),
            (right, y),
            (left, y),
            (x, above),
            (x, below),
        ]
        .map(|(left, top)| Self { left, top, right: left + width, bottom: top + height })
    }
}

/// The points of one colour and one group of flows in a panel, in the order in which they are
/// joined.
struct Trail {
    color: usize,
    group: usize,
    dots: Vec<Dot>,
}

struct Sheet<'a> {
    title: &'a str,
    words: Words,
    groups: &'a [Group],
    choice: &'a SweepChoice,
    parts: &'a Parts<'a>,
    figure: &'a Answer<'a>,
    across: &'a Answer<'a>,
    colors: Vec<String>,
    flow_groups: Vec<String>,
    /// The fair shares of the drawn groups of flows, if shares are drawn.
    fair: Vec<f64>,
    panels: Vec<(String, Vec<Trail>)>,
    left_out: usize,
    seeds: usize,
    x: Ratios,
    y: Axis,
    columns: u32,
}

impl<'a> Sheet<'a> {
    fn new(
        title: &'a str,
        points: &'a Points,
        parts: &'a Parts<'a>,
        choice: &'a SweepChoice,
        figure: &'a Answer<'a>,
        across: &'a Answer<'a>,
    ) -> Result<Self, String> {
        let groups = &points.groups;
        let colors = parts.color.map_or_else(|| vec![String::new()], |key| values_of(groups, key));
        let flow_groups = names_of_flow_groups(groups, parts.color.unwrap_or_default(), choice);
        let mut panels: Vec<(String, Vec<Trail>)> = Vec::new();
        for group in groups {
            let names: Vec<String> =
                parts.multiples.iter().map(|key| named(key, &value_at(group, key))).collect();
            let name = names.join(", ");
            let panel = panels.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                panels.push((name, Vec::new()));
                panels.len() - 1
            });
            let value = parts.color.map_or_else(String::new, |key| value_at(group, key));
            let color = colors.iter().position(|known| *known == value).unwrap_or(0);
            for place in shown_groups(figure, group, choice) {
                let Some(dot) = dot(parts, group, figure, across, place) else { continue };
                let trails = &mut panels[panel].1;
                let is_its = |trail: &&mut Trail| (trail.color, trail.group) == (color, place);
                match trails.iter_mut().find(is_its) {
                    Some(trail) => trail.dots.push(dot),
                    None => trails.push(Trail { color, group: place, dots: vec![dot] }),
                }
            }
        }
        for trail in panels.iter_mut().flat_map(|(_, trails)| trails) {
            trail.dots.sort_by(|one, other| one.size.total_cmp(&other.size));
        }
        let left_out = panels.len().saturating_sub(MULTIPLES_SHOWN);
        panels.truncate(MULTIPLES_SHOWN);
        let dots = || panels.iter().flat_map(|(_, trails)| trails).flat_map(|trail| &trail.dots);
        if dots().next().is_none() {
            let (figure, across) = (figure.metric.name(), across.metric.name());
            return Err(format!("no point of this sweep has both `{figure}` and `{across}`"));
        }
        // A logarithmic axis cannot show an interval that contains zero.
        let low = |dot: &Dot| {
            let low = dot.half.0.map(|half| dot.x - half);
            low.filter(|&low| low > 0.0).unwrap_or(dot.x)
        };
        let least = dots().map(low).fold(f64::INFINITY, f64::min);
        let greatest = dots().map(|dot| dot.x + dot.half.0.unwrap_or(0.0)).fold(0.0, f64::max);
        let columns = columns(u32::try_from(panels.len()).expect("a dozen"), choice);
        let x = Ratios::new(least, greatest, if columns > 1 { 4 } else { 8 });
        let highest = dots().map(|dot| dot.y + dot.half.1.unwrap_or(0.0)).fold(0.0, f64::max);
        let y = super::axis_of(figure, highest, PANEL_HEIGHT);
        let seeds = groups.iter().map(|group| group.seeds.len()).max().unwrap_or(0);
        let mut fair: Vec<f64> = Vec::new();
        let drawn = panels.iter().flat_map(|(_, trails)| trails).map(|trail| trail.group);
        for place in drawn.filter(|_| figure.metric == Metric::PerGroup("share")) {
            for share in points.fair.iter().filter_map(|fair| fair.get(place).copied()) {
                if share < 1.0 && !fair.contains(&share) {
                    fair.push(share);
                }
            }
        }
        Ok(Self {
            title,
            words: Words::new(&choice.labels),
            fair,
            groups,
            choice,
            parts,
            figure,
            across,
            colors,
            flow_groups,
            panels,
            left_out,
            seeds,
            x,
            y,
            columns,
        })
    }

    fn grid(&self) -> Grid {
        let shape = &self.choice.shape;
        // Without a chosen size, panels are squares. A picture of a chosen size fills that size.
        let is_square = shape.height.is_none();
        let left = shape.left().max(widest_label(&self.y) + LABEL_GAP);
        let right = shape.right(12.0, 24.0);
        let is_alone = is_square && self.columns == 1;
        let edges = (left, if is_alone { right.min(left + LARGEST_SQUARE) } else { right });
        let labels = &self.words.labels;
        // A panel has a name only if there are several panels.
        let titles = if self.panels.len() > 1 { TITLES } else { 8.0 };
        let mut grid = Grid {
            edges,
            head: self.head(edges).height() + 18.0 + labels.more_y(edges.1 - edges.0),
            titles,
            rows: u32::try_from(self.panels.len()).expect("a dozen").div_ceil(self.columns),
            columns: self.columns,
            gaps: (GAP_X, GAP_Y - TITLES + titles),
            foot: 0.0,
            panel_height: PANEL_HEIGHT,
        };
        if is_square {
            grid.panel_height = grid.panel_width();
        }
        grid.gaps.1 += labels.more_x(grid.panel_width());
        grid
    }

    fn head(&self, edges: (f64, f64)) -> Head {
        let shape = &self.choice.shape;
        let note = self.choice.noted(self.note());
        Head::new(&self.words.labels, shape, self.title, &note, self.legend(), edges)
    }

    fn draw(&self) -> Result<String, String> {
        let shape = &self.choice.shape;
        let grid = self.grid().fitted(shape, "rows of panels")?;
        let height = grid.height(shape);
        let margin = shape.width - shape.right(12.0, 24.0);
        let shape = Shape { width: grid.edges.1 + margin, ..*shape };
        Ok(draw(&shape, height, |canvas| self.paint(canvas, &grid)))
    }

    fn paint(&self, canvas: &Canvas<'_>, grid: &Grid) {
        self.head(grid.edges).paint(canvas);
        let (left, right) = grid.edges;
        let words = TextLook::new(PANEL_TITLE, palette::INK).bold();
        let mut what = title_of(self.figure, self.groups, self.flow_groups.len() > 1);
        if let (true, [only]) = (self.flow_groups.len() > 1, &self.shown()[..]) {
            let whose = self.flow_groups.get(*only).map_or("", String::as_str);
            if self.figure.metric.is_per_group() {
                what.push_str(&format!(" ({})", self.words.entry(whose)));
            }
        }
        let mut y = grid.head - 8.0;
        for line in self.words.labels.y_lines(&what, right - left).iter().rev() {
            canvas.text(line, (left, y), words);
            y -= LINE;
        }
        let across = title_of(self.across, self.groups, self.flow_groups.len() > 1);
        for (spot, (name, trails)) in grid.spots(canvas).zip(&self.panels) {
            let panel = spot.panel(self.x.axis.clone(), self.y.clone());
            let room = panel.right - panel.left;
            panel.grid(spot.is_first());
            let words = TextLook::new(12.0, palette::INK);
            let at = (panel.left, panel.top - 10.0);
            canvas.text(&cut(name, room, 12.0, false), at, words);
            self.paint_trails(&panel, trails);
            panel.border();
            let names = Names::of(&panel.x, room);
            panel.x_labels_as(&self.words.labels.x_lines(&across, room), names);
        }
    }

    fn paint_trails(&self, panel: &Panel<'_, '_>, trails: &[Trail]) {
        for &equal in &self.fair {
            let equal = equal * self.figure.scale;
            let (low, high) = (panel.x.low, panel.x.high);
            let stroke = Stroke::new(palette::REFERENCE, 0.8).dashed(4.0, 3.0);
            panel.line(&[(low, equal), (high, equal)], stroke);
        }
        for trail in trails {
            let stroke = Stroke::new(palette::line(trail.color), 1.0).alpha(0.6);
            let place = |dot: &Dot| (self.x.place(dot.x), dot.y);
            if self.parts.joined.as_ref().is_some_and(|(_, along)| along.joins) {
                panel.line(&trail.dots.iter().map(place).collect::<Vec<_>>(), stroke);
            }
            for dot in &trail.dots {
                if let Some(half) = dot.half.0 {
                    let ends = [dot.x - half, dot.x + half].map(|x| (self.x.place(x), dot.y));
                    panel.line(&ends, stroke);
                    paint_arrows(panel, (dot.x, half), self.across, stroke, |x| {
                        ((self.x.place(x), dot.y), (-1.0, 0.0))
                    });
                }
                if let Some(half) = dot.half.1 {
                    let x = self.x.place(dot.x);
                    panel.line(&[(x, dot.y - half), (x, dot.y + half)], stroke);
                    paint_arrows(panel, (dot.y, half), self.figure, stroke, |y| {
                        ((x, y), (0.0, 1.0))
                    });
                }
            }
        }
        for trail in trails {
            let mark = Mark { color: palette::line(trail.color), form: Form::of(trail.group) };
            for dot in &trail.dots {
                let at = panel.at(self.x.place(dot.x), dot.y);
                mark.paint(panel.canvas, at, dot.size);
            }
        }
        if self.choice.dot_labels {
            self.paint_labels(panel, trails);
        }
    }

    /// Whether the interval of some dot begins below 0 or ends above the metric's greatest possible
    /// value, and so ends in an arrow.
    fn has_arrows(&self) -> bool {
        let dots = self.panels.iter().flat_map(|(_, trails)| trails).flat_map(|trail| &trail.dots);
        let beyond = |mean: f64, half: Option<f64>, of: &Answer<'_>| {
            let greatest = of.greatest() * of.scale;
            half.is_some_and(|half| is_beyond([mean - half, mean + half], greatest))
        };
        dots.into_iter().any(|dot| {
            beyond(dot.x, dot.half.0, self.across) || beyond(dot.y, dot.half.1, self.figure)
        })
    }

    /// Writes a label next to each dot. A label that finds no free place is left out.
    fn paint_labels(&self, panel: &Panel<'_, '_>, trails: &[Trail]) {
        let places =
            || trails.iter().flat_map(|trail| trail.dots.iter().map(move |dot| (trail, dot)));
        let around = |dot: &Dot| {
            let (x, y) = panel.at(self.x.place(dot.x), dot.y);
            Area {
                left: x - dot.size,
                top: y - dot.size,
                right: x + dot.size,
                bottom: y + dot.size,
            }
        };
        let mut taken: Vec<Area> = places().map(|(_, dot)| around(dot)).collect();
        let frame =
            Area { left: panel.left, top: panel.top, right: panel.right, bottom: panel.bottom };
        for (trail, dot) in places() {
            let label = self.words.entry(&dot.label);
            // The area of a label is one point wider and one point higher than the text, because
            // positions are rounded to half points.
            let size = (width_of(&label, SMALL) + 1.0, SMALL + 1.0);
            let mut free = around(dot).neighbours(size).into_iter();
            let free =
                free.find(|area| frame.contains(area) && !taken.iter().any(|of| of.meets(area)));
            if let Some(area) = free {
                let words = TextLook::new(SMALL, palette::line(trail.color));
                panel.canvas.text(&label, (area.left, f64::midpoint(area.top, area.bottom)), words);
                taken.push(area);
            }
        }
    }

    /// Returns the part of the note that explains the line at the fair share.
    fn fair_words(&self) -> Option<&'static str> {
        let n = u32::try_from(self.flow_groups.len()).ok().filter(|&n| n > 1)?;
        match self.fair.as_slice() {
            [] => None,
            [one] if (one * f64::from(n) - 1.0).abs() < 1e-9 => Some("dashed: equal shares"),
            _ => Some("dashed: fair share"),
        }
    }

    fn note(&self) -> String {
        let mut parts = Vec::new();
        if let Some((key, along)) = &self.parts.joined {
            let values: Vec<&str> =
                along.axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
            let shown = if values.len() <= 6 {
                values.join(", ")
            } else {
                format!("{} to {}", values[0], values[values.len() - 1])
            };
            let title = along.title.strip_prefix(key).unwrap_or_default();
            let unit = title.trim_start_matches(", ");
            parts.push(
                format!("marks grow with {}: {shown} {unit}", stem(key)).trim_end().to_owned(),
            );
        }
        parts.extend(self.fair_words().map(str::to_owned));
        match self.seeds {
            0 | 1 => parts.push("one run per point".to_owned()),
            seeds => parts.push(format!("means over {seeds} seeds, bars: 95 % intervals")),
        }
        if self.has_arrows() {
            parts.push(ARROWS.trim_start_matches("; ").to_owned());
        }
        if self.left_out > 0 {
            let shown = self.panels.len();
            parts.push(format!("{shown} of {} panels shown", shown + self.left_out));
        }
        parts.join("; ")
    }

    /// Returns the indices of the groups of flows that have points.
    fn shown(&self) -> Vec<usize> {
        let trails = self.panels.iter().flat_map(|(_, trails)| trails);
        let mut shown: Vec<usize> = trails.map(|trail| trail.group).collect();
        shown.sort_unstable();
        shown.dedup();
        shown
    }

    fn legend(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        if let Some(key) = self.parts.color {
            let is_drawn = |place| {
                let mut trails = self.panels.iter().flat_map(|(_, trails)| trails);
                trails.any(|trail| trail.color == place)
            };
            let drawn = self.colors.iter().enumerate();
            for (place, value) in drawn.filter(|&(place, _)| is_drawn(place)) {
                let mark = Mark { color: palette::line(place), form: Form::Disc };
                let text = self.words.entry(&named(key, value));
                entries.push(Entry { text, stroke: None, mark: Some(mark) });
            }
        }
        let shown = self.shown();
        if shown.len() > 1 {
            for place in shown {
                let mark = Mark { color: palette::FAINT_INK, form: Form::of(place) };
                let text = self
                    .flow_groups
                    .get(place)
                    .map(|name| self.words.entry(name))
                    .unwrap_or_default();
                entries.push(Entry { text, stroke: None, mark: Some(mark) });
            }
        }
        entries
    }
}

/// Returns the number of columns, from 3 to 5, with which the last row has the fewest unused
/// columns; 2 for a narrow picture. There are never more columns than panels.
fn columns(panels: u32, choice: &SweepChoice) -> u32 {
    let usual: &[u32] = if choice.shape.is_narrow() { &[2] } else { &[4, 5, 3] };
    let empty = |columns: u32| panels.next_multiple_of(columns) - panels;
    let best = usual.iter().copied().min_by_key(|&columns| empty(columns));
    best.unwrap_or(1).min(panels)
}

/// Returns the indices of the groups of flows whose points are drawn. The shares of all groups add
/// up to 1, so the share of the last group is omitted unless the user chose groups.
fn shown_groups(figure: &Answer<'_>, group: &Group, choice: &SweepChoice) -> Vec<usize> {
    if !figure.metric.is_per_group() {
        return vec![0];
    }
    let names: Vec<&str> = answers::flow_groups(group).collect();
    let is_share = figure.metric == Metric::PerGroup("share");
    let is_implied = is_share && names.len() > 1 && choice.groups.is_empty();
    let all = names.len() - usize::from(is_implied);
    (0..all).filter(|&place| choice.shows(names[place])).collect()
}

fn dot(
    parts: &Parts<'_>,
    group: &Group,
    figure: &Answer<'_>,
    across: &Answer<'_>,
    place: usize,
) -> Option<Dot> {
    let value = |answer: &Answer<'_>| {
        let (mean, half) = answers::value(group, answer.metric, place);
        Some((mean? * answer.scale, half.map(|half| half * answer.scale)))
    };
    let ((x, x_half), (y, y_half)) = (value(across)?, value(figure)?);
    let share = match &parts.joined {
        Some((key, along)) => along.axis.share(along.place(&value_at(group, key))?),
        None => 0.5,
    };
    let size = SIZES.0 + share * (SIZES.1 - SIZES.0);
    let key = parts.joined.as_ref().map(|&(key, _)| key).or(parts.color);
    let label = key.map_or_else(String::new, |key| value_at(group, key));
    Some(Dot { x, y, half: (x_half, y_half), size, label })
}

/// Draws arrows at the ends of the interval from `mean - half` to `mean + half`. The lower end has
/// an arrow if the end is below 0. The upper end has an arrow if the end is above the metric's
/// greatest possible value. The function `end` receives the value at one end of the interval, and
/// returns the x and y values of this end, and the direction (dx, dy) in which values become
/// smaller.
fn paint_arrows(
    panel: &Panel<'_, '_>,
    (mean, half): (f64, f64),
    of: &Answer<'_>,
    stroke: Stroke,
    end: impl Fn(f64) -> ((f64, f64), (f64, f64)),
) {
    let (low, high) = (mean - half, mean + half);
    if low < 0.0 {
        let ((x, y), way) = end(low);
        panel.arrow(panel.at(x, y), way, stroke);
    }
    if high > of.greatest() * of.scale {
        let ((x, y), (dx, dy)) = end(high);
        panel.arrow(panel.at(x, y), (-dx, -dy), stroke);
    }
}
