//! The values of a swept key along an axis. The position of a quantity is its value. The scale is
//! logarithmic if the quantities are roughly a geometric sequence. Values that are names, such as
//! `cubic`, are at equal distances.

use std::collections::BTreeMap;

use super::axis::{Axis, log2};

/// With more values than this, a linear axis has ticks at round numbers, and a logarithmic axis has
/// ticks at some of the values.
const TICKS: usize = 40;

/// More names than this number do not fit along an axis.
const NAMES: usize = 30;

/// Returns at most `most` elements, evenly spaced from first to last, and the number of elements
/// left out.
pub(crate) fn spread<T: Clone>(list: &[T], most: usize) -> (Vec<T>, usize) {
    let left_out = list.len().saturating_sub(most);
    let shown = if left_out == 0 {
        list.to_vec()
    } else {
        (0..most).map(|at| list[at * (list.len() - 1) / (most - 1)].clone()).collect()
    };
    (shown, left_out)
}

/// The swept values along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Swept {
    /// Each value, as the scenario spells it, with its position on the axis.
    places: BTreeMap<String, f64>,
    /// The axis: its range and the labels of its ticks.
    pub(crate) axis: Axis,
    /// The title of the axis: the key, and the unit of the values if they have one.
    pub(crate) title: String,
    /// Whether lines may join the points. Lines may not join names, because there are
    /// no values between names.
    pub(crate) joins: bool,
    /// If a logarithmic axis also shows zero: the position, between zero and the least other value,
    /// at which the scale is interrupted.
    pub(crate) gap_at: Option<f64>,
    /// The least distance between the positions of two neighbouring values.
    pub(crate) spacing: f64,
    /// Number of values without space on the axis.
    pub(crate) left_out: usize,
}

impl Swept {
    /// Makes the axis of a key. `values` are the key's values in the order of the sweep.
    pub(crate) fn new(key: &str, values: &[String]) -> Self {
        Self::of_quantities(key, values).unwrap_or_else(|| Self::of_names(key, values))
    }

    /// Returns the number of values on the axis.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    /// Returns the position of a value.
    pub(crate) fn place(&self, value: &str) -> Option<f64> {
        self.places.get(value).copied()
    }

    fn of_names(key: &str, values: &[String]) -> Self {
        let (values, left_out) = spread(values, NAMES);
        let axis = Axis::of_names(&values);
        let places = axis.ticks.iter().map(|(place, value)| (value.clone(), *place)).collect();
        let title = key.to_owned();
        Self { places, axis, title, joins: false, gap_at: None, spacing: 1.0, left_out }
    }

    fn of_quantities(key: &str, values: &[String]) -> Option<Self> {
        let read: Vec<Quantity<'_>> =
            values.iter().map(|text| quantity(text)).collect::<Option<_>>()?;
        let first = read.iter().find(|one| one.number != 0.0).or(read.first())?;
        if read.iter().any(|one| one.family != first.family && one.number != 0.0) {
            return None;
        }
        let unit = common_unit(&read);
        let mut bases: Vec<f64> = read.iter().map(Quantity::base).collect();
        bases.sort_by(f64::total_cmp);
        bases.dedup();
        let positive: Vec<f64> = bases.iter().copied().filter(|&base| base > 0.0).collect();
        let is_log = bases[0] >= 0.0 && is_geometric(&bases);
        let logs: Vec<f64> = positive.iter().map(|&value| log2(value)).collect();
        let zero = match logs.as_slice() {
            [least, .., greatest] if is_log && bases[0] == 0.0 => {
                Some(least - ((greatest - least) / 6.0).max(0.5))
            }
            _ => None,
        };
        let place = |base: f64| match (is_log, zero) {
            (true, Some(zero)) if base == 0.0 => zero,
            (true, _) => log2(base),
            (false, _) => base / unit.1,
        };
        let spelled = values.iter().zip(&read);
        let places = spelled.map(|(value, one)| (value.clone(), place(one.base()))).collect();
        let mut ticks: Vec<(f64, String)> =
            bases.iter().map(|&base| (place(base), shortest(base / unit.1))).collect();
        ticks.dedup();
        let (low, high) = (ticks[0].0, ticks[ticks.len() - 1].0);
        let spacing = ticks.windows(2).map(|two| two[1].0 - two[0].0).fold(f64::INFINITY, f64::min);
        let spacing = if spacing.is_finite() { spacing } else { 1.0 };
        let room = if high > low { 0.04 * (high - low) } else { 0.5 };
        let ticks = match ticks.len() {
            0..=TICKS => ticks,
            _ if is_log => every(ticks.len().div_ceil(TICKS / 2), &ticks),
            _ => Axis::exactly(low, high, 8).ticks,
        };
        let axis = Axis::of(low - room, high + room, ticks);
        let title = if unit.0.is_empty() { key.to_owned() } else { format!("{key}, {}", unit.0) };
        let gap_at = zero.zip(logs.first()).map(|(zero, first)| f64::midpoint(zero, *first));
        Some(Self { places, axis, title, joins: true, gap_at, spacing, left_out: 0 })
    }
}

