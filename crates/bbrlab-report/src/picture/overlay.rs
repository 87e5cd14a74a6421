//! Two recordings over time in one picture, one drawn over the other: cwnd, RTT, throughput, queue.
//!
//! The lower line is wide and pale, the upper one thin and dark. If the recordings agree, the dark
//! line runs in the middle of the pale one. A single flow is drawn in two colours. With several
//! flows, each has one colour, pale for one recording and dark for the other.

use plotters::style::RGBColor;

use super::axis::Axis;
use super::canvas::{Canvas, Stroke, draw};
use super::grid::{Grid, Spot};
use super::head::Head;
use super::labels::{Labels, Words, one_panel};
use super::legend::Entry;
use super::panel::{LABEL_GAP, Names, widest_label};
use super::shape::Shape;
use super::{Picture, decimate, palette};

const PANEL_HEIGHT: f64 = 150.0;
const PANEL_GAP: f64 = 38.0;
/// Height below the last panel, for the name of the time axis.
const BELOW: f64 = 12.0;

/// A value over time; `None` interrupts the line.
pub type OverTime = Vec<(f64, Option<f64>)>;

/// One quantity of one flow or link, in both recordings.
#[derive(Clone, Debug, Default)]
pub struct OverlayPair {
    /// The flow's name; empty for a quantity of a link.
    pub name: String,
    /// The recording that is drawn wide and pale.
    pub below: OverTime,
    /// The recording that is drawn thin and dark on top.
    pub above: OverTime,
}

/// A panel with one quantity.
#[derive(Clone, Debug, Default)]
pub struct OverlayPanel {
    /// The quantity with its unit.
    pub title: String,
    /// One pair per flow or link: a line for each of the two recordings.
    pub pairs: Vec<OverlayPair>,
}

/// Input of an overlay.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// The picture's name.
    pub name: String,
    /// The picture's heading.
    pub title: String,
    /// The note below the heading.
    pub facts: String,
    /// The name of the recording with the pale lines.
    pub below: String,
    /// The name of the recording with the dark lines.
    pub above: String,
    /// The start of the time axis, in seconds.
    pub start_s: f64,
    /// The end of the time axis, in seconds.
    pub end_s: f64,
    /// The picture's size.
    pub shape: Shape,
    /// The texts that replace the default title, axis names and legends.
    pub labels: Labels,
    /// The panels from top to bottom.
    pub panels: Vec<OverlayPanel>,
}

/// Draws the picture of two recordings.
///
/// # Errors
/// Fails if the size leaves no room for the panels, or the user set a label of the y axis for
/// several panels.
pub fn overlay_picture(overlay: &Overlay) -> Result<Picture, String> {
    if overlay.labels.y.is_some() && overlay.panels.len() > 1 {
        let titles = overlay.panels.iter().map(|panel| panel.title.as_str());
        return Err(one_panel(titles, "--panels"));
    }
    let sheet = Sheet::of(overlay);
    let grid = sheet.grid().fitted(&overlay.shape, "panels")?;
    let height = grid.height(&overlay.shape);
    let svg = draw(&overlay.shape, height, |canvas| sheet.paint(canvas, &grid));
    Ok(Picture { name: overlay.name.clone(), svg, entries: sheet.words.names() })
}

struct Sheet<'a> {
    overlay: &'a Overlay,
    /// The names of the flows in the order of their colours; empty if there is only one flow.
    flows: Vec<&'a str>,
    words: Words,
}

impl<'a> Sheet<'a> {
    fn of(overlay: &'a Overlay) -> Self {
        let mut flows: Vec<&str> = Vec::new();
        for pair in overlay.panels.iter().flat_map(|panel| &panel.pairs) {
            if !pair.name.is_empty() && !flows.contains(&&*pair.name) {
                flows.push(&pair.name);
            }
        }
        if flows.len() == 1 {
            flows.clear();
        }
        Self { overlay, flows, words: Words::new(&overlay.labels) }
    }

    fn grid(&self) -> Grid {
        let shape = &self.overlay.shape;
        let edges = (shape.left().max(self.widest_label() + LABEL_GAP), shape.right(12.0, 22.0));
        let (labels, room) = (&self.words.labels, edges.1 - edges.0);
        Grid {
            edges,
            head: self.head(edges).height() + 22.0 + labels.more_y(room),
            titles: 0.0,
            rows: u32::try_from(self.overlay.panels.len()).expect("a handful"),
            columns: 1,
            gaps: (0.0, PANEL_GAP),
            foot: BELOW + labels.more_x(room),
            panel_height: PANEL_HEIGHT,
        }
    }

