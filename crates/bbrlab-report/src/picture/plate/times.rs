//! Lines over time, with the times and values that a paper names.

use super::content::PlateTimes;
use super::ordinate::Ordinate;
use crate::picture::canvas::{Stroke, TextLook};
use crate::picture::decimate;
use crate::picture::marks::{Form, Mark};
use crate::picture::palette;
use crate::picture::panel::{Panel, SMALL};
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

pub(super) fn paint(
    panel: &Panel<'_, '_>,
    times: &PlateTimes,
    y: &Ordinate,
    color: impl Fn(&str) -> RGBColor,
) {
    let named = Stroke::new(palette::REFERENCE, 1.0).dashed(5.0, 4.0);
    for (level, _) in &times.levels {
        let level = y.place(*level);
        panel.line(&[(panel.x.low, level), (panel.x.high, level)], named);
    }
    let shown =
        || times.moments.iter().filter(|(at_s, _)| *at_s >= panel.x.low && *at_s <= panel.x.high);
    for (at_s, _) in shown() {
        panel.line(&[(*at_s, panel.y.low), (*at_s, panel.y.high)], named);
    }
    for line in &times.lines {
        let stroke = Stroke::new(color(&line.name), 1.3);
        let within = |time_s: f64| time_s >= panel.x.low && time_s <= panel.x.high;
        let points = line.points.iter().filter(|(time_s, _)| within(*time_s));
        let placed = points.map(|&(time_s, value)| (time_s, value.map(|value| y.place(value))));
        for piece in decimate::lines(placed, |time_s| panel.column(time_s)) {
            panel.line(&piece, stroke);
        }
    }
    for line in &times.lines {
        let mark = Mark { color: color(&line.name), form: Form::Ring };
        for &(at_s, value) in &line.published {
            mark.paint(panel.canvas, panel.at(at_s, y.place(value)), 4.5);
        }
    }
    let words = TextLook::new(SMALL, palette::REFERENCE);
    for (level, text) in &times.levels {
        let (right, at) = panel.at(panel.x.high, y.place(*level));
        panel.canvas.text(text, (right - 4.0, at - 3.0), words.anchor(HPos::Right, VPos::Bottom));
    }
    for (at_s, text) in shown() {
        let (x, top) = panel.at(*at_s, panel.y.high);
        panel.canvas.text(text, (x + 4.0, top + 2.0), words.anchor(HPos::Left, VPos::Top));
    }
}