/// Returns every `step`-th tick that is not too close to the last tick, and the last tick, which
/// shows where the axis ends.
fn every(step: usize, ticks: &[(f64, String)]) -> Vec<(f64, String)> {
    let last = ticks.len() - 1;
    let is_kept = |at: usize| at.is_multiple_of(step) && at + step / 2 < last || at == last;
    ticks.iter().enumerate().filter(|&(at, _)| is_kept(at)).map(|(_, tick)| tick.clone()).collect()
}

/// The dimension of a quantity. Only quantities of the same dimension are comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Plain,
    Rate,
    Time,
    Bytes,
    Packets,
    Bdp,
    Percent,
}

struct Quantity<'a> {
    number: f64,
    factor: f64,
    unit: &'a str,
    family: Family,
}

impl Quantity<'_> {
    fn base(&self) -> f64 {
        self.number * self.factor
    }
}

/// Parses a number with or without a unit, as scenarios spell it.
fn quantity(text: &str) -> Option<Quantity<'_>> {
    let text = text.trim();
    let is_exponent = |at: usize| {
        let rest = &text.as_bytes()[at + 1..];
        let digits = rest.strip_prefix(b"-").or(rest.strip_prefix(b"+")).unwrap_or(rest);
        at > 0 && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    let end = text
        .char_indices()
        .find(|&(at, c)| {
            !(c.is_ascii_digit() || "+-._".contains(c) || "eE".contains(c) && is_exponent(at))
        })
        .map_or(text.len(), |(at, _)| at);
    // The sign and the digits of an exponent are part of the number.
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    let unit = text[end..].trim();
    let (family, factor) = family(unit)?;
    number.is_finite().then_some(Quantity { number, factor, unit, family })
}

fn family(unit: &str) -> Option<(Family, f64)> {
    let lower = unit.to_lowercase();
    let fixed = match lower.as_str() {
        "" => Some((Family::Plain, 1.0)),
        "%" => Some((Family::Percent, 1.0)),
        "p" | "pkt" | "pkts" | "packet" | "packets" => Some((Family::Packets, 1.0)),
        "bdp" | "bdps" => Some((Family::Bdp, 1.0)),
        "ns" => Some((Family::Time, 1e-9)),
        "us" | "µs" | "μs" => Some((Family::Time, 1e-6)),
        "ms" => Some((Family::Time, 1e-3)),
        "s" | "sec" | "secs" | "second" | "seconds" => Some((Family::Time, 1.0)),
        "min" | "mins" | "minute" | "minutes" => Some((Family::Time, 60.0)),
        "h" | "hours" => Some((Family::Time, 3600.0)),
        _ => None,
    };
    let prefixed = |endings: &[&str], family| {
        endings.iter().find_map(|ending| {
            let factor = match lower.strip_suffix(ending)? {
                "" => 1.0,
                "k" => 1e3,
                "m" => 1e6,
                "g" => 1e9,
                "t" => 1e12,
                "ki" => 1024.0,
                "mi" => 1_048_576.0,
                "gi" => 1_073_741_824.0,
                "ti" => 1_099_511_627_776.0,
                _ => return None,
            };
            Some((family, factor))
        })
    };
    fixed
        .or_else(|| prefixed(&["bit/s", "bits/s", "bits", "bit", "bps", "b/s"], Family::Rate))
        .or_else(|| prefixed(&["bytes", "byte", "b"], Family::Bytes))
}

/// Returns the unit that most values use, with its factor. If several units are equally frequent,
/// the first is returned.
fn common_unit<'a>(read: &[Quantity<'a>]) -> (&'a str, f64) {
    let times = |unit: &str| read.iter().filter(|one| one.unit == unit).count();
    let mut best: Option<&Quantity<'a>> = None;
    for one in read {
        if best.is_none_or(|best| times(one.unit) > times(best.unit)) {
            best = Some(one);
        }
    }
    best.map_or(("", 1.0), |best| (best.unit, best.factor))
}

