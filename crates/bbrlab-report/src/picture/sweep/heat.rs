//! Heat maps of a sweep: the mean of a metric at each combination of the values of two swept keys.
//!
//! A cell is one point of the sweep, so only seeds are averaged. With a third key of several
//! values, or with several groups of flows, an error names the flag that chooses one of them.

use bbrlab_run::Group;

use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

use super::choice::SweepChoice;
use super::{axis_of, title_of, value_at, values_of};
use crate::answers::{self, Answer, flow_groups, group_names, is_beyond, most_groups, places};
use crate::chosen_answers::chosen_answer;
use crate::chosen_groups::check_groups_of_sweep;
use crate::number::{BEYOND, fixed, with_half};
use crate::picture::Picture;
use crate::picture::axis::Axis;
use crate::picture::canvas::{Canvas, Stroke, TextLook, draw};
use crate::picture::font::{cut, width_of, wrap};
use crate::picture::grid::Grid;
use crate::picture::head::Head;
use crate::picture::labels::Words;
use crate::picture::palette;
use crate::picture::panel::{LABEL_GAP, LINE, Names, PANEL_TITLE, Panel, SMALL, widest_label};
use crate::picture::shape::Shape;
use crate::picture::swept::Swept;
use crate::points::Points;
use crate::swept_key::swept_key;
use crate::table::varying_keys;

/// The largest number of values of a key. With more values, cells would be too small to tell apart.
const VALUES_MAX: usize = 40;
/// For a picture without a chosen size: width and height of a cell, and the least and greatest
/// width and height of the panel, in points.
const CELL: (f64, f64) = (84.0, 44.0);
const PANEL_WIDTH: (f64, f64) = (320.0, 860.0);
const PANEL_HEIGHT: (f64, f64) = (150.0, 600.0);
/// The colour bar: the gap before it, its width, and the gap before its labels.
const BAR: (f64, f64, f64) = (10.0, 12.0, 5.0);
/// Overlap of neighbouring cells.
const SEAM: f64 = 0.5;
/// Number of parts of the colour bar. Each part has one colour.
const PARTS: u32 = 64;
/// Space for the title of the vertical axis, which is written upwards.
const UPRIGHT_TITLE: f64 = 16.0;
/// The greatest width of a label of the vertical axis. Longer labels are cut off.
const WIDEST_LABEL: f64 = 130.0;
/// Space below the panel, for its labels and the title of the axis.
const BELOW: f64 = 44.0;
/// Free space between a text and the edges of its cell: on the left and right together, and above
/// and below together.
const AROUND_TEXT: (f64, f64) = (6.0, 4.0);

/// The height for which [`axis_of`] chooses the ticks of the colour bar.
const TALL: f64 = 400.0;

/// The mean of a cell and half the width of its interval, in the unit of the title.
type Cell = (f64, Option<f64>);

/// A heat map as data.
struct HeatMap {
    across: Values,
    up: Values,
    /// The cells, indexed first by the value of `up`, then by the value of `across`; `None` without
    /// a run or a value.
    cells: Vec<Vec<Option<Cell>>>,
    /// Number of sweep points whose value is left out, because the points have fewer groups of
    /// flows than other points.
    joined: usize,
    /// The range of values that the colours cover, with the labels of the colour bar.
    range: Axis,
    decimals: usize,
    /// The greatest possible value of the metric.
    greatest: f64,
}

/// The values of a key along an axis of a heat map, in order.
struct Values {
    key: String,
    /// The values as the scenario spells them.
    spelled: Vec<String>,
    /// The labels of the values, without a unit if the title has it.
    labels: Vec<String>,
    title: String,
    /// Whether the values are names. No label of a name may be left out.
    are_names: bool,
}

