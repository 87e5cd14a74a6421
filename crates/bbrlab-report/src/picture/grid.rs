//! Panels in rows and columns on a sheet.

use super::axis::Axis;
use super::canvas::Canvas;
use super::panel::Panel;

/// Where the panels of a sheet are.
pub(super) struct Grid {
    /// The left edge of the first column and the right edge of the last one.
    pub(super) edges: (f64, f64),
    /// The upper edge of the first row.
    pub(super) top: f64,
    pub(super) columns: u32,
    /// Between columns, and between rows.
    pub(super) gaps: (f64, f64),
    pub(super) panel_height: f64,
}

impl Grid {
    /// The panel at this place: row by row, each from the left.
    pub(super) fn panel<'c, 's>(
        &self,
        canvas: &'c Canvas<'s>,
        place: u32,
        (x, y): (Axis, Axis),
    ) -> Panel<'c, 's> {
        let columns = f64::from(self.columns);
        let width = (self.edges.1 - self.edges.0 - (columns - 1.0) * self.gaps.0) / columns;
        let left = self.edges.0 + f64::from(place % self.columns) * (width + self.gaps.0);
        let row = f64::from(place / self.columns);
        let top = self.top + row * (self.panel_height + self.gaps.1);
        Panel { canvas, left, right: left + width, top, bottom: top + self.panel_height, x, y }
    }
}
