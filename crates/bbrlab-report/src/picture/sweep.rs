//! A sweep: a metric against a swept key, a line per algorithm (or per value of another key), bars for
//! the 95 % intervals over seeds.
//!
//! The swept values are placed at equal distances, in the order of the sweep and with the labels that the
//! scenario gives them: most sweeps are geometric (0.1, 0.2, 0.5, 1, 2 ... BDP), and some keys have no scale at
//! all.

use bbrlab_run::{Group, RunSummary};
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

use super::Picture;
use super::axis::Axis;
use super::canvas::{Stroke, Words, draw};
use super::palette;
use super::panel::{Key, Panel, SMALL, TITLE, width_of};
use crate::answers::{self, Answer, Metric, answers, group_names, value};
use crate::groups::groups;
use crate::table::{layout_cut, value_text, varying_keys};

const PANEL_WIDTH: f64 = 420.0;
const PANEL_HEIGHT: f64 = 240.0;
const LEFT: f64 = 66.0;
const GAP_X: f64 = 74.0;
const GAP_Y: f64 = 84.0;
/// Figures beyond these are in the table.
const PANELS_SHOWN: usize = 6;
/// With more lines than this, a legend is useless.
const LINES_SHOWN: usize = 8;

/// The pictures of a sweep: one per swept key whose values can be laid along an axis, with the other keys as
/// lines. There is none if no key is swept.
#[must_use]
pub fn sweep_pictures(title: &str, runs: &[RunSummary]) -> Vec<Picture> {
    let groups = groups(runs);
    let keys = varying_keys(&groups);
    let answers = answers(runs, &groups);
    let mut pictures = Vec::new();
    for axis_key in keys.iter().filter(|key| keys.len() == 1 || !is_cc(key)) {
        let by: Vec<&String> = keys.iter().filter(|key| *key != axis_key).collect();
        let lines = lines_of(&groups, axis_key, &by);
        if lines.len() > LINES_SHOWN {
            continue;
        }
        pictures.push(Picture {
            name: format!("sweep-{}", axis_key.replace(['.', '[', ']'], "-")),
            svg: picture(title, axis_key, &by, &groups, &lines, &answers),
        });
    }
    pictures
}

fn is_cc(key: &str) -> bool {
    key.rsplit('.').next() == Some("cc")
}

/// Groups that share all keys but the one along the axis.
struct Line<'a> {
    name: String,
    members: Vec<&'a Group>,
}

fn lines_of<'a>(groups: &'a [Group], axis_key: &str, by: &[&String]) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for group in groups.iter().filter(|group| group.point.contains_key(axis_key)) {
        let parts: Vec<String> = by
            .iter()
            .filter_map(|key| {
                let value = value_text(group.point.get(*key)?);
                let stem = key.rsplit('.').next().unwrap_or(key);
                Some(if is_cc(key) { value } else { format!("{stem} {value}") })
            })
            .collect();
        let name = parts.join(", ");
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.members.push(group),
            None => lines.push(Line { name, members: vec![group] }),
        }
    }
    lines
}

