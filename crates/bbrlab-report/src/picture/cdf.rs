//! Distributions: the share of transfers, messages or packets with at most a given value.
//!
//! There is a curve for each group of flows at each value of one swept key; the other keys become
//! small multiples. A transfer that never ended has no completion time but is counted. A curve with
//! such transfers stays below 1.

use bbrlab_run::RunSummary;

use super::Picture;
use super::axis::{Axis, Ratios};
use super::canvas::{Canvas, Stroke, TextLook, draw};
use super::font::wrap;
use super::grid::Grid;
use super::head::{Head, noted};
use super::labels::{Labels, Words};
use super::legend::Entry;
use super::palette;
use super::panel::{LINE, Names, PANEL_TITLE, Panel};
use super::shape::Shape;
use crate::groups::groups;
use crate::number::count;
use crate::swept_key::value_text;
use crate::table::varying_keys;

const PANEL_HEIGHT: f64 = 260.0;
const GAP_Y: f64 = 72.0;
/// Space between two panels, for the last x label of one and the first x label of the next.
const GAP_X: f64 = 46.0;
/// The largest number of panels in a plot. More panels would be too small to read.
const PANELS_SHOWN: usize = 12;
/// The largest number of curves in a panel. More curves could not be distinguished.
const CURVES_SHOWN: usize = 16;

/// The values of a group of flows, or of a link, in a run.
#[derive(Clone, Debug)]
pub struct CdfSample {
    /// The index of the run.
    pub run: usize,
    /// The name of the group or link.
    pub group: String,
    /// The values with their counts, in the unit that [`CdfInput::of`] names.
    pub values: Vec<(f64, u64)>,
    /// Number of transfers, messages or packets without a value.
    pub without: u64,
}

/// Input of a picture of distributions.
#[derive(Clone, Debug)]
pub struct CdfInput<'a> {
    /// The picture's name.
    pub name: String,
    /// The picture's heading.
    pub title: &'a str,
    /// The measured quantity, with its unit.
    pub of: &'a str,
    /// The noun for the counted items: `transfers`, `messages` or `packets`.
    pub counted: &'a str,
    /// The text for transfers, messages or packets without a value, such as `not completed`.
    pub without: &'a str,
    /// The runs to which the samples belong.
    pub runs: &'a [RunSummary],
    /// The values of each group of flows, or of each link, in each run.
    pub samples: Vec<CdfSample>,
    /// The swept key shown by colours; by default the congestion control or, if it is not swept,
    /// the last swept key.
    pub by: Option<String>,
    /// The values of swept keys by which the user chose the runs, as text; empty if all runs are
    /// drawn.
    pub only: &'a str,
    /// The picture's size.
    pub shape: Shape,
    /// The texts that replace the default title, axis names and legends.
    pub labels: Labels,
}

/// A curve.
struct Cdf {
    name: String,
    /// The values in ascending order, each with its count.
    values: Vec<(f64, u64)>,
    without: u64,
}

impl Cdf {
    /// Returns the number of transfers, packets or samples that have a value.
    fn count(&self) -> u64 {
        self.values.iter().map(|(_, count)| count).sum()
    }
}

/// Draws the picture of the distributions.
///
/// # Errors
/// Fails if there is no value, if the key of `by` is not swept, if a panel would have more than 16
/// curves, or if the panels do not fit the size.
pub fn cdf_picture(input: &CdfInput<'_>) -> Result<Picture, String> {
    let mut panels = panels(input)?;
    let all = || panels.iter().flat_map(|(_, curves)| curves);
    if all().all(|curve| curve.values.is_empty()) {
        return Err(format!("there is no value of {}", input.of));
    }
    let left_out = panels.len().saturating_sub(PANELS_SHOWN);
    panels.truncate(PANELS_SHOWN);
    let most = panels.iter().map(|(_, curves)| curves.len()).max().unwrap_or(0);
    if most > CURVES_SHOWN {
        return Err(format!(
            "a panel would have {most} curves, which are too many: choose a run or another key"
        ));
    }
    let sheet = Sheet::new(input, panels, left_out);
    let svg = sheet.draw()?;
    Ok(Picture { name: input.name.clone(), svg, entries: sheet.words.names() })
}

