//! A legend in rows, each with as many entries as fit.

use super::canvas::{Canvas, Stroke, TextLook};
use super::font::{cut, width_of};
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
    /// Returns the width of the line or the mark to the left of the entry's text.
    fn sign(&self) -> f64 {
        if self.stroke.is_some() { 22.0 } else { 8.0 }
    }
}

/// An entry of the legend, with the position of its left end and with its text, which is cut off
/// at the width of a row.
pub(crate) struct Placed<'a> {
    x: f64,
    entry: &'a Entry,
    text: String,
}

/// Arranges the entries in rows between two edges.
pub(crate) fn rows(entries: &[Entry], left: f64, right: f64) -> Vec<Vec<Placed<'_>>> {
    let mut rows: Vec<Vec<Placed<'_>>> = Vec::new();
    let mut x = left;
    for entry in entries {
        let before = entry.sign() + 6.0;
        let text = cut(&entry.text, right - left - before, SMALL, false);
        let width = before + width_of(&text, SMALL);
        match rows.last_mut() {
            Some(row) if x + width <= right => row.push(Placed { x, entry, text }),
            _ => {
                x = left;
                rows.push(vec![Placed { x, entry, text }]);
            }
        }
        x += width + 18.0;
    }
    rows
}

/// Returns the height of a legend between two edges.
pub(crate) fn height(entries: &[Entry], left: f64, right: f64) -> f64 {
    f64::from(u32::try_from(rows(entries, left, right).len()).expect("a handful")) * ROW
}

/// Draws the rows. `top` is the vertical position of the middle of the first row.
pub(crate) fn paint(canvas: &Canvas<'_>, rows: &[Vec<Placed<'_>>], top: f64) {
    let mut y = top;
    for row in rows {
        for Placed { x, entry, text } in row {
            let x = *x;
            if let Some(stroke) = entry.stroke {
                canvas.line(&[(x, y), (x + 22.0, y)], stroke);
            }
            if let Some(mark) = entry.mark {
                mark.paint(canvas, (x + entry.sign() / 2.0, y), 3.2);
            }
            canvas.text(text, (x + entry.sign() + 6.0, y), TextLook::new(SMALL, INK));
        }
        y += ROW;
    }
}
