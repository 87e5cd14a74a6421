//! Marks: the symbols at the data points of a plot. The shapes of marks distinguish lines that have
//! the same colour.

use plotters::style::RGBColor;

use super::canvas::{Canvas, Point, Stroke};

/// The mark of a data point in a plot.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) color: RGBColor,
    pub(crate) form: Form,
}

/// The shape of a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Disc,
    Square,
    Triangle,
    Ring,
    Diamond,
    OpenSquare,
    OpenTriangle,
    Down,
    OpenDiamond,
}

/// The shapes in the order of their use. Nine shapes exist, because some pictures have nine flows
/// with different round-trip times.
const FORMS: [Form; 9] = [
    Form::Disc,
    Form::Square,
    Form::Triangle,
    Form::Ring,
    Form::Diamond,
    Form::OpenSquare,
    Form::OpenTriangle,
    Form::Down,
    Form::OpenDiamond,
];

/// The size of the hole in an open mark, as a share of the mark's size.
const HOLE: f64 = 0.5;

impl Form {
    /// Returns the shape for the line with this index.
    pub(crate) fn of(at: usize) -> Self {
        FORMS[at % FORMS.len()]
    }
}

/// The corners of marks relative to the mark's centre, in units of its size. The second coordinate
/// increases downwards.
const SQUARE: &[Point] = &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)];
const UP: &[Point] = &[(-1.15, 1.0), (1.15, 1.0), (0.0, -1.0)];
const DOWN: &[Point] = &[(-1.15, -1.0), (1.15, -1.0), (0.0, 1.0)];
const DIAMOND: &[Point] = &[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)];

impl Mark {
    pub(crate) fn paint(self, canvas: &Canvas<'_>, (x, y): Point, size: f64) {
        let color = self.color;
        let shape = |corners: &[Point], size: f64, color: RGBColor| {
            let corners: Vec<Point> =
                corners.iter().map(|&(dx, dy)| (x + dx * size, y + dy * size)).collect();
            canvas.area(&corners, color, 1.0);
        };
        let open = |corners: &[Point]| {
            shape(corners, size, color);
            shape(corners, HOLE * size, WHITE);
        };
        match self.form {
            Form::Disc => canvas.dot((x, y), size, color),
            Form::Square => {
                let half = 0.9 * size;
                canvas.fill((x - half, y - half), (x + half, y + half), color, 1.0);
            }
            Form::Triangle => shape(UP, size, color),
            Form::Ring => {
                canvas.dot((x, y), size, WHITE);
                canvas.ring((x, y), size, Stroke::new(color, 1.3));
            }
            Form::Diamond => shape(DIAMOND, size, color),
            Form::OpenSquare => open(SQUARE),
            Form::OpenTriangle => open(UP),
            Form::Down => shape(DOWN, size, color),
            Form::OpenDiamond => open(DIAMOND),
        }
    }
}

const WHITE: RGBColor = RGBColor(255, 255, 255);