/// Returns the panels, each with its name and its curves. Colours show one swept key; each
/// combination of values of the other swept keys has a panel.
fn panels(input: &CdfInput<'_>) -> Result<Vec<(String, Vec<Cdf>)>, String> {
    let keys = varying_keys(&groups(input.runs));
    let ending =
        |key: &&String, wanted: &str| *key == wanted || key.rsplit('.').next() == Some(wanted);
    let color = match &input.by {
        None => keys.iter().find(|key| ending(key, "cc")).or(keys.last()),
        Some(wanted) => {
            let unknown = || match keys.as_slice() {
                [] => format!("`{wanted}` is not swept: this sweep has no swept key"),
                _ => format!("`{wanted}` is not swept; swept keys are {}", keys.join(", ")),
            };
            Some(keys.iter().find(|key| ending(key, wanted)).ok_or_else(unknown)?)
        }
    };
    let several_groups = input
        .samples
        .windows(2)
        .any(|two| two[0].run == two[1].run && two[0].group != two[1].group);
    let mut panels: Vec<(String, Vec<Cdf>)> = Vec::new();
    for sample in &input.samples {
        let point = &input.runs[sample.run].point;
        let named = |key: &String| {
            let value = point.get(key).map(value_text)?;
            let stem = key.rsplit('.').next().unwrap_or(key);
            Some(if stem == "cc" { value } else { format!("{stem} {value}") })
        };
        let others: Vec<String> =
            keys.iter().filter(|key| Some(*key) != color).filter_map(named).collect();
        let mut name: Vec<String> = color.and_then(named).into_iter().collect();
        if (several_groups || name.is_empty()) && name.first() != Some(&sample.group) {
            name.push(sample.group.clone());
        }
        let (panel, name) = (others.join(", "), name.join(", "));
        let place = panels.iter().position(|(known, _)| *known == panel).unwrap_or_else(|| {
            panels.push((panel, Vec::new()));
            panels.len() - 1
        });
        let curves = &mut panels[place].1;
        if let Some(curve) = curves.iter_mut().find(|curve| curve.name == name) {
            curve.values.extend(&sample.values);
            curve.without += sample.without;
        } else {
            let (values, without) = (sample.values.clone(), sample.without);
            curves.push(Cdf { name, values, without });
        }
    }
    for curve in panels.iter_mut().flat_map(|(_, curves)| curves) {
        curve.values.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    Ok(panels)
}

/// Dash patterns. When every colour has been used once with a pattern, the next curves use the
/// colours again with the next pattern.
const DASHES: [Option<(f64, f64)>; 4] =
    [None, Some((6.0, 3.0)), Some((2.0, 2.5)), Some((11.0, 3.0))];

struct Sheet<'a> {
    input: &'a CdfInput<'a>,
    panels: Vec<(String, Vec<Cdf>)>,
    left_out: usize,
    /// The names of all curves, in the order of their colours.
    names: Vec<String>,
    x: Ratios,
    columns: u32,
    words: Words,
}

impl<'a> Sheet<'a> {
    fn new(input: &'a CdfInput<'a>, panels: Vec<(String, Vec<Cdf>)>, left_out: usize) -> Self {
        let curves = || panels.iter().flat_map(|(_, curves)| curves);
        let values = || curves().flat_map(|curve| &curve.values).map(|&(value, _)| value);
        let least = values().fold(f64::INFINITY, f64::min);
        let greatest = values().fold(0.0, f64::max);
        let narrow = input.shape.is_narrow();
        let x = Ratios::new(least, greatest, if narrow || panels.len() > 1 { 5 } else { 8 });
        let mut names: Vec<String> = Vec::new();
        for curve in panels.iter().flat_map(|(_, curves)| curves) {
            if !names.contains(&curve.name) {
                names.push(curve.name.clone());
            }
        }
        let most = if narrow { 2 } else { 3 };
        let columns = u32::try_from(panels.len()).unwrap_or(most).min(most);
        let words = Words::new(&input.labels);
        Self { input, panels, left_out, names, x, columns, words }
    }

