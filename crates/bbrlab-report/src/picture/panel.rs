//! A panel: a frame with axes. Callers pass values, and the panel converts them to positions.

use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::canvas::{Canvas, Point, Stroke, TextLook};
use super::font::{bold_width_of, cut, width_of};
use super::palette::{FAINT_INK, FRAME, GRID, INK};

/// Sizes, in layout points, of a picture's title and of small text, such as the labels of axes.
pub(crate) const TITLE: f64 = 15.0;
pub(crate) const SMALL: f64 = 11.0;
/// The size of a panel's title.
pub(crate) const PANEL_TITLE: f64 = 12.0;

/// The height of one line of a panel's title, and of one line of an x axis's title.
pub(crate) const LINE: f64 = 15.0;
pub(crate) const X_LINE: f64 = 13.0;

/// The least distance between two labels of an axis, and the height of a row of labels.
const BETWEEN: f64 = 6.0;
const ROW: f64 = 13.0;

/// An entry of a legend.
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) stroke: Stroke,
}

/// The arrangement of names below an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Names {
    /// Side by side in one row. Numbers are arranged in this way, too; some of them may be left
    /// out.
    Row,
    /// Alternately in an upper and a lower row.
    TwoRows,
    /// Vertical, to be read from bottom to top. The value is the height of the longest name, at
    /// most [`UPRIGHT_MOST`].
    Upright(f64),
}

/// Maximum height of vertical names. Longer names are cut off.
const UPRIGHT_MOST: f64 = 100.0;

impl Names {
    /// Returns the arrangement with which the names on an axis of this width are easiest to read.
    pub(crate) fn of(axis: &Axis, width: f64) -> Self {
        if !axis.is_of_names || labels_with_room(axis, (0.0, width)).len() == axis.ticks.len() {
            return Self::Row;
        }
        let longest = axis.ticks.iter().map(|(_, name)| width_of(name, SMALL)).fold(0.0, f64::max);
        // In two rows, a name may be as wide as two distances between ticks, minus a gap. In the
        // lower row, the space for a name extends from 1.5 distances before the name's tick to half
        // a distance after the tick. In the upper row, the space extends from half a distance
        // before the name's tick to 1.5 distances after the tick.
        //
        // The axis ends half a distance after the last tick. A last name in the upper row therefore
        // has a space of only one distance minus the gap, and is cut off if it is wider.
        let room = 2.0 * width / (axis.high - axis.low) - BETWEEN;
        if longest <= room || room >= UPRIGHT_MOST {
            Self::TwoRows
        } else {
            Self::Upright(longest.min(UPRIGHT_MOST))
        }
    }

    /// Returns the height that the arrangement needs in addition to one row of labels.
    pub(crate) fn below(self) -> f64 {
        match self {
            Self::Row => 0.0,
            Self::TwoRows => ROW,
            Self::Upright(height) => (height - ROW).max(0.0),
        }
    }
}

/// The space between the picture's left edge and a y axis, less the width of the axis's widest
/// label.
pub(crate) const LABEL_GAP: f64 = 8.0;

/// Returns the width of the widest label of an axis.
pub(crate) fn widest_label(axis: &Axis) -> f64 {
    axis.ticks.iter().map(|(_, label)| width_of(label, SMALL)).fold(0.0, f64::max)
}

/// Arranges the labels of an axis that is drawn from the x position `left` to `right`. Leaves out
/// labels that would overlap, but never the last label. Returns each label with the x position of
/// its middle.
fn labels_with_room(axis: &Axis, (left, right): (f64, f64)) -> Vec<(f64, &str)> {
    let place = |value: f64| left + axis.share(value) * (right - left);
    let half = |label: &str| width_of(label, SMALL) / 2.0;
    let mut free = f64::NEG_INFINITY;
    // The last label shows where the axis ends, so it is always drawn.
    let last = axis.ticks.last();
    let last = last.map_or(f64::INFINITY, |(value, label)| place(*value) - half(label));
    let mut placed = Vec::new();
    for (at, (value, label)) in axis.ticks.iter().enumerate() {
        let x = place(*value);
        let is_last = at + 1 == axis.ticks.len();
        if x - half(label) < free || !is_last && x + half(label) + BETWEEN > last {
            continue;
        }
        free = x + half(label) + BETWEEN;
        placed.push((x, label.as_str()));
    }
    placed
}

