//! Timers that are armed again and again: one at each end of every flow.
//!
//! A sender that paces arms its timer for every packet, and a receiver arms one for every few segments above a hole. The
//! future is divided into days, short stretches of time, and each timer stands on the day of its time, in order of time and
//! then of number: the first timer of the first day that has any fires next. Which days have timers is a map of bits, and the
//! next such day is mostly in the same word. So to arm a timer and to have it fire takes as long with a hundred thousand
//! others as with ten.
//!
//! A day is about as long as the time between two timers, and there are some days for each timer. The length is chosen anew
//! now and then. A timer for a time beyond the last day has no place here: it waits in the event queue, where it takes longer.
//! Those are the timers of flows that arm theirs more seldom than most.
//!
//! Sources: R. Brown, "Calendar queues: a fast O(1) priority queue implementation for the simulation event set problem",
//! Communications of the ACM 31(10), 1988.
//! Deviations:
//! 1. What lies beyond the last day is not taken, so that a day is never asked for the year of its timers.
//! 2. The length of a day follows from how often timers are armed, not from a sample of those that are.

use bbrlab_units::Time;

/// In place of the timer behind one: it is not armed.
const IDLE: u32 = u32::MAX;

/// In place of the timer behind one: it is, or was, in the event queue.
const ELSEWHERE: u32 = u32::MAX - 1;

/// In place of a timer of a day: there is no more.
const NOBODY: u32 = u32::MAX - 2;

/// In place of a day: there is none.
const NO_DAY: u64 = u64::MAX;

/// log2 of the length of a day in nanoseconds: at first, and at most. There are fewer than 2^28 days.
const DAY_SHIFT: u32 = 10;
const DAY_SHIFT_MAX: u32 = 35;

/// Days of a week.
const WEEK: usize = 64;

/// Days for each timer, at least. A few timers have more, because some of them may be much longer than others.
const DAYS_PER_TIMER: usize = 4;
const FEW_TIMERS: usize = 32;
const MORE_FOR_FEW: usize = 3;

/// A timer.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// When it fires.
    at: Time,
    /// The number of another one of its day, or [`NOBODY`]; or [`IDLE`] or [`ELSEWHERE`].
    after: u32,
}

/// Where a timer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is not armed.
    Nowhere,
    /// Here, armed for this time.
    Here(Time),
    /// It is, or was, in the event queue.
    Elsewhere,
}

impl Place {
    /// When the timer fires, `NEVER` if it is not armed; `None` if it is elsewhere.
    pub(crate) fn deadline(self) -> Option<Time> {
        match self {
            Self::Nowhere => Some(Time::NEVER),
            Self::Here(at) => Some(at),
            Self::Elsewhere => None,
        }
    }
}

/// Timers by number.
#[derive(Debug)]
pub(crate) struct Days {
    /// When the next timer fires, `NEVER` if none is armed here, and its number.
    next: (Time, u32),
    /// Its day; `NO_DAY` if none is armed. All timers up to that day are `next` and those of `today`.
    day: u64,
    /// The other timers of that day, the latest first.
    today: Vec<(Time, u32)>,
    /// How many timers there are on later days.
    later: u32,
    /// log2 of the length of a day in nanoseconds.
    day_shift: u32,
    /// Times that are less than this far ahead have a day.
    horizon: u64,
    timers: Vec<Timer>,
    /// A timer of each day, or [`NOBODY`]. The number of days is a power of two, and days a multiple of it apart share a place:
    /// only one of them is ever in use.
    firsts: Vec<u32>,
    /// Which days have timers: a bit for each, in a word for each week.
    busy: Vec<u64>,
    load: Load,
}

/// What has come since the length of a day was last looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Days.
    days: u64,
    /// Days that had timers.
    busy: u64,
    /// Timers that had no day.
    refused: u64,
}

impl Days {
    pub(crate) fn new() -> Self {
        let mut days = Self {
            next: (Time::NEVER, 0),
            day: NO_DAY,
            today: Vec::new(),
            later: 0,
            day_shift: DAY_SHIFT,
            horizon: 0,
            timers: Vec::new(),
            firsts: Vec::new(),
            busy: Vec::new(),
            load: Load::default(),
        };
        days.open(WEEK);
        days
    }

