//! Marks of points: lines that cannot be told apart by colour can be by the shape of their marks.

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
}

impl Form {
    /// The form with this index.
    pub(crate) fn of(at: usize) -> Self {
        [Self::Disc, Self::Square, Self::Triangle, Self::Ring][at % 4]
    }
}

impl Mark {
    pub(crate) fn paint(self, canvas: &Canvas<'_>, (x, y): Point, size: f64) {
        let color = self.color;
        match self.form {
            Form::Disc => canvas.dot((x, y), size, color),
            Form::Square => {
                let half = 0.9 * size;
                canvas.fill((x - half, y - half), (x + half, y + half), color, 1.0);
            }
            Form::Triangle => {
                let (wide, high) = (1.15 * size, size);
                canvas.area(
                    &[(x - wide, y + high), (x + wide, y + high), (x, y - high)],
                    color,
                    1.0,
                );
            }
            Form::Ring => {
                canvas.dot((x, y), size, RGBColor(255, 255, 255));
                canvas.ring((x, y), size, Stroke::new(color, 1.3));
            }
        }
    }
}