    fn head(&self, edges: (f64, f64)) -> Head {
        let Overlay { shape, title, facts, .. } = self.overlay;
        Head::new(&self.words.labels, shape, title, facts, self.legend(), edges)
    }

    /// If several flows are drawn, returns the colour of a flow, or `None` for a quantity of a
    /// link, which is drawn in grey. If only one flow is drawn, returns `None` for everything,
    /// because the two recordings then have one colour each.
    fn color(&self, name: &str) -> Option<RGBColor> {
        self.flows.iter().position(|flow| *flow == name).map(palette::line)
    }

    /// Returns the look of the wide line, which is drawn below the thin one.
    fn wide(&self, name: &str) -> Stroke {
        let alone = if self.flows.is_empty() { palette::line(1) } else { palette::FAINT_INK };
        Stroke::new(self.color(name).unwrap_or(alone), 3.2).alpha(0.4)
    }

    /// Returns the look of the thin line, which is drawn above the wide one.
    fn thin(&self, name: &str) -> Stroke {
        let alone = if self.flows.is_empty() { palette::line(0) } else { palette::INK };
        Stroke::new(self.color(name).unwrap_or(alone), 1.0)
    }

    /// Returns the entries of the legend: the flows, if there are several, and the two recordings.
    fn legend(&self) -> Vec<Entry> {
        let entry = |text: &str, stroke| Entry {
            text: self.words.entry(text),
            stroke: Some(stroke),
            mark: None,
        };
        let flows = (0..).zip(&self.flows);
        let mut entries: Vec<Entry> =
            flows.map(|(at, flow)| entry(flow, Stroke::new(palette::line(at), 2.0))).collect();
        entries.push(entry(&self.overlay.below, self.wide("")));
        entries.push(entry(&self.overlay.above, self.thin("")));
        entries
    }

    fn paint(&self, canvas: &Canvas<'_>, grid: &Grid) {
        self.head(grid.edges).paint(canvas);
        for (spot, panel) in grid.spots(canvas).zip(&self.overlay.panels) {
            self.paint_panel(spot, panel);
        }
    }

    /// Returns the width of the widest label of all y axes. Returns 0 for a wide sheet, because it
    /// has space for any label.
    fn widest_label(&self) -> f64 {
        let panels = self.overlay.panels.iter().filter(|_| self.overlay.shape.is_narrow());
        panels.map(|panel| widest_label(&y_axis(panel, 5))).fold(0.0, f64::max)
    }

    fn paint_panel(&self, spot: Spot<'_, '_>, content: &OverlayPanel) {
        let Overlay { start_s, end_s, .. } = *self.overlay;
        let ticks = self.overlay.shape.time_ticks();
        let panel = spot.panel(
            Axis::exactly(start_s, end_s.max(start_s + 1e-9), ticks),
            y_axis(content, spot.ticks()),
        );
        let room = panel.right - panel.left;
        panel.frame(&self.words.labels.y_lines(&content.title, room));
        let line = |points: &OverTime, stroke: Stroke| {
            for line in decimate::lines(points.iter().copied(), |time_s| panel.column(time_s)) {
                panel.line(&line, stroke);
            }
        };
        for pair in &content.pairs {
            line(&pair.below, self.wide(&pair.name));
        }
        for pair in &content.pairs {
            line(&pair.above, self.thin(&pair.name));
        }
        panel.border();
        if spot.is_lowest() {
            panel.x_labels_as(&self.words.labels.x_lines("time, s", room), Names::Row);
        }
    }
}

/// Returns the y axis of a panel, with about `ticks` ticks.
fn y_axis(content: &OverlayPanel, ticks: usize) -> Axis {
    let values = || {
        let pairs = content.pairs.iter().flat_map(|pair| pair.below.iter().chain(&pair.above));
        pairs.filter_map(|&(_, value)| value)
    };
    let least = values().fold(f64::INFINITY, f64::min);
    let greatest = values().fold(0.0, f64::max);
    Axis::around(least.min(greatest), greatest.max(1e-3), ticks)
}