    /// Adds a timer while none is armed. Timers are numbered from 0.
    pub(crate) fn add(&mut self) {
        debug_assert_eq!(self.next.0, Time::NEVER);
        self.timers.push(Timer { at: Time::NEVER, after: IDLE });
        let timers = self.timers.len();
        let days = self.firsts.len();
        if days < DAYS_PER_TIMER * (timers + MORE_FOR_FEW * timers.min(FEW_TIMERS)) {
            self.open(2 * days);
        }
    }

    /// Makes so many days.
    fn open(&mut self, days: usize) {
        self.firsts = vec![NOBODY; days];
        self.busy = vec![0; days / WEEK];
        self.begin_length(self.day_shift);
    }

    /// Days are so long from now on. They have no timers.
    fn begin_length(&mut self, day_shift: u32) {
        self.day_shift = day_shift;
        self.horizon = self.horizon_with(day_shift);
        self.load = Load::default();
    }

    /// How far ahead times have a day if days are so long. The day of now is one of them.
    fn horizon_with(&self, day_shift: u32) -> u64 {
        (self.firsts.len() as u64 - 1) << day_shift
    }

    /// When the next timer fires; `NEVER` if none is armed here.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next.0
    }

    /// The number of the timer that fires next.
    #[inline]
    pub(crate) fn next_flow(&self) -> u32 {
        self.next.1
    }

    /// Where a timer is.
    pub(crate) fn place(&self, number: u32) -> Place {
        match self.timers[number as usize] {
            Timer { after: IDLE, .. } => Place::Nowhere,
            Timer { after: ELSEWHERE, .. } => Place::Elsewhere,
            Timer { at, .. } => Place::Here(at),
        }
    }

    /// The next timer, which there is, fires or is taken away at `now`, and is not armed any more. Returns its number.
    #[inline]
    pub(crate) fn fire(&mut self, now: Time) -> u32 {
        let number = self.next.1;
        self.timers[number as usize].after = IDLE;
        if let Some(next) = self.today.pop() {
            self.next = next;
        } else if self.later > 0 {
            self.begin_next_day(now);
        } else {
            self.next.0 = Time::NEVER;
            self.day = NO_DAY;
        }
        number
    }

    /// Arms a timer that is not armed for `at`, which is not before `now`. Returns false, and does nothing, if it is armed, or
    /// has no day.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for each kind of timer")]
    pub(crate) fn arm(&mut self, number: u32, at: Time, now: Time) -> bool {
        if self.timers[number as usize].after != IDLE || at.0 - now.0 >= self.horizon {
            return false;
        }
        let day = self.day_of(at);
        if day > self.day {
            self.enter(number, at, day);
        } else if self.day == NO_DAY {
            self.timers[number as usize] = Timer { at, after: NOBODY };
            self.next = (at, number);
            self.day = day;
        } else {
            self.enter_early(number, at, day);
        }
        true
    }

    /// A timer that is not armed, and has no day, is armed in the event queue.
    pub(crate) fn arm_elsewhere(&mut self, number: u32, now: Time) {
        self.timers[number as usize].after = ELSEWHERE;
        self.load.refused += 1;
        self.check_load(now);
    }

    /// From `now` on a timer is not armed any more, wherever it was.
    pub(crate) fn disarm(&mut self, number: u32, now: Time) {
        let Timer { at, after } = self.timers[number as usize];
        self.timers[number as usize].after = IDLE;
        if after == IDLE || after == ELSEWHERE {
            return;
        }
        let day = self.day_of(at);
        if self.next.1 == number {
            self.fire(now);
        } else if day == self.day {
            self.today.retain(|&(_, other)| other != number);
        } else {
            self.leave(number, after, day);
        }
    }

    /// A timer, behind which `after` comes, leaves its day, which is a later one.
    fn leave(&mut self, number: u32, after: u32, day: u64) {
        self.later -= 1;
        let (week, place) = (self.week_of(day), self.place_of(day));
        let mut before = self.firsts[place];
        if before == number {
            self.firsts[place] = after;
            if after == NOBODY {
                self.busy[week] &= !bit_of(day);
            }
            return;
        }
        while self.timers[before as usize].after != number {
            before = self.timers[before as usize].after;
        }
        self.timers[before as usize].after = after;
    }

    /// The number of the day of a time.
    #[inline]
    fn day_of(&self, at: Time) -> u64 {
        at.0 >> self.day_shift
    }

    /// The place of a day.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "days share places")]
    fn place_of(&self, day: u64) -> usize {
        day as usize & (self.firsts.len() - 1)
    }

    /// The place of the week of a day.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "weeks share places")]
    fn week_of(&self, day: u64) -> usize {
        (day as usize / WEEK) & (self.busy.len() - 1)
    }

    /// Puts a timer on a day later than that of the next one.
    #[inline]
    fn enter(&mut self, number: u32, at: Time, day: u64) {
        let (week, place) = (self.week_of(day), self.place_of(day));
        self.busy[week] |= bit_of(day);
        let after = std::mem::replace(&mut self.firsts[place], number);
        self.timers[number as usize] = Timer { at, after };
        self.later += 1;
    }

    /// Puts a timer on the day of the next one or on an earlier day, or there is no next one.
    #[cold]
    #[inline(never)]
    fn enter_early(&mut self, number: u32, at: Time, day: u64) {
        self.timers[number as usize] = Timer { at, after: NOBODY };
        if day != self.day {
            self.put_off();
            self.day = day;
            self.next = (at, number);
        } else if (at, number) < self.next {
            self.today.push(self.next);
            self.next = (at, number);
        } else {
            let place = self.today.partition_point(|&other| other > (at, number));
            self.today.insert(place, (at, number));
        }
    }

    /// The next timer and those of its day go back to it: there is an earlier one.
    #[inline]
    fn put_off(&mut self) {
        if self.day == NO_DAY {
            return;
        }
        let (at, number) = self.next;
        self.enter(number, at, self.day);
        while let Some((at, number)) = self.today.pop() {
            self.enter(number, at, self.day);
        }
    }

    /// Today is over. The next day is the first that has timers, which there is.
    #[inline]
    fn begin_next_day(&mut self, now: Time) {
        let week = self.week_of(self.day);
        // What is marked below are days to come behind all others.
        let busy = self.busy[week] & ((u64::MAX - 1) << (self.day % WEEK as u64));
        if busy == 0 {
            self.begin_other_week(now);
        } else {
            self.begin_day(self.day, busy);
        }
    }

    /// The first of the `busy` days of the week of `day` begins.
    #[inline]
    fn begin_day(&mut self, day: u64, busy: u64) {
        let week = self.week_of(day);
        let day = day / WEEK as u64 * WEEK as u64 + u64::from(busy.trailing_zeros());
        self.busy[week] &= !bit_of(day);
        let place = self.place_of(day);
        let first = std::mem::replace(&mut self.firsts[place], NOBODY);
        let Timer { at, after } = self.timers[first as usize];
        debug_assert_eq!(self.day_of(at), day);
        self.day = day;
        self.next = (at, first);
        self.later -= 1;
        self.load.busy += 1;
        if after != NOBODY {
            self.sort_today(after);
        }
    }

    /// Today has more timers than that of `next`: `number` and those behind it.
    #[inline(never)]
    fn sort_today(&mut self, mut number: u32) {
        self.today.push(self.next);
        while number != NOBODY {
            let Timer { at, after } = self.timers[number as usize];
            self.today.push((at, number));
            self.later -= 1;
            number = after;
        }
        self.today.sort_unstable_by(|a, b| b.cmp(a));
        self.next = self.today.pop().expect("just pushed");
    }

    /// The rest of the week has no timers.
    #[cold]
    #[inline(never)]
    fn begin_other_week(&mut self, now: Time) {
        let mut day = self.day;
        let busy = loop {
            day += WEEK as u64;
            self.load.days += WEEK as u64;
            let busy = self.busy[self.week_of(day)];
            if busy != 0 {
                break busy;
            }
        };
        self.begin_day(day, busy);
        self.check_load(now);
    }

    /// Makes days longer or shorter if they have proved to be too short or too long. No timer is armed for a time before `now`.
    #[inline]
    fn check_load(&mut self, now: Time) {
        let Load { days, busy, refused } = self.load;
        if busy + refused + days / WEEK as u64 >= self.firsts.len() as u64 / 8 {
            self.adapt(now);
        }
    }

    #[cold]
    fn adapt(&mut self, now: Time) {
        let Load { days, busy, .. } = self.load;
        if days == 0 && busy > 0 {
            // The first week is not over.
            return;
        }
        self.load = Load::default();
        if busy * 8 < days || days == 0 {
            if self.day_shift < DAY_SHIFT_MAX {
                self.change_length(self.day_shift + 1);
            }
        } else if busy * 2 > days && self.day_shift > 0 {
            let horizon = self.horizon_with(self.day_shift - 1);
            let is_armed = |timer: &&Timer| timer.after != IDLE && timer.after != ELSEWHERE;
            let mut armed = self.timers.iter().filter(is_armed);
            if armed.all(|timer| timer.at.0 - now.0 < horizon) {
                self.change_length(self.day_shift - 1);
            }
        }
    }

    /// Changes the length of a day to one with which every timer has a day.
    fn change_length(&mut self, day_shift: u32) {
        self.firsts.fill(NOBODY);
        self.busy.fill(0);
        self.begin_length(day_shift);
        self.next.0 = Time::NEVER;
        self.day = NO_DAY;
        self.today.clear();
        self.later = 0;
        for number in 0..u32::try_from(self.timers.len()).expect("fewer than 2^26 timers") {
            let Timer { at, after } = self.timers[number as usize];
            if after == IDLE || after == ELSEWHERE {
                continue;
            }
            let day = self.day_of(at);
            if day > self.day {
                self.enter(number, at, day);
            } else {
                self.enter_early(number, at, day);
            }
        }
    }
}

