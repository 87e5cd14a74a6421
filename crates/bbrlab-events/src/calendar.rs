//! A calendar queue with one timer per flow, for timers that are armed often.
//!
//! Time is divided into buckets of equal width, and each timer is in the bucket of its deadline.
//! The next timer is the earliest timer of the first bucket that has any; at equal times, the timer
//! of the flow with the lowest number. A bitmap marks the buckets that have timers, so one
//! instruction usually finds the next bucket. The cost to arm and to fire a timer is therefore the
//! same with 100,000 other timers as with 10.
//!
//! The current bucket is the bucket of the next timer. A bucket is an unordered linked list, which
//! is sorted when the bucket becomes the current one.
//!
//! The buckets are stored in an array, which has at least four buckets per flow. The width of the
//! buckets follows the time between successive timers: the width doubles if fewer than an eighth of
//! the passed buckets had timers, and halves if more than half had timers. The width is not halved
//! if an armed timer would then be beyond the last bucket.
//!
//! A timer whose deadline is beyond the last bucket is not accepted; the caller puts it into the
//! heap, where timers cost more than in the calendar. Deadlines beyond the calendar's last bucket
//! come from flows that arm their timers less often than most flows.
//!
//! Sources: R. Brown, "Calendar queues: a fast O(1) priority queue implementation for the
//! simulation event set problem", Communications of the ACM 31(10), 1988.
//! Deviations:
//! 1. A deadline beyond the last bucket is not accepted, so that all timers of a bucket belong to
//!    one pass over the array ("year").
//! 2. The width depends on the share of passed buckets that had timers. Brown computes the width
//!    from a sample of the timers.
//! 3. A bitmap, not a search bucket by bucket, finds the next bucket that has timers.

use bbrlab_units::Time;

/// Value of [`Timer::after`] for a timer that is not armed.
const IDLE: u32 = u32::MAX;

/// Value of [`Timer::after`] for a timer that was put into the heap and not disarmed since.
const IN_HEAP: u32 = u32::MAX - 1;

/// Value of [`Timer::after`] for the last timer of a bucket's list.
const NIL: u32 = u32::MAX - 2;

/// Value of [`CalendarQueue::bucket`] for an empty calendar.
const NO_BUCKET: u64 = u64::MAX;

/// log2 of the width of a bucket in nanoseconds: initial value and maximum. The calendar has fewer
/// than 2^28 buckets, so the product of the number and the width of the buckets stays below 2^63
/// ns.
const WIDTH_SHIFT: u32 = 10;
const WIDTH_SHIFT_MAX: u32 = 35;

/// Buckets per word of the bitmap.
const WORD: usize = 64;

/// Minimum number of buckets per timer. For this minimum, each of the first `FEW_TIMERS` timers is
/// counted `1 + MORE_FOR_FEW` times. With few timers, some may be armed much further ahead than
/// others. More buckets cover a longer time, so fewer of these deadlines are beyond the last
/// bucket.
const BUCKETS_PER_TIMER: usize = 4;
const FEW_TIMERS: usize = 32;
const MORE_FOR_FEW: usize = 3;

/// The timer of a flow.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// The deadline, if the timer is in the calendar.
    at: Time,
    /// The next timer in the bucket's list, or [`NIL`] at its end; [`IDLE`] or [`IN_HEAP`] if the
    /// timer is not in the calendar.
    after: u32,
}

/// The state of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerState {
    /// The timer is not armed.
    Idle,
    /// The timer is in the calendar, with this deadline.
    InCalendar(Time),
    /// The timer was put into the heap and has not been disarmed since; it may have expired.
    InHeap,
}

impl TimerState {
    /// Returns `None` if the timer is in the heap, `NEVER` if the timer is not armed, and otherwise
    /// the timer's deadline.
    pub(crate) fn deadline(self) -> Option<Time> {
        match self {
            Self::Idle => Some(Time::NEVER),
            Self::InCalendar(at) => Some(at),
            Self::InHeap => None,
        }
    }
}

/// Timers, one per flow.
#[derive(Debug)]
pub(crate) struct CalendarQueue {
    /// Deadline and flow of the next timer; the deadline is `NEVER` if the calendar is empty.
    next: (Time, u32),
    /// Number of the current bucket, which contains `next`; bucket 0 begins at time 0. `NO_BUCKET`
    /// if the calendar is empty. Besides `next` and the timers in `current`, no timer is due before
    /// the end of this bucket.
    bucket: u64,
    /// The timers of the current bucket except the timer in `next`, in descending order of their
    /// deadlines.
    current: Vec<(Time, u32)>,
    /// The number of timers in later buckets.
    later: u32,
    /// log2 of the width of a bucket in nanoseconds.
    width_shift: u32,
    /// A deadline has a bucket if it is fewer than this many nanoseconds in the future.
    horizon: u64,
    timers: Vec<Timer>,
    /// For each slot of the calendar's array: the first timer in its list, or [`NIL`]. The number
    /// of slots is a power of two. Buckets whose numbers differ by a multiple of the number of
    /// slots share a slot, and only one of them has timers at a time.
    lists: Vec<u32>,
    /// Bitmap of the slots that have timers.
    occupied: Vec<u64>,
    occupancy: Occupancy,
}

