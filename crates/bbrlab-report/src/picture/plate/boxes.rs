//! Distributions as boxes: quartiles and median. Whiskers extend to the last value within
//! [`WHISKER`] interquartile ranges of the box. Each value beyond the whiskers is drawn as a dot.

use super::content::PlateBox;
use crate::picture::canvas::Stroke;
use crate::picture::marks::{Form, Mark};
use crate::picture::palette;
use crate::picture::panel::Panel;
use bbrlab_run::percentile;

/// Half the width of a box, as a share of the distance between two boxes.
const HALF: f64 = 0.24;

/// Reach of the whiskers beyond the quartiles, in interquartile ranges.
const WHISKER: f64 = 1.5;

pub(super) fn paint(panel: &Panel<'_, '_>, boxes: &[PlateBox]) {
    for (one, &(x, _)) in boxes.iter().zip(&panel.x.ticks) {
        paint_one(panel, one, x);
    }
}

fn paint_one(panel: &Panel<'_, '_>, one: &PlateBox, x: f64) {
    let (color, ink) = (palette::line(0), Stroke::new(palette::INK, 1.2));
    let mut values = one.values.clone();
    values.sort_by(f64::total_cmp);
    if let (Some(first), Some(median), Some(third)) =
        (percentile(&values, 250), percentile(&values, 500), percentile(&values, 750))
    {
        let reach = WHISKER * (third - first);
        let within =
            || values.iter().filter(|value| **value >= first - reach && **value <= third + reach);
        let low = within().copied().fold(first, f64::min);
        let high = within().copied().fold(third, f64::max);
        for (from, to) in [(low, first), (third, high)] {
            panel.line(&[(x, from), (x, to)], ink);
        }
        for end in [low, high] {
            panel.line(&[(x - HALF / 2.0, end), (x + HALF / 2.0, end)], ink);
        }
        panel.canvas.fill(panel.at(x - HALF, third), panel.at(x + HALF, first), color, 0.35);
        let corners = [(x - HALF, first), (x - HALF, third), (x + HALF, third), (x + HALF, first)];
        panel.line(&[corners[0], corners[1], corners[2], corners[3], corners[0]], ink);
        panel.line(&[(x - HALF, median), (x + HALF, median)], Stroke::new(palette::INK, 2.4));
        for &value in values.iter().filter(|value| **value < low || **value > high) {
            panel.canvas.dot(panel.at(x, value), 2.2, palette::INK);
        }
    }
    if let Some([mean, spread]) = one.published {
        let color = palette::line(1);
        let x = x + HALF + 0.1;
        let bar = Stroke::new(color, 1.4).dashed(4.0, 2.0);
        panel.line(&[(x, (mean - spread).max(0.0)), (x, mean + spread)], bar);
        Mark { color, form: Form::Ring }.paint(panel.canvas, panel.at(x, mean), 4.0);
    }
}