/// The bit of a day in the word of its week.
#[inline]
const fn bit_of(day: u64) -> u64 {
    1 << (day % WEEK as u64)
}

#[cfg(test)]
mod tests {
    use super::{DAY_SHIFT, Days, Place};
    use bbrlab_units::Time;
    use proptest::prelude::*;

    /// Timers on days beside what should be there, by flow.
    struct Twin {
        days: Days,
        armed: Vec<Option<Time>>,
        now: Time,
    }

    impl Twin {
        fn new(flows: usize) -> Self {
            let mut days = Days::new();
            (0..flows).for_each(|_| days.add());
            Self { days, armed: vec![None; flows], now: Time::ZERO }
        }

        /// Arms a timer that is not armed in `ahead` nanoseconds; whether there is a day for it.
        fn arm(&mut self, flow: usize, ahead: u64) -> bool {
            let number = u32::try_from(flow).unwrap();
            let at = Time(self.now.0 + ahead);
            self.days.disarm(number, self.now);
            self.armed[flow] = None;
            let is_armed = self.days.arm(number, at, self.now);
            if is_armed {
                self.armed[flow] = Some(at);
                assert!(!self.days.arm(number, at, self.now), "it is armed");
            } else {
                self.days.arm_elsewhere(number, self.now);
                assert_eq!(self.days.place(number), Place::Elsewhere);
            }
            is_armed
        }