/// Counts of buckets and timers since the last check of the buckets' width. The counts show whether
/// the width is suitable.
#[derive(Clone, Copy, Debug, Default)]
struct Occupancy {
    /// Number of buckets that time has passed.
    buckets: u64,
    /// Number of buckets opened because they had timers.
    opened: u64,
    /// Number of timers that were put into the heap because their deadline had no bucket.
    refused: u64,
}

impl CalendarQueue {
    pub(crate) fn new() -> Self {
        let mut calendar = Self {
            next: (Time::NEVER, 0),
            bucket: NO_BUCKET,
            current: Vec::new(),
            later: 0,
            width_shift: WIDTH_SHIFT,
            horizon: 0,
            timers: Vec::new(),
            lists: Vec::new(),
            occupied: Vec::new(),
            occupancy: Occupancy::default(),
        };
        calendar.make_buckets(WORD);
        calendar
    }

    /// Adds the timer of the next flow. Flows must be added before a timer is armed. Flows are
    /// numbered from 0.
    pub(crate) fn add(&mut self) {
        debug_assert_eq!(self.next.0, Time::NEVER);
        self.timers.push(Timer { at: Time::NEVER, after: IDLE });
        let timers = self.timers.len();
        let buckets = self.lists.len();
        if buckets < BUCKETS_PER_TIMER * (timers + MORE_FOR_FEW * timers.min(FEW_TIMERS)) {
            self.make_buckets(2 * buckets);
        }
    }

    /// Replaces all buckets by `count` empty ones.
    fn make_buckets(&mut self, count: usize) {
        self.lists = vec![NIL; count];
        self.occupied = vec![0; count / WORD];
        self.set_width(self.width_shift);
    }

    /// Sets the width of the buckets, which must be empty.
    fn set_width(&mut self, width_shift: u32) {
        self.width_shift = width_shift;
        self.horizon = self.horizon_with(width_shift);
        self.occupancy = Occupancy::default();
    }

    /// Returns the horizon in nanoseconds if buckets have this width: the length of all buckets
    /// except one, because the current time may be at the end of its bucket.
    fn horizon_with(&self, width_shift: u32) -> u64 {
        (self.lists.len() as u64 - 1) << width_shift
    }

