//! Turns SVG into shapes, with the font that the program contains. The system's fonts are never
//! used, so the shapes are the same on a machine without fonts.

use std::sync::Arc;

use resvg::usvg::{Options, Tree, fontdb};

use super::font::{REGULAR, SEMI_BOLD, with_glyphs};

/// Returns the picture as a tree of shapes, its text as outlines.
pub(crate) fn shapes(svg: &str) -> Tree {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(SEMI_BOLD.to_vec());
    fonts.set_sans_serif_family("Inter");
    let options =
        Options { font_family: "Inter".to_owned(), fontdb: Arc::new(fonts), ..Options::default() };
    Tree::from_str(&with_glyphs(svg), &options).expect("our own SVG is well formed")
}
