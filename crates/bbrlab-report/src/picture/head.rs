//! The head of a sheet of panels: its title, a note below that, and the legend.

use super::canvas::{Canvas, TextLook};
use super::font::cut;
use super::legend::{self, Entry};
use super::palette;
use super::panel::{SMALL, TITLE};

/// Distance from the note to the legend.
const LEGEND_BELOW: f64 = 22.0;

/// The head of a sheet.
pub(super) struct Head<'a> {
    /// The title; `None` on a sheet that is too narrow for a title.
    pub(super) title: Option<&'a str>,
    pub(super) note: &'a str,
    pub(super) note_at: f64,
    pub(super) entries: &'a [Entry],
}

impl Head<'_> {
    /// Draws the head between two edges.
    pub(super) fn paint(&self, canvas: &Canvas<'_>, left: f64, right: f64) {
        let room = right - left;
        if let Some(title) = self.title {
            let words = TextLook::new(TITLE, palette::INK).bold();
            canvas.text(&cut(title, room, TITLE, true), (left, 24.0), words);
        }
        let note = cut(self.note, room, SMALL, false);
        canvas.text(&note, (left, self.note_at), TextLook::new(SMALL, palette::FAINT_INK));
        let rows = legend::rows(self.entries, left, right);
        legend::paint(canvas, &rows, self.note_at + LEGEND_BELOW);
    }
}
