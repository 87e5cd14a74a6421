//! Converts SVG to PNG with the font that the program contains. The system's fonts are never used, so the
//! picture is the same on a machine without fonts.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::canvas::SCALE;
use super::indexed_png;

const REGULAR: &[u8] = include_bytes!("../../font/Inter-Regular.otf");
const SEMI_BOLD: &[u8] = include_bytes!("../../font/Inter-SemiBold.otf");

/// The picture at twice its nominal size.
pub(crate) fn render(svg: &str) -> Vec<u8> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(SEMI_BOLD.to_vec());
    fonts.set_sans_serif_family("Inter");
    let options =
        Options { font_family: "Inter".to_owned(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).expect("our own SVG is well formed");
    #[expect(clippy::cast_possible_truncation, reason = "the scale is 2")]
    let scale = SCALE as f32;
    let size = tree.size().to_int_size().scale_by(scale).expect("the scale is above zero");
    let mut pixmap = Pixmap::new(size.width(), size.height()).expect("a picture has an area");
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    // The sheet is white and opaque everywhere, so the colours need no correction for transparency.
    indexed_png::encode(pixmap.width(), pixmap.height(), pixmap.data())
}
