//! A plate: a redrawn figure of a paper. A plate's panels are side by side, with one legend. Each
//! panel has curves along a swept key, stacked bars, boxes, or lines over time. Rings show the
//! paper's printed values next to the measured ones.

mod bars;
mod boxes;
mod content;
mod curves;
mod ordinate;
mod times;

use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

pub use self::content::{
    Drawing, Plate, PlateBox, PlateCurve, PlateCurves, PlateLine, PlatePanel, PlatePoint,
    PlateTimes, Scale,
};
use self::ordinate::Ordinate;
use super::Picture;
use super::axis::Axis;
use super::canvas::{Canvas, Stroke, TextLook, draw};
use super::font::{bold_width_of, cut, width_of};
use super::grid::{Grid, Spot};
use super::head::Head;
use super::labels::Labels;
use super::legend::Entry;
use super::marks::{Form, Mark};
use super::palette;
use super::panel::{Panel, SMALL};
use super::shape::Shape;

const LEFT: f64 = 66.0;
const RIGHT: f64 = 976.0;
const GAP_X: f64 = 70.0;
const GAP_Y: f64 = 82.0;
const HEADING: f64 = 12.0;

/// Draws the picture of a plate.
#[must_use]
pub fn plate_picture(plate: &Plate) -> Picture {
    let sheet = Sheet::of(plate);
    let grid = sheet.grid();
    let svg =
        draw(&Shape::SCREEN, grid.height(&Shape::SCREEN), |canvas| sheet.paint(canvas, &grid));
    Picture { name: plate.name.clone(), svg, entries: Vec::new() }
}

struct Sheet<'a> {
    plate: &'a Plate,
    /// The names of curves and lines, in the order of their colours.
    names: Vec<&'a str>,
    /// The quantity of all panels, if it is shown once above them.
    quantity: Option<&'a str>,
}

/// Returns the names of the curves and lines in a drawing, and for each whether it is a line
/// without marks.
fn names_in(drawing: &Drawing) -> Vec<(&str, bool)> {
    match drawing {
        Drawing::Curves(of) | Drawing::Stacked(of) => {
            of.curves.iter().map(|curve| (curve.name.as_str(), false)).collect()
        }
        Drawing::Boxes(_) => Vec::new(),
        Drawing::OverTime(of) => of.lines.iter().map(|line| (line.name.as_str(), true)).collect(),
    }
}

impl<'a> Sheet<'a> {
    fn of(plate: &'a Plate) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for panel in &plate.panels {
            for (name, _) in panel.drawing.iter().flat_map(names_in) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let sheet = Self { plate, names, quantity: None };
        let quantity = sheet.shared_quantity();
        Self { quantity, ..sheet }
    }

    fn grid(&self) -> Grid {
        let number = |n: usize| u32::try_from(n).expect("some panels");
        let panels = self.plate.panels.len();
        let columns = self.plate.columns.min(panels).max(1);
        Grid {
            edges: (LEFT, RIGHT),
            head: self.head().height() + 22.0,
            titles: 0.0,
            rows: number(panels.div_ceil(columns)),
            columns: number(columns),
            gaps: (GAP_X, GAP_Y),
            foot: 0.0,
            panel_height: if columns == 1 { 230.0 } else { 190.0 },
        }
    }

    fn head(&self) -> Head {
        let Plate { title, note, .. } = self.plate;
        let with_quantity =
            self.quantity.map(|quantity| format!("{note}; in each panel: {quantity}"));
        let note = with_quantity.as_ref().unwrap_or(note);
        let (labels, edges) = (Labels::default(), (LEFT, RIGHT));
        Head::new(&labels, &Shape::SCREEN, title, note, self.entries(), edges)
    }

