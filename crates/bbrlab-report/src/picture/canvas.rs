//! Drawing with positions in layout points: a thin layer over plotters' SVG back end.

use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontDesc, FontFamily, FontStyle, FontTransform, RGBColor, ShapeStyle, TextStyle,
};

use super::font::drawable;
use super::shape::{Nominal, Shape};

/// Back-end units per layout point. plotters' coordinates are whole numbers, so positions have a
/// precision of half a point.
pub(crate) const SCALE: f64 = 2.0;

/// The fonts in order of preference. `Inter` is embedded in the program. A browser without `Inter`
/// shows the text of an SVG in the first of the other fonts that the browser has.
const FAMILY: &str = "Inter, Helvetica, Arial, sans-serif";

/// plotters divides the size of a font by this number before it writes the size to the SVG.
const PLOTTERS_FONT_SCALE: f64 = 1.24;

/// The message of a panic that never happens: drawing writes to a string, which cannot fail.
const NO_END: &str = "writing to a string cannot fail";

/// A position in layout points, from the upper left.
pub(crate) type Point = (f64, f64);

/// The look of a line.
#[derive(Clone, Copy)]
pub(crate) struct Stroke {
    pub(crate) color: RGBColor,
    pub(crate) alpha: f64,
    /// Width of the line in layout points.
    pub(crate) width: f64,
    /// Lengths of dash and gap in layout points.
    pub(crate) dash: Option<(f64, f64)>,
}

impl Stroke {
    pub(crate) fn new(color: RGBColor, width: f64) -> Self {
        Self { color, alpha: 1.0, width, dash: None }
    }

    pub(crate) fn alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    pub(crate) fn dashed(self, dash: f64, gap: f64) -> Self {
        Self { dash: Some((dash, gap)), ..self }
    }

    fn style(&self) -> ShapeStyle {
        ShapeStyle {
            color: self.color.mix(self.alpha),
            filled: false,
            stroke_width: whole(self.width * SCALE).max(1).unsigned_abs(),
        }
    }
}

/// The look of a text, and its alignment.
#[derive(Clone, Copy)]
pub(crate) struct TextLook {
    pub(crate) size: f64,
    pub(crate) color: RGBColor,
    pub(crate) bold: bool,
    pub(crate) h: HPos,
    pub(crate) v: VPos,
    /// Whether the text is turned, so that it reads from bottom to top.
    pub(crate) upright: bool,
}

impl TextLook {
    pub(crate) fn new(size: f64, color: RGBColor) -> Self {
        Self { size, color, bold: false, h: HPos::Left, v: VPos::Center, upright: false }
    }

    pub(crate) fn upright(self) -> Self {
        Self { upright: true, ..self }
    }

    pub(crate) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(crate) fn anchor(self, h: HPos, v: VPos) -> Self {
        Self { h, v, ..self }
    }
}

/// A sheet to draw on, measured in layout points.
pub(crate) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
    /// The width of the sheet.
    pub(crate) width: f64,
}

/// Draws a picture of this shape and height, and returns its SVG.
pub(crate) fn draw(shape: &Shape, height: f64, paint: impl FnOnce(&Canvas<'_>)) -> String {
    let width = shape.width;
    let mut svg = String::new();
    let size = (whole(width * SCALE).unsigned_abs(), whole(height * SCALE).unsigned_abs());
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let canvas = Canvas { area, width };
        canvas.fill((0.0, 0.0), (width, height), RGBColor(255, 255, 255), 1.0);
        paint(&canvas);
        canvas.area.present().expect(NO_END);
    }
    // Replace the doubled size in the SVG by the nominal size. Round joins prevent spikes at the
    // corners of noisy lines.
    let doubled = format!("<svg width=\"{}\" height=\"{}\"", size.0, size.1);
    let exactly = |width: f64, height: f64, unit: &str| {
        (format!("{width}{unit}"), format!("{height}{unit}\" preserveAspectRatio=\"none"))
    };
    let (width, height) = match shape.nominal {
        Nominal::Points => (whole(width).to_string(), whole(height).to_string()),
        Nominal::Paper(width, height) => exactly(width, height, "mm"),
        Nominal::Pixels(width, height) => exactly(width.round(), height.round(), "px"),
    };
    let nominal = format!("<svg width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\"");
    svg.replacen(&doubled, &nominal, 1)
}