        fn disarm(&mut self, flow: usize) {
            self.days.disarm(u32::try_from(flow).unwrap(), self.now);
            self.armed[flow] = None;
        }

        /// Fires the next timer; whose it is.
        fn fire(&mut self) -> Option<usize> {
            let times = self.armed.iter().enumerate().filter_map(|(flow, at)| Some(((*at)?, flow)));
            let Some((at, flow)) = times.min() else {
                assert_eq!(self.days.next(), Time::NEVER);
                return None;
            };
            assert_eq!((self.days.next(), self.days.next_flow() as usize), (at, flow));
            self.now = at;
            assert_eq!(self.days.fire(at) as usize, flow);
            self.armed[flow] = None;
            Some(flow)
        }

        fn check_places(&self) {
            for (number, &armed) in (0..).zip(&self.armed) {
                match self.days.place(number) {
                    Place::Here(at) => assert_eq!(Some(at), armed),
                    Place::Nowhere | Place::Elsewhere => assert_eq!(armed, None),
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
                twin.check_places();
            }
            while twin.fire().is_some() {}
        }
    }

    /// Each timer is armed again when it has fired, for a time of its own within `period`. Returns how many times there was no
    /// day for one among the last ones, and how long a day is then.
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
        (refused, twin.days.day_shift)
    }

    #[test]
    fn days_become_as_long_as_the_timers_need() {
        let mut twin = Twin::new(200);
        for shift in [DAY_SHIFT, DAY_SHIFT + 4, DAY_SHIFT - 2] {
            let (refused, day_shift) = settle(&mut twin, 200 << shift);
            assert_eq!(refused, 0, "{shift}");
            assert!(day_shift.abs_diff(shift) <= 2, "{shift}: {day_shift}");
        }
    }

    /// Timers of the same time cost no more than others.
    #[test]
    fn timers_of_one_time_fire_in_the_order_of_flows() {
        let mut twin = Twin::new(500);
        for round in 1..20 {
            for flow in 0..500 {
                // In an order that is neither that of flows nor the reverse.
                assert!(twin.arm(flow * 7 % 500, 100_000) || round < 4);
            }
            while twin.fire().is_some() {}
        }
    }
}
