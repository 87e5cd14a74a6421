//! Pictures of a run over time and of a sweep by its keys, as SVG and as PNG.
//!
//! The module `picture` lays out a picture panel by panel, and `plotters` draws it. The coordinates
//! of `plotters` are whole numbers. The picture is therefore drawn at twice its size
//! ([`canvas::SCALE`]) and shown at half the drawn size, which gives a precision of half a layout
//! point. The PNG is the SVG rendered with the one font in the program. PNG and PDF are features of
//! the crate, because they need a renderer and SVG does not.

mod axis;
mod canvas;
mod cdf;
mod decimate;
mod flow_quantity;
mod font;
mod grid;
mod head;
#[cfg(feature = "png")]
mod indexed_png;
mod labels;
mod legend;
mod marks;
mod overlay;
mod own;
mod palette;
mod panel;
#[cfg(feature = "pdf")]
mod pdf;
mod plate;
#[cfg(feature = "png")]
mod png;
mod recordings;
mod run;
mod shape;
#[cfg(any(feature = "png", feature = "pdf"))]
mod shapes;
mod states;
mod sweep;
mod swept;
#[cfg(test)]
mod tests;

pub use cdf::{CdfInput, CdfSample, cdf_picture};
pub use font::without_glyph;
pub use labels::Labels;
pub use overlay::{OverTime, Overlay, OverlayPair, OverlayPanel, overlay_picture};
pub use own::{DRAWN_BYTES, is_drawn};
pub use plate::{
    Drawing, Plate, PlateBox, PlateCurve, PlateCurves, PlateLine, PlatePanel, PlatePoint,
    PlateTimes, Scale, plate_picture,
};
pub use recordings::{OVERLAY_FLOWS_MAX, OVERLAY_PANELS, Recording, overlay_panels};
pub use run::{RunChoice, RunPanel, RunPicture, chosen_run_picture, run_picture};
pub use shape::Shape;
pub use sweep::{SweepChoice, chosen_sweep_pictures, sweep_pictures};

/// A finished picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The file name without suffix, which describes the picture's content.
    pub name: String,
    /// The picture as SVG.
    pub svg: String,
    /// The names of the entries of the picture's legends, which the user's texts may replace.
    pub entries: Vec<String>,
}

impl Picture {
    /// Renders the picture as PNG: for a screen at twice the nominal size, for paper at 450 dpi.
    #[cfg(feature = "png")]
    #[must_use]
    pub fn png(&self) -> Vec<u8> {
        png::render(&self.svg)
    }

    /// Converts the picture to PDF with vectors. The text of the picture becomes outlines.
    #[cfg(feature = "pdf")]
    #[must_use]
    pub fn pdf(&self) -> Vec<u8> {
        pdf::render(&self.svg)
    }
}
