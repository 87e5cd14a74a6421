//! Logarithms and powers with integers, so that every machine computes the same numbers.
//!
//! Logarithms are to base 2 with 32 fractional bits. The bits of a logarithm are computed one by
//! one: a number in [1, 2) is squared, and the next bit of its logarithm is 1 if the square is at
//! least 2. Powers of two are products of the roots 2^(1/2), 2^(1/4) ... Logarithms and powers are
//! exact to a few parts in 10^9.

/// The number of fractional bits of logarithms to base 2.
pub const LOG_BITS: u32 = 32;
/// The number of fractional bits of [`ROOTS`] and of their products, which are numbers in [1, 2).
const POWER_BITS: u32 = 62;
/// ln 2 with [`LOG_BITS`] fractional bits.
pub const LN_2: u128 = 2_977_044_472;
/// 1 / ln 2 with [`LOG_BITS`] fractional bits.
pub const LOG2_E: i128 = 6_196_328_019;
/// 2^(1/2), 2^(1/4) ...: each number is the square root of the number before it.
#[expect(clippy::cast_possible_truncation, reason = "below 2^63")]
const ROOTS: [u64; LOG_BITS as usize] = {
    let mut roots = [0; LOG_BITS as usize];
    let mut root = 2_u128 << POWER_BITS;
    let mut n = 0;
    while n < roots.len() {
        root = (root << POWER_BITS).isqrt();
        roots[n] = root as u64;
        n += 1;
    }
    roots
};

/// Returns the base-2 logarithm of `number`, with [`LOG_BITS`] fractional bits. `number` must not
/// be 0.
#[expect(clippy::cast_possible_truncation, reason = "`bit` is 0 or 1, and `rest` is below 2^64")]
#[must_use]
pub fn log2(number: u64) -> u64 {
    let whole = number.ilog2();
    let mut rest = number << (63 - whole);
    let mut log = u64::from(whole);
    for _ in 0..LOG_BITS {
        let square = u128::from(rest) * u128::from(rest);
        let bit = (square >> 127) as u64;
        rest = (square >> (63 + bit)) as u64;
        log = log << 1 | bit;
    }
    log
}

/// Returns `number` times two to the power of `power`, but at most 2^127. `power` has [`LOG_BITS`]
/// fractional bits.
#[must_use]
pub fn times_power(number: u128, power: i128) -> u128 {
    let whole = power >> LOG_BITS;
    let fraction = power & ((1 << LOG_BITS) - 1);
    let mut factor = 1_u128 << POWER_BITS;
    for (n, &root) in (1..).zip(&ROOTS) {
        if fraction >> (LOG_BITS - n) & 1 == 1 {
            factor = (factor * u128::from(root)) >> POWER_BITS;
        }
    }
    // `number` is at most 2^64 here and `factor` is below 2^63, so the product fits into 128 bits.
    let product = (number.min(1 << 64) * factor) >> POWER_BITS;
    match u32::try_from(whole) {
        Ok(up) if up < product.leading_zeros() => product << up,
        Ok(_) => u128::MAX >> 1,
        Err(_) => product.checked_shr(u32::try_from(-whole).unwrap_or(u32::MAX)).unwrap_or(0),
    }
}

#[cfg(test)]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "compared with floating point"
)]
mod tests {
    use super::{log2, times_power};

    #[test]
    fn logarithms_and_powers_are_those_of_floating_point() {
        for number in [1, 2, 3, 10, 12_345, 1 << 40, u64::MAX] {
            let log = log2(number) as f64 / 2_f64.powi(32);
            assert!((log - (number as f64).log2()).abs() < 1e-9, "{number}: {log}");
        }
        for power in [0.0, 0.25, 1.0, 7.3, -0.5, -20.1] {
            let fixed = (power * 2_f64.powi(32)) as i128;
            let found = times_power(1 << 50, fixed) as f64 / 2_f64.powi(50);
            assert!((found / f64::exp2(power) - 1.0).abs() < 1e-8, "{power}: {found}");
        }
        assert_eq!(times_power(3, 200 << 32), u128::MAX >> 1);
        assert_eq!(times_power(3, -(200 << 32)), 0);
    }
}