fn picture(
    title: &str,
    axis_key: &str,
    by: &[&String],
    groups: &[Group],
    lines: &[Line<'_>],
    answers: &[Answer],
) -> String {
    let names = group_names(groups);
    let metrics = &answers[..answers.len().min(PANELS_SHOWN)];
    let mut values: Vec<String> = Vec::new();
    for group in groups {
        if let Some(value) = group.point.get(axis_key) {
            let value = value_text(value);
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    let rows = u32::try_from(metrics.len().div_ceil(2)).expect("a handful");
    let width = LEFT + 2.0 * PANEL_WIDTH + GAP_X + 24.0;
    let head = if by.is_empty() { 76.0 } else { 100.0 };
    let height = head + f64::from(rows) * (PANEL_HEIGHT + GAP_Y) - 20.0;
    draw(width, height, |canvas| {
        let words = Words::new(TITLE, palette::INK).bold();
        canvas.words(&layout_cut(title, 110), (LEFT, 24.0), words);
        let seeds = groups.iter().map(|group| group.seeds.len()).max().unwrap_or(0);
        let note = if seeds > 1 {
            format!("means over {seeds} seeds; bars: 95 % intervals")
        } else {
            "one run per point".to_owned()
        };
        canvas.words(&note, (LEFT, 44.0), Words::new(SMALL, palette::FAINT_INK));
        if !by.is_empty() {
            let mut x = LEFT;
            for (place, line) in lines.iter().enumerate() {
                let color = palette::line(place);
                canvas.line(&[(x, 66.0), (x + 22.0, 66.0)], Stroke::new(color, 2.0));
                canvas.dot((x + 11.0, 66.0), 3.2, color);
                canvas.words(&line.name, (x + 28.0, 66.0), Words::new(SMALL, palette::INK));
                x += 28.0 + width_of(&line.name, SMALL) + 20.0;
            }
        }
        for (place, metric) in (0u32..).zip(metrics) {
            let left = LEFT + f64::from(place % 2) * (PANEL_WIDTH + GAP_X);
            let top = head + f64::from(place / 2) * (PANEL_HEIGHT + GAP_Y);
            let curves = curves(lines, metric, names.len());
            let (least, greatest) = extent(&curves);
            let panel = Panel {
                canvas,
                left,
                right: left + PANEL_WIDTH,
                top,
                bottom: top + PANEL_HEIGHT,
                x: category_axis(&values),
                y: Axis::around(least, greatest, 6),
            };
            panel.frame(&title_of(metric));
            plot(&panel, &curves, axis_key, &values);
            if matches!(metric.metric, Metric::PerGroup(_)) && names.len() > 1 {
                panel.legend(&group_keys(&names, lines.len()));
            }
            panel.border();
            category_labels(&panel, &values, axis_key);
        }
    })
}

/// A line of a panel.
struct Curve<'a> {
    color: RGBColor,
    /// Lengths of dash and gap; `None` is a solid line.
    dash: Option<(f64, f64)>,
    members: &'a [&'a Group],
    metric: Metric,
    /// Place of the group of flows.
    place: usize,
    scale: f64,
}

/// Dashes that distinguish groups of flows where colours distinguish something else.
const DASHES: [Option<(f64, f64)>; 4] =
    [None, Some((6.0, 3.0)), Some((2.0, 2.0)), Some((10.0, 2.0))];

fn curves<'a>(lines: &'a [Line<'a>], answer: &Answer, groups: usize) -> Vec<Curve<'a>> {
    let groups = if matches!(answer.metric, Metric::PerGroup(_)) { groups } else { 1 };
    let mut curves = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let members = line.members.as_slice();
        for place in 0..groups {
            let (color, dash) = if groups > 1 {
                group_style(at, place, lines.len())
            } else {
                (palette::line(at), None)
            };
            if members.iter().any(|group| value(group, answer.metric, place).0.is_some()) {
                let (metric, scale) = (answer.metric, answer.scale);
                curves.push(Curve { color, dash, members, metric, place, scale });
            }
        }
    }
    curves
}

/// The title of a figure's panel, with its unit.
fn title_of(answer: &Answer) -> String {
    let (first, rest) = answer.title.split_at(1);
    let title = first.to_uppercase() + rest;
    if answer.unit.is_empty() { title } else { format!("{title}, {}", answer.unit) }
}

/// With several lines, colours distinguish the lines and dashes the groups of flows.
fn group_style(line: usize, which: usize, lines: usize) -> (RGBColor, Option<(f64, f64)>) {
    if lines > 1 {
        (palette::line(line), DASHES[which % DASHES.len()])
    } else {
        (palette::line(which), None)
    }
}

fn group_keys(names: &[String], lines: usize) -> Vec<Key> {
    names
        .iter()
        .enumerate()
        .map(|(which, name)| {
            let (color, dash) = group_style(0, which, lines);
            let color = if lines > 1 { palette::FAINT_INK } else { color };
            Key { text: name.clone(), stroke: Stroke { dash, ..Stroke::new(color, 1.8) } }
        })
        .collect()
}

fn plot(panel: &Panel<'_, '_>, curves: &[Curve<'_>], axis_key: &str, values: &[String]) {
    #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
    let spread = 0.06f64.min(0.3 / curves.len().max(1) as f64);
    for (place, curve) in curves.iter().enumerate() {
        let color = curve.color;
        // Lines are shifted sideways a little, so that equal values do not hide one another.
        #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
        let shift = (place as f64 - (curves.len() as f64 - 1.0) / 2.0) * spread;
        let mut points = Vec::new();
        for (at, value) in (0u32..).zip(values) {
            let member = curve.members.iter().find(|group| {
                group.point.get(axis_key).is_some_and(|found| value_text(found) == *value)
            });
            let Some((Some(mean), half)) =
                member.map(|group| answers::value(group, curve.metric, curve.place))
            else {
                continue;
            };
            let (x, mean) = (f64::from(at) + shift, mean * curve.scale);
            points.push((x, mean));
            if let Some(half) = half.map(|half| half * curve.scale) {
                let (low, high) = (panel.at(x, mean - half), panel.at(x, mean + half));
                panel.canvas.line(&[low, high], Stroke::new(color, 1.0));
                for end in [low, high] {
                    let cap = [(end.0 - 3.0, end.1), (end.0 + 3.0, end.1)];
                    panel.canvas.line(&cap, Stroke::new(color, 1.0));
                }
            }
        }
        panel.line(&points, Stroke { dash: curve.dash, ..Stroke::new(color, 1.5) });
        for &(x, y) in &points {
            panel.canvas.dot(panel.at(x, y), 3.2, color);
        }
    }
}

fn extent(curves: &[Curve<'_>]) -> (f64, f64) {
    let mut least = f64::INFINITY;
    let mut greatest = 0.0f64;
    for curve in curves {
        for group in curve.members {
            if let (Some(mean), half) = value(group, curve.metric, curve.place) {
                let half = half.unwrap_or(0.0);
                least = least.min((mean - half) * curve.scale);
                greatest = greatest.max((mean + half) * curve.scale);
            }
        }
    }
    (if least.is_finite() { least.max(0.0) } else { 0.0 }, greatest)
}

/// Places 0, 1, 2 ... with half a place of space at both ends.
fn category_axis(values: &[String]) -> Axis {
    let last = f64::from(u32::try_from(values.len()).expect("a sweep is bounded")) - 1.0;
    let ticks = (0u32..).zip(values).map(|(at, value)| (f64::from(at), value.clone())).collect();
    Axis { low: -0.5, high: last + 0.5, ticks }
}

/// The swept values below the axis, every second one left out where they would overlap.
fn category_labels(panel: &Panel<'_, '_>, values: &[String], axis_key: &str) {
    let widest = values.iter().map(|value| width_of(value, SMALL)).fold(0.0, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "a sweep is bounded")]
    let room = (panel.right - panel.left) / values.len() as f64;
    let mut every = 1usize;
    #[expect(clippy::cast_precision_loss, reason = "a sweep is bounded")]
    while room * (every as f64) < widest + 6.0 && every < values.len() {
        every += 1;
    }
    for (at, (value, label)) in panel.x.ticks.iter().enumerate() {
        let (x, _) = panel.at(*value, 0.0);
        panel
            .canvas
            .line(&[(x, panel.bottom), (x, panel.bottom + 4.0)], Stroke::new(palette::FRAME, 1.0));
        if at % every == 0 {
            let words = Words::new(SMALL, palette::INK).anchor(HPos::Center, VPos::Top);
            panel.canvas.words(label, (x, panel.bottom + 8.0), words);
        }
    }
    let words = Words::new(SMALL, palette::FAINT_INK).anchor(HPos::Center, VPos::Top);
    panel.canvas.words(
        axis_key,
        (f64::midpoint(panel.left, panel.right), panel.bottom + 24.0),
        words,
    );
}