impl Values {
    fn of(groups: &[Group], key: &str) -> Result<Self, String> {
        let mut spelled = values_of(groups, key);
        if spelled.len() > VALUES_MAX {
            return Err(format!(
                "--heatmap: expected at most {VALUES_MAX} values of `{key}`, found {}; choose some with --where '{key}=VALUE', which may be repeated",
                spelled.len()
            ));
        }
        let swept = Swept::new(key, &spelled);
        let place = |value: &String| swept.place(value).unwrap_or_default();
        if !swept.joins {
            let (labels, title) = (spelled.clone(), key.to_owned());
            return Ok(Self { key: key.to_owned(), spelled, labels, title, are_names: true });
        }
        spelled.sort_by(|one, other| place(one).total_cmp(&place(other)));
        let label = |value: &String| {
            let ticks = &swept.axis.ticks;
            let tick = ticks.iter().find(|(at, _)| at.to_bits() == place(value).to_bits());
            tick.map_or_else(|| value.clone(), |(_, label)| label.clone())
        };
        let labels = spelled.iter().map(label).collect();
        Ok(Self { key: key.to_owned(), spelled, labels, title: swept.title, are_names: false })
    }

    fn axis(&self, words: &Words) -> Axis {
        let text = |label: &String| if self.are_names { words.entry(label) } else { label.clone() };
        let labels: Vec<String> = self.labels.iter().map(text).collect();
        Axis { is_of_names: self.are_names, ..Axis::of_names(&labels) }
    }

    fn place(&self, group: &Group) -> Option<usize> {
        let value = value_at(group, &self.key);
        self.spelled.iter().position(|known| *known == value)
    }
}

/// Draws a heat map for each of the metrics.
///
/// # Errors
/// Fails if a metric or a key is unknown, if a key has too many values, or if no cell has a value.
/// Also fails if a cell would contain several sweep points or groups of flows, or if the picture's
/// size in `choice` has no space for the cells.
pub(super) fn heat_maps(
    title: &str,
    points: &Points,
    choice: &SweepChoice,
) -> Result<Vec<Picture>, String> {
    let Points { groups, usual, .. } = points;
    let swept = varying_keys(groups);
    let (across, up) = keys(choice, &swept, groups)?;
    let mut pictures = Vec::new();
    for wanted in &choice.heatmap {
        let figure = chosen_answer(wanted, groups, usual)?;
        choice.check_groups(std::slice::from_ref(&figure))?;
        let place = place(choice, groups, &figure)?;
        let map = HeatMap::new(groups, (across, up), &figure, place)?;
        let plain = |text: &str| text.replace(['.', '[', ']'], "-");
        let name = format!("heatmap-{}-{}-{}", plain(wanted), plain(across), plain(up));
        let sheet = Sheet::new(title, groups, choice, &figure, place, &map);
        pictures.push(Picture { name, svg: sheet.draw()?, entries: sheet.words.names() });
    }
    Ok(pictures)
}

/// Returns the swept keys of the horizontal and of the vertical axis.
fn keys<'a>(
    choice: &SweepChoice,
    swept: &'a [String],
    groups: &[Group],
) -> Result<(&'a str, &'a str), String> {
    let chosen = |wanted: &Option<String>| {
        wanted.as_ref().map(|wanted| swept_key(wanted, swept)).transpose()
    };
    let (across, up) = (chosen(&choice.x)?, chosen(&choice.by)?);
    let other = |taken: Option<&str>| {
        swept.iter().map(String::as_str).find(|key| Some(*key) != taken).ok_or_else(|| {
            format!(
                "--heatmap: expected two swept keys with several values, found {}",
                match swept {
                    [] => "none".to_owned(),
                    keys => format!("{} alone", keys.join(", ")),
                }
            )
        })
    };
    let across = across.map_or_else(|| other(up), Ok)?;
    let up = up.map_or_else(|| other(Some(across)), Ok)?;
    if across == up {
        return Err(format!("--heatmap: expected two swept keys, found `{up}` in --x and in --by"));
    }
    match swept.iter().find(|key| *key != across && *key != up) {
        None => Ok((across, up)),
        Some(key) => Err(format!(
            "--heatmap: a cell would average the metric over the values {} of `{key}`; choose one value with --where '{key}=VALUE', or other axes with --x and --by",
            values_of(groups, key).join(", ")
        )),
    }
}

