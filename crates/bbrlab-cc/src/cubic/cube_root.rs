//! CUBIC's integer cube root: a table for the leading bits, then one step of Newton's method.
//!
//! The root has an error of a few tenths of a percent. The error of the cube root must equal the
//! kernel's, because cwnd depends on it.
//!
//! Sources: [linux] `net/ipv4/tcp_cubic.c`, `cubic_root`: the steps. The table is derived from
//! roots recorded from the kernel (`golden/core/cubicroot`, 12,500 arguments). From index 8 on,
//! each entry is the only byte that reproduces these roots. Below index 8, an entry determines only
//! the root of the number that equals its index, and several bytes give this root. Entry 0 is 0.
//! Each of the entries 1 to 7 is 64 r - 10; r is the cube root of the index, rounded to an integer.
//! Deviations: none.

use crate::linux_int::trunc_u32;

/// Entry n is about 64 times the cube root of n: from index 8 on, the entry is up to 5 less.
/// Entries 1 to 7 are 64 times the rounded root, less 10.
const ROOTS: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, //
    157, 161, 164, 168, 170, 173, 176, 179, 181, 185, 187, 190, 192, 194, 197, 199, //
    200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224, 225, 227, 229, //
    231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
];

/// Returns the approximate cube root of `a`. Linux: `cubic_root`.
#[must_use]
pub fn cube_root(a: u64) -> u32 {
    let bits = u64::BITS - a.leading_zeros();
    if bits < 7 {
        return (root_of_leading(a) + 35) >> 6;
    }
    // `(bits * 84) >> 8` is a third of `bits - 1`, rounded down, for all numbers of bits from 7 to
    // 64.
    let third = ((bits * 84) >> 8) - 1;
    let first = ((root_of_leading(a >> (third * 3)) + 10) << third) >> 6;
    let square = u64::from(first) * (u64::from(first) - 1);
    let newton = first.wrapping_mul(2).wrapping_add(trunc_u32(a / square));
    // As in the kernel, the division by 3 is a multiplication by 341/1024.
    newton.wrapping_mul(341) >> 10
}

fn root_of_leading(leading: u64) -> u32 {
    let index = usize::try_from(leading).expect("six bits are left");
    u32::from(ROOTS[index])
}

#[cfg(test)]
mod tests {
    use super::cube_root;

    #[test]
    fn small_cubes_are_exact() {
        let roots: Vec<u32> = [0, 1, 8, 27, 64, 125, 1000].map(cube_root).to_vec();
        assert_eq!(roots, [0, 1, 2, 3, 4, 5, 10]);
    }

    #[test]
    fn roots_of_large_numbers_are_within_a_percent() {
        for a in (30..64).map(|bits| 1 << bits).chain([u64::MAX]) {
            let cube = u128::from(cube_root(a)).pow(3);
            let error = cube.abs_diff(u128::from(a)) * 1000 / u128::from(a);
            assert!(error < 30, "the cube of the root of {a} is {error}/1000 off");
        }
    }
}
