//! Stacked bars along a swept key: the parts of a whole.

use super::content::PlateCurves;
use crate::picture::panel::Panel;
use plotters::style::RGBColor;

/// Half the width of a bar, as a share of the distance between two bars.
const HALF: f64 = 0.36;

pub(super) fn paint(panel: &Panel<'_, '_>, curves: &PlateCurves, color: impl Fn(&str) -> RGBColor) {
    for (at, &(x, _)) in panel.x.ticks.iter().enumerate() {
        let mut below = 0.0;
        for curve in &curves.curves {
            let point = curve.points.iter().find(|point| point.at == at);
            let Some(part) = point.and_then(|point| point.measured) else { continue };
            let (left, top) = panel.at(x - HALF, below + part);
            let (right, bottom) = panel.at(x + HALF, below);
            panel.canvas.fill((left, top), (right, bottom), color(&curve.name), 0.85);
            below += part;
        }
    }
}