/// Returns the index of the group of flows whose metric is drawn; 0 for metrics of runs and links.
fn place(choice: &SweepChoice, groups: &[Group], figure: &Answer<'_>) -> Result<usize, String> {
    check_groups_of_sweep(groups, &choice.groups)?;
    let of_sweep = group_names(groups);
    if !figure.metric.is_per_group() {
        return Ok(0);
    }
    let there = places(groups, figure.metric);
    let is_named = |place: &usize| choice.shows(&of_sweep[*place]);
    let is_named_at_a_point = |place: &usize| {
        let mut names = groups.iter().filter_map(|group| flow_groups(group).nth(*place));
        names.any(|name| choice.shows(name))
    };
    // A name such as `flows[0]` means the same flows at all sweep points; `bbr1` may mean different
    // flows at different points.
    let mut shown: Vec<usize> = there.iter().copied().filter(is_named).collect();
    if shown.is_empty() {
        shown = there.into_iter().filter(is_named_at_a_point).collect();
    }
    match shown.as_slice() {
        [one] => Ok(*one),
        [] => Err(format!("--heatmap: no group of flows has `{}` here", figure.metric.name())),
        several => {
            let names: Vec<&str> = several.iter().map(|&place| of_sweep[place].as_str()).collect();
            Err(format!(
                "--heatmap: expected one group of flows, found {}; choose one with --group NAME",
                names.join(", ")
            ))
        }
    }
}

impl HeatMap {
    fn new(
        groups: &[Group],
        (across, up): (&str, &str),
        figure: &Answer<'_>,
        place: usize,
    ) -> Result<Self, String> {
        let (across, up) = (Values::of(groups, across)?, Values::of(groups, up)?);
        let mut cells = vec![vec![None; across.spelled.len()]; up.spelled.len()];
        // At a sweep point with fewer groups, one group may contain the flows of several groups of
        // other points.
        let most = most_groups(groups);
        let is_joined =
            |group: &Group| figure.metric.is_per_group() && flow_groups(group).count() < most;
        let joined = groups.iter().filter(|group| is_joined(group)).count();
        for group in groups.iter().filter(|group| !is_joined(group)) {
            let Some((row, column)) = up.place(group).zip(across.place(group)) else { continue };
            let (mean, half) = answers::value(group, figure.metric, place);
            let scaled = |value: f64| value * figure.scale;
            cells[row][column] = mean.map(|mean| (scaled(mean), half.map(scaled)));
        }
        let means = || cells.iter().flatten().flatten().map(|&(mean, _)| mean);
        let least = means().fold(f64::INFINITY, f64::min);
        let greatest = means().fold(f64::NEG_INFINITY, f64::max);
        if greatest < least {
            return Err(format!("--heatmap: no cell has a value of `{}`", figure.metric.name()));
        }
        let whole = axis_of(figure, greatest, TALL);
        let range = if figure.greatest().is_finite() && whole.high >= figure.scale {
            Axis { high: figure.scale, ..whole }
        } else {
            Axis::around(least.max(0.0), greatest, 6)
        };
        // In a heat map, as in tables, a small mean of whole numbers needs a decimal. All cells of
        // the heat map have the same number of decimals.
        let is_small = |&(mean, half): &Cell| half.is_some_and(|half| half > 0.0 && mean < 10.0);
        let has_small = cells.iter().flatten().flatten().any(is_small);
        let decimals = if figure.decimals == 0 && has_small { 1 } else { figure.decimals };
        let greatest = figure.greatest() * figure.scale;
        Ok(Self { across, up, cells, joined, range, decimals, greatest })
    }

    /// Returns the colour of a value.
    fn color(&self, value: f64) -> RGBColor {
        palette::heat(self.range.share(value))
    }

    /// Returns the lines of a cell's text: the mean and, if half the width of its interval does not
    /// round to zero, the interval.
    fn lines(&self, (mean, half): Cell) -> Vec<String> {
        let shown = |value: f64| fixed(value, self.decimals);
        let text = shown(mean);
        let Some(half) = half.filter(|&half| with_half(&text, &shown(half)) != text) else {
            return vec![text];
        };
        let mut interval = format!("±{}", shown(half));
        if is_beyond([mean - half, mean + half], self.greatest) {
            interval.push(BEYOND);
        }
        vec![text, interval]
    }

    /// Returns the number of lines of text for which each cell has space: 0, 1 or 2. All cells use
    /// the same number. If it is not 0, a cell without text therefore means a missing value.
    fn lines_with_room(&self, (width, height): (f64, f64)) -> usize {
        let cells = || self.cells.iter().flatten().flatten();
        let fits = |count: usize| {
            let lines = u32::try_from(count).map_or(0.0, f64::from);
            lines * SMALL + AROUND_TEXT.1 <= height
                && cells().all(|&cell| {
                    let texts = self.lines(cell);
                    let shown = texts.iter().take(count);
                    shown.into_iter().all(|it| width_of(it, SMALL) + AROUND_TEXT.0 <= width)
                })
        };
        let most = cells().map(|&cell| self.lines(cell).len()).max().unwrap_or(0);
        (1..=most).rev().find(|&count| fits(count)).unwrap_or(0)
    }
}