    /// Returns the quantity of the y axes if all panels have a name and the same quantity, and at
    /// least one panel lacks space for the quantity next to its name.
    fn shared_quantity(&self) -> Option<&'a str> {
        let panels = &self.plate.panels;
        let first = panels.first()?.y_title.as_str();
        let is_shared =
            panels.iter().all(|panel| panel.y_title == first && !panel.title.is_empty());
        let width = self.grid().panel_width();
        let fits = |panel: &PlatePanel| width_of(first, SMALL) <= rest_of(width, &panel.title);
        (is_shared && !panels.iter().all(fits)).then_some(first)
    }

    fn color(&self, name: &str) -> RGBColor {
        let at = self.names.iter().position(|known| *known == name).unwrap_or_default();
        palette::of_many(at, self.names.len())
    }

    /// Returns the entries of the legend, one for each name that is not empty.
    fn entries(&self) -> Vec<Entry> {
        let drawings = || self.plate.panels.iter().flat_map(|panel| &panel.drawing);
        let is_line = |name: &str| drawings().flat_map(names_in).any(|found| found == (name, true));
        let entry = |name: &&str| {
            let color = self.color(name);
            let line = is_line(name).then(|| Stroke::new(color, 2.0));
            let mark = line.is_none().then_some(Mark { color, form: Form::Disc });
            Entry { text: (*name).to_owned(), stroke: line, mark }
        };
        self.names.iter().filter(|name| !name.is_empty()).map(entry).collect()
    }

    fn paint(&self, canvas: &Canvas<'_>, grid: &Grid) {
        self.head().paint(canvas);
        for (spot, panel) in grid.spots(canvas).zip(&self.plate.panels) {
            self.paint_panel(spot, panel, grid);
        }
    }

    fn paint_panel(&self, spot: Spot<'_, '_>, of: &PlatePanel, grid: &Grid) {
        let y = Ordinate::of(&self.plate.panels, &of.shared);
        let x = match &of.drawing {
            Ok(Drawing::Curves(curves)) => curves::along(curves).axis,
            Ok(Drawing::Stacked(curves)) => Axis::of_names(&curves.along),
            Ok(Drawing::Boxes(boxes)) => {
                let names: Vec<String> = boxes.iter().map(|one| one.name.clone()).collect();
                Axis::of_names(&names)
            }
            Ok(Drawing::OverTime(times)) => {
                let ticks = if grid.columns > 1 { 6 } else { 11 };
                Axis::exactly(times.from_s, times.to_s.max(times.from_s + 1e-9), ticks)
            }
            Err(_) => Axis::of(0.0, 1.0, Vec::new()),
        };
        let panel = spot.panel(x, y.axis.clone());
        panel.grid(of.drawing.is_ok());
        headings(&panel, of, self.quantity.is_some());
        match &of.drawing {
            Ok(Drawing::Curves(curves)) => curves::paint(&panel, curves, &y, |of| self.color(of)),
            Ok(Drawing::Stacked(curves)) => bars::paint(&panel, curves, |of| self.color(of)),
            Ok(Drawing::Boxes(boxes)) => boxes::paint(&panel, boxes),
            Ok(Drawing::OverTime(times)) => times::paint(&panel, times, &y, |of| self.color(of)),
            Err(why) => {
                let words = TextLook::new(SMALL, palette::FAINT_INK);
                let words = words.anchor(HPos::Center, VPos::Center);
                let middle =
                    (f64::midpoint(panel.left, panel.right), panel.top + grid.panel_height / 2.0);
                let why = cut(why, grid.panel_width(), SMALL, false);
                panel.canvas.text(&why, middle, words);
            }
        }
        panel.border();
        panel.x_labels(&of.x_title);
    }
}

/// Returns the width, in layout points, that is left for the panel's quantity next to the panel's
/// name, on one line of width `room`.
fn rest_of(room: f64, title: &str) -> f64 {
    room - bold_width_of(title, HEADING) - 10.0
}

