//! Pictures: a run over time, a sweep by its keys. SVG, and the same as PNG.
//!
//! A picture is laid out here, panel by panel, and drawn by `plotters`, whose coordinates are whole
//! numbers: so everything is drawn at twice the size ([`canvas::SCALE`]) and shown at half. The PNG is
//! the SVG rendered with the one font that the program carries.

mod axis;
mod canvas;
mod decimate;
mod indexed_png;
mod overlay;
mod palette;
mod panel;
mod png;
mod run;
mod states;
mod sweep;
#[cfg(test)]
mod tests;

pub use overlay::{OverTime, Overlay, OverlayPair, OverlayPanel, overlay_picture};
pub use run::{RunPicture, run_picture};
pub use sweep::{SweepMetric, sweep_pictures};

/// A finished picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What it shows, as a file's name without ending.
    pub name: String,
    /// The picture.
    pub svg: String,
}

impl Picture {
    /// The picture as PNG, at twice the nominal size.
    #[must_use]
    pub fn png(&self) -> Vec<u8> {
        png::render(&self.svg)
    }
}