struct Sheet<'a> {
    title: &'a str,
    words: Words,
    groups: &'a [Group],
    choice: &'a SweepChoice,
    map: &'a HeatMap,
    /// The quantity, without its unit.
    quantity: String,
    unit: &'a str,
    x: Axis,
    y: Axis,
}

impl<'a> Sheet<'a> {
    fn new(
        title: &'a str,
        groups: &'a [Group],
        choice: &'a SweepChoice,
        figure: &Answer<'a>,
        place: usize,
        map: &'a HeatMap,
    ) -> Self {
        let words = Words::new(&choice.labels);
        let metric = figure.metric.name();
        let has_groups = most_groups(groups) > 1;
        let mut quantity = title_of(&Answer { unit: "", ..figure.clone() }, groups, has_groups);
        if figure.metric.is_per_group() && has_groups {
            quantity.push_str(&format!(" ({})", group_names(groups)[place]));
        }
        // The title counts as the legend's entry for the metric, so the user can replace it.
        if words.entry(metric) != metric {
            quantity = words.entry(metric);
        }
        let (x, y) = (map.across.axis(&words), map.up.axis(&words));
        Self { title, words, groups, choice, map, quantity, unit: figure.unit, x, y }
    }

    /// Returns the width of the colour bar, including the gap to its left and the labels to its
    /// right.
    fn bar_width(&self) -> f64 {
        let labels = widest_label(&self.map.range).max(width_of(self.unit, SMALL) - BAR.1);
        BAR.0 + BAR.1 + BAR.2 + labels
    }

    fn grid(&self) -> Grid {
        let shape = &self.choice.shape;
        let labels = widest_label(&self.y).min(WIDEST_LABEL);
        let left = (labels + LABEL_GAP + UPRIGHT_TITLE).max(shape.left());
        let mut right = shape.right(10.0, 24.0) - self.bar_width();
        let count = |values: &[String]| u32::try_from(values.len()).map_or(0.0, f64::from);
        let mut panel_height = 0.0;
        if shape.height.is_none() {
            let width =
                (count(&self.map.across.labels) * CELL.0).clamp(PANEL_WIDTH.0, PANEL_WIDTH.1);
            right = right.min(left + width);
            panel_height =
                (count(&self.map.up.labels) * CELL.1).clamp(PANEL_HEIGHT.0, PANEL_HEIGHT.1);
        }
        let edges = (left, right);
        let room = right - left;
        let names = Names::of(&self.x, room);
        let labels = &self.words.labels;
        let head = self.head(edges).height();
        let title = u32::try_from(self.quantity_lines(room).len()).map_or(LINE, f64::from) * LINE;
        Grid {
            edges,
            head: head + title,
            titles: 0.0,
            rows: 1,
            columns: 1,
            gaps: (0.0, BELOW + names.below() + labels.more_x(room)),
            foot: 0.0,
            panel_height,
        }
    }

    /// Returns the lines of the title above the panel. The unit above the colour bar is at the
    /// right of the last line.
    fn quantity_lines(&self, room: f64) -> Vec<String> {
        wrap(&self.quantity, room, PANEL_TITLE, true)
    }

    fn head(&self, (left, right): (f64, f64)) -> Head {
        let edges = (left, right + self.bar_width());
        let shape = &self.choice.shape;
        let grid_note = self.note();
        Head::new(&self.words.labels, shape, self.title, &grid_note, Vec::new(), edges)
    }

    fn note(&self) -> String {
        let seeds = self.groups.iter().map(|group| group.seeds.len());
        let (least, most) = (seeds.clone().min().unwrap_or(0), seeds.max().unwrap_or(0));
        let same = self.groups.iter().all(|group| group.identical_digests == Some(true));
        let seeds = match (least, most) {
            (_, 0 | 1) => "one run per cell".to_owned(),
            (_, most) if same => format!("{most} seeds with identical digests"),
            (least, most) if least < most => {
                format!("mean of {least} to {most} seeds ± 95 % interval")
            }
            (_, most) => format!("mean of {most} seeds ± 95 % interval"),
        };
        let note = if self.map.joined == 0 {
            seeds
        } else {
            format!(
                "{seeds}; no value at {} of {} points, which have fewer groups of flows",
                self.map.joined,
                self.groups.len()
            )
        };
        self.choice.noted(note)
    }

