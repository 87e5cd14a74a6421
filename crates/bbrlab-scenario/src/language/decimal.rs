//! Exact decimal numbers, for values such as `"0.1bdp"` and `"1.5Gbit/s"`.
//!
//! A quantity is converted to an integer number of nanoseconds, bytes or bits per second without
//! floating point. A value that would have to be rounded is an error.

use std::fmt;

/// A decimal number: `digits` times ten to the minus `scale`. Equal decimal numbers have equal
/// fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    negative: bool,
    digits: u128,
    scale: u32,
}

/// The reason why a number cannot be converted to an integer number of the smallest unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// The number is below zero.
    Negative,
    /// The number is not a whole multiple of the smallest unit.
    TooFine,
    /// The integer would have more than 64 bits.
    TooLarge,
}

/// The largest number of significant digits.
const DIGITS_MAX: usize = 30;

/// The largest absolute value of the exponent of ten.
const EXPONENT_MAX: i64 = 30;

impl Decimal {
    pub(crate) const ZERO: Self = Self { negative: false, digits: 0, scale: 0 };

    pub(crate) fn from_int(value: i128) -> Self {
        Self { negative: value < 0, digits: value.unsigned_abs(), scale: 0 }
    }

    /// Reads `12`, `-0.5`, `1e6`, `1_000.25`; `None` if the text is not a decimal number, or if its
    /// digits or its exponent exceed [`DIGITS_MAX`] or [`EXPONENT_MAX`].
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i64>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: u128 = 0;
        let mut significant = 0;
        let mut seen = false;
        for byte in whole.bytes().chain(fraction.bytes()) {
            match byte {
                b'0'..=b'9' => {
                    seen = true;
                    significant += usize::from(significant > 0 || byte != b'0');
                    if significant > DIGITS_MAX {
                        return None;
                    }
                    digits = digits * 10 + u128::from(byte - b'0');
                }
                b'_' if seen => {}
                _ => return None,
            }
        }
        if !seen {
            return None;
        }
        let fraction_digits = fraction.bytes().filter(u8::is_ascii_digit).count();
        let mut power = exponent.checked_sub(i64::try_from(fraction_digits).ok()?)?;
        if digits == 0 {
            return Some(Self::ZERO);
        }
        while digits.is_multiple_of(10) && power < 0 {
            digits /= 10;
            power += 1;
        }
        if power.abs() > EXPONENT_MAX {
            return None;
        }
        for _ in 0..power.max(0) {
            digits = digits.checked_mul(10)?;
        }
        let scale = u32::try_from((-power).max(0)).expect("bounded above");
        Some(Self { negative, digits, scale })
    }

    pub(crate) fn is_zero(self) -> bool {
        self.digits == 0
    }

    pub(crate) fn is_negative(self) -> bool {
        self.negative && self.digits != 0
    }

    /// Multiplies the number by `unit`. The product must be an integer.
    pub(crate) fn times(self, unit: u64) -> Result<u64, Misfit> {
        if self.is_negative() {
            return Err(Misfit::Negative);
        }
        let (product, divisor) =
            self.product_and_divisor(u128::from(unit)).ok_or(Misfit::TooLarge)?;
        if !product.is_multiple_of(divisor) {
            return Err(Misfit::TooFine);
        }
        u64::try_from(product / divisor).map_err(|_| Misfit::TooLarge)
    }

    /// Returns `self * factor / divisor`, rounded to the nearest integer, halves up; `None` if the
    /// result has more than 64 bits or is negative.
    pub(crate) fn times_over_rounded(self, factor: u128, divisor: u128) -> Option<u64> {
        if self.is_negative() {
            return None;
        }
        let (product, own_divisor) = self.product_and_divisor(factor)?;
        let divisor = divisor.checked_mul(own_divisor)?;
        u64::try_from(product.checked_add(divisor / 2)? / divisor).ok()
    }

    /// Rounds the number to `places` decimal places, halves up. Returns `None` if rounding would
    /// not change the number, or if the number is negative or too large.
    pub(crate) fn rounded_to(self, places: u32) -> Option<Self> {
        if self.scale <= places {
            return None;
        }
        let digits = self.times_over_rounded(10_u128.checked_pow(places)?, 1)?;
        Self::parse(&format!("{digits}e-{places}"))
    }

    /// Divides the number by 100.
    pub(crate) fn percent(self) -> Self {
        let mut out = Self { scale: self.scale + 2, ..self };
        while out.scale > 0 && out.digits.is_multiple_of(10) {
            out.digits /= 10;
            out.scale -= 1;
        }
        out
    }

    /// Returns whether the number is from 0 to 1, both included.
    pub(crate) fn is_ratio(self) -> bool {
        !self.is_negative() && 10_u128.checked_pow(self.scale).is_some_and(|one| self.digits <= one)
    }

    /// Returns the number times `factor` as a fraction: a numerator, and a power of ten as the
    /// denominator. Common factors of ten are cancelled.
    fn product_and_divisor(self, mut factor: u128) -> Option<(u128, u128)> {
        let mut scale = self.scale;
        while scale > 0 && factor != 0 && factor.is_multiple_of(10) {
            factor /= 10;
            scale -= 1;
        }
        Some((self.digits.checked_mul(factor)?, 10_u128.checked_pow(scale)?))
    }
}

