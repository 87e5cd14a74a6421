//! A legend in rows, each with as many entries as fit.

use super::canvas::{Canvas, Stroke, TextLook};
use super::font::width_of;
use super::marks::Mark;
use super::palette::INK;
use super::panel::SMALL;

/// The height of a row of the legend.
const ROW: f64 = 18.0;

/// An entry of the legend.
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) stroke: Option<Stroke>,
    pub(crate) mark: Option<Mark>,
}

impl Entry {
    /// The space for the line and the mark.
    fn sign(&self) -> f64 {
        if self.stroke.is_some() { 22.0 } else { 8.0 }
    }
}

/// The entries in rows between two edges, each entry with the position of its left end.
pub(crate) fn rows(entries: &[Entry], left: f64, right: f64) -> Vec<Vec<(f64, &Entry)>> {
    let mut rows: Vec<Vec<(f64, &Entry)>> = Vec::new();
    let mut x = left;
    for entry in entries {
        let width = entry.sign() + 6.0 + width_of(&entry.text, SMALL);
        match rows.last_mut() {
            Some(row) if x + width <= right => row.push((x, entry)),
            _ => {
                x = left;
                rows.push(vec![(x, entry)]);
            }
        }
        x += width + 18.0;
    }
    rows
}

/// The height of a legend between two edges.
pub(crate) fn height(entries: &[Entry], left: f64, right: f64) -> f64 {
    f64::from(u32::try_from(rows(entries, left, right).len()).expect("a handful")) * ROW
}

/// Draws the rows. `top` is the height of the middle of the first row.
pub(crate) fn paint(canvas: &Canvas<'_>, rows: &[Vec<(f64, &Entry)>], top: f64) {
    let mut y = top;
    for row in rows {
        for &(x, entry) in row {
            if let Some(stroke) = entry.stroke {
                canvas.line(&[(x, y), (x + 22.0, y)], stroke);
            }
            if let Some(mark) = entry.mark {
                mark.paint(canvas, (x + entry.sign() / 2.0, y), 3.2);
            }
            canvas.text(&entry.text, (x + entry.sign() + 6.0, y), TextLook::new(SMALL, INK));
        }
        y += ROW;
    }
}