    fn draw(&self) -> Result<String, String> {
        let shape = &self.choice.shape;
        let grid = self.grid().fitted(shape, "row of cells")?;
        let margin = shape.width - shape.right(10.0, 24.0);
        let drawn = Shape { width: grid.edges.1 + self.bar_width() + margin, ..*shape };
        Ok(draw(&drawn, grid.height(shape), |canvas| self.paint(canvas, &grid)))
    }

    fn paint(&self, canvas: &Canvas<'_>, grid: &Grid) {
        self.head(grid.edges).paint(canvas);
        let Some(spot) = grid.spots(canvas).next() else { return };
        let panel = spot.panel(self.x.clone(), self.y.clone());
        let room = panel.right - panel.left;
        let words = TextLook::new(PANEL_TITLE, palette::INK).bold();
        let mut y = panel.top - 10.0;
        for line in self.quantity_lines(room).iter().rev() {
            canvas.text(line, (panel.left, y), words);
            y -= LINE;
        }
        self.paint_cells(&panel);
        self.paint_bar(&panel);
        panel.x_labels_as(
            &self.words.labels.x_lines(&self.map.across.title, room),
            Names::of(&self.x, room),
        );
        self.paint_y_labels(&panel);
    }

    fn paint_cells(&self, panel: &Panel<'_, '_>) {
        let corner = |column: f64, row: f64| panel.at(column - 0.5, row - 0.5);
        let (right, top) = corner(1.0, 1.0);
        let size = (right - panel.left, panel.bottom - top);
        let lines = self.map.lines_with_room(size);
        for (row, cells) in (0_u32..).zip(&self.map.cells) {
            for (column, cell) in (0_u32..).zip(cells) {
                let (row, column) = (f64::from(row), f64::from(column));
                let (from, to) = (corner(column, row + 1.0), corner(column + 1.0, row));
                // Each cell extends underneath its neighbours that are drawn after it, so no seams
                // between cells are visible.
                let from = (from.0, (from.1 - SEAM).max(panel.top));
                let to = ((to.0 + SEAM).min(panel.right), to.1);
                let Some(value) = *cell else {
                    panel.canvas.fill(from, to, palette::GRID, 1.0);
                    continue;
                };
                let color = self.map.color(value.0);
                panel.canvas.fill(from, to, color, 1.0);
                let texts = self.map.lines(value);
                let shown = &texts[..texts.len().min(lines)];
                let look = TextLook::new(SMALL, palette::ink_on(color));
                let look = look.anchor(HPos::Center, VPos::Center);
                let middle = panel.at(column, row);
                let many = u32::try_from(shown.len()).map_or(0.0, f64::from);
                let mut y = middle.1 - (many - 1.0) * SMALL * 0.55;
                for text in shown {
                    panel.canvas.text(text, (middle.0, y), look);
                    y += SMALL * 1.1;
                }
            }
        }
    }

    fn paint_bar(&self, panel: &Panel<'_, '_>) {
        let (left, right) = (panel.right + BAR.0, panel.right + BAR.0 + BAR.1);
        let height = panel.bottom - panel.top;
        for part in 0..PARTS {
            let share = |part: u32| f64::from(part) / f64::from(PARTS);
            let (low, high) = (share(part), share(part + 1));
            let color = palette::heat(f64::midpoint(low, high));
            // Each strip extends to the top of the bar, and the next strip is drawn over its upper
            // part, so no gap between strips is visible.
            let to = panel.bottom - low * height;
            panel.canvas.fill((left, panel.top), (right, to), color, 1.0);
        }
        let words = TextLook::new(SMALL, palette::INK);
        let range = &self.map.range;
        let every = (range.ticks.len() * 13).div_ceil(whole(height).max(1));
        for (value, label) in range.ticks.iter().step_by(every.max(1)) {
            let y = panel.bottom - range.share(*value) * height;
            panel.canvas.line(&[(right, y), (right + 3.0, y)], Stroke::new(palette::FRAME, 1.0));
            panel.canvas.text(label, (right + BAR.2, y), words);
        }
        // The unit is above the bar, next to the end of the title.
        panel.canvas.text(self.unit, (left, panel.top - 10.0), words);
    }

