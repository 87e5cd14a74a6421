//! The size of a picture: a width for a screen, a size in millimetres for paper, or a size in
//! pixels.

/// Layout points per millimetre on paper. Small text is 11 points high in the layout, and 7
/// printer's points (of 25.4 / 72 mm) on paper. Some journals accept no smaller text.
const POINTS_PER_MM: f64 = 11.0 / 7.0 * 72.0 / 25.4;

/// The minimum height of a panel. A panel of less height would be unreadable.
pub(crate) const LOWEST_PANEL: f64 = 50.0;

/// The size of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// The width in layout points.
    pub(crate) width: f64,
    /// The height in layout points; `None` for the height that the panels need.
    pub(crate) height: Option<f64>,
    pub(crate) nominal: Nominal,
}

/// The size that the picture's file states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Nominal {
    /// A pixel for each layout point.
    Points,
    /// Width and height on paper, in millimetres.
    Paper(f64, f64),
    /// Width and height in pixels, exactly.
    Pixels(f64, f64),
}

/// The largest width at which text keeps its size. A picture with more pixels across is enlarged
/// with its text, because a larger picture is read from a greater distance.
const WIDEST: f64 = 1000.0;

impl Shape {
    /// The size of a picture that is a thousand layout points wide, and as high as its panels need.
    pub const SCREEN: Self = Self { width: WIDEST, height: None, nominal: Nominal::Points };

    /// Returns the shape of a picture with exactly this size on paper. The text has the size of
    /// printed text at every size of the picture, so a smaller picture has less space for data.
    #[must_use]
    pub fn paper(width_mm: f64, height_mm: f64) -> Self {
        Self {
            width: (width_mm * POINTS_PER_MM).round(),
            height: Some((height_mm * POINTS_PER_MM).round()),
            nominal: Nominal::Paper(width_mm, height_mm),
        }
    }

    /// Returns the shape of a picture with exactly this size in pixels on a screen.
    #[must_use]
    pub fn pixels(width: f64, height: f64) -> Self {
        let enlarged = (width / WIDEST).max(1.0);
        Self {
            width: (width / enlarged).round(),
            height: Some((height / enlarged).round()),
            nominal: Nominal::Pixels(width, height),
        }
    }

    /// Whether the picture is too narrow for a heading. On paper, the caption replaces the heading.
    pub(crate) fn is_narrow(&self) -> bool {
        self.width < 700.0
    }

    /// Returns the distance of panels from the picture's left edge, in layout points. The labels of
    /// the y axis are in this space.
    pub(crate) fn left(&self) -> f64 {
        if self.is_narrow() { 46.0 } else { 66.0 }
    }

    /// Returns the right edge of panels. The panels' distance from the picture's right edge is
    /// `narrow` for a narrow picture, else `wide`.
    pub(crate) fn right(&self, narrow: f64, wide: f64) -> f64 {
        self.width - if self.is_narrow() { narrow } else { wide }
    }

    /// Returns the number of labels of a time axis as wide as the picture.
    pub(crate) fn time_ticks(&self) -> usize {
        if self.is_narrow() { 6 } else { 11 }
    }

    /// Returns the error text for too little space for `rows` panels of the minimum height.
    /// `around` is the height of everything except the panels.
    pub(crate) fn no_room(&self, what: &str, rows: u32, around: f64) -> String {
        let points = around + f64::from(rows) * LOWEST_PANEL;
        let (height, unit) = match self.nominal {
            Nominal::Points => (points, "points"),
            Nominal::Paper(..) => (points / POINTS_PER_MM, "mm"),
            Nominal::Pixels(width, _) => (points * (width / WIDEST).max(1.0), "px"),
        };
        let height = height.ceil();
        format!(
            "the size leaves no room for {rows} {what}: choose fewer {what}, or a height of {height} {unit}"
        )
    }
}
