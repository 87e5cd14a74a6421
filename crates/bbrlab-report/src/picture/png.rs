//! Converts SVG to PNG.

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::Size;

use super::indexed_png;
use super::shapes::shapes;

/// Pixels per unit of the SVG for a picture on paper, which gives about 450 dpi.
const PAPER: f32 = 2.0;

/// Renders the picture as PNG. A picture for a screen gets one pixel per unit of the SVG, which is
/// twice its nominal size. A picture on paper gets two pixels per unit. A picture with a size in
/// pixels gets exactly that size.
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
    // The sheet is white and opaque everywhere, so the colours need no correction for transparency.
    indexed_png::encode(pixmap.width(), pixmap.height(), pixmap.data())
}

/// Returns the width of a picture in units of the SVG.
fn units_across(svg: &str) -> Option<f32> {
    let (_, rest) = svg.split_once("viewBox=\"0 0 ")?;
    rest.split(' ').next()?.parse().ok()
}