impl Canvas<'_> {
    pub(crate) fn fill(&self, from: Point, to: Point, color: RGBColor, alpha: f64) {
        let style = color.mix(alpha).filled();
        self.area.draw(&Rectangle::new([unit(from), unit(to)], style)).expect(NO_END);
    }

    pub(crate) fn line(&self, points: &[Point], stroke: Stroke) {
        if points.len() < 2 {
            return;
        }
        match stroke.dash {
            None => {
                let mut path: Vec<(i32, i32)> = points.iter().copied().map(unit).collect();
                path.dedup();
                if path.len() == 1 {
                    path.push(path[0]);
                }
                self.area.draw(&PathElement::new(path, stroke.style())).expect(NO_END);
            }
            Some((dash, gap)) => {
                for piece in dashes(points, dash, gap) {
                    let mut path: Vec<(i32, i32)> = piece.into_iter().map(unit).collect();
                    path.dedup();
                    if path.len() > 1 {
                        self.area.draw(&PathElement::new(path, stroke.style())).expect(NO_END);
                    }
                }
            }
        }
    }

    pub(crate) fn area(&self, outline: &[Point], color: RGBColor, alpha: f64) {
        let outline: Vec<(i32, i32)> = outline.iter().copied().map(unit).collect();
        self.area.draw(&Polygon::new(outline, color.mix(alpha))).expect(NO_END);
    }

    pub(crate) fn dot(&self, at: Point, radius: f64, color: RGBColor) {
        self.pale_dot(at, radius, color, 1.0);
    }

    pub(crate) fn pale_dot(&self, at: Point, radius: f64, color: RGBColor, alpha: f64) {
        let style = color.mix(alpha).filled();
        self.area.draw(&Circle::new(unit(at), whole(radius * SCALE), style)).expect(NO_END);
    }

    pub(crate) fn ring(&self, at: Point, radius: f64, stroke: Stroke) {
        let circle = Circle::new(unit(at), whole(radius * SCALE), stroke.style());
        self.area.draw(&circle).expect(NO_END);
    }

    pub(crate) fn text(&self, text: &str, at: Point, look: TextLook) {
        let font = FontDesc::new(
            FontFamily::Name(FAMILY),
            look.size * SCALE * PLOTTERS_FONT_SCALE,
            if look.bold { FontStyle::Bold } else { FontStyle::Normal },
        );
        let turn = if look.upright { FontTransform::Rotate270 } else { FontTransform::None };
        let style = TextStyle::from(font).color(&look.color).pos(Pos::new(look.h, look.v));
        let style = style.transform(turn);
        self.area.draw(&Text::new(drawable(text), unit(at), style)).expect(NO_END);
    }
}

fn unit(at: Point) -> (i32, i32) {
    (whole(at.0 * SCALE), whole(at.1 * SCALE))
}

#[expect(clippy::cast_possible_truncation, reason = "lengths of at most some thousand units")]
fn whole(value: f64) -> i32 {
    value.round() as i32
}

/// Returns the dashes along a path. A dash can go around corners, because segments may be shorter
/// than a dash.
fn dashes(points: &[Point], dash: f64, gap: f64) -> Vec<Vec<Point>> {
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    // Start of the current dash along the path, relative to the start of the segment. The number is
    // negative if the dash began in an earlier segment.
    let mut start = 0.0;
    for leg in points.windows(2) {
        let (from, to) = (leg[0], leg[1]);
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = (dx * dx + dy * dy).sqrt();
        if length == 0.0 {
            continue;
        }
        let along =
            |distance: f64| (from.0 + dx * distance / length, from.1 + dy * distance / length);
        loop {
            let end = (start + dash).min(length);
            match pieces.last_mut() {
                _ if end <= 0.0 => {}
                Some(piece) if start < 0.0 => piece.push(along(end)),
                _ => pieces.push(vec![along(start), along(end)]),
            }
            if start + dash + gap >= length {
                break;
            }
            start += dash + gap;
        }
        // The next segment begins where this one ends.
        start -= length;
        if start + dash + gap <= 0.0 {
            start += dash + gap;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{Point, dashes};

    #[test]
    fn dashes_go_around_corners_and_do_not_depend_on_where_these_are() {
        let lengths = |points: &[Point]| -> Vec<f64> {
            let length = |two: &[Point]| (two[1].0 - two[0].0).hypot(two[1].1 - two[0].1);
            let of_dash = |dash: &Vec<Point>| dash.windows(2).map(length).sum();
            dashes(points, 6.0, 3.0).iter().map(of_dash).collect()
        };
        let straight = lengths(&[(0.0, 0.0), (30.0, 0.0)]);
        assert_eq!(straight, [6.0, 6.0, 6.0, 3.0]);
        let dense: Vec<Point> = (0..=60).map(|at| (f64::from(at) / 2.0, 0.0)).collect();
        assert_eq!(lengths(&dense), straight);
        let corner = dashes(&[(0.0, 0.0), (4.0, 0.0), (4.0, 20.0)], 6.0, 3.0);
        assert_eq!(corner[0], [(0.0, 0.0), (4.0, 0.0), (4.0, 2.0)]);
        assert_eq!(corner[1], [(4.0, 5.0), (4.0, 11.0)]);
        assert_eq!(corner.len(), 3);
    }
}
