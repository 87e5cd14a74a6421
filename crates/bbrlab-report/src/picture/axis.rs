//! Axes: positions and labels of their ticks.

use crate::number::count;

/// A range of values or names with labelled ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The value and the label of each tick.
    pub(crate) ticks: Vec<(f64, String)>,
    /// Whether the labels are names. On an axis, all names must be shown: unlike a number, a name
    /// that is left out cannot be inferred from its neighbours.
    pub(crate) is_of_names: bool,
}

impl Axis {
    /// Makes an axis of names at the positions 0, 1, 2 and so on.
    pub(crate) fn of_names(names: &[String]) -> Self {
        let ticks: Vec<(f64, String)> =
            (0u32..).zip(names).map(|(at, name)| (f64::from(at), name.clone())).collect();
        let last = ticks.last().map_or(0.0, |&(at, _)| at);
        Self { low: -0.5, high: last + 0.5, ticks, is_of_names: true }
    }

    /// Makes an axis from `low` to `high` with these ticks, each a value and a label.
    pub(crate) fn of(low: f64, high: f64, ticks: Vec<(f64, String)>) -> Self {
        Self { low, high, ticks, is_of_names: false }
    }

    /// Makes an axis for values from `low` to `high`, with about `wanted` ticks. The axis starts at
    /// zero unless the least value is at least 60 % of the greatest; then it starts at a round
    /// number below the least value. If the least and the greatest value differ by less than 2 %,
    /// the axis starts at zero in any case, because it would otherwise enlarge negligible
    /// differences.
    ///
    /// The axis ends at the next round number above the greatest value. If this number is too close
    /// to the greatest value, the axis instead ends above the greatest value, by 4 % of the
    /// distance from the axis's start to the greatest value.
    pub(crate) fn around(low: f64, high: f64, wanted: usize) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        let is_far_up = low >= 0.6 * high && high - low >= 0.02 * high;
        let low = if is_far_up { low } else { 0.0 };
        let step = round_step((high - low) * 1.04, wanted);
        let low = (low / step).floor() * step;
        let mut top = (high / step).ceil() * step;
        // Leave space above a line that would otherwise run along the frame.
        if high > top - 0.02 * (top - low) {
            top = high + 0.04 * (high - low);
        }
        Self::with_step(low, top, step)
    }

    /// Makes an axis from zero to above the greatest value, `high`, so that the height of a drawn
    /// point is proportional to its value.
    pub(crate) fn from_zero(high: f64, wanted: usize) -> Self {
        Self::around(0.0, high, wanted)
    }

    /// Makes an axis from zero to 4 % beyond `most`, the largest possible value.
    pub(crate) fn up_to(most: f64, wanted: usize) -> Self {
        Self { high: 1.04 * most, ..Self::exactly(0.0, most, wanted) }
    }

    /// Makes a logarithmic axis from `low` to `high`, both positive. Positions are logarithms to
    /// base 2.
    pub(crate) fn logarithmic(low: f64, high: f64) -> Self {
        let (low_at, high_at) = (log2(low), log2(high));
        // If `high` is more than 200 times `low`, only the powers of ten get ticks, because more
        // labels would not fit.
        let factors: &[f64] = if high > 200.0 * low { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let mut ticks = Vec::new();
        let mut power = 1e-6;
        while power <= high {
            for factor in factors {
                let value = power * factor;
                // Multiplication adds a rounding error; printing and parsing the number removes it.
                let value: f64 = format!("{value:.6}").parse().unwrap_or(value);
                if value >= low && value <= high {
                    let text = format!("{value:.6}");
                    let text = text.trim_end_matches('0').trim_end_matches('.').to_owned();
                    let text = if value >= 10_000.0 { label(value, 0, true) } else { text };
                    ticks.push((log2(value), text));
                }
            }
            power *= 10.0;
        }
        Self::of(low_at, high_at, ticks)
    }

    /// Makes an axis that begins at `low` and ends at `high`, with about `wanted` ticks at round
    /// numbers.
    pub(crate) fn exactly(low: f64, high: f64, wanted: usize) -> Self {
        Self::with_step(low, high, round_step(high - low, wanted))
    }

    fn with_step(low: f64, high: f64, step: f64) -> Self {
        let decimals = if step >= 1.0 {
            0
        } else if step >= 0.1 {
            1
        } else if step >= 0.01 {
            2
        } else {
            3
        };
        let mut ticks = Vec::new();
        let mut at = (low / step).ceil();
        while at * step <= high + step * 1e-9 {
            ticks.push((at * step, label(at * step, decimals, high >= 10_000.0)));
            at += 1.0;
        }
        Self::of(low, high, ticks)
    }

    /// Returns the position of a value, from 0 at the low end to 1 at the high end. A value outside
    /// the axis is moved to the nearer end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// If the greatest value is more than this number of times the least value, [`Ratios`] has a
/// logarithmic axis, otherwise a linear one.
const LINEAR_RANGE: f64 = 12.0;

/// An axis for values of at least zero, logarithmic or linear: see [`LINEAR_RANGE`].
#[derive(Clone, Debug)]
pub(crate) struct Ratios {
    pub(crate) axis: Axis,
    is_log: bool,
}

impl Ratios {
    /// Makes an axis for values from `least` to `greatest`. A linear axis starts at zero and has
    /// about `wanted` ticks.
    pub(crate) fn new(least: f64, greatest: f64, wanted: usize) -> Self {
        let is_log = least > 0.0 && greatest > LINEAR_RANGE * least;
        let axis = if is_log {
            Axis::logarithmic(least * 0.9, greatest * 1.1)
        } else {
            Axis::from_zero(greatest, wanted)
        };
        Self { axis, is_log }
    }

    /// Returns the position of a value on the axis. On a logarithmic axis, a value of zero or less
    /// is placed at the low end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self.is_log {
            true if value > 0.0 => log2(value),
            true => self.axis.low,
            false => value,
        }
    }
}

