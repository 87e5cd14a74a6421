//! Points, bars and lines of a panel.

use crate::answers::is_beyond;
use crate::picture::canvas::Stroke;
use crate::picture::marks::Mark;
use crate::picture::panel::Panel;
use crate::picture::swept::Swept;

/// Dashes that distinguish groups of flows if colours distinguish lines.
pub(super) const DASHES: [Option<(f64, f64)>; 4] =
    [None, Some((6.0, 3.0)), Some((2.0, 2.0)), Some((10.0, 2.0))];

/// A data point of a curve.
pub(super) struct Sample {
    pub(super) x: f64,
    pub(super) mean: f64,
    /// Half the width of the 95 % interval.
    pub(super) half: Option<f64>,
    /// The values of the single seeds, drawn as small dots.
    pub(super) seeds: Vec<f64>,
}

impl Sample {
    pub(super) fn greatest(&self) -> f64 {
        let bar = self.mean + self.half.unwrap_or(0.0);
        self.seeds.iter().copied().fold(bar, f64::max)
    }

    /// Whether the interval goes beyond the possible values, from 0 to `greatest`.
    pub(super) fn is_beyond(&self, greatest: f64) -> bool {
        self.half.is_some_and(|half| is_beyond([self.mean - half, self.mean + half], greatest))
    }
}

/// A curve: its points, and the look of its line and of the marks at its points.
pub(super) struct Curve {
    pub(super) mark: Mark,
    /// Lengths of dash and gap; `None` is a solid line.
    pub(super) dash: Option<(f64, f64)>,
    pub(super) samples: Vec<Sample>,
}

/// With more data points than this, a joined curve has no marks at its points. Instead of bars,
/// which would hide one another, two thin lines show the ends of the curve's intervals.
const MARKED: usize = 100;
/// The largest number of points with marks in a picture, and the largest number of dots, each of
/// which shows a single seed. Each mark and each dot takes time and memory.
const MARKED_IN_ALL: usize = 20_000;
const DOTS: usize = 40_000;

/// The amount of detail that a picture can show.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawLimits {
    /// Whether data points have marks and bars.
    pub(super) has_marks: bool,
    /// Maximum number of dots, one per seed, at each data point.
    pub(super) dots: usize,
}

impl DrawLimits {
    /// Returns the amount of detail for a picture with `samples` points on all its curves together.
    pub(super) fn of(samples: usize, swept: &Swept) -> Self {
        let is_crowded = swept.count() > MARKED || samples > MARKED_IN_ALL;
        let has_marks = !swept.joins || !is_crowded;
        Self { has_marks, dots: if has_marks { DOTS / samples.max(1) } else { 0 } }
    }
}

/// Draws the curves: first the dots of all curves, then their intervals and lines, and last their
/// marks. An interval that goes beyond the possible values, from 0 to `greatest`, ends in an arrow.
pub(super) fn plot(
    panel: &Panel<'_, '_>,
    curves: &[Curve],
    swept: &Swept,
    limits: DrawLimits,
    greatest: f64,
) {
    let shifts = shifts(panel, curves.len(), swept);
    let at = |shift: f64, x: f64, y: f64| {
        let (x, y) = panel.at(x, y);
        (x + shift, y)
    };
    // Draw the dots of the seeds to the right of their interval's bar if the panel has at most four
    // curves. With more curves, there is no space next to the bars.
    let aside = if curves.len() <= 4 { 5.0 } else { 0.0 };
    for (curve, &shift) in curves.iter().zip(&shifts) {
        for sample in &curve.samples {
            for &seed in sample.seeds.iter().take(limits.dots) {
                let seed = at(shift + aside, sample.x, seed);
                panel.canvas.pale_dot(seed, 1.5, curve.mark.color, 0.5);
            }
        }
    }
    for (curve, &shift) in curves.iter().zip(&shifts) {
        let color = curve.mark.color;
        let is_beside = |sample: &&Sample| swept.gap_at.is_none_or(|gap| sample.x > gap);
        // Returns the line through the values that `value` computes from the points, such as the
        // upper ends of their intervals.
        let line = |value: fn(&Sample) -> f64| -> Vec<(f64, f64)> {
            let samples = curve.samples.iter().filter(is_beside);
            samples.map(|sample| at(shift, sample.x, value(sample))).collect()
        };
        if limits.has_marks {
            for sample in &curve.samples {
                let Some(half) = sample.half else { continue };
                let low = at(shift, sample.x, sample.mean - half);
                let high = at(shift, sample.x, sample.mean + half);
                let stroke = Stroke::new(color, 1.0);
                panel.canvas.line(&[low, high], stroke);
                let is_beyond = [sample.mean - half < 0.0, sample.mean + half > greatest];
                for ((end, is_beyond), way) in
                    [low, high].into_iter().zip(is_beyond).zip([1.0, -1.0])
                {
                    if is_beyond {
                        panel.arrow(end, (0.0, way), stroke);
                        continue;
                    }
                    let cap = [(end.0 - 3.0, end.1), (end.0 + 3.0, end.1)];
                    panel.canvas.line(&cap, stroke);
                }
            }
        } else if curve.samples.iter().any(|sample| sample.half.is_some()) {
            for end in [
                line(|sample| sample.mean - sample.half.unwrap_or(0.0)),
                line(|sample| sample.mean + sample.half.unwrap_or(0.0)),
            ] {
                panel.canvas.line(&end, Stroke::new(color, 0.7).alpha(0.5));
            }
        }
        if swept.joins {
            let stroke = Stroke { dash: curve.dash, ..Stroke::new(color, 1.5) };
            panel.canvas.line(&line(|sample| sample.mean), stroke);
        }
    }
    for (curve, &shift) in curves.iter().zip(&shifts).filter(|_| limits.has_marks) {
        for sample in &curve.samples {
            curve.mark.paint(panel.canvas, at(shift, sample.x, sample.mean), 3.0);
        }
    }
}

/// Returns the horizontal shifts of the curves, which prevent equal values from hiding one another.
/// On an axis of quantities the shifts are small; on an axis of names the curves are side by side.
/// The shifts span less than the distance between neighbouring values, so each point is nearest to
/// its own value.
fn shifts(panel: &Panel<'_, '_>, curves: usize, swept: &Swept) -> Vec<f64> {
    let (from, to) = (panel.at(panel.x.low, 0.0).0, panel.at(panel.x.low + swept.spacing, 0.0).0);
    #[expect(clippy::cast_precision_loss, reason = "a handful of curves")]
    let (n, places) = (curves.max(1) as f64, 0..curves);
    let each = if swept.joins {
        (0.3 * (to - from) / n).min(2.0).min(16.0 / n)
    } else {
        (0.7 * (to - from) / n).min(16.0)
    };
    #[expect(clippy::cast_precision_loss, reason = "a handful of curves")]
    places.map(|place| (place as f64 - (n - 1.0) / 2.0) * each).collect()
}
