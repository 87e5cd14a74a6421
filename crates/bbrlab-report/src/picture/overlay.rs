//! Two recordings over time in one picture, one drawn over the other: cwnd, RTT, throughput, queue.
//!
//! The lower line is wide and pale, the upper one thin and dark. If the recordings agree, the dark
//! line runs in the middle of the pale one. A single flow is drawn in two colours. With several
//! flows, each has one colour, pale and dark.

use plotters::style::RGBColor;

use super::axis::Axis;
use super::canvas::{Canvas, Stroke, draw};
use super::font::cut;
use super::grid::{Grid, Spot};
use super::head::Head;
use super::legend::{self, Entry};
use super::shape::Shape;
use super::{Picture, decimate, palette};

const PANEL_HEIGHT: f64 = 150.0;
const PANEL_GAP: f64 = 38.0;
/// Height below the last panel, for the name of the time axis.
const BELOW: f64 = 12.0;
/// The size of a panel's title.
const PANEL_TITLE: f64 = 12.0;

/// A value over time; `None` interrupts the line.
pub type OverTime = Vec<(f64, Option<f64>)>;

/// One quantity of one flow or link, in both recordings.
#[derive(Clone, Debug, Default)]
pub struct OverlayPair {
    /// The flow; empty for a quantity of a link.
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
    /// The lines of each flow or link.
    pub pairs: Vec<OverlayPair>,
}

/// Input of an overlay.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// The picture's name.
    pub name: String,
    /// Its heading.
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
    /// The size.
    pub shape: Shape,
    /// The panels from top to bottom.
    pub panels: Vec<OverlayPanel>,
}

/// Draws the picture of two recordings.
///
/// # Errors
/// If the size leaves no room for the panels.
pub fn overlay_picture(overlay: &Overlay) -> Result<Picture, String> {
    let sheet = Sheet::of(overlay);
    let grid = sheet.grid().fitted(&overlay.shape, "panels")?;
    let height = grid.height(&overlay.shape);
    let svg = draw(&overlay.shape, height, |canvas| sheet.paint(canvas, &grid));
    Ok(Picture { name: overlay.name.clone(), svg })
}

struct Sheet<'a> {
    overlay: &'a Overlay,
    /// The names of the flows in the order of their colours; empty if there is only one.
    flows: Vec<&'a str>,
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
        Self { overlay, flows }
    }

    fn grid(&self) -> Grid {
        let shape = &self.overlay.shape;
        let edges = (shape.left(), shape.right(12.0, 22.0));
        Grid {
            edges,
            head: self.note_at() + 36.0 + legend::height(&self.legend(), edges.0, edges.1),
            titles: 0.0,
            rows: u32::try_from(self.overlay.panels.len()).expect("a handful"),
            columns: 1,
            gaps: (0.0, PANEL_GAP),
            foot: BELOW,
            panel_height: PANEL_HEIGHT,
        }
    }

    fn note_at(&self) -> f64 {
        match (self.overlay.shape.is_narrow(), self.overlay.facts.is_empty()) {
            (false, _) => 44.0,
            (true, false) => 10.0,
            (true, true) => -10.0,
        }
    }

    /// The colour of a flow if there are several flows. `None` for a single flow, drawn in the two
    /// colours of the recordings, and for a quantity of a link, drawn in grey.
    fn color(&self, name: &str) -> Option<RGBColor> {
        self.flows.iter().position(|flow| *flow == name).map(palette::line)
    }

    /// The look of the wide line, which is drawn below the thin one.
    fn wide(&self, name: &str) -> Stroke {
        let alone = if self.flows.is_empty() { palette::line(1) } else { palette::FAINT_INK };
        Stroke::new(self.color(name).unwrap_or(alone), 3.2).alpha(0.4)
    }

    /// The look of the thin line, which is drawn above the wide one.
    fn thin(&self, name: &str) -> Stroke {
        let alone = if self.flows.is_empty() { palette::line(0) } else { palette::INK };
        Stroke::new(self.color(name).unwrap_or(alone), 1.0)
    }

    /// The entries of the legend: the flows, if there are several, and the two recordings.
    fn legend(&self) -> Vec<Entry> {
        let entry =
            |text: &str, stroke| Entry { text: text.to_owned(), stroke: Some(stroke), mark: None };
        let flows = (0..).zip(&self.flows);
        let mut entries: Vec<Entry> =
            flows.map(|(at, flow)| entry(flow, Stroke::new(palette::line(at), 2.0))).collect();
        entries.push(entry(&self.overlay.below, self.wide("")));
        entries.push(entry(&self.overlay.above, self.thin("")));
        entries
    }

    fn paint(&self, canvas: &Canvas<'_>, grid: &Grid) {
        // On paper, the caption of the figure replaces the title.
        let is_narrow = self.overlay.shape.is_narrow();
        let title = (!is_narrow).then_some(&*self.overlay.title);
        let (note, entries) = (&*self.overlay.facts, self.legend());
        let head = Head { title, note, note_at: self.note_at(), entries: &entries };
        head.paint(canvas, grid.edges.0, grid.edges.1);
        for (spot, panel) in grid.spots(canvas).zip(&self.overlay.panels) {
            self.paint_panel(spot, panel);
        }
    }

    fn paint_panel(&self, spot: Spot<'_, '_>, content: &OverlayPanel) {
        let values = || {
            let pairs = content.pairs.iter().flat_map(|pair| pair.below.iter().chain(&pair.above));
            pairs.filter_map(|&(_, value)| value)
        };
        let Overlay { start_s, end_s, .. } = *self.overlay;
        let least = values().fold(f64::INFINITY, f64::min);
        let greatest = values().fold(0.0, f64::max);
        let ticks = self.overlay.shape.time_ticks();
        let panel = spot.panel(
            Axis::exactly(start_s, end_s.max(start_s + 1e-9), ticks),
            Axis::around(least.min(greatest), greatest.max(1e-3), spot.ticks()),
        );
        panel.frame(&cut(&content.title, panel.right - panel.left, PANEL_TITLE, true));
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
            panel.x_labels("time, s");
        }
    }
}