    fn grid(&self) -> Grid {
        let shape = &self.input.shape;
        let edges = (shape.left(), shape.right(18.0, 24.0));
        let labels = &self.words.labels;
        let mut grid = Grid {
            edges,
            head: self.head(edges).height(),
            titles: 22.0,
            rows: u32::try_from(self.panels.len()).expect("a dozen").div_ceil(self.columns),
            columns: self.columns,
            gaps: (GAP_X, GAP_Y),
            foot: 0.0,
            panel_height: PANEL_HEIGHT,
        };
        if labels.y.is_some() && self.panels.len() > 1 {
            // A single panel has the label of the y axis as its title. With several panels, each
            // title is the panel's name, so the label is written once, above the first row.
            grid.head += LINE + labels.more_y(edges.1 - edges.0);
        }
        let room = grid.panel_width();
        let titles = self.panels.iter().map(|(name, curves)| self.title_lines(name, curves, room));
        let lines = titles.map(|lines| lines.len()).max().unwrap_or(1).saturating_sub(1);
        let more = f64::from(u32::try_from(lines).expect("a handful")) * LINE;
        grid.titles += more;
        grid.gaps.1 += more;
        grid.gaps.1 += labels.more_x(grid.panel_width());
        grid
    }

    fn head(&self, edges: (f64, f64)) -> Head {
        let CdfInput { shape, title, .. } = self.input;
        Head::new(&self.words.labels, shape, title, &self.note(), self.legend(), edges)
    }

    fn stroke(&self, name: &str) -> Stroke {
        let place = self.names.iter().position(|known| known == name).unwrap_or(0);
        // Names have no order that a ramp of colours could show. If there are more names than
        // colours, dashes distinguish the curves of equal colour.
        let dash = DASHES[place / palette::COLORS % DASHES.len()];
        Stroke { dash, ..Stroke::new(palette::line(place), 1.6) }
    }

    fn legend(&self) -> Vec<Entry> {
        let entry = |name: &String| {
            let mut text = self.words.entry(name);
            // With several panels, the titles show the number of transfers, packets or samples
            // without a value.
            if let [(_, curves)] = self.panels.as_slice() {
                let of_name = curves.iter().filter(|curve| curve.name == *name);
                if let Some(without) = self.without(of_name) {
                    text.push_str(&format!(" ({without})"));
                }
            }
            Entry { text, stroke: Some(self.stroke(name)), mark: None }
        };
        self.names.iter().map(entry).collect()
    }

