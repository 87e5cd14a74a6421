//! The tins of each mode. This file has the DSCPs, the share of the rate and the weight of each
//! tin.
//!
//! Tin 0 of `diffserv3` and `diffserv4` is best effort and tin 1 is bulk. `tc` shows these two in
//! the opposite order.
//!
//! Sources: [linux] `net/sched/sch_cake.c`, `diffserv8`, `diffserv4`, `diffserv3`, `precedence`,
//! `cake_config_diffserv3` and similar.
//! Deviations: none.

use bbrlab_link::CakeTins;

/// DSCP codepoints.
mod dscp {
    pub(super) const LE: u8 = 1;
    /// `TOS2` and `TOS4`: the DSCPs in which only one bit of the old type-of-service field is set.
    /// In `TOS2`, this is the bit for high throughput; in `TOS4`, the bit for low delay.
    pub(super) const TOS2: u8 = 2;
    pub(super) const TOS4: u8 = 4;
    pub(super) const CS1: u8 = 8;
    pub(super) const CS2: u8 = 16;
    pub(super) const CS3: u8 = 24;
    pub(super) const CS4: u8 = 32;
    pub(super) const CS5: u8 = 40;
    pub(super) const VA: u8 = 44;
    pub(super) const EF: u8 = 46;
    pub(super) const CS6: u8 = 48;
    pub(super) const CS7: u8 = 56;
}

/// Whether the codepoint is in class `af` (1 to 4) of assured forwarding.
fn is_af(codepoint: u8, af: u8) -> bool {
    (1..=3).any(|drop_precedence| codepoint == af * 8 + drop_precedence * 2)
}

/// Returns the number of the tin for a DSCP.
pub(crate) fn tin(mode: CakeTins, codepoint: u8) -> usize {
    let codepoint = codepoint & 63;
    match mode {
        CakeTins::Besteffort => 0,
        CakeTins::Precedence => usize::from(codepoint >> 3),
        CakeTins::Diffserv3 => match codepoint {
            dscp::LE | dscp::CS1 => 1,
            dscp::TOS4 | dscp::VA | dscp::EF | dscp::CS6 | dscp::CS7 => 2,
            _ => 0,
        },
        CakeTins::Diffserv4 => match codepoint {
            dscp::LE | dscp::CS1 => 1,
            dscp::TOS4 | dscp::CS2 | dscp::CS3 => 2,
            c if (2..=4).any(|af| is_af(c, af)) => 2,
            dscp::CS4 | dscp::CS5 | dscp::VA | dscp::EF | dscp::CS6 | dscp::CS7 => 3,
            _ => 0,
        },
        CakeTins::Diffserv8 => match codepoint {
            dscp::LE => 0,
            dscp::TOS2 | dscp::CS1 => 1,
            c if is_af(c, 1) => 1,
            dscp::CS3 => 3,
            c if is_af(c, 3) || is_af(c, 4) => 3,
            dscp::TOS4 => 4,
            c if is_af(c, 2) => 4,
            dscp::CS2 => 5,
            dscp::CS4 | dscp::CS5 | dscp::VA | dscp::EF => 6,
            dscp::CS6 | dscp::CS7 => 7,
            _ => 2,
        },
    }
}

/// The share of a tin: the rate in bytes per second up to which the tin has priority over other
/// tins, and the tin's weight. The weight is used if `cake` has no rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tier {
    pub(super) rate: u64,
    pub(super) quantum: u16,
}

/// Returns the tins of a mode, in the kernel's order.
pub(super) fn tiers(mode: CakeTins, rate: u64) -> Vec<Tier> {
    let halved = |shifts: &[u32]| {
        shifts.iter().map(|shift| Tier { rate: rate >> shift, quantum: 1024 >> shift }).collect()
    };
    match mode {
        CakeTins::Besteffort => vec![Tier { rate, quantum: 65535 }],
        CakeTins::Diffserv3 => halved(&[0, 4, 2]),
        CakeTins::Diffserv4 => halved(&[0, 4, 1, 2]),
        CakeTins::Precedence | CakeTins::Diffserv8 => {
            let seven_eighths = |tier: &Tier| {
                let quantum = (u32::from(tier.quantum) * 7) >> 3;
                let quantum = u16::try_from(quantum).expect("less than before");
                Some(Tier { rate: tier.rate.wrapping_mul(7) >> 3, quantum })
            };
            let first = Tier { rate, quantum: 256 };
            std::iter::successors(Some(first), seven_eighths).take(8).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the tins of all 64 codepoints with `expected`, in rows of eight codepoints with
    /// equal precedence bits.
    fn check(mode: CakeTins, expected: &Expect) {
        let tins: Vec<String> = (0..64).map(|codepoint| tin(mode, codepoint).to_string()).collect();
        let rows: Vec<String> = tins.chunks(8).map(<[String]>::concat).collect();
        expected.assert_eq(&rows.join(" "));
    }

    #[test]
    fn tins_are_those_of_the_kernels_tables() {
        // Each digit is the number of a codepoint's tin; the codepoints 0 to 63 are in order.
        check(
            CakeTins::Diffserv3,
            &expect!["01002000 10000000 00000000 00000000 00000000 00002020 20000000 20000000"],
        );
        check(
            CakeTins::Diffserv4,
            &expect!["01002000 10000000 20202020 20202020 30202020 30003030 30000000 30000000"],
        );
        check(
            CakeTins::Diffserv8,
            &expect!["20124222 12121212 52424242 32323232 62323232 62226262 72222222 72222222"],
        );
        check(
            CakeTins::Precedence,
            &expect!["00000000 11111111 22222222 33333333 44444444 55555555 66666666 77777777"],
        );
    }

    #[test]
    fn the_shares_of_diffserv3_are_all_a_16th_and_a_quarter() {
        let rates: Vec<u64> =
            tiers(CakeTins::Diffserv3, 1_250_000).iter().map(|tier| tier.rate).collect();
        assert_eq!(rates, [1_250_000, 78_125, 312_500]);
        let quanta: Vec<u16> =
            tiers(CakeTins::Diffserv8, 0).iter().map(|tier| tier.quantum).collect();
        assert_eq!(quanta, [256, 224, 196, 171, 149, 130, 113, 98]);
    }
}
