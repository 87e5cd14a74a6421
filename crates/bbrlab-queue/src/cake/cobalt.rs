//! COBALT: a combination of the control laws `CoDel` and BLUE, for one queue.
//!
//! CoDel controls flows that respond to drops. BLUE controls flows that do not respond: each time
//! the queues overflow, it increases the share of packets that it drops from the longest queue.
//!
//! COBALT differs from `codel`: the last packet of a queue is never dropped, and `count` decreases
//! while waiting times are below the target. Reciprocal roots have 32 bits, and times are in
//! nanoseconds.
//!
//! The first drop or mark is due after the interval times the reciprocal root. The reciprocal root
//! is 0 at first. If two successive packets wait longer than the target, CAKE therefore drops or
//! marks the second one at once. `codel` waits for an interval.
//!
//! Sources: [linux] `net/sched/sch_cake.c`, `cobalt_should_drop`, `cobalt_queue_full`,
//! `cobalt_queue_empty`.
//! Deviations: none.

use crate::entropy::Entropy;
use crate::packet::Queued;

/// A time in nanoseconds. Linux: `ktime_t`.
pub(super) type Ktime = i64;

/// The reciprocal root `2^32 / sqrt(count)` for each `count` below 16. Linux: `inv_sqrt_cache`.
const INV_SQRT: [u32; 16] = [
    u32::MAX,
    u32::MAX,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
    1_623_345_051,
    1_518_500_250,
    1_431_655_765,
    1_358_187_914,
    1_294_981_364,
    1_239_850_263,
    1_191_209_601,
    1_147_878_294,
    1_108_955_788,
];

/// Steps by which BLUE's probability rises and falls, in 1/2^32. Linux: `p_inc`, `p_dec`.
const P_INC: u32 = 1 << 24;
const P_DEC: u32 = 1 << 20;

/// The parameters in nanoseconds. Linux: `struct cobalt_params`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) interval: u64,
    pub(super) target: u64,
    /// Time in which a full packet is transmitted at the tin's rate.
    pub(super) mtu_time: u64,
}

/// The state of COBALT's control law for one queue. Every field has the kernel's value, even while
/// the kernel does not use it. Linux: `struct cobalt_vars`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cobalt {
    count: u32,
    rec_inv_sqrt: u32,
    drop_next: Ktime,
    blue_timer: Ktime,
    p_drop: u32,
    dropping: bool,
}