/// A panel on a canvas: the edges of its frame in layout points, and its axes.
pub(crate) struct Panel<'a, 's> {
    pub(crate) canvas: &'a Canvas<'s>,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl Panel<'_, '_> {
    pub(crate) fn at(&self, x: f64, y: f64) -> Point {
        (
            self.left + self.x.share(x) * (self.right - self.left),
            self.bottom - self.y.share(y) * (self.bottom - self.top),
        )
    }

    /// Returns the column of a value on the x axis. Columns are half a layout point wide.
    #[expect(clippy::cast_possible_truncation, reason = "coordinates on a sheet")]
    pub(crate) fn column(&self, x: f64) -> i64 {
        (self.at(x, 0.0).0 * 2.0) as i64
    }

    /// Draws the grid, the labels of the y axis and the panel's title. Callers must draw nothing in
    /// the panel before this call.
    pub(crate) fn frame(&self, title: &[String]) {
        self.grid(true);
        self.title(title, self.top - 4.0);
    }

    /// Draws the lines of a title, the last of which ends at `bottom`.
    fn title(&self, lines: &[String], bottom: f64) {
        let words = TextLook::new(PANEL_TITLE, INK).bold().anchor(HPos::Left, VPos::Bottom);
        let mut y = bottom;
        for line in lines.iter().rev() {
            self.canvas.text(line, (self.left, y), words);
            y -= LINE;
        }
    }

    /// Draws the grid and, if `with_labels` is set, the labels of the y axis. Callers must draw
    /// nothing in the panel before this call.
    pub(crate) fn grid(&self, with_labels: bool) {
        for (value, label) in &self.y.ticks {
            let (_, y) = self.at(0.0, *value);
            self.canvas.line(&[(self.left, y), (self.right, y)], Stroke::new(GRID, 0.5));
            if !with_labels {
                continue;
            }
            let words = TextLook::new(SMALL, INK).anchor(HPos::Right, VPos::Center);
            self.canvas.text(label, (self.left - 6.0, y), words);
        }
        for (value, _) in &self.x.ticks {
            let (x, _) = self.at(*value, 0.0);
            self.canvas.line(&[(x, self.top), (x, self.bottom)], Stroke::new(GRID, 0.5));
        }
    }

    /// Draws an arrow at the end of an interval that continues outside of the panel. `(dx, dy)` is
    /// the direction of the arrow: one of them is 1 or -1, the other 0.
    pub(crate) fn arrow(&self, (x, y): Point, (dx, dy): Point, stroke: Stroke) {
        const LENGTH: f64 = 6.0;
        const HALF: f64 = 3.0;
        let tip = (x + dx * LENGTH, y + dy * LENGTH);
        let back = (tip.0 - dx * HALF, tip.1 - dy * HALF);
        let corner = |side: f64| (back.0 + side * dy * HALF, back.1 + side * dx * HALF);
        self.canvas.line(&[(x, y), tip], stroke);
        self.canvas.line(&[corner(-1.0), tip, corner(1.0)], stroke);
    }

    /// Draws the border. The border must be drawn last, after everything else in the panel.
    pub(crate) fn border(&self) {
        let (left, right, top, bottom) = (self.left, self.right, self.top, self.bottom);
        self.canvas.line(&[(left, top), (left, bottom), (right, bottom)], Stroke::new(FRAME, 1.0));
    }

    /// Draws labels below the x axis. If not all fit, some numbers are left out; names are put in
    /// two rows, and cut off if necessary.
    pub(crate) fn x_labels(&self, title: &str) {
        let names = match Names::of(&self.x, self.right - self.left) {
            Names::Upright(_) => Names::TwoRows,
            names => names,
        };
        self.x_labels_as(&[title.to_owned()], names);
    }

    /// Draws labels below the x axis, arranged as in `names`, and the lines of the axis's title
    /// below the labels. The caller must have left the space for the labels and the title.
    pub(crate) fn x_labels_as(&self, title: &[String], names: Names) {
        for (value, _) in &self.x.ticks {
            let (x, _) = self.at(*value, 0.0);
            self.canvas.line(&[(x, self.bottom), (x, self.bottom + 4.0)], Stroke::new(FRAME, 1.0));
        }
        match names {
            Names::Row => {
                for (x, label) in labels_with_room(&self.x, (self.left, self.right)) {
                    // The last label may be wider than the margin of the picture, so it is moved to
                    // the left.
                    let x = x.min(self.canvas.width - width_of(label, SMALL) / 2.0 - 1.0);
                    self.x_label(label, x, self.bottom + 8.0);
                }
            }
            Names::TwoRows => self.names_in_two_rows(),
            Names::Upright(height) => self.upright_names(height),
        }
        let mut title_at = self.bottom + 24.0 + names.below();
        let words = TextLook::new(SMALL, FAINT_INK).anchor(HPos::Center, VPos::Top);
        for line in title {
            self.canvas.text(line, (f64::midpoint(self.left, self.right), title_at), words);
            title_at += X_LINE;
        }
    }

    /// Draws names alternately in an upper and a lower row, so that each name can have the width of
    /// twice the distance between two names.
    fn names_in_two_rows(&self) {
        let half = self.at(self.x.low + 0.5, 0.0).0 - self.left;
        for (at, (value, label)) in self.x.ticks.iter().enumerate() {
            let (x, _) = self.at(*value, 0.0);
            let is_lower = at % 2 == 1;
            let (from, to) =
                if is_lower { (x - 3.0 * half, x + half) } else { (x - half, x + 3.0 * half) };
            let to = to.min(self.right);
            let label = cut(label, to - from - BETWEEN, SMALL, false);
            let overhang = width_of(&label, SMALL) / 2.0;
            let x = x.min(to - overhang).max(from + overhang);
            self.x_label(&label, x, self.bottom + 8.0 + if is_lower { ROW } else { 0.0 });
        }
    }

    fn upright_names(&self, height: f64) {
        let words = TextLook::new(SMALL, INK).anchor(HPos::Right, VPos::Center).upright();
        for (value, label) in &self.x.ticks {
            let (x, _) = self.at(*value, 0.0);
            self.canvas.text(&cut(label, height, SMALL, false), (x, self.bottom + 7.0), words);
        }
    }

    fn x_label(&self, label: &str, x: f64, y: f64) {
        self.canvas.text(label, (x, y), TextLook::new(SMALL, INK).anchor(HPos::Center, VPos::Top));
    }

    pub(crate) fn line(&self, points: &[(f64, f64)], stroke: Stroke) {
        let points: Vec<Point> = points.iter().map(|&(x, y)| self.at(x, y)).collect();
        self.canvas.line(&points, stroke);
    }

    /// Fills the area between two lines with equal first coordinates.
    pub(crate) fn band(
        &self,
        low: &[(f64, f64)],
        high: &[(f64, f64)],
        color: RGBColor,
        alpha: f64,
    ) {
        let outline: Vec<Point> =
            low.iter().chain(high.iter().rev()).map(|&(x, y)| self.at(x, y)).collect();
        if outline.len() > 2 {
            self.canvas.area(&outline, color, alpha);
        }
    }

    /// Whether a legend fits next to the last line of a title.
    pub(crate) fn fits(&self, title: &[String], keys: &[Key]) -> bool {
        let title = title.last().map_or(0.0, |last| bold_width_of(last, PANEL_TITLE));
        let keys_width: f64 = keys.iter().map(|key| width_of(&key.text, SMALL) + 42.0).sum();
        keys.is_empty() || title + keys_width <= self.right - self.left
    }

    /// Draws grid, title and, at the right end of the title's last line, a legend. Callers must
    /// draw nothing in the panel before this call. With `has_row`, the legend has a line of its own
    /// below the title. If the legend does not fit, its entries are dropped from the last on.
    /// Callers put the entries of curves before the entries of reference lines, which readers need
    /// less.
    pub(crate) fn titled(&self, title: &[String], keys: &[Key], has_row: bool) {
        let last = if has_row { &[][..] } else { title };
        let mut keys = keys;
        while !self.fits(last, keys) {
            keys = &keys[..keys.len() - 1];
        }
        self.grid(true);
        self.title(title, self.top - if has_row { 4.0 + LINE } else { 4.0 });
        self.legend(keys);
    }

    /// Draws a legend above the frame, at its right end, on the line of the title.
    pub(crate) fn legend(&self, keys: &[Key]) {
        let mut right = self.right;
        for key in keys.iter().rev() {
            let words = TextLook::new(SMALL, INK).anchor(HPos::Right, VPos::Center);
            let y = self.top - 10.0;
            self.canvas.text(&key.text, (right, y), words);
            right -= width_of(&key.text, SMALL) + 6.0;
            self.canvas.line(&[(right - 20.0, y), (right, y)], key.stroke);
            right -= 20.0 + 16.0;
        }
    }
}
