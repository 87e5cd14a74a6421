//! Two recordings of the same thing over time, one on top of the other: cwnd, RTT, throughput, queue.
//!
//! One is drawn wide and pale, the other thin and dark on top of it: where they agree, the dark line runs in the
//! middle of the pale one.

use super::axis::Axis;
use super::canvas::{Canvas, Stroke, TextLook, draw};
use super::panel::{Key, Panel, SMALL, TITLE};
use super::shape::Shape;
use super::{Picture, decimate, palette};
use crate::table::layout_cut;

const LEFT: f64 = 66.0;
const RIGHT_MARGIN: f64 = 22.0;
const FIRST_TOP: f64 = 86.0;
/// Without a heading.
const FIRST_TOP_NARROW: f64 = 30.0;
const PANEL_HEIGHT: f64 = 150.0;
const PANEL_GAP: f64 = 38.0;

/// A value over time; `None` interrupts the line.
pub type OverTime = Vec<(f64, Option<f64>)>;

/// One quantity of one flow or link, in both recordings.
#[derive(Clone, Debug, Default)]
pub struct OverlayPair {
    /// The label of the line, if a panel has several.
    pub name: String,
    /// Drawn wide and pale.
    pub below: OverTime,
    /// Drawn thin and dark on top.
    pub above: OverTime,
}

/// A panel with one quantity.
#[derive(Clone, Debug, Default)]
pub struct OverlayPanel {
    /// The quantity with its unit.
    pub title: String,
    /// Its lines.
    pub pairs: Vec<OverlayPair>,
}

/// What an overlay is drawn from.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// The picture's name.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// The line below it.
    pub facts: String,
    /// What the pale lines are.
    pub below: String,
    /// What the dark lines are.
    pub above: String,
    /// The start of the time axis, in seconds.
    pub start_s: f64,
    /// The end of the time axis, in seconds.
    pub end_s: f64,
    /// The size.
    pub shape: Shape,
    /// From top to bottom.
    pub panels: Vec<OverlayPanel>,
}

/// The picture of two recordings.
#[must_use]
pub fn overlay_picture(overlay: &Overlay) -> Picture {
    let is_narrow = overlay.shape.is_narrow();
    let first_top = if is_narrow { FIRST_TOP_NARROW } else { FIRST_TOP };
    let rows = u32::try_from(overlay.panels.len()).unwrap_or(u32::MAX);
    let around = first_top + 12.0 + f64::from(rows) * PANEL_GAP;
    let panel_height = overlay.shape.panel_height(rows, around, PANEL_HEIGHT);
    let height = around + f64::from(rows) * panel_height;
    let svg = draw(&overlay.shape, height, |canvas| {
        if !is_narrow {
            let facts = layout_cut(&overlay.facts, 150);
            let title = layout_cut(&overlay.title, 110);
            canvas.text(&title, (LEFT, 24.0), TextLook::new(TITLE, palette::INK).bold());
            canvas.text(&facts, (LEFT, 44.0), TextLook::new(SMALL, palette::FAINT_INK));
        }
        let mut top = first_top;
        for (place, panel) in overlay.panels.iter().enumerate() {
            let is_last = place + 1 == overlay.panels.len();
            paint(canvas, overlay, panel, (top, top + panel_height), is_last);
            top += panel_height + PANEL_GAP;
        }
    });
    Picture { name: overlay.name.clone(), svg }
}

fn paint(
    canvas: &Canvas<'_>,
    overlay: &Overlay,
    content: &OverlayPanel,
    (top, bottom): (f64, f64),
    is_last: bool,
) {
    let values = || {
        let pairs = content.pairs.iter().flat_map(|pair| pair.below.iter().chain(&pair.above));
        pairs.filter_map(|&(_, value)| value)
    };
    let ticks = if overlay.shape.is_narrow() { 6 } else { 11 };
    let least = values().fold(f64::INFINITY, f64::min);
    let greatest = values().fold(0.0, f64::max);
    let panel = Panel {
        canvas,
        left: LEFT,
        right: overlay.shape.width - RIGHT_MARGIN,
        top,
        bottom,
        x: Axis::exactly(overlay.start_s, overlay.end_s.max(overlay.start_s + 1e-9), ticks),
        y: Axis::around(least.min(greatest), greatest.max(1e-3), 5),
    };
    panel.frame(&content.title);
    let several = content.pairs.len() > 1;
    let line = |points: &OverTime, stroke: Stroke| {
        for line in decimate::lines(points.iter().copied(), |time_s| panel.column(time_s)) {
            panel.line(&line, stroke);
        }
    };
    // A single pair of lines uses two colours. Of several pairs, each has one colour, pale and dark.
    let below = |place: usize| {
        let color = palette::line(if several { place } else { 1 });
        Stroke::new(color, 3.2).alpha(0.4)
    };
    let above = |place: usize| Stroke::new(palette::line(place), 1.0);
    for (place, pair) in content.pairs.iter().enumerate() {
        line(&pair.below, below(place));
    }
    for (place, pair) in content.pairs.iter().enumerate() {
        line(&pair.above, above(place));
    }
    let mut keys = Vec::new();
    if several {
        for (place, pair) in content.pairs.iter().enumerate().take(8) {
            let stroke = Stroke::new(palette::line(place), 2.0);
            keys.push(Key { text: pair.name.clone(), stroke });
        }
    }
    let grey = |width| Stroke::new(palette::FAINT_INK, width);
    let wide = if several { grey(3.2).alpha(0.4) } else { below(0) };
    let thin = if several { grey(1.0) } else { above(0) };
    keys.push(Key { text: overlay.below.clone(), stroke: wide });
    keys.push(Key { text: overlay.above.clone(), stroke: thin });
    panel.legend(&keys);
    panel.border();
    if is_last {
        panel.x_labels("time, s");
    }
}