    /// Returns the deadline of the next timer; `NEVER` if the calendar is empty.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next.0
    }

    /// Returns the flow of the next timer.
    #[inline]
    pub(crate) fn next_flow(&self) -> u32 {
        self.next.1
    }

    /// Returns the state of a flow's timer.
    pub(crate) fn state(&self, flow: u32) -> TimerState {
        match self.timers[flow as usize] {
            Timer { after: IDLE, .. } => TimerState::Idle,
            Timer { after: IN_HEAP, .. } => TimerState::InHeap,
            Timer { at, .. } => TimerState::InCalendar(at),
        }
    }

    /// Removes the next timer because it fires or is disarmed at `now`, and returns its flow. The
    /// calendar must not be empty.
    #[inline]
    pub(crate) fn fire(&mut self, now: Time) -> u32 {
        let flow = self.next.1;
        self.timers[flow as usize].after = IDLE;
        if let Some(next) = self.current.pop() {
            self.next = next;
        } else if self.later > 0 {
            self.find_next_bucket(now);
        } else {
            self.next.0 = Time::NEVER;
            self.bucket = NO_BUCKET;
        }
        flow
    }

    /// Arms a timer for `at`, which must not be before `now`. Returns false, and does nothing, if
    /// the timer was already armed before the call or if `at` has no bucket.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "only `enter_calendar` calls this function")]
    pub(crate) fn arm(&mut self, flow: u32, at: Time, now: Time) -> bool {
        if self.timers[flow as usize].after != IDLE || at.0 - now.0 >= self.horizon {
            return false;
        }
        let bucket = self.bucket_of(at);
        if bucket > self.bucket {
            self.enter(flow, at, bucket);
        } else if self.bucket == NO_BUCKET {
            self.timers[flow as usize] = Timer { at, after: NIL };
            self.next = (at, flow);
            self.bucket = bucket;
        } else {
            self.enter_early(flow, at, bucket);
        }
        true
    }

    /// Records that the caller arms a timer in the heap. The timer must not be armed yet, and its
    /// deadline must have no bucket.
    pub(crate) fn mark_in_heap(&mut self, flow: u32, now: Time) {
        self.timers[flow as usize].after = IN_HEAP;
        self.occupancy.refused += 1;
        self.check_occupancy(now);
    }

    /// Disarms a timer at `now`. For a timer in the heap, this only records that the timer is not
    /// armed.
    pub(crate) fn disarm(&mut self, flow: u32, now: Time) {
        let Timer { at, after } = self.timers[flow as usize];
        self.timers[flow as usize].after = IDLE;
        if after == IDLE || after == IN_HEAP {
            return;
        }
        let bucket = self.bucket_of(at);
        if self.next.1 == flow {
            self.fire(now);
        } else if bucket == self.bucket {
            self.current.retain(|&(_, other)| other != flow);
        } else {
            self.leave(flow, after, bucket);
        }
    }

    /// Unlinks a timer from its bucket, which must be later than the current one. `after` is the
    /// timer that follows `flow`'s timer in the bucket's list.
    fn leave(&mut self, flow: u32, after: u32, bucket: u64) {
        self.later -= 1;
        let (word, slot) = (self.word_of(bucket), self.slot_of(bucket));
        let mut before = self.lists[slot];
        if before == flow {
            self.lists[slot] = after;
            if after == NIL {
                self.occupied[word] &= !bit_of(bucket);
            }
            return;
        }
        while self.timers[before as usize].after != flow {
            before = self.timers[before as usize].after;
        }
        self.timers[before as usize].after = after;
    }

    /// Returns the bucket of a time, counted from time 0.
    #[inline]
    fn bucket_of(&self, at: Time) -> u64 {
        at.0 >> self.width_shift
    }

    /// Returns the slot of a bucket in the array.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "buckets share slots")]
    fn slot_of(&self, bucket: u64) -> usize {
        bucket as usize & (self.lists.len() - 1)
    }

    /// Returns the index of a bucket's word in the bitmap.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "only the low bits select the word of the bitmap"
    )]
    fn word_of(&self, bucket: u64) -> usize {
        (bucket as usize / WORD) & (self.occupied.len() - 1)
    }

    /// Links a timer into a bucket that is later than the current one.
    #[inline]
    fn enter(&mut self, flow: u32, at: Time, bucket: u64) {
        let (word, slot) = (self.word_of(bucket), self.slot_of(bucket));
        self.occupied[word] |= bit_of(bucket);
        let after = std::mem::replace(&mut self.lists[slot], flow);
        self.timers[flow as usize] = Timer { at, after };
        self.later += 1;
    }

    /// Puts a timer into the current bucket or into an earlier bucket, which then becomes the
    /// current bucket. The calendar need not have a current bucket.
    #[cold]
    #[inline(never)]
    fn enter_early(&mut self, flow: u32, at: Time, bucket: u64) {
        self.timers[flow as usize] = Timer { at, after: NIL };
        if bucket != self.bucket {
            self.requeue_current();
            self.bucket = bucket;
            self.next = (at, flow);
        } else if (at, flow) < self.next {
            self.current.push(self.next);
            self.next = (at, flow);
        } else {
            let place = self.current.partition_point(|&other| other > (at, flow));
            self.current.insert(place, (at, flow));
        }
    }

    /// Links the timers of the current bucket into its list again, because an earlier bucket
    /// becomes the current one.
    #[inline]
    fn requeue_current(&mut self) {
        if self.bucket == NO_BUCKET {
            return;
        }
        let (at, flow) = self.next;
        self.enter(flow, at, self.bucket);
        while let Some((at, flow)) = self.current.pop() {
            self.enter(flow, at, self.bucket);
        }
    }

    /// Opens the first later bucket that has timers. The calendar must have a later bucket with
    /// timers.
    #[inline]
    fn find_next_bucket(&mut self, now: Time) {
        let word = self.word_of(self.bucket);
        // Lower bits of the word are buckets of the next pass over the array, later than all
        // others.
        let occupied = self.occupied[word] & ((u64::MAX - 1) << (self.bucket % WORD as u64));
        if occupied == 0 {
            self.search_words(now);
        } else {
            self.open_bucket(self.bucket, occupied);
        }
    }

    /// Opens the first bucket whose bit is set in `occupied`, which has some or all bits of the
    /// bitmap word of `bucket`. The opened bucket becomes the current bucket.
    #[inline]
    fn open_bucket(&mut self, bucket: u64, occupied: u64) {
        let word = self.word_of(bucket);
        let bucket = bucket / WORD as u64 * WORD as u64 + u64::from(occupied.trailing_zeros());
        self.occupied[word] &= !bit_of(bucket);
        let slot = self.slot_of(bucket);
        let first = std::mem::replace(&mut self.lists[slot], NIL);
        let Timer { at, after } = self.timers[first as usize];
        debug_assert_eq!(self.bucket_of(at), bucket);
        self.bucket = bucket;
        self.next = (at, first);
        self.later -= 1;
        self.occupancy.opened += 1;
        if after != NIL {
            self.sort_current(after);
        }
    }

    /// Sorts the timers of the current bucket: `next`, the timer of `flow` and the timers linked to
    /// it.
    #[inline(never)]
    fn sort_current(&mut self, mut flow: u32) {
        self.current.push(self.next);
        while flow != NIL {
            let Timer { at, after } = self.timers[flow as usize];
            self.current.push((at, flow));
            self.later -= 1;
            flow = after;
        }
        self.current.sort_unstable_by(|a, b| b.cmp(a));
        self.next = self.current.pop().expect("just pushed");
    }

    /// Searches the later words of the bitmap, and opens the first bucket there that has timers.
    #[cold]
    #[inline(never)]
    fn search_words(&mut self, now: Time) {
        let mut bucket = self.bucket;
        let occupied = loop {
            bucket += WORD as u64;
            self.occupancy.buckets += WORD as u64;
            let occupied = self.occupied[self.word_of(bucket)];
            if occupied != 0 {
                break occupied;
            }
        };
        self.open_bucket(bucket, occupied);
        self.check_occupancy(now);
    }

    /// Makes the buckets wider if too few of the passed buckets had timers, and narrower if too
    /// many had timers. No armed deadline may be before `now`.
    #[inline]
    fn check_occupancy(&mut self, now: Time) {
        let Occupancy { buckets, opened, refused } = self.occupancy;
        if opened + refused + buckets / WORD as u64 >= self.lists.len() as u64 / 8 {
            self.adapt(now);
        }
    }

    #[cold]
    fn adapt(&mut self, now: Time) {
        let Occupancy { buckets, opened, .. } = self.occupancy;
        if buckets == 0 && opened > 0 {
            // Passed buckets are counted in groups of 64, one word of the bitmap at a time. Until
            // the first group is counted, the share of buckets that had timers is unknown, so the
            // width stays.
            return;
        }
        self.occupancy = Occupancy::default();
        if opened * 8 < buckets || buckets == 0 {
            if self.width_shift < WIDTH_SHIFT_MAX {
                self.change_width(self.width_shift + 1);
            }
        } else if opened * 2 > buckets && self.width_shift > 0 {
            let horizon = self.horizon_with(self.width_shift - 1);
            let is_armed = |timer: &&Timer| timer.after != IDLE && timer.after != IN_HEAP;
            let mut armed = self.timers.iter().filter(is_armed);
            if armed.all(|timer| timer.at.0 - now.0 < horizon) {
                self.change_width(self.width_shift - 1);
            }
        }
    }

    /// Changes the width of the buckets. The deadline of every timer in the calendar must be within
    /// the horizon of the new width.
    fn change_width(&mut self, width_shift: u32) {
        self.lists.fill(NIL);
        self.occupied.fill(0);
        self.set_width(width_shift);
        self.next.0 = Time::NEVER;
        self.bucket = NO_BUCKET;
        self.current.clear();
        self.later = 0;
        for flow in 0..u32::try_from(self.timers.len()).expect("fewer than 2^26 timers") {
            let Timer { at, after } = self.timers[flow as usize];
            if after == IDLE || after == IN_HEAP {
                continue;
            }
            let bucket = self.bucket_of(at);
            if bucket > self.bucket {
                self.enter(flow, at, bucket);
            } else {
                self.enter_early(flow, at, bucket);
            }
        }
    }
}