impl Cobalt {
    /// Enters the dropping state, and raises BLUE's probability at most once per `target`. Called
    /// when a packet of this queue was dropped because the memory limit was reached. Linux:
    /// `cobalt_queue_full`.
    pub(super) fn queue_full(&mut self, settings: &Settings, now: Ktime) {
        if now.wrapping_sub(self.blue_timer).cast_unsigned() > settings.target {
            self.p_drop = self.p_drop.saturating_add(P_INC);
            self.blue_timer = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Leaves the dropping state. Lowers BLUE's probability at most once per `target`. If `count`
    /// is above 0 and the time of the next drop has come, decrements `count`. Called when the queue
    /// is to be served but is empty. Linux: `cobalt_queue_empty`.
    pub(super) fn queue_empty(&mut self, settings: &Settings, now: Ktime) {
        let since = now.wrapping_sub(self.blue_timer).cast_unsigned();
        if self.p_drop > 0 && since > settings.target {
            self.p_drop = self.p_drop.saturating_sub(P_DEC);
            self.blue_timer = now;
        }
        self.dropping = false;
        if self.count > 0 && now.wrapping_sub(self.drop_next) >= 0 {
            self.count -= 1;
            self.next_date(settings);
        }
    }

    /// Whether the control law would now act as in its initial state: BLUE's probability and
    /// `count` are 0, and the time of the next drop has passed.
    pub(super) fn is_at_rest(&self, now: Ktime) -> bool {
        self.p_drop == 0 && self.count == 0 && now >= self.drop_next
    }

    /// Whether the packet at the head must be dropped. Returns false for a packet that is marked
    /// instead of dropped. Linux: `cobalt_should_drop`.
    pub(super) fn should_drop(
        &mut self,
        settings: &Settings,
        now: Ktime,
        packet: &mut Queued,
        entropy: &mut impl Entropy,
    ) -> bool {
        let waited = now.wrapping_sub(packet.arrived_at.0.cast_signed()).cast_unsigned();
        let is_over = waited > settings.target && waited > settings.mtu_time * 4;
        let mut since = now.wrapping_sub(self.drop_next);
        let mut is_due = self.count > 0 && since >= 0;
        if is_over {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control(settings, now);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }

        let mut drops = false;
        if is_due && self.dropping {
            drops = !packet.set_ce();
            self.count = self.count.saturating_add(1);
            self.next_date(settings);
            since = now.wrapping_sub(self.drop_next);
        } else {
            while is_due {
                self.count -= 1;
                self.next_date(settings);
                since = now.wrapping_sub(self.drop_next);
                is_due = self.count > 0 && since >= 0;
            }
        }

        // BLUE is for flows that do not respond to signals, so it drops and never marks.
        if self.p_drop > 0 {
            drops |= entropy.next_u32() < self.p_drop;
        }

        if self.count == 0 {
            self.drop_next = now.wrapping_add_unsigned(settings.interval);
        } else if since > 0 && !drops {
            self.drop_next = now;
        }
        drops
    }

    /// Updates the reciprocal root and the time of the next drop, after `count` has changed.
    fn next_date(&mut self, settings: &Settings) {
        match INV_SQRT.get(self.count as usize) {
            Some(&exact) => self.rec_inv_sqrt = exact,
            None => self.newton_step(),
        }
        self.drop_next = self.control(settings, self.drop_next);
    }

    /// Improves the reciprocal root by one step of Newton's method towards `2^32 / sqrt(count)`.
    /// Linux: `cobalt_newton_step`.
    fn newton_step(&mut self) {
        let inverse = u64::from(self.rec_inv_sqrt);
        let squared = (inverse * inverse) >> 32;
        let rest = (3u64 << 32).wrapping_sub(u64::from(self.count) * squared);
        self.rec_inv_sqrt = ((rest >> 2).wrapping_mul(inverse) >> (32 - 2 + 1)) as u32;
    }

    /// Returns the time `interval / sqrt(count)` after `from`; only the low 32 bits of the interval
    /// are used. Linux: `cobalt_control`.
    fn control(&self, settings: &Settings, from: Ktime) -> Ktime {
        let interval = u64::from(settings.interval as u32);
        from.wrapping_add_unsigned((interval * u64::from(self.rec_inv_sqrt)) >> 32)
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_units::{Ecn, Time};

    use super::*;

    struct Draw(u32);

    impl Entropy for Draw {
        fn flow_hash(&mut self, _: &Queued) -> u32 {
            unreachable!("no hash is needed")
        }

        fn next_u32(&mut self) -> u32 {
            self.0
        }

        fn next_u64(&mut self) -> u64 {
            unreachable!("BLUE draws 32 bits")
        }
    }

    const MS: i64 = 1_000_000;

    const SETTINGS: Settings =
        Settings { interval: 100_000_000, target: 5_000_000, mtu_time: 1_211_200 };

    fn packet(arrived_ms: u64, ecn: Ecn) -> Queued {
        let arrived_at = Time(arrived_ms * 1_000_000);
        Queued {
            handle: 0,
            flow: 0,
            wire_bytes: 1514,
            ecn,
            dscp: 0,
            hosts: crate::Hosts::default(),
            tin: 0,
            marked: false,
            arrived_at,
        }
    }

    #[test]
    fn the_first_signal_comes_with_the_packet_after_the_target_is_exceeded() {
        let mut cobalt = Cobalt::default();
        let mut drops = |now_ms: i64, arrived_ms| {
            let packet = &mut packet(arrived_ms, Ecn::NotEct);
            cobalt.should_drop(&SETTINGS, now_ms * MS, packet, &mut Draw(0))
        };
        assert!(!drops(4, 0));
        assert!(!drops(106, 100));
        assert!(drops(107, 100));
        // The next drop is due `interval / sqrt(2)` after the due time of the last drop, 106 ms.
        assert!(!drops(176, 170));
        assert!(drops(177, 170));
    }

    #[test]
    fn a_packet_that_can_be_marked_is_not_dropped() {
        let mut cobalt = Cobalt::default();
        let mut first = packet(0, Ecn::Ect0);
        assert!(!cobalt.should_drop(&SETTINGS, 106 * MS, &mut first, &mut Draw(0)));
        let mut second = packet(0, Ecn::Ect0);
        assert!(!cobalt.should_drop(&SETTINGS, 107 * MS, &mut second, &mut Draw(0)));
        assert_eq!((first.marked, second.marked), (false, true));
    }

    #[test]
    fn blue_drops_a_256th_more_with_each_overflow_once_a_target() {
        let mut cobalt = Cobalt::default();
        for now_ms in [10, 11, 16] {
            cobalt.queue_full(&SETTINGS, now_ms * MS);
        }
        assert_eq!(cobalt.p_drop, 2 * P_INC);
        let mut drops = |draw| {
            let packet = &mut packet(16, Ecn::Ect0);
            cobalt.should_drop(&SETTINGS, 17 * MS, packet, &mut Draw(draw))
        };
        assert!(drops(2 * P_INC - 1));
        assert!(!drops(2 * P_INC));
    }
}
