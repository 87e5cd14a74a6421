//! RED, "random early detection": one queue that drops or marks arriving packets depending on its
//! average length.
//!
//! Between two thresholds the drop probability rises with the average. The drops are spaced: a
//! random number determines after how many packets the next drop occurs. Above the upper threshold
//! every packet is dropped; Linux has no gentle mode. The average follows the queue length slowly,
//! and decays while the link is idle.
//!
//! Sources: [linux] `net/sched/sch_red.c`, `include/net/red.h`; [red]; [adaptive-red].
//! Deviations:
//! 1. A packet that goes into service at once does not count against the limit. The limit may also
//!    be in packets; in the kernel it is in bytes.
//! 2. bbrlab accepts thresholds that have 32 bits or more when multiplied by `2^wlog`; the kernel
//!    refuses such thresholds.
//! 3. The timer of `adaptive` starts at the start of the run, not when the discipline is set up.

mod tc;

use bbrlab_link::{Buffer, RedParams};
use bbrlab_units::{NS_PER_US, Time};

use crate::drop_tail::DropTail;
use crate::entropy::Entropy;
use crate::info::DisciplineInfo;
use crate::jiffies;
use crate::packet::Queued;
use crate::rule::{DropCause, Rule};
use tc::{Qopt, STAB_SIZE};

/// Interval at which `adaptive` changes `max_p`, in jiffies. Linux: `HZ / 2`.
const HALF_SECOND: u32 = 500;

/// A probability of 1 %, in 1/2^32. Linux: `RED_ONE_PERCENT`.
const ONE_PERCENT: u32 = 42_949_673;

/// `adaptive` reduces `max_p` only while it is at least this value. Linux: `MAX_P_MIN`.
const MAX_P_MIN: u32 = ONE_PERCENT;

/// `adaptive` raises `max_p` only while it is at most this value. Linux: `MAX_P_MAX`.
const MAX_P_MAX: u32 = 50 * ONE_PERCENT;

/// A queue with a limit, and the control law that drops or marks arriving packets.
#[derive(Debug)]
pub struct Red {
    law: Law,
    average: Average,
    ecn: bool,
    harddrop: bool,
    nodrop: bool,
    queue: DropTail,
    timer: Time,
}

/// The decision about an arriving packet. Linux: `RED_DONT_MARK`, `RED_PROB_MARK`, `RED_HARD_MARK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Pass,
    Early,
    Forced,
}

/// The parameters in the kernel's units. Linux: `struct red_parms`.
#[derive(Clone, Debug)]
struct Law {
    /// Lower threshold in bytes times `2^wlog`; `qth_max` has the same scale.
    qth_min: u64,
    qth_max: u64,
    wlog: u32,
    /// The probability at `qth_max`, in 1/2^32.
    max_p: u32,
    /// `max_p` divided by the bytes between the thresholds, as an integer of at least 1.
    max_p_delta: u32,
    /// Bytes between the thresholds.
    qth_delta: u32,
    /// `adaptive` does not change `max_p` while the average is between `target_min` and
    /// `target_max`. Both are in bytes, without the scale `2^wlog`.
    target_min: u64,
    target_max: u64,
    scell_log: u32,
    stab: Box<[u8; STAB_SIZE]>,
}

/// The average queue length, and the state that spaces the drops. Linux: `struct red_vars`.
#[derive(Clone, Copy, Debug)]
struct Average {
    /// Number of packets since a random number was drawn; -1 if no number is in use.
    qcount: i32,
    /// The random number drawn last, divided by `max_p_delta`. The number determines after how many
    /// packets the next packet is dropped.
    qr: u32,
    /// The average in bytes times `2^wlog`.
    qavg: u64,
    /// Start of the idle time; `None` if the queue is not idle.
    qidlestart: Option<Time>,
}