/// Returns a word of the bitmap in which only the bit of this bucket is set.
#[inline]
const fn bit_of(bucket: u64) -> u64 {
    1 << (bucket % WORD as u64)
}

#[cfg(test)]
mod tests {
    use super::{CalendarQueue, TimerState, WIDTH_SHIFT};
    use bbrlab_units::Time;
    use proptest::prelude::*;

    /// A calendar queue and the expected deadline of each flow.
    struct Twin {
        calendar: CalendarQueue,
        armed: Vec<Option<Time>>,
        now: Time,
    }

    impl Twin {
        fn new(flows: usize) -> Self {
            let mut calendar = CalendarQueue::new();
            (0..flows).for_each(|_| calendar.add());
            Self { calendar, armed: vec![None; flows], now: Time::ZERO }
        }

        /// Arms a timer again, `ahead` nanoseconds from now. Returns whether the deadline has a
        /// bucket.
        fn arm(&mut self, flow: usize, ahead: u64) -> bool {
            let number = u32::try_from(flow).unwrap();
            let at = Time(self.now.0 + ahead);
            self.calendar.disarm(number, self.now);
            self.armed[flow] = None;
            let is_armed = self.calendar.arm(number, at, self.now);
            if is_armed {
                self.armed[flow] = Some(at);
                assert!(!self.calendar.arm(number, at, self.now), "an armed timer is refused");
            } else {
                self.calendar.mark_in_heap(number, self.now);
                assert_eq!(self.calendar.state(number), TimerState::InHeap);
            }
            is_armed
        }