/// Draws the panel's name at the left, and its quantity at the right unless it is shown above all
/// panels. A panel without a name has only its quantity.
fn headings(panel: &Panel<'_, '_>, of: &PlatePanel, is_above: bool) {
    let room = panel.right - panel.left;
    let title = if of.title.is_empty() { &of.y_title } else { &of.title };
    let title = cut(title, room, HEADING, true);
    let y = panel.top - 10.0;
    panel.canvas.text(&title, (panel.left, y), TextLook::new(HEADING, palette::INK).bold());
    let quantity = cut(&of.y_title, rest_of(room, &title), SMALL, false);
    if !of.title.is_empty() && !quantity.is_empty() && !is_above {
        let words = TextLook::new(SMALL, palette::FAINT_INK);
        panel.canvas.text(&quantity, (panel.right, y), words.anchor(HPos::Right, VPos::Center));
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Drawing, Plate, PlateBox, PlateCurve, PlateCurves, PlateLine, PlatePanel, PlatePoint,
        PlateTimes, Scale, plate_picture,
    };

    #[test]
    fn a_common_quantity_without_space_next_to_a_name_is_above_the_panels() {
        let long = |title: &str| PlatePanel {
            y_title: "throughput (running mean), Mibit/s".to_owned(),
            ..panel(title, Err("no runs".to_owned()))
        };
        let panels = ["BBR, 10 ms", "BBR, 40 ms", "BBR+ with lambda 0.125, 100 ms"].map(long);
        let svg = plate_picture(&Plate { columns: 3, ..plate(panels.to_vec()) }).svg;
        assert_eq!(svg.matches("throughput (running mean), Mibit/s").count(), 1);
        assert!(svg.contains("in each panel: throughput"), "{svg}");
        let one = plate_picture(&plate(vec![long("BBR, 10 ms")])).svg;
        assert!(!one.contains("in each panel"));
    }

    fn panel(title: &str, drawing: Result<Drawing, String>) -> PlatePanel {
        PlatePanel {
            title: title.to_owned(),
            x_title: "buffer, BDP".to_owned(),
            y_title: "rate, Mbit/s".to_owned(),
            shared: String::new(),
            scale: Scale::FromZero,
            drawing,
        }
    }

    fn curves(values: &[f64], published: Option<f64>) -> PlateCurves {
        let point = |(at, &value): (usize, &f64)| PlatePoint {
            at,
            measured: Some(value),
            interval: Some([value - 1.0, value + 1.0]),
            published,
        };
        let points = values.iter().enumerate().map(point).collect();
        PlateCurves {
            along: values.iter().enumerate().map(|(at, _)| (at + 1).to_string()).collect(),
            curves: vec![PlateCurve { name: "BBRv1".to_owned(), points }],
        }
    }

    fn plate(panels: Vec<PlatePanel>) -> Plate {
        Plate {
            name: "figure-5".to_owned(),
            title: "Figure 5".to_owned(),
            note: "rings: as printed".to_owned(),
            columns: 2,
            panels,
        }
    }

    #[test]
    fn every_kind_of_drawing_is_drawn_with_its_headings_and_one_legend() {
        let times = PlateTimes {
            to_s: 10.0,
            lines: vec![PlateLine {
                name: "flow 1".to_owned(),
                points: vec![(0.0, Some(1.0)), (10.0, Some(4.0))],
                published: vec![(5.0, 2.0)],
            }],
            levels: vec![(3.0, "160 MSS".to_owned())],
            moments: vec![(8.0, "step".to_owned())],
            ..PlateTimes::default()
        };
        let one = PlateBox {
            name: "100".to_owned(),
            values: vec![1.0, 2.0, 3.0, 4.0, 40.0],
            published: Some([10.0, 5.0]),
        };
        let svg = plate_picture(&plate(vec![
            panel("(a)", Ok(Drawing::Curves(curves(&[4.0, 6.0], Some(5.0))))),
            panel("(b)", Ok(Drawing::Stacked(curves(&[4.0, 6.0], None)))),
            panel("(c)", Ok(Drawing::Boxes(vec![one]))),
            panel("(d)", Ok(Drawing::OverTime(times))),
            panel("(e)", Err("not run".to_owned())),
        ]))
        .svg;
        for wanted in [
            "Figure 5",
            "(a)",
            "(e)",
            "BBRv1",
            "flow 1",
            "160 MSS",
            "step",
            "not run",
            "rate, Mbit/s",
        ] {
            assert!(svg.contains(wanted), "{wanted} is missing");
        }
        assert_eq!(svg.matches(">\nBBRv1").count(), 1, "one legend for all panels");
    }

    #[test]
    fn printed_values_are_rings_next_to_discs() {
        let circles = |published| {
            let drawing = Drawing::Curves(curves(&[4.0, 6.0], published));
            plate_picture(&plate(vec![panel("", Ok(drawing))])).svg.matches("<circle").count()
        };
        // Without a printed value, the picture has a disc for each of two points and one in the
        // legend. With a printed value, the picture also has two rings, each of which consists of a
        // white disc and a circle.
        assert_eq!((circles(None), circles(Some(5.0))), (3, 7));
    }

    #[test]
    fn zero_is_at_the_lower_end_of_a_logarithmic_axis() {
        let mut with_zero = panel("", Ok(Drawing::Curves(curves(&[0.0, 900.0], None))));
        with_zero.scale = Scale::Logarithmic;
        let svg = plate_picture(&plate(vec![with_zero])).svg;
        assert!(!svg.contains("NaN") && svg.contains("1000"), "{svg}");
    }
}