impl Red {
    pub(crate) fn new(params: &RedParams, limit: Buffer) -> Self {
        let first =
            if params.adaptive { jiffies::next_call(Time::ZERO, HALF_SECOND) } else { Time::NEVER };
        Self {
            law: Law::new(&Qopt::new(params, limit)),
            average: Average { qcount: -1, qr: 0, qavg: 0, qidlestart: Some(Time::ZERO) },
            ecn: params.ecn,
            harddrop: params.harddrop,
            nodrop: params.nodrop,
            queue: DropTail::new(limit),
            timer: first,
        }
    }

    /// Whether the caller must drop the packet. Returns false for a packet that passes, with or
    /// without a mark.
    fn drops(&self, action: Action, packet: &mut Queued) -> bool {
        let may_mark = match action {
            Action::Pass => return false,
            Action::Early => self.ecn,
            Action::Forced => self.ecn && !self.harddrop,
        };
        !may_mark || (!packet.set_ce() && !self.nodrop)
    }
}

impl Law {
    /// Derives the law's values from the parameters that `tc` passes to the kernel. Linux:
    /// `red_set_parms`.
    fn new(qopt: &Qopt) -> Self {
        let qth_delta = qopt.qth_max.saturating_sub(qopt.qth_min).max(1);
        let fifth = u64::from(qth_delta / 5);
        Self {
            qth_min: u64::from(qopt.qth_min) << qopt.wlog,
            qth_max: u64::from(qopt.qth_max) << qopt.wlog,
            wlog: qopt.wlog,
            max_p: qopt.max_p,
            max_p_delta: (qopt.max_p / qth_delta).max(1),
            qth_delta,
            target_min: u64::from(qopt.qth_min) + 2 * fifth,
            target_max: u64::from(qopt.qth_min) + 3 * fifth,
            scell_log: qopt.scell_log,
            stab: Box::new(qopt.stab),
        }
    }

    /// Changes `max_p` if the average is not between `target_min` and `target_max`. Linux:
    /// `red_adaptative_algo`.
    fn adapt(&mut self, qavg: u64) {
        let qavg = qavg >> self.wlog;
        if qavg > self.target_max && self.max_p <= MAX_P_MAX {
            self.max_p += MAX_P_MIN.min(self.max_p / 4);
        } else if qavg < self.target_min && self.max_p >= MAX_P_MIN {
            self.max_p = self.max_p / 10 * 9;
        }
        // `max_p / qth_delta`, rounded to the nearest integer. Linux: `DIV_ROUND_CLOSEST`, in 32
        // bits.
        let rounded = self.max_p.wrapping_add(self.qth_delta / 2) / self.qth_delta;
        self.max_p_delta = rounded.max(1);
    }
}

impl Average {
    /// Returns the new average when a packet arrives while `backlog` bytes wait. Linux:
    /// `red_calc_qavg`.
    fn at_arrival(&self, law: &Law, now: Time, backlog: u64) -> u64 {
        match self.qidlestart {
            Some(since) => self.decayed(law, now, since),
            None => self.qavg.wrapping_add(backlog.wrapping_sub(self.qavg >> law.wlog)),
        }
    }

    /// Returns the average after the idle time from `since` to `now`. Linux:
    /// `red_calc_qavg_from_idle_time`.
    fn decayed(&self, law: &Law, now: Time, since: Time) -> u64 {
        let idle_us = (now.since(since).0 / NS_PER_US).min(255 << law.scell_log);
        let shift = law.stab[(idle_us >> law.scell_log) as usize];
        if shift > 0 {
            return self.qavg >> shift;
        }
        let less = self.qavg.wrapping_mul(idle_us) >> law.scell_log;
        if less < self.qavg >> 1 { self.qavg - less } else { self.qavg >> 1 }
    }