fn label(value: f64, decimals: usize, is_grouped: bool) -> String {
    if decimals == 0 && is_grouped {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "ticks without decimals are whole numbers, not below 0"
        )]
        return count(value as u64);
    }
    let text = format!("{value:.decimals$}");
    if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
        "0".to_owned()
    } else {
        text
    }
}

/// Returns the smallest step, 1, 2 or 5 times a power of ten, that divides a range into at most
/// `wanted` parts. The step is found by comparison, because the last bit of a C library's logarithm
/// differs between machines.
fn round_step(range: f64, wanted: usize) -> f64 {
    let mut power = 1e-9;
    loop {
        for factor in [1.0, 2.0, 5.0] {
            let step = power * factor;
            #[expect(clippy::cast_precision_loss, reason = "a handful of ticks")]
            let fits = range / step <= wanted as f64;
            if fits || step > 1e18 {
                // The product has a rounding error; printing and parsing the product removes it.
                return format!("{step:.9}").parse().unwrap_or(step);
            }
        }
        power *= 10.0;
    }
}

/// Returns the logarithm to base 2 of a positive number, with the same bits on every machine. The
/// logarithms of C libraries differ in the last bit. Each squaring of the mantissa gives one more
/// binary digit of the result.
pub(crate) fn log2(value: f64) -> f64 {
    let mut mantissa = value;
    let mut log = 0.0;
    while mantissa >= 2.0 {
        mantissa /= 2.0;
        log += 1.0;
    }
    while mantissa < 1.0 {
        mantissa *= 2.0;
        log -= 1.0;
    }
    let mut digit = 0.5;
    for _ in 0..40 {
        mantissa *= mantissa;
        if mantissa >= 2.0 {
            mantissa /= 2.0;
            log += digit;
        }
        digit /= 2.0;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::{Axis, log2};

    #[test]
    fn the_logarithm_is_one() {
        for value in [0.001, 0.3, 1.0, 7.0, 1e9] {
            assert!((log2(value) - f64::log2(value)).abs() < 1e-10, "{value}");
        }
    }

    #[test]
    fn a_logarithmic_axis_has_its_ticks_at_one_two_and_five() {
        assert_eq!(labels(&Axis::logarithmic(0.7, 30.0)), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(&Axis::logarithmic(30.0, 20_000.0)), ["100", "1000", "10,000"]);
    }

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn an_axis_of_rates_starts_at_zero_and_leaves_room_above() {
        let axis = Axis::around(3.0, 50.0, 6);
        assert_eq!(labels(&axis), ["0", "10", "20", "30", "40", "50"]);
        assert!(axis.high > 50.0 && axis.high < 60.0);
    }

    #[test]
    fn an_axis_of_long_rtts_starts_below_the_least() {
        let axis = Axis::around(204.0, 241.0, 5);
        assert_eq!(labels(&axis), ["200", "210", "220", "230", "240", "250"]);
        assert_eq!(labels(&Axis::around(0.98, 0.99, 3)), ["0", "0.5", "1.0"]);
    }

    #[test]
    fn a_flat_line_has_an_axis_too() {
        let axis = Axis::around(0.0, 0.0, 5);
        assert_eq!(labels(&axis), ["0", "0.5", "1.0"]);
    }

    #[test]
    fn large_values_are_grouped() {
        assert_eq!(labels(&Axis::around(0.0, 40_000.0, 3)), ["0", "20,000", "40,000"]);
    }
}
