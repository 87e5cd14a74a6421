//! Converts SVG to PNG with the font that the program contains. The system's fonts are never used, so the
//! picture is the same on a machine without fonts.

use std::sync::Arc;

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Size, Tree, fontdb};

use super::font::{REGULAR, SEMI_BOLD};
use super::indexed_png;

/// Units of a picture on paper become this many pixels: some 450 on an inch.
const PAPER: f32 = 2.0;

/// The picture as a tree of shapes, its text as outlines.
pub(crate) fn tree(svg: &str) -> Tree {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(SEMI_BOLD.to_vec());
    fonts.set_sans_serif_family("Inter");
    let options =
        Options { font_family: "Inter".to_owned(), fontdb: Arc::new(fonts), ..Options::default() };
    Tree::from_str(svg, &options).expect("our own SVG is well formed")
}

/// The picture with a pixel for each of its units, which is twice its nominal size on a screen; on paper with two; of a
/// size in pixels with exactly those.
pub(crate) fn render(svg: &str) -> Vec<u8> {
    let tree = tree(svg);
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

/// The width of a picture in units.
fn units_across(svg: &str) -> Option<f32> {
    let (_, rest) = svg.split_once("viewBox=\"0 0 ")?;
    rest.split(' ').next()?.parse().ok()
}
