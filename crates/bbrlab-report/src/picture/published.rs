//! The figures of a paper's experiment: what was measured along the swept axis, a curve for each algorithm, and what the
//! paper printed as rings.

use super::Picture;
use super::axis::Axis;
use super::canvas::{Canvas, Stroke, TextLook, draw};
use super::font::cut;
use super::legend::{self, Entry};
use super::marks::{Form, Mark};
use super::palette;
use super::panel::{Panel, SMALL, TITLE};
use super::shape::Shape;
use super::swept::Swept;
use crate::table::{PublishedCell, PublishedRow, blocks, split_unit};

const LEFT: f64 = 66.0;
const RIGHT: f64 = 976.0;
const PANEL_HEIGHT: f64 = 200.0;
const GAP_X: f64 = 74.0;
const GAP_Y: f64 = 86.0;
const NOTE_AT: f64 = 44.0;
/// Metrics beyond these are in the table.
const METRICS_SHOWN: usize = 8;
/// More panels of a metric than this are too small.
const MULTIPLES_SHOWN: usize = 12;

/// Keys that tell curves apart; the others, but for the axis, tell panels apart.
const OF_CURVES: &[&str] = &["algorithm", "hsr_lambda", "opponent", "flow", "phase"];

/// The pictures of an experiment's rows: one for each list of metrics that rows have.
#[must_use]
pub fn published_pictures(title: &str, rows: &[PublishedRow]) -> Vec<Picture> {
    let blocks = blocks(rows);
    let drawn = blocks.iter().enumerate().filter_map(|(at, block)| {
        let sheet = Sheet::new(title, block)?;
        let name = if at == 0 { "figures".to_owned() } else { format!("figures-{}", at + 1) };
        Some(Picture { name, svg: sheet.draw() })
    });
    drawn.collect()
}

/// A curve: its name, and the rows along the axis.
struct Curve<'a> {
    name: String,
    points: Vec<(f64, &'a PublishedRow)>,
}

/// A panel of a metric: what it is for, and its curves.
struct Multiple<'a> {
    name: String,
    curves: Vec<Curve<'a>>,
}

struct Sheet<'a> {
    title: &'a str,
    metrics: Vec<(usize, &'a PublishedCell)>,
    swept: Swept,
    multiples: Vec<Multiple<'a>>,
    left_out: usize,
    /// The names of curves, in the order of their colours.
    names: Vec<String>,
    columns: usize,
}

/// A key's value in a row.
fn word<'a>(row: &'a PublishedRow, key: &str) -> &'a str {
    row.keys.iter().find(|(name, _)| name == key).map_or("–", |(_, word)| word)
}

