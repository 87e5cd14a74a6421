//! Numbers in the form that tables and pictures show.

/// The sign that follows the half-width of an interval which goes beyond the possible values of the
/// metric.
pub(crate) const BEYOND: char = '*';

/// The text that tables show for a missing value.
pub(crate) const NONE: &str = "–";

/// Writes the value with this number of decimals; a dash for `None` and for a value that is not
/// finite.
#[must_use]
pub fn fixed(value: impl Into<Option<f64>>, decimals: usize) -> String {
    match value.into() {
        Some(value) if value.is_finite() => {
            // Round halves away from zero. A median of counts can end in .5, which formatting
            // would round to the even neighbour.
            let value = if decimals == 0 { value.round() } else { value };
            let text = format!("{value:.decimals$}");
            // Write minus zero as zero.
            match text.strip_prefix('-') {
                Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
                _ => text,
            }
        }
        _ => NONE.to_owned(),
    }
}

/// Like [`fixed`], with a plus before a value above zero. A value that rounds to zero has no sign.
pub(crate) fn signed(value: impl Into<Option<f64>>, decimals: usize) -> String {
    let text = fixed(value, decimals);
    let is_above = text.chars().any(|c| ('1'..='9').contains(&c)) && !text.starts_with('-');
    if is_above { format!("+{text}") } else { text }
}

/// Writes the value with up to four decimals; a dash for `None` and for a value that is not finite.
/// A value from 0.01 to 9,999 has three or four significant digits.
#[must_use]
pub fn figure(value: impl Into<Option<f64>>) -> String {
    let value = value.into();
    fixed(value, value.map_or(0, decimals_of))
}

/// Returns the number of decimals with which [`figure`] writes a value.
pub(crate) fn decimals_of(value: f64) -> usize {
    match value.abs() {
        size if size == 0.0 || size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.1 => 3,
        _ => 4,
    }
}

/// Joins a mean and half the width of its interval; returns only the mean if the half-width rounds
/// to zero.
pub(crate) fn with_half(mean: &str, half: &str) -> String {
    let shows = half.chars().any(|c| c.is_ascii_digit() && c != '0');
    if shows { format!("{mean} ±{half}") } else { mean.to_owned() }
}

/// Writes a count with thousands separated; a dash for `None`.
#[must_use]
pub fn count(value: impl Into<Option<u64>>) -> String {
    let Some(value) = value.into() else { return NONE.to_owned() };
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whether a text is a number in which commas separate the thousands, as in the result of
/// [`count`].
pub(crate) fn is_grouped(text: &str) -> bool {
    let mut parts = text.split('.').next().unwrap_or_default().trim_start_matches('-').split(',');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let first = parts.next().unwrap_or_default();
    let mut others = parts.peekable();
    others.peek().is_some()
        && is_number(first)
        && first.len() <= 3
        && others.all(|part| part.len() == 3 && is_number(part))
}

#[cfg(test)]
mod tests {
    use super::{count, figure, fixed, is_grouped, signed, with_half};

    #[test]
    fn only_numbers_have_groups_of_three_digits() {
        for text in ["1,234", "12,345,678", "-1,234.5"] {
            assert!(is_grouped(text), "{text}");
        }
        for text in ["123", "1,23", "1234,567", "a,123", "pacing 88, cwnd 11", ",123", ""] {
            assert!(!is_grouped(text), "{text}");
        }
    }

    #[test]
    fn figures_have_three_or_four_digits_that_count() {
        let written: Vec<String> =
            [0.0, 0.012_34, 0.5, 9.876, 98.76, 987.6, 9876.5].into_iter().map(figure).collect();
        assert_eq!(written, ["0", "0.0123", "0.500", "9.88", "98.76", "987.6", "9877"]);
    }

    #[test]
    fn a_missing_figure_is_a_dash_and_minus_zero_is_zero() {
        assert_eq!(figure(None), "–");
        assert_eq!(fixed(f64::NAN, 2), "–");
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(fixed(-0.01, 2), "-0.01");
        let written = [-0.06, -0.04, 0.0, 0.04, 0.06].map(|value| signed(value, 1));
        assert_eq!(written, ["-0.1", "0.0", "0.0", "0.0", "+0.1"]);
        assert_eq!(signed(None, 1), "–");
    }

    #[test]
    fn halves_of_counts_are_rounded_away_from_zero() {
        assert_eq!(
            [80_802.5, 30_157.5, -2.5].map(|value| fixed(value, 0)),
            ["80803", "30158", "-3"]
        );
    }

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!([0u64, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn an_interval_that_rounds_to_zero_is_not_written() {
        assert_eq!(with_half("47.12", "0.46"), "47.12 ±0.46");
        assert_eq!(with_half("47.12", "0.00"), "47.12");
    }
}
