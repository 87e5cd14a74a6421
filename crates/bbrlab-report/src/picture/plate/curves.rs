//! Data points along a swept key, joined by lines. Values that the paper prints are rings, joined
//! by dashed lines.

use super::content::PlateCurves;
use super::ordinate::Ordinate;
use crate::picture::canvas::Stroke;
use crate::picture::marks::{Form, Mark};
use crate::picture::panel::Panel;
use crate::picture::swept::Swept;
use plotters::style::RGBColor;

/// Returns the axis along the swept key.
pub(super) fn along(curves: &PlateCurves) -> Swept {
    Swept::new("", &curves.along)
}

pub(super) fn paint(
    panel: &Panel<'_, '_>,
    curves: &PlateCurves,
    y: &Ordinate,
    color: impl Fn(&str) -> RGBColor,
) {
    let swept = along(curves);
    for curve in &curves.curves {
        let color = color(&curve.name);
        let mut points: Vec<_> = curve
            .points
            .iter()
            .filter_map(|point| Some((swept.place(curves.along.get(point.at)?)?, point)))
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let line = |value: fn(&super::content::PlatePoint) -> Option<f64>| -> Vec<(f64, f64)> {
            let known = points.iter().filter_map(|(x, point)| Some((*x, y.place(value(point)?))));
            known.collect()
        };
        let (measured, printed) = (line(|point| point.measured), line(|point| point.published));
        if swept.joins {
            panel.line(&printed, Stroke::new(color, 1.0).alpha(0.7).dashed(4.0, 3.0));
            panel.line(&measured, Stroke::new(color, 1.6));
        }
        for (x, point) in &points {
            if let Some([low, high]) = point.interval {
                panel.line(&[(*x, y.place(low)), (*x, y.place(high))], Stroke::new(color, 1.0));
            }
        }
        let mark = |form| Mark { color, form };
        for &(x, y) in &measured {
            mark(Form::Disc).paint(panel.canvas, panel.at(x, y), 3.0);
        }
        for &(x, y) in &printed {
            mark(Form::Ring).paint(panel.canvas, panel.at(x, y), 4.0);
        }
    }
}
