//! Operations that C code of the kernel performs implicitly or by macros: truncation, wrapping
//! comparison, conversion between clocks.
//!
//! Sources: [linux] `include/net/tcp.h` (`before`, `after`), `include/linux/jiffies.h`,
//! `include/linux/win_minmax.h`.

/// Returns the low 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "truncation is the purpose of the function")]
#[must_use]
pub const fn trunc_u32(value: u64) -> u32 {
    value as u32
}

/// Whether `a` comes before `b` on a 32-bit counter that wraps. Linux: `before`.
#[must_use]
pub const fn before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}

/// Whether `a` comes after `b` on a 32-bit counter that wraps. Linux: `after`, `time_after32`.
#[must_use]
pub const fn after(a: u32, b: u32) -> bool {
    before(b, a)
}

/// Returns the microseconds from `b` to `a`, truncated to 32 bits; zero if `a` is before `b`.
/// Linux: `tcp_stamp_us_delta`.
#[must_use]
pub const fn stamp_us_delta(a: u64, b: u64) -> u32 {
    let delta = a.wrapping_sub(b).cast_signed();
    if delta < 0 { 0 } else { trunc_u32(delta.cast_unsigned()) }
}

/// Converts milliseconds to jiffies at `hz` per second, rounded up. Linux: `msecs_to_jiffies` for
/// an HZ that divides 1000.
#[must_use]
#[inline]
pub const fn msecs_to_jiffies(ms: u32, hz: u32) -> u32 {
    // At 1000 Hz, the most common rate, this branch avoids the division. The function runs at every
    // ACK.
    if hz == 1000 {
        return ms;
    }
    let jiffies_e3 = ms as u64 * hz as u64;
    trunc_u32(jiffies_e3.div_ceil(1000))
}

/// Converts microseconds to jiffies at `hz` per second, rounded up. Linux: `usecs_to_jiffies`.
#[must_use]
#[inline(always)]
#[expect(clippy::inline_always, reason = "every ACK calls this function")]
pub const fn usecs_to_jiffies(us: u32, hz: u32) -> u32 {
    // At 1000 Hz, the most common rate, the compiler turns the division into a multiplication.
    if hz == 1000 { us.div_ceil(1000) } else { us.div_ceil(1_000_000 / hz) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_wrap() {
        assert!(before(u32::MAX, 0));
        assert!(after(0, u32::MAX));
        assert!(!before(5, 5) && !after(5, 5));
    }

    #[test]
    fn milliseconds_round_up_to_jiffies() {
        assert_eq!(msecs_to_jiffies(200, 250), 50);
        assert_eq!(msecs_to_jiffies(201, 250), 51);
        assert_eq!(msecs_to_jiffies(201, 1000), 201);
        assert_eq!(usecs_to_jiffies(1, 1000), 1);
    }
}
