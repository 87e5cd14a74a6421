//! The layout of a sheet: panels in rows and columns below the head, which has title, note and
//! legend. On a sheet of given height, the panels are as high as the sheet allows.

use super::axis::Axis;
use super::canvas::Canvas;
use super::panel::Panel;
use super::shape::{LOWEST_PANEL, Shape};

/// The positions of the panels of a sheet.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// The left edge of the first column and the right edge of the last one.
    pub(super) edges: (f64, f64),
    /// Distance from the sheet's upper edge to the first row.
    pub(super) head: f64,
    /// Height of the titles of the first row's panels, between the start of the row and the panels.
    /// For the other rows, the gap above the row includes the space for titles.
    pub(super) titles: f64,
    pub(super) rows: u32,
    pub(super) columns: u32,
    /// Gaps between columns, and below each row.
    pub(super) gaps: (f64, f64),
    /// Height below the last row and its gap.
    pub(super) foot: f64,
    pub(super) panel_height: f64,
}

impl Grid {
    /// Sets the height of the panels so that they fill the given size. Without a size, the height
    /// is unchanged.
    pub(super) fn stretched(self, shape: &Shape) -> Self {
        let height = shape.height.map_or(self.panel_height, |height| {
            (height - self.around()) / f64::from(self.rows.max(1))
        });
        Self { panel_height: height, ..self }
    }

    /// Sets the height of the panels as [`Self::stretched`] does, and checks that the panels have
    /// at least the minimum height.
    ///
    /// # Errors
    /// Fails if the panels would be lower than the minimum. The text of the error calls the rows
    /// `what`.
    pub(super) fn fitted(self, shape: &Shape, what: &str) -> Result<Self, String> {
        let stretched = self.stretched(shape);
        if stretched.rows > 0 && stretched.panel_height < LOWEST_PANEL {
            Err(stretched.no_room(shape, what))
        } else {
            Ok(stretched)
        }
    }

    /// Returns the error text for a sheet with too little space for the rows.
    pub(super) fn no_room(&self, shape: &Shape, what: &str) -> String {
        shape.no_room(what, self.rows, self.around())
    }

    /// Returns the height of everything except the panels.
    fn around(&self) -> f64 {
        self.head + f64::from(self.rows) * self.gaps.1 + self.foot
    }

    /// Returns the height of the sheet.
    pub(super) fn height(&self, shape: &Shape) -> f64 {
        let row = self.panel_height + self.gaps.1;
        shape.height.unwrap_or_else(|| self.head + f64::from(self.rows) * row + self.foot)
    }

    /// Returns the width of a panel.
    pub(super) fn panel_width(&self) -> f64 {
        let columns = f64::from(self.columns);
        (self.edges.1 - self.edges.0 - (columns - 1.0) * self.gaps.0) / columns
    }

    /// Returns the spot of each panel: row by row, and from left to right in each row.
    pub(super) fn spots<'c, 's>(
        &'c self,
        canvas: &'c Canvas<'s>,
    ) -> impl Iterator<Item = Spot<'c, 's>> {
        (0..).map(|place| Spot { grid: self, canvas, place })
    }
}

/// The position of a panel on a canvas, given by the panel's index.
#[derive(Clone, Copy)]
pub(super) struct Spot<'c, 's> {
    grid: &'c Grid,
    canvas: &'c Canvas<'s>,
    place: u32,
}

impl<'c, 's> Spot<'c, 's> {
    /// Whether the spot is the first of its row.
    pub(super) fn is_first(&self) -> bool {
        self.place.is_multiple_of(self.grid.columns)
    }

    /// Whether the spot is in the last row.
    pub(super) fn is_lowest(&self) -> bool {
        self.place / self.grid.columns + 1 == self.grid.rows
    }

    /// Returns the number of labels on the y axis of a panel over time.
    pub(super) fn ticks(&self) -> usize {
        if self.grid.panel_height < 100.0 { 3 } else { 5 }
    }

    /// Returns the panel at this spot, with these axes.
    pub(super) fn panel(&self, x: Axis, y: Axis) -> Panel<'c, 's> {
        let Grid { edges, columns, gaps, panel_height, .. } = *self.grid;
        let width = self.grid.panel_width();
        let left = edges.0 + f64::from(self.place % columns) * (width + gaps.0);
        // With one column, the left edge plus the width would differ from the right edge in the
        // last bit, and the picture would lose a pixel column.
        let right = if columns == 1 { edges.1 } else { left + width };
        let row = f64::from(self.place / columns);
        let top = self.grid.head + self.grid.titles + row * (panel_height + gaps.1);
        Panel { canvas: self.canvas, left, right, top, bottom: top + panel_height, x, y }
    }
}