    /// Returns a text for each set of curves that look like one line in a panel. Only the last of
    /// these curves is visible.
    fn covered(&self) -> Vec<String> {
        let mut told: Vec<(String, Vec<&str>)> = Vec::new();
        for (panel, curves) in &self.panels {
            let mut sets: Vec<Vec<&Cdf>> = Vec::new();
            for curve in curves.iter().filter(|curve| curve.count() > 0) {
                match sets.iter_mut().find(|set| self.is_covered(set[0], curve)) {
                    Some(set) => set.push(curve),
                    None => sets.push(vec![curve]),
                }
            }
            for set in sets.iter().filter(|set| set.len() > 1) {
                let names: Vec<String> =
                    set.iter().map(|curve| self.words.entry(&curve.name)).collect();
                let text = format!("one line: {}", names.join(" = "));
                match told.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, panels)) => panels.push(panel),
                    None => told.push((text, vec![panel])),
                }
            }
        }
        let all = self.panels.len();
        let with_panels = told.into_iter().map(|(text, panels)| match panels.len() {
            some if some < all => format!("{text} in {}", panels.join(", ")),
            _ => text,
        });
        with_panels.collect()
    }

    /// Whether two curves are so close to each other that they look like one line: at each whole
    /// percentile, the two values are at most half a percent of the axis apart.
    fn is_covered(&self, one: &Cdf, other: &Cdf) -> bool {
        let range = self.x.axis.high - self.x.axis.low;
        let place = |curve: &Cdf, percent: u64| {
            let wanted = ((curve.count() + curve.without) * percent).div_ceil(100).max(1);
            let mut below = 0;
            let reaches = |&&(_, count): &&(f64, u64)| {
                below += count;
                below >= wanted
            };
            curve.values.iter().find(reaches).map(|&(value, _)| self.x.place(value))
        };
        (1..=100).all(|percent| match (place(one, percent), place(other, percent)) {
            (Some(one), Some(other)) => (one - other).abs() <= 0.005 * range,
            (None, None) => true,
            _ => false,
        })
    }

    /// Returns a text with the number of transfers, packets or samples without a value; `None` if
    /// all have one.
    fn without<'c>(&self, curves: impl Iterator<Item = &'c Cdf>) -> Option<String> {
        let without: u64 = curves.map(|curve| curve.without).sum();
        (without > 0).then(|| format!("{} {}", count(without), self.input.without))
    }

    fn note(&self) -> String {
        let all: u64 = self.panels.iter().flat_map(|(_, curves)| curves).map(Cdf::count).sum();
        let mut note = noted(self.input.only, format!("{} {}", count(all), self.input.counted));
        if self.left_out > 0 {
            let shown = self.panels.len();
            note.push_str(&format!("; {shown} of {} panels shown", shown + self.left_out));
        }
        for covered in self.covered() {
            note.push_str(&format!("; {covered}"));
        }
        note
    }

    /// Returns the lines of a panel's title: the panel's name and, with several panels, the result
    /// of [`Self::without`]. A single panel has the label of the y axis as its title if the user
    /// set this label, or if the panel has no name. By default, the label is `Cumulative share`.
    fn title_lines(&self, name: &str, curves: &[Cdf], room: f64) -> Vec<String> {
        let is_alone = self.panels.len() == 1;
        // A panel's name is the values of the swept keys that colours do not show. A single panel
        // has a name if there are such keys and all samples have the same values of them.
        if is_alone && (self.words.labels.y.is_some() || name.is_empty()) {
            return self.words.labels.y_lines("Cumulative share", room);
        }
        // With a single panel, the legend has the result of `without`.
        let without = self.without(curves.iter()).filter(|_| !is_alone);
        let without = without.map_or_else(String::new, |without| format!(" ({without})"));
        wrap(&format!("{name}{without}"), room, PANEL_TITLE, true)
    }

    fn draw(&self) -> Result<String, String> {
        let shape = &self.input.shape;
        let grid = self.grid().fitted(shape, "rows of panels")?;
        Ok(draw(shape, grid.height(shape), |canvas| self.paint(canvas, &grid)))
    }

    fn paint(&self, canvas: &Canvas<'_>, grid: &Grid) {
        self.head(grid.edges).paint(canvas);
        let labels = &self.words.labels;
        if let (true, Some(_)) = (self.panels.len() > 1, &labels.y) {
            let lines = labels.y_lines("", grid.edges.1 - grid.edges.0);
            let words = TextLook::new(PANEL_TITLE, palette::INK).bold();
            let mut y = grid.head - labels.more_y(grid.edges.1 - grid.edges.0) - 4.0;
            for line in &lines {
                canvas.text(line, (grid.edges.0, y), words);
                y += LINE;
            }
        }
        for (spot, (name, curves)) in grid.spots(canvas).zip(&self.panels) {
            let y = Axis::up_to(1.0, if grid.panel_height < 120.0 { 2 } else { 5 });
            let panel = spot.panel(self.x.axis.clone(), y);
            self.paint_panel(&panel, name, curves, spot.is_first());
        }
    }

    fn paint_panel(&self, panel: &Panel<'_, '_>, name: &str, curves: &[Cdf], is_first: bool) {
        let room = panel.right - panel.left;
        panel.grid(is_first);
        let words = TextLook::new(PANEL_TITLE, palette::INK).bold();
        let lines = self.title_lines(name, curves, room);
        let mut y = panel.top - 10.0;
        for line in lines.iter().rev() {
            panel.canvas.text(line, (panel.left, y), words);
            y -= LINE;
        }
        for curve in curves {
            let all = curve.count() + curve.without;
            #[expect(clippy::cast_precision_loss, reason = "numbers of values")]
            let share_of = |seen: u64| seen as f64 / all as f64;
            let mut line = Vec::new();
            let (mut seen, mut share) = (0, 0.0);
            let mut column = None;
            for &(value, count) in &curve.values {
                let x = self.x.place(value);
                // Add the corner before a rise only at the first rise in each pixel column, so that
                // the rises of a column become one line.
                if column != Some(panel.column(x)) {
                    column = Some(panel.column(x));
                    line.push((x, share));
                }
                seen += count;
                share = share_of(seen);
                line.push((x, share));
            }
            line.push((panel.x.high, share));
            let stroke = self.stroke(&curve.name);
            // Draw all steps within a pixel column as one vertical line.
            line.dedup_by(|next, before| {
                let is_same = panel.column(next.0) == panel.column(before.0) && next.1 >= before.1;
                let is_rise = is_same && next.0 > before.0;
                if is_rise {
                    before.1 = next.1;
                }
                is_rise
            });
            panel.line(&line, stroke);
        }
        panel.border();
        let names = Names::of(&panel.x, room);
        panel.x_labels_as(&self.words.labels.x_lines(self.input.of, room), names);
    }
}