/// Whether rising values are roughly a geometric sequence: the ratios of neighbours are more even
/// than their differences, and the values span at least a factor of 7.9. Zero has no ratio to
/// another value, so a logarithmic axis shows it separately, after a gap.
fn is_geometric(values: &[f64]) -> bool {
    let positive = values.strip_prefix(&[0.0]).unwrap_or(values);
    let [least, .., greatest] = positive else { return false };
    if values.len() < 3 || greatest / least < 7.9 {
        return false;
    }
    let unevenness = |places: &[f64]| {
        let gaps = || places.windows(2).map(|two| two[1] - two[0]);
        gaps().fold(0.0, f64::max) / gaps().fold(f64::INFINITY, f64::min)
    };
    let logs: Vec<f64> = positive.iter().map(|&value| log2(value)).collect();
    // Two positive values have only one difference, so zero, the third value, is included in the
    // differences. With three or more positive values, zero is left out.
    let linear = if positive.len() > 2 { positive } else { values };
    unevenness(&logs) < unevenness(linear)
}

/// Returns a value with at most nine decimals, without zeros at the end. A value below 1e-6 is
/// written with an exponent. The limit of nine removes the errors of binary fractions.
fn shortest(value: f64) -> String {
    let text = format!("{value:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if value.abs() >= 1e-6 || value == 0.0 { text.to_owned() } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::Swept;

    fn swept(values: &[&str]) -> Swept {
        let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
        Swept::new("key", &values)
    }

    fn labels(swept: &Swept) -> Vec<&str> {
        swept.axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn geometric_values_have_equal_distances_for_equal_ratios() {
        let found = swept(&["0.25bdp", "0.5bdp", "1bdp", "2bdp", "8bdp"]);
        assert_eq!(found.title, "key, bdp");
        assert_eq!(labels(&found), ["0.25", "0.5", "1", "2", "8"]);
        let place = |value| found.place(value).unwrap();
        assert!((place("1bdp") - place("0.5bdp") - 1.0).abs() < 1e-9);
        assert!((place("8bdp") - place("2bdp") - 2.0).abs() < 1e-9);
        assert!(found.joins);
    }

    #[test]
    fn evenly_spaced_values_have_a_linear_axis_whatever_their_order() {
        let found = swept(&["30ms", "10ms", "20ms", "70ms"]);
        assert_eq!(labels(&found), ["10", "20", "30", "70"]);
        assert_eq!(found.place("70ms"), Some(70.0));
    }

    #[test]
    fn of_many_values_the_ticks_are_round_or_some_of_them() {
        let many = |value: &dyn Fn(i32) -> f64| -> Vec<String> {
            (0..1000).map(|at| format!("{}ms", value(at))).collect()
        };
        let linear = Swept::new("key", &many(&|at| 100.0 + f64::from(at)));
        assert_eq!(labels(&linear), ["200", "400", "600", "800", "1000"]);
        assert_eq!(linear.place("101ms"), Some(101.0));
        let geometric = Swept::new("key", &many(&|at| 1.01f64.powi(at)));
        assert_eq!(labels(&geometric).len(), 21);
        assert_eq!(geometric.axis.ticks[0].1, "1");
        let names: Vec<String> = (0..1000).map(|at| format!("name {at}")).collect();
        let names = Swept::new("key", &names);
        assert_eq!(
            (names.axis.ticks.len(), names.left_out, names.place("name 1")),
            (30, 970, None)
        );
        assert_eq!(names.place("name 999"), Some(29.0));
    }

    #[test]
    fn one_unit_serves_all_values() {
        let found = swept(&["500kbit/s", "1Mbit/s", "2Mbit/s"]);
        assert_eq!(found.title, "key, Mbit/s");
        assert_eq!(labels(&found), ["0.5", "1", "2"]);
        assert_eq!(labels(&swept(&["0.001", "0.01", "1e-1"])), ["0.001", "0.01", "0.1"]);
    }

    #[test]
    fn zero_is_next_to_a_logarithmic_scale() {
        let found = swept(&["0", "0.001", "0.01", "0.1"]);
        assert_eq!(labels(&found), ["0", "0.001", "0.01", "0.1"]);
        assert!(found.gap_at.is_some());
        assert!(found.place("0").unwrap() < found.place("0.001").unwrap());
        assert!(swept(&["0", "0.001", "0.1"]).gap_at.is_some());
        assert!(swept(&["0", "10ms", "20ms"]).gap_at.is_none());
        assert!(swept(&["0", "10ms", "100ms", "200ms"]).gap_at.is_none());
    }

    #[test]
    fn names_and_mixed_units_are_not_joined() {
        assert!(!swept(&["bbr1", "cubic"]).joins);
        assert!(!swept(&["1bdp", "unlimited"]).joins);
        assert!(!swept(&["1bdp", "100pkt"]).joins);
        // `2e` and `3x` are read as names, because `e` and `x` are not units.
        assert!(!swept(&["2e", "3x"]).joins);
    }
}