        fn disarm(&mut self, flow: usize) {
            self.calendar.disarm(u32::try_from(flow).unwrap(), self.now);
            self.armed[flow] = None;
        }

        /// Fires the next timer and returns its flow.
        fn fire(&mut self) -> Option<usize> {
            let times = self.armed.iter().enumerate().filter_map(|(flow, at)| Some(((*at)?, flow)));
            let Some((at, flow)) = times.min() else {
                assert_eq!(self.calendar.next(), Time::NEVER);
                return None;
            };
            assert_eq!((self.calendar.next(), self.calendar.next_flow() as usize), (at, flow));
            self.now = at;
            assert_eq!(self.calendar.fire(at) as usize, flow);
            self.armed[flow] = None;
            Some(flow)
        }

        fn check_states(&self) {
            for (number, &armed) in (0..).zip(&self.armed) {
                match self.calendar.state(number) {
                    TimerState::InCalendar(at) => assert_eq!(Some(at), armed),
                    TimerState::Idle | TimerState::InHeap => assert_eq!(armed, None),
                }
            }
        }
    }

    proptest! {
        #[test]
        fn timers_fire_in_the_order_of_time_and_flow_whatever_is_armed_meanwhile(
            flows in 1usize..200,
            scale in 0u32..24,
            steps in prop::collection::vec(
                (0usize..200, prop::option::weighted(0.7, 0u64..64), any::<bool>()), 0..600),
        ) {
            let mut twin = Twin::new(flows);
            for (flow, ahead, fires) in steps {
                match ahead {
                    Some(ahead) => { twin.arm(flow % flows, ahead << scale); }
                    None if fires => { twin.fire(); }
                    None => twin.disarm(flow % flows),
                }
                twin.check_states();
            }
            while twin.fire().is_some() {}
        }
    }

    /// Arms each timer again when it fires. The new deadline is at most `period` ahead, and the
    /// distance differs between flows. Returns how many deadlines of the last 3,000 steps were
    /// too far ahead for the buckets, and log2 of the final width of a bucket in nanoseconds.
    fn settle(twin: &mut Twin, period: u64) -> (usize, u32) {
        let flows = twin.armed.len();
        let ahead = |flow: usize| period - period / 8 * (flow as u64 % 7) - flow as u64;
        let mut refused = 0;
        for step in 0..60_000 {
            if step % 3_000 == 0 {
                refused = 0;
                for flow in 0..flows {
                    if twin.armed[flow].is_none() {
                        refused += usize::from(!twin.arm(flow, 1 + period / 200 * flow as u64));
                    }
                }
            }
            if let Some(flow) = twin.fire() {
                refused += usize::from(!twin.arm(flow, ahead(flow)));
            }
        }
        (refused, twin.calendar.width_shift)
    }

    #[test]
    fn buckets_become_as_wide_as_the_timers_need() {
        let mut twin = Twin::new(200);
        for shift in [WIDTH_SHIFT, WIDTH_SHIFT + 4, WIDTH_SHIFT - 2] {
            let (refused, width_shift) = settle(&mut twin, 200 << shift);
            assert_eq!(refused, 0, "{shift}");
            assert!(width_shift.abs_diff(shift) <= 2, "{shift}: {width_shift}");
        }
    }

    /// Timers with equal deadlines fire in the order of flows.
    #[test]
    fn timers_of_one_time_fire_in_the_order_of_flows() {
        let mut twin = Twin::new(500);
        for round in 1..20 {
            for flow in 0..500 {
                // The timers are armed in an order that is neither the order of flows nor its
                // reverse.
                assert!(twin.arm(flow * 7 % 500, 100_000) || round < 4);
            }
            while twin.fire().is_some() {}
        }
    }
}
