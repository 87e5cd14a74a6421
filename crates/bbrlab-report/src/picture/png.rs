//! Converts SVG to PNG.

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::Size;

use super::indexed_png;
use super::shapes::shapes;

/// Pixels per unit of the SVG for a picture on paper. A picture on paper has about 226 units per
/// inch of paper, so the PNG has about 450 dpi.
const PAPER: f32 = 2.0;

/// The number of CSS pixels in a metre. The SVG library converts sizes in millimetres to CSS
/// pixels.
const CSS_PIXELS: f32 = 96.0 / 0.0254;

/// Renders the picture as PNG. A picture for a screen gets one pixel per unit of the SVG. Such a
/// unit is half a nominal pixel, so the PNG is twice as wide and high as the nominal size. A
/// picture on paper gets two pixels per unit. A picture with a size in pixels gets exactly that
/// size.
pub(crate) fn render(svg: &str) -> Vec<u8> {
    let tree = shapes(svg);
    let units = units_across(svg).unwrap_or_else(|| tree.size().width());
    let says = |unit: &str| svg.get(..200).is_some_and(|head| head.contains(unit));
    let of_units = units / tree.size().width();
    let scale = match (says("px\""), says("mm\"")) {
        (true, _) => 1.0,
        (false, true) => of_units * PAPER,
        (false, false) => of_units,
    };
    let size = tree.size();
    let scaled = Size::from_wh(size.width() * scale, size.height() * scale);
    let size = scaled.expect("the scale is above zero").to_int_size();
    let mut pixmap = Pixmap::new(size.width(), size.height()).expect("a picture has an area");
    pixmap.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    // Word processors compute a picture's size on paper from its resolution.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousands")]
    let per_metre = says("mm\"").then(|| (CSS_PIXELS * scale).round() as u32);
    // The sheet is white and opaque everywhere, so the colours need no correction for transparency.
    indexed_png::encode(pixmap.width(), pixmap.height(), pixmap.data(), per_metre)
}

/// Returns the width of a picture in units of the SVG.
fn units_across(svg: &str) -> Option<f32> {
    let (_, rest) = svg.split_once("viewBox=\"0 0 ")?;
    rest.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::picture::Picture;
    use crate::picture::canvas::draw;
    use crate::picture::shape::Shape;

    /// Draws an empty picture of this shape as PNG. Returns the PNG's size in pixels, and its
    /// resolution in pixels per metre if it has one.
    fn written(shape: &Shape, height: f64) -> ((u32, u32), Option<u32>) {
        let svg = draw(shape, height, |_| {});
        let png = Picture { name: String::new(), svg, entries: Vec::new() }.png();
        let reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let info = reader.info();
        let resolution = info.pixel_dims.map(|dims| {
            assert_eq!((dims.xppu, dims.unit), (dims.yppu, png::Unit::Meter));
            dims.xppu
        });
        ((info.width, info.height), resolution)
    }

    #[test]
    fn a_picture_on_paper_has_its_resolution_and_no_other_one_has() {
        let shape = Shape::paper(84.0, 60.0);
        let ((width, height), resolution) = written(&shape, shape.height.unwrap());
        let per_metre = f64::from(resolution.unwrap());
        // The size on paper is right to a quarter of a millimetre.
        assert!((f64::from(width) / per_metre - 0.084).abs() < 0.000_25, "{width} {per_metre}");
        assert!((f64::from(height) / per_metre - 0.060).abs() < 0.000_25, "{height} {per_metre}");
        assert_eq!(written(&Shape::pixels(1600.0, 900.0), 562.0), ((1600, 900), None));
        assert_eq!(written(&Shape::SCREEN, 300.0), ((2000, 600), None));
    }
}
