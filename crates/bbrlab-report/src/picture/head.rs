//! The head of a sheet of panels: its title, a note below that, and the legend.

use super::canvas::{Canvas, TextLook};
use super::font::wrap;
use super::labels::Labels;
use super::legend::{self, Entry};
use super::palette;
use super::panel::{SMALL, TITLE};
use super::shape::Shape;

/// Distance from the note to the legend.
const LEGEND_BELOW: f64 = 22.0;
/// Height of the first line of the note. A sheet without a note is shorter by this height.
const NOTE: f64 = 20.0;
/// Height of each further line of the note.
const NOTE_LINE: f64 = 14.0;

/// Returns the note, preceded by `only`, which lists the values of swept keys by which the user
/// chose the runs. If all runs are drawn, `only` is empty and the note unchanged.
pub(super) fn noted(only: &str, note: String) -> String {
    if only.is_empty() { note } else { format!("{only}; {note}") }
}

/// The texts above the panels of a picture, with their positions.
pub(super) struct Head {
    title: Vec<String>,
    title_size: f64,
    title_at: f64,
    title_line: f64,
    note: Vec<String>,
    note_at: f64,
    entries: Vec<Entry>,
    edges: (f64, f64),
}

impl Head {
    /// Makes the head, with texts between the left and the right edge of `edges`. A narrow sheet
    /// has no default title: on paper, the caption of the figure replaces it. A note that the user
    /// switched off takes no space. If a note is empty, only a wide sheet keeps the space of the
    /// note's line.
    pub(super) fn new(
        labels: &Labels,
        shape: &Shape,
        usual: &str,
        note: &str,
        entries: Vec<Entry>,
        edges: (f64, f64),
    ) -> Self {
        let room = edges.1 - edges.0;
        let is_narrow = shape.is_narrow();
        let (title_size, title_at, title_line) =
            if is_narrow { (13.0, 14.0, 17.0) } else { (TITLE, 24.0, 19.0) };
        let title = match &labels.title {
            Some(own) => wrap(own, room, title_size, true),
            None if is_narrow => Vec::new(),
            None => kept(wrap(usual, room, title_size, true)),
        };
        let note = match wrap(note, room, SMALL, false) {
            _ if labels.no_caption => Vec::new(),
            lines if is_narrow => lines,
            lines => kept(lines),
        };
        let note_at = match title.len() {
            0 if is_narrow => 10.0,
            0 => 16.0,
            lines => title_at + 1.0 + lines_of(lines, title_line),
        };
        Self { title, title_size, title_at, title_line, note, note_at, entries, edges }
    }

    /// Returns the vertical position of the middle of the legend's first row.
    pub(super) fn legend_at(&self) -> f64 {
        let below = match self.note.len() {
            0 => -NOTE,
            lines => lines_of(lines - 1, NOTE_LINE),
        };
        self.note_at + below + LEGEND_BELOW
    }

    /// Returns the height of the legend.
    pub(super) fn legend_height(&self) -> f64 {
        legend::height(&self.entries, self.edges.0, self.edges.1)
    }

    /// Returns the height of the head, from the sheet's upper edge to the end of the legend.
    pub(super) fn height(&self) -> f64 {
        self.legend_at() - 8.0 + self.legend_height()
    }

    /// Draws the head.
    pub(super) fn paint(&self, canvas: &Canvas<'_>) {
        self.paint_with_legend_at(canvas, self.legend_at());
    }

    /// Draws the head, with the middle of the legend's first row at the vertical position
    /// `legend_at`.
    pub(super) fn paint_with_legend_at(&self, canvas: &Canvas<'_>, legend_at: f64) {
        let (left, right) = self.edges;
        let words = TextLook::new(self.title_size, palette::INK).bold();
        for (line, text) in self.title.iter().enumerate() {
            canvas.text(text, (left, self.title_at + lines_of(line, self.title_line)), words);
        }
        let words = TextLook::new(SMALL, palette::FAINT_INK);
        for (line, text) in self.note.iter().enumerate() {
            canvas.text(text, (left, self.note_at + lines_of(line, NOTE_LINE)), words);
        }
        legend::paint(canvas, &legend::rows(&self.entries, left, right), legend_at);
    }
}

/// Returns the lines or, if there are none, one empty line, because a wide sheet keeps the space of
/// a missing title or note.
fn kept(lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() { vec![String::new()] } else { lines }
}

/// Returns the height of `lines` lines, each of the height `each`.
fn lines_of(lines: usize, each: f64) -> f64 {
    f64::from(u32::try_from(lines).expect("a handful")) * each
}