    fn paint_y_labels(&self, panel: &Panel<'_, '_>) {
        let row = (panel.bottom - panel.top) / (panel.y.high - panel.y.low);
        let every = whole(13.0 / row) + 1;
        let words = TextLook::new(SMALL, palette::INK).anchor(HPos::Right, VPos::Center);
        for (value, label) in panel.y.ticks.iter().step_by(every) {
            let (_, y) = panel.at(0.0, *value);
            let label = cut(label, WIDEST_LABEL, SMALL, false);
            panel.canvas.text(&label, (panel.left - 6.0, y), words);
        }
        let title = self.words.labels.y.as_deref().unwrap_or(&self.map.up.title);
        let room = panel.bottom - panel.top + BELOW;
        let title = cut(title, room, SMALL, false);
        let words = TextLook::new(SMALL, palette::FAINT_INK);
        let words = words.anchor(HPos::Center, VPos::Center).upright();
        let x = UPRIGHT_TITLE / 2.0 + 1.0;
        panel.canvas.text(&title, (x, f64::midpoint(panel.top, panel.bottom)), words);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the lengths are small, and at least 0 here"
)]
fn whole(value: f64) -> usize {
    value.max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::super::{SweepChoice, chosen_sweep_pictures};
    use crate::picture::palette;
    use crate::table::tests::sample_run;
    use bbrlab_run::RunSummary;

    #[test]
    fn cells_are_in_order_of_value_and_an_absent_one_is_grey() {
        let mut runs: Vec<RunSummary> = Vec::new();
        for (buffer, rtt, share) in
            [("2bdp", "10ms", 0.25), ("1bdp", "10ms", 0.5), ("1bdp", "5ms", 0.75)]
        {
            let mut run = sample_run();
            run.point.insert("bottleneck.buffer".to_owned(), buffer.into());
            run.point.insert("flows.rtt".to_owned(), rtt.into());
            run.scenario_hash = format!("{buffer}{rtt}");
            run.flow_groups[0].share = Some(share);
            runs.push(run);
        }
        let choice = SweepChoice {
            heatmap: vec!["share".to_owned()],
            groups: vec!["bbr1".to_owned()],
            ..SweepChoice::default()
        };
        let pictures = chosen_sweep_pictures("title", &runs, &choice).unwrap();
        let svg = &pictures[0].svg;
        assert!(svg.contains("\none run per cell\n"), "{svg}");
        let only = SweepChoice { only: "cc bbr1".to_owned(), ..choice };
        let of_one = &chosen_sweep_pictures("title", &runs, &only).unwrap()[0].svg;
        assert!(of_one.contains("\ncc bbr1; one run per cell\n"), "{of_one}");
        assert_eq!(pictures[0].name, "heatmap-share-bottleneck-buffer-flows-rtt");
        // The rows of cells are drawn from the bottom up. In the first row, which is 5 ms, the
        // value at 2 BDP is missing.
        let places: Vec<usize> =
            ["\n75.0\n", "\n50.0\n", "\n25.0\n"].iter().map(|it| svg.find(it).unwrap()).collect();
        assert!(places.is_sorted(), "{places:?}");
        assert_eq!(svg.matches("fill=\"#E8E8E8\"").count(), 1, "{svg}");
        // The colours of a share cover the whole range from 0 to 1, so 75 % has the colour at three
        // quarters.
        let color = palette::heat(0.75);
        let color = format!("fill=\"#{:02X}{:02X}{:02X}\"", color.0, color.1, color.2);
        assert!(svg.contains(&color), "{color}");
    }

    #[test]
    fn colours_become_brighter() {
        let brightness = |share: f64| {
            let color = palette::heat(share);
            299 * u32::from(color.0) + 587 * u32::from(color.1) + 114 * u32::from(color.2)
        };
        let all: Vec<u32> = (0..=100).map(|at| brightness(f64::from(at) / 100.0)).collect();
        assert!(all.is_sorted(), "{all:?}");
    }
}