    /// Decides from the average whether an arriving packet passes, or is to be dropped or marked.
    /// Linux: `red_action`.
    fn action(&mut self, law: &Law, entropy: &mut impl Entropy) -> Action {
        if self.qavg < law.qth_min {
            self.qcount = -1;
            return Action::Pass;
        }
        if self.qavg >= law.qth_max {
            self.qcount = -1;
            return Action::Forced;
        }
        self.qcount = self.qcount.wrapping_add(1);
        if self.qcount == 0 {
            self.qr = entropy.next_u32() / law.max_p_delta;
            return Action::Pass;
        }
        let above = (self.qavg - law.qth_min) >> law.wlog;
        let count = i64::from(self.qcount).cast_unsigned();
        if above.wrapping_mul(count) < u64::from(self.qr) {
            return Action::Pass;
        }
        self.qcount = 0;
        self.qr = entropy.next_u32() / law.max_p_delta;
        Action::Early
    }
}

impl Rule for Red {
    fn enqueue(
        &mut self,
        now: Time,
        mut packet: Queued,
        idle: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        self.average.qavg = self.average.at_arrival(&self.law, now, self.queue.bytes());
        self.average.qidlestart = None;
        let action = self.average.action(&self.law, entropy);
        if self.drops(action, &mut packet) {
            drop(packet, DropCause::Early);
        } else if idle || self.queue.fits(&packet) {
            self.queue.push(packet);
        } else {
            drop(packet, DropCause::Full);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        _: &mut impl Entropy,
        _: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        let packet = self.queue.pop();
        if packet.is_none() {
            self.average.qidlestart.get_or_insert(now);
        }
        packet
    }

    fn timer(&self) -> Time {
        self.timer
    }

    fn on_timer(&mut self, now: Time, _: &mut impl FnMut(Queued, DropCause)) {
        let qavg = match self.average.qidlestart {
            Some(since) => self.average.decayed(&self.law, now, since),
            None => self.average.qavg,
        };
        self.law.adapt(qavg);
        self.timer = jiffies::next_call(now, HALF_SECOND);
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.queue.walk(each);
    }

    fn info(&self) -> Option<DisciplineInfo> {
        let Average { qcount, qr, qavg, .. } = self.average;
        Some(DisciplineInfo::Red { qcount, qr, qavg })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{Average, Law, MAX_P_MIN, ONE_PERCENT, Red};
    use crate::entropy::Entropy;
    use crate::packet::Queued;
    use crate::rule::{DropCause, Rule as _};
    use bbrlab_link::{Buffer, Probability, RedParams};
    use bbrlab_units::{BitRate, Bytes, Ecn, NS_PER_MS, NS_PER_US, Time};
    use expect_test::{Expect, expect};

    /// A source of random numbers that are all equal.
    struct Draw(u32);

    impl Entropy for Draw {
        fn flow_hash(&mut self, _: &Queued) -> u32 {
            unreachable!("RED needs no hash")
        }

        fn next_u32(&mut self) -> u32 {
            self.0
        }

        fn next_u64(&mut self) -> u64 {
            unreachable!("RED draws 32 bits")
        }
    }

    const PARAMS: RedParams = RedParams {
        min: Some(Bytes(30_000)),
        max: Some(Bytes(90_000)),
        burst: Some(55),
        probability: Probability((1 << 32) / 10),
        bandwidth: Some(BitRate(10_000_000)),
        ..RedParams::DEFAULT
    };

    /// Makes a queue in which `qavg` bytes wait and whose average length is also `qavg` bytes.
    fn red(params: RedParams, qavg: u64) -> Red {
        let mut red = Red::new(&params, Buffer::Bytes(Bytes(400_000)));
        red.average.qavg = qavg << red.law.wlog;
        red.average.qidlestart = None;
        red.queue.push(packet(Ecn::NotEct, u32::try_from(qavg).unwrap()));
        red
    }

    fn packet(ecn: Ecn, wire_bytes: u32) -> Queued {
        Queued {
            handle: 0,
            flow: 0,
            wire_bytes,
            ecn,
            dscp: 0,
            hosts: crate::Hosts::default(),
            tin: 0,
            marked: false,
            arrived_at: Time::ZERO,
        }
    }

    /// Enqueues a packet, and returns whether it is queued, queued with a mark, or dropped.
    fn fate(red: &mut Red, ecn: Ecn) -> &'static str {
        let mut dropped = None;
        let bytes = red.queue.bytes();
        red.enqueue(Time::ZERO, packet(ecn, 0), false, &mut Draw(0), &mut |_, cause| {
            dropped = Some(cause);
        });
        assert_eq!(red.queue.bytes(), bytes);
        if let Some(cause) = dropped {
            assert_eq!(cause, DropCause::Early);
            return "dropped";
        }
        let mut marked = false;
        red.walk(&mut |packet| marked = packet.marked);
        if marked { "marked" } else { "queued" }
    }

    #[test]
    fn below_min_nothing_is_dropped_and_from_max_on_everything() {
        for (qavg, expected) in [(29_999, "queued"), (90_000, "dropped"), (180_000, "dropped")] {
            let mut red = red(PARAMS, qavg);
            let fates: Vec<_> = (0..100).map(|_| fate(&mut red, Ecn::NotEct)).collect();
            assert_eq!(fates, [expected; 100], "average {qavg}");
        }
    }

    #[test]
    fn drops_are_spaced_by_a_draw_over_the_probability() {
        // An average of 60,000 B is halfway between min and max, so the probability is half of 0.1.
        // With a random number just below 0.5, a packet is dropped after 0.5 / 0.05 = 10 packets.
        let law = Law::new(&super::Qopt::new(&PARAMS, Buffer::Unlimited));
        let mut average = Average { qcount: -1, qr: 0, qavg: 60_000 << law.wlog, qidlestart: None };
        let drops: Vec<bool> = (0..31)
            .map(|_| average.action(&law, &mut Draw(2_147_000_000)) == super::Action::Early)
            .collect();
        let at: Vec<usize> = (0..31).filter(|&at| drops[at]).collect();
        assert_eq!(at, [10, 20, 30]);
    }

    /// Compares with `expected` the fates of packets with and without ECN, once for an average
    /// between `min` and `max`, and once for an average above `max`.
    fn check(params: RedParams, expected: &Expect) {
        let mut lines = String::new();
        for (name, qavg) in [("between", 60_000), ("above", 90_000)] {
            for ecn in [Ecn::NotEct, Ecn::Ect0] {
                let mut red = red(params, qavg);
                // Between `min` and `max`, RED draws a random number at the first packet. The
                // number decides how many packets pass before RED drops or marks a packet. In this
                // test, all random numbers are 0, so RED drops or marks the second packet. Above
                // `max`, RED drops or marks every packet.
                fate(&mut red, Ecn::NotEct);
                let fate = fate(&mut red, ecn);
                writeln!(lines, "{name} {ecn:?} {fate}").unwrap();
            }
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn without_ecn_nothing_is_marked() {
        check(
            RedParams { nodrop: true, ..PARAMS },
            &expect![[r#"
                between NotEct dropped
                between Ect0 dropped
                above NotEct dropped
                above Ect0 dropped
            "#]],
        );
    }

    #[test]
    fn with_ecn_what_can_be_marked_is_marked_above_max_too() {
        check(
            RedParams { ecn: true, ..PARAMS },
            &expect![[r#"
                between NotEct dropped
                between Ect0 marked
                above NotEct dropped
                above Ect0 marked
            "#]],
        );
    }

    #[test]
    fn with_harddrop_all_is_dropped_above_max() {
        check(
            RedParams { ecn: true, harddrop: true, ..PARAMS },
            &expect![[r#"
                between NotEct dropped
                between Ect0 marked
                above NotEct dropped
                above Ect0 dropped
            "#]],
        );
    }

    #[test]
    fn with_nodrop_what_cannot_be_marked_is_queued() {
        check(
            RedParams { ecn: true, nodrop: true, ..PARAMS },
            &expect![[r#"
                between NotEct queued
                between Ect0 marked
                above NotEct queued
                above Ect0 marked
            "#]],
        );
    }

    #[test]
    fn the_average_decays_while_the_queue_is_idle() {
        let law = Law::new(&super::Qopt::new(&PARAMS, Buffer::Unlimited));
        let average =
            Average { qcount: -1, qr: 0, qavg: 30_000 << 5, qidlestart: Some(Time::ZERO) };
        let after = |us| average.at_arrival(&law, Time(us * NS_PER_US), 0) >> 5;
        // During the first 2^14 us of idle time, the average decreases linearly to a half of its
        // first value. Later, it is 2^-n of its first value, but at most a half. Here, n is the
        // idle time divided by 393,700 us, rounded down, so the average stays at a half until n is
        // 2. 393,700 is 12,500 / 0.03175: 12,500 is the transmission time of a packet in ticks of
        // 64 ns, which the kernel takes for microseconds (see `idle_damping`), and 0.03175 is
        // -ln(1 - 2^-5).
        assert_eq!(after(0), 30_000);
        assert_eq!(after(8192), 22_500);
        assert_eq!(after(16_384), 15_000);
        assert_eq!(after(32_768), 15_000);
        assert_eq!(after(393_215), 15_000);
        assert_eq!(after(425_984), 15_000);
        assert_eq!(after(819_200), 7500);
        assert_eq!(after(3_600_000_000), 0);
    }

    #[test]
    fn adaptive_raises_the_probability_by_a_quarter_and_lowers_it_by_a_tenth() {
        let mut law = Law::new(&super::Qopt::new(&PARAMS, Buffer::Unlimited));
        law.max_p = 2 * ONE_PERCENT;
        // `adapt` does not change `max_p` for averages from 54,000 to 66,000 B: 30,000 B plus 2/5
        // to 3/5 of 60,000 B.
        law.adapt(54_000 << 5);
        law.adapt(66_000 << 5);
        assert_eq!(law.max_p, 2 * ONE_PERCENT);
        law.adapt(66_001 << 5);
        assert_eq!(law.max_p, 2 * ONE_PERCENT + ONE_PERCENT / 2);
        // One call of `adapt` increases `max_p` by a quarter of its value, but at most by one
        // percentage point.
        law.max_p = 20 * ONE_PERCENT;
        law.adapt(66_001 << 5);
        assert_eq!(law.max_p, 20 * ONE_PERCENT + MAX_P_MIN);
        law.adapt(53_999 << 5);
        assert_eq!(law.max_p, 21 * ONE_PERCENT / 10 * 9);
        assert_eq!(law.max_p_delta, (law.max_p + 30_000) / 60_000);
    }

    #[test]
    fn adaptive_stays_between_1_and_50_percent_to_within_a_step() {
        let mut law = Law::new(&super::Qopt::new(&PARAMS, Buffer::Unlimited));
        (0..1000).for_each(|_| law.adapt(u64::MAX));
        assert_eq!(law.max_p / ONE_PERCENT, 50);
        (0..1000).for_each(|_| law.adapt(0));
        assert!(law.max_p < MAX_P_MIN && law.max_p > MAX_P_MIN / 10 * 8);
    }

    #[test]
    fn the_timer_of_adaptive_fires_every_504_ms() {
        // The timer's period is 500 jiffies of 1 ms, rounded up to a multiple of eight.
        let params = RedParams { adaptive: true, ..PARAMS };
        let mut red = Red::new(&params, Buffer::Unlimited);
        for at_ms in [504, 1008, 1512] {
            assert_eq!(red.timer(), Time(at_ms * NS_PER_MS));
            red.on_timer(red.timer(), &mut |_, _| {});
        }
        assert_eq!(Red::new(&PARAMS, Buffer::Unlimited).timer(), Time::NEVER);
    }
}
