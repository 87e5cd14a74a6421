//! Marks of points. Their shapes distinguish lines that colours cannot.

use plotters::style::RGBColor;

use super::canvas::{Canvas, Point, Stroke};

/// A mark.
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

/// As many forms as a picture may have flows: nine round-trip times.
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

/// The share of an open mark that its hole occupies.
const HOLE: f64 = 0.5;

impl Form {
    /// The form with this index.
    pub(crate) fn of(at: usize) -> Self {
        FORMS[at % FORMS.len()]
    }
}

/// Positions around a mark's centre, in units of its size; the height counts downwards.
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