impl Decimal {
    /// Multiplies the number by `factor` and rounds down; `None` if the result is negative or too
    /// large.
    pub(crate) fn times_floored(self, factor: u128) -> Option<u64> {
        if self.is_negative() {
            return None;
        }
        let (product, divisor) = self.product_and_divisor(factor)?;
        u64::try_from(product / divisor).ok()
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negative() { "-" } else { "" };
        if self.scale == 0 {
            return write!(f, "{sign}{}", self.digits);
        }
        let width = self.scale as usize + 1;
        let text = format!("{:0width$}", self.digits);
        let (whole, fraction) = text.split_at(text.len() - self.scale as usize);
        write!(f, "{sign}{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Decimal, Misfit};
    use proptest::prelude::*;

    fn dec(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn equal_numbers_are_equal_whatever_their_spelling() {
        for text in ["1.5", "1.50", "01.5", "+1.5", "15e-1", "0.15e1", "1_.5"] {
            assert_eq!(dec(text), dec("1.5"), "{text}");
        }
        assert_eq!(dec("-0"), Decimal::ZERO);
        assert_eq!(dec("1e3"), dec("1000"));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "-", ".", "1e", "e3", "1.2.3", "0x10", "1e99", "inf", "nan", "--1", "1 "] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse(&"9".repeat(1000)), None);
    }

    #[test]
    fn fractions_of_the_smallest_unit_are_not_rounded() {
        assert_eq!(dec("1.5").times(1_000_000_000), Ok(1_500_000_000));
        assert_eq!(dec("0.0000000001").times(1_000_000_000), Err(Misfit::TooFine));
        assert_eq!(dec("-1").times(10), Err(Misfit::Negative));
        assert_eq!(dec("1e20").times(1), Err(Misfit::TooLarge));
    }

    #[test]
    fn halves_are_rounded_up() {
        assert_eq!(dec("0.5").times_over_rounded(1, 1), Some(1));
        assert_eq!(
            dec("2").times_over_rounded(50_000_000 * 30_000_000, 8 * 1514 * 1_000_000_000),
            Some(248)
        );
    }

    #[test]
    fn numbers_of_other_programs_are_rounded_to_decimal_places() {
        assert_eq!(dec("28.03197311151155").rounded_to(6), Some(dec("28.031973")));
        assert_eq!(dec("0.30000000000000004").rounded_to(9), Some(dec("0.3")));
        assert_eq!(dec("1.9999999999").rounded_to(9), Some(dec("2")));
        assert_eq!(dec("1e-17").rounded_to(9), Some(Decimal::ZERO));
        assert_eq!(dec("28.031973").rounded_to(6), None);
        assert_eq!(dec("-0.30000000000000004").rounded_to(9), None);
    }

    #[test]
    fn a_ratio_lies_between_zero_and_one() {
        assert!(dec("0").is_ratio() && dec("1").is_ratio() && dec("1e-6").is_ratio());
        assert!(!dec("1.000001").is_ratio() && !dec("-0.1").is_ratio());
        assert_eq!(dec("0.1").percent(), dec("0.001"));
        assert_eq!(dec("100").percent(), dec("1"));
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(digits in 0_u64.., scale in 0_u32..20, negative: bool) {
            let sign = if negative { "-" } else { "" };
            let value = dec(&format!("{sign}{digits}e-{scale}"));
            prop_assert_eq!(dec(&value.to_string()), value);
        }

        #[test]
        fn no_text_panics(text in "[-+0-9._eE ]{0,40}") {
            if let Some(value) = Decimal::parse(&text) {
                let _ = (value.times(1_000_000_000), value.times_over_rounded(u128::MAX, 3), value.percent());
            }
        }
    }
}
