//! The y axes of a plate. Several panels can share one axis.

use super::content::{Drawing, PlateCurves, PlatePanel, Scale};
use crate::picture::axis::{Axis, log2};

/// A y axis, linear or logarithmic.
#[derive(Clone)]
pub(super) struct Ordinate {
    pub(super) axis: Axis,
    is_logarithmic: bool,
}

impl Ordinate {
    /// Makes one y axis for a set of panels: the panels whose field [`PlatePanel::shared`] equals
    /// the argument `shared`.
    pub(super) fn of(panels: &[PlatePanel], shared: &str) -> Self {
        let mut values = Vec::new();
        let mut scale = Scale::FromZero;
        for panel in panels.iter().filter(|panel| panel.shared == shared) {
            scale = panel.scale;
            if let Ok(drawing) = &panel.drawing {
                extremes(drawing, &mut values);
            }
        }
        values.retain(|value| value.is_finite());
        let is_logarithmic = scale == Scale::Logarithmic;
        if is_logarithmic {
            values.retain(|value| *value > 0.0);
        }
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let axis = match scale {
            _ if values.is_empty() => Axis::from_zero(1.0, 5),
            Scale::FromZero => Axis::around(least.min(0.0), greatest, 5),
            Scale::Around => Axis::around(least, greatest, 5),
            Scale::Logarithmic => Axis::logarithmic(0.8 * least, 1.25 * greatest),
        };
        Self { axis, is_logarithmic: is_logarithmic && !values.is_empty() }
    }

    /// Returns the position of a value on the axis.
    pub(super) fn place(&self, value: f64) -> f64 {
        if !self.is_logarithmic {
            value
        } else if value > 0.0 {
            log2(value)
        } else {
            self.axis.low
        }
    }
}

/// Adds to `values` all values of a drawing that its y axis must contain.
fn extremes(drawing: &Drawing, values: &mut Vec<f64>) {
    match drawing {
        Drawing::Curves(curves) => {
            for point in curves.curves.iter().flat_map(|curve| &curve.points) {
                values.extend([point.measured, point.published].into_iter().flatten());
                values.extend(point.interval.into_iter().flatten());
            }
        }
        Drawing::Stacked(curves) => {
            values.extend((0..curves.along.len()).map(|at| height(curves, at)));
        }
        Drawing::Boxes(boxes) => {
            for one in boxes {
                values.extend(&one.values);
                values.extend(one.published.map(|[mean, spread]| mean + spread));
            }
        }
        Drawing::OverTime(times) => {
            let within = |time_s: f64| time_s >= times.from_s && time_s <= times.to_s;
            for line in &times.lines {
                let points = line.points.iter().filter(|(time_s, _)| within(*time_s));
                values.extend(points.filter_map(|&(_, value)| value));
                values.extend(line.published.iter().map(|&(_, value)| value));
            }
            values.extend(times.levels.iter().map(|&(level, _)| level));
        }
    }
}

/// Returns the height of the stacked bar at an x value: the sum of the curves' measured values at
/// this x value. `at` is the index of the x value in [`PlateCurves::along`].
fn height(curves: &PlateCurves, at: usize) -> f64 {
    let points = curves.curves.iter().flat_map(|curve| &curve.points);
    points.filter(|point| point.at == at).filter_map(|point| point.measured).sum()
}