/// The different values of a key.
fn values(rows: &[PublishedRow], key: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for row in rows {
        let value = word(row, key);
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    values
}

/// The key with the most numbers; without one, the algorithm.
fn axis_of(rows: &[PublishedRow]) -> &str {
    let keys = rows[0].keys.iter().map(|(name, _)| name.as_str());
    let numeric = keys.filter(|key| !OF_CURVES.contains(key)).filter_map(|key| {
        let values = values(rows, key);
        let is_numeric = values.iter().all(|value| value.parse::<f64>().is_ok());
        (is_numeric && values.len() > 1).then_some((values.len(), key))
    });
    // Of several the first.
    let most = numeric.fold(None, |best: Option<(usize, &str)>, one| match best {
        Some(best) if best.0 >= one.0 => Some(best),
        _ => Some(one),
    });
    most.map_or("algorithm", |(_, key)| key)
}

impl<'a> Sheet<'a> {
    fn new(title: &'a str, rows: &'a [PublishedRow]) -> Option<Self> {
        let metrics: Vec<(usize, &PublishedCell)> =
            rows.first()?.cells.iter().enumerate().take(METRICS_SHOWN).collect();
        let axis = axis_of(rows);
        let mut swept = Swept::new(axis, &values(rows, axis));
        swept.title = in_words(axis);
        let name_of = |row: &PublishedRow, of_curves: bool| {
            let parts = row.keys.iter().filter(|(key, value)| {
                key != axis && value != "–" && of_curves == OF_CURVES.contains(&key.as_str())
            });
            let parts: Vec<String> = parts
                .map(|(key, value)| match key.as_str() {
                    "algorithm" | "flow" | "phase" => value.clone(),
                    "opponent" => format!("against {value}"),
                    "hsr_lambda" => format!("λ {value}"),
                    key => {
                        let (stem, unit) = split_unit(key);
                        format!("{stem} {value} {unit}").trim_end().to_owned()
                    }
                })
                .collect();
            parts.join(", ")
        };
        let (mut multiples, mut names): (Vec<Multiple<'_>>, Vec<String>) = (Vec::new(), Vec::new());
        for row in rows {
            let Some(x) = swept.place(word(row, axis)) else { continue };
            let (panel, curve) = (name_of(row, false), name_of(row, true));
            if !names.contains(&curve) {
                names.push(curve.clone());
            }
            let at = multiples.iter().position(|known| known.name == panel).unwrap_or_else(|| {
                multiples.push(Multiple { name: panel, curves: Vec::new() });
                multiples.len() - 1
            });
            let curves = &mut multiples[at].curves;
            match curves.iter_mut().find(|known| known.name == curve) {
                Some(known) => known.points.push((x, row)),
                None => curves.push(Curve { name: curve, points: vec![(x, row)] }),
            }
        }
        let left_out = multiples.len().saturating_sub(MULTIPLES_SHOWN);
        multiples.truncate(MULTIPLES_SHOWN);
        let columns = match multiples.len() {
            0 | 1 => 2.min(metrics.len()),
            several => several.min(3),
        };
        Some(Self { title, metrics, swept, multiples, left_out, names, columns })
    }

    fn entries(&self) -> Vec<Entry> {
        let curves = self.names.iter().enumerate().map(|(at, name)| Entry {
            text: name.clone(),
            stroke: None,
            mark: Some(self.mark(at, Form::Disc)),
        });
        curves.filter(|entry| !entry.text.is_empty()).collect()
    }

    fn mark(&self, at: usize, form: Form) -> Mark {
        Mark { color: palette::of_many(at, self.names.len()), form }
    }

    fn head(&self) -> f64 {
        NOTE_AT + 14.0 + number(legend::rows(&self.entries(), LEFT, RIGHT).len()) * legend::ROW
    }

    /// Panels in a row belong to one metric where there are several of each.
    fn rows(&self) -> usize {
        match self.multiples.len() {
            0 | 1 => self.metrics.len().div_ceil(self.columns.max(1)),
            several => self.metrics.len() * several.div_ceil(self.columns),
        }
    }

    fn draw(&self) -> String {
        let height = self.head() + number(self.rows()) * (PANEL_HEIGHT + GAP_Y);
        draw(&Shape::SCREEN, height, |canvas| self.paint(canvas))
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        let words = TextLook::new(TITLE, palette::INK).bold();
        canvas.text(&cut(self.title, RIGHT - LEFT, TITLE, true), (LEFT, 24.0), words);
        let mut note = "discs: measured, with 95 % bars; rings: as printed".to_owned();
        if self.left_out > 0 {
            note.push_str(&format!("; {} panels more are not shown", self.left_out));
        }
        canvas.text(&note, (LEFT, NOTE_AT), TextLook::new(SMALL, palette::FAINT_INK));
        let entries = self.entries();
        legend::paint(canvas, &legend::rows(&entries, LEFT, RIGHT), NOTE_AT + 22.0);
        let mut place = 0;
        for &(metric, cell) in &self.metrics {
            let y = self.y_axis(metric);
            for multiple in &self.multiples {
                let panel = self.panel(canvas, place, y.clone());
                let (name, _) = split_unit(&cell.metric);
                let unit = if cell.unit == "1" { "" } else { &cell.unit };
                let title = [name.replace('_', " "), unit.to_owned(), multiple.name.clone()];
                let title: Vec<String> = title.into_iter().filter(|it| !it.is_empty()).collect();
                panel.frame(&cut(&title.join(", "), panel.right - panel.left, 12.0, true));
                for curve in &multiple.curves {
                    self.paint_curve(&panel, curve, metric);
                }
                panel.border();
                panel.x_labels(&self.swept.title);
                place += 1;
            }
            if self.multiples.len() > 1 {
                place = place.next_multiple_of(self.columns);
            }
        }
    }

    fn y_axis(&self, metric: usize) -> Axis {
        let points = self.multiples.iter().flat_map(|it| &it.curves).flat_map(|it| &it.points);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for cell in points.filter_map(|(_, row)| row.cells.get(metric)) {
            let ends = cell.interval.map_or([cell.measured; 2], |ends| ends.map(Some));
            for value in ends.into_iter().chain([cell.measured, cell.published]).flatten() {
                if value.is_finite() {
                    (low, high) = (low.min(value), high.max(value));
                }
            }
        }
        if low.is_finite() { Axis::around(low, high, 5) } else { Axis::from_zero(1.0, 5) }
    }

    fn panel<'c, 's>(&self, canvas: &'c Canvas<'s>, place: usize, y: Axis) -> Panel<'c, 's> {
        let columns = number(self.columns);
        let width = (RIGHT - LEFT - (columns - 1.0) * GAP_X) / columns;
        let left = LEFT + number(place % self.columns) * (width + GAP_X);
        let top = self.head() + 24.0 + number(place / self.columns) * (PANEL_HEIGHT + GAP_Y);
        Panel {
            canvas,
            left,
            right: left + width,
            top,
            bottom: top + PANEL_HEIGHT,
            x: self.swept.axis.clone(),
            y,
        }
    }

    fn paint_curve(&self, panel: &Panel<'_, '_>, curve: &Curve<'_>, metric: usize) {
        let at = self.names.iter().position(|name| *name == curve.name).unwrap_or_default();
        let (disc, ring) = (self.mark(at, Form::Disc), self.mark(at, Form::Ring));
        let mut points: Vec<(f64, &PublishedCell)> =
            curve.points.iter().filter_map(|(x, row)| Some((*x, row.cells.get(metric)?))).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let measured: Vec<(f64, f64, [f64; 2])> = points
            .iter()
            .filter_map(|(x, cell)| {
                let median = cell.measured?;
                Some((*x, median, cell.interval.unwrap_or([median; 2])))
            })
            .filter(|(_, y, _)| y.is_finite())
            .collect();
        if self.swept.joins {
            let line: Vec<(f64, f64)> = measured.iter().map(|&(x, y, _)| (x, y)).collect();
            panel.line(&line, Stroke::new(disc.color, 1.5));
        }
        for &(x, y, [low, high]) in &measured {
            panel.line(&[(x, low), (x, high)], Stroke::new(disc.color, 1.0));
            disc.paint(panel.canvas, panel.at(x, y), 3.0);
        }
        for (x, cell) in &points {
            if let Some(published) = cell.published {
                ring.paint(panel.canvas, panel.at(*x, published), 4.0);
            }
        }
    }
}

fn in_words(key: &str) -> String {
    let (stem, unit) = split_unit(key);
    if unit.is_empty() {
        stem.replace('_', " ")
    } else {
        format!("{}, {unit}", stem.replace('_', " "))
    }
}

fn number(n: usize) -> f64 {
    f64::from(u32::try_from(n).expect("a handful"))
}

#[cfg(test)]
mod tests {
    use super::published_pictures;
    use crate::table::{PublishedCell, PublishedRow};

    #[test]
    fn measured_points_are_discs_and_printed_ones_rings() {
        let row = |cc: &str, bdp: &str, measured: f64, published: Option<f64>| PublishedRow {
            keys: vec![
                ("algorithm".to_owned(), cc.to_owned()),
                ("buffer_bdp".to_owned(), bdp.to_owned()),
            ],
            cells: vec![PublishedCell {
                metric: "jain".to_owned(),
                unit: "1".to_owned(),
                published,
                measured: Some(measured),
                interval: Some([measured - 0.01, measured + 0.01]),
                decimals: 2,
            }],
        };
        let rows = [
            row("bbr1", "0.5", 0.91, Some(0.87)),
            row("bbr1", "2", 0.97, None),
            row("bbr2", "0.5", 0.99, None),
        ];
        let pictures = published_pictures("Fairness", &rows);
        assert_eq!(pictures.len(), 1);
        let svg = &pictures[0].svg;
        assert!(svg.starts_with("<svg"));
        for wanted in ["Fairness", "bbr1", "bbr2", "buffer, BDP", "rings: as printed"] {
            assert!(svg.contains(wanted), "{wanted} is missing");
        }
        assert!(published_pictures("Nothing", &[]).is_empty());
    }
}
