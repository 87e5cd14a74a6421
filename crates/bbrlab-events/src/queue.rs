//! The event queue: its interface, and the choice of the next event among the structures that store
//! events.

use bbrlab_units::Time;

use crate::calendar::{CalendarQueue, TimerState};
use crate::heap::Heap;
use crate::key::{Key, Kind, id_tie, tie};
use crate::lane_tournament::LaneTournament;
use crate::lazy_timers::{LazyTimers, Reached, TimerId};
use crate::timer_tournament::TimerTournament;

/// Number of lanes whose heads are compared directly, without a tournament.
const FIRST_LANES: u32 = 2;

/// The structure that holds the next event. [`EventQueue::take`] removes the event from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The head of lane 0.
    FirstLane = 0,
    /// The head of lane 1.
    SecondLane = 1,
    /// The tournament of timers.
    TimerTournament,
    /// The heap, the tournament of the lanes after the first two, or the calendar.
    Others,
}

/// The next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The head of lane 0 or 1 arrives. The caller must set the next head with
    /// [`EventQueue::first_head_mut`].
    FirstHead(u32),
    /// The head of a lane other than 0 and 1 arrives. The caller must then call
    /// [`EventQueue::head_left`].
    Head(u32),
    /// The tournament timer of this flow expires. The caller must end the event with
    /// [`EventQueue::close_timer`].
    TournamentTimer(u32),
    /// The calendar timer of this flow expires.
    CalendarTimer(u32),
    /// An entry of the heap, with its index: an inserted event, or a timer, which expires if
    /// [`EventQueue::expires`] returns true. The caller must end the event with
    /// [`EventQueue::close_entry`].
    Entry(Key, u32),
}

/// The structure that holds the first event of [`Source::Others`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    Heap,
    /// The head of this lane of the tournament.
    Head(u32),
    Calendar,
}

/// All future events of a network: inserted events, heads of lanes, and timers of flows and links.
#[derive(Debug)]
pub struct EventQueue {
    /// The heads of lanes 0 and 1.
    first_heads: [Key; FIRST_LANES as usize],
    tournament: TimerTournament,
    /// Which timer of each flow is in the tournament.
    tournament_timer: TimerId,
    /// Time of the first event in the heap, the lane tournament and the calendar. While an event
    /// from the heap is processed, until [`Self::close_entry`], the stored time may be too early.
    others: Time,
    heap: Heap,
    /// Time of the first event in the lane tournament and the calendar.
    outside_heap: Time,
    lanes: LaneTournament,
    calendar: CalendarQueue,
    /// Which timer of each flow is in the calendar.
    calendar_timer: TimerId,
    /// The timers in the heap that belong to flows.
    timers: LazyTimers,
    /// The timers in the heap that belong to links.
    link_timers: LazyTimers,
    lane_count: u32,
    link_count: u32,
    flow_count: u32,
}

impl EventQueue {
    /// Makes an empty queue. Each of the two ends of a flow has the timers `0..timers_per_end`.
    #[must_use]
    pub fn new(timers_per_end: u8) -> Self {
        Self {
            first_heads: [Key::NEVER; FIRST_LANES as usize],
            tournament: TimerTournament::new(),
            tournament_timer: TimerId::NONE,
            others: Time::NEVER,
            heap: Heap::new(),
            outside_heap: Time::NEVER,
            lanes: LaneTournament::new(),
            calendar: CalendarQueue::new(),
            calendar_timer: TimerId::NONE,
            timers: LazyTimers::new(2, timers_per_end),
            link_timers: LazyTimers::new(1, 1),
            lane_count: 0,
            link_count: 0,
            flow_count: 0,
        }
    }

    /// Stores this timer of each flow in the tournament. Choose a timer that is armed for almost
    /// every packet. The choice affects only the cost. This function must be called before the
    /// first flow is added.
    pub fn set_tournament_timer(&mut self, timer: TimerId) {
        self.tournament_timer = timer;
    }

    /// Stores this timer of each flow in the calendar. Choose a timer that is armed often and about
    /// equally far ahead in all flows. The choice affects only the cost. This function must be
    /// called before the first flow is added.
    pub fn set_calendar_timer(&mut self, timer: TimerId) {
        self.calendar_timer = timer;
    }

    /// Returns which timer of each flow is in the tournament.
    #[inline]
    pub fn tournament_timer(&self) -> TimerId {
        self.tournament_timer
    }

    /// Returns which timer of each flow is in the calendar.
    #[inline]
    pub fn calendar_timer(&self) -> TimerId {
        self.calendar_timer
    }

    /// Adds the next flow, with no timer armed. Flows are numbered from 0. No tournament timer and
    /// no calendar timer may be armed yet.
    pub fn add_flow(&mut self) {
        self.timers.add(self.flow_count);
        self.tournament.add(self.flow_count);
        self.calendar.add();
        self.flow_count += 1;
    }

    /// Adds the next link, with its timer not armed. Links are numbered from 0.
    pub fn add_link(&mut self) {
        self.link_timers.add(self.link_count);
        self.link_count += 1;
    }

    /// Adds the next lane, which is empty. Lanes are numbered from 0; events of the first two lanes
    /// cost least.
    pub fn add_lane(&mut self) {
        if self.lane_count >= FIRST_LANES {
            self.lanes.add();
        }
        self.lane_count += 1;
    }

    /// Returns when the next event is due and which structure holds it. The time is `NEVER` if
    /// there is no event. If [`Self::take`] has returned an event before, the caller must have
    /// ended that event as [`Event`] describes.
    ///
    /// The entry of a timer counts as an event, even if the timer was moved or disarmed after the
    /// entry was inserted.
    #[inline]
    pub fn next(&self) -> (Time, Source) {
        // Compares only times, unless several events are due at the same time.
        let [first, second] = self.first_heads.map(Key::time);
        let others = self.others;
        let timer = self.tournament.next();
        let head = first.min(second);
        if timer < head.min(others) {
            return (timer, Source::TimerTournament);
        }
        if head < others && head != timer && first != second {
            return (head, if second < first { Source::SecondLane } else { Source::FirstLane });
        }
        if others < head && others != timer {
            return (others, Source::Others);
        }
        self.next_by_key()
    }

    /// Like [`Self::next`], but compares whole keys, because several events are due at the earliest
    /// time.
    #[inline(never)]
    fn next_by_key(&self) -> (Time, Source) {
        let [first, second] = self.first_heads;
        let timer =
            timer_key(self.tournament.next(), self.tournament.next_flow(), self.tournament_timer);
        let others = self.heap.top().0.min(self.lanes.winner().0).min(self.calendar_key());
        let candidates = [
            (first, Source::FirstLane),
            (second, Source::SecondLane),
            (others, Source::Others),
            (timer, Source::TimerTournament),
        ];
        let least = candidates.into_iter().min_by_key(|&(key, _)| key);
        least.map_or((Time::NEVER, Source::Others), |(key, source)| (key.time(), source))
    }

    /// Returns the key of the calendar's first timer.
    fn calendar_key(&self) -> Key {
        timer_key(self.calendar.next(), self.calendar.next_flow(), self.calendar_timer)
    }

    /// Takes the next event. `source` and `now` must be the result of [`Self::next`].
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "after inlining, each branch of `next` passes a constant `source`"
    )]
    pub fn take(&mut self, source: Source, now: Time) -> Event {
        match source {
            Source::FirstLane | Source::SecondLane => Event::FirstHead(source as u32),
            Source::TimerTournament => Event::TournamentTimer(self.tournament.fire()),
            Source::Others => match self.other() {
                Other::Head(lane) => Event::Head(FIRST_LANES + lane),
                Other::Calendar => Event::CalendarTimer(self.fire_from_calendar(now)),
                Other::Heap => {
                    let (key, index) = self.heap.top();
                    self.heap.pop();
                    Event::Entry(key, index)
                }
            },
        }
    }

    /// Returns the structure that holds the first event of [`Source::Others`]. The heap, the lane
    /// tournament or the calendar must have an event.
    #[inline]
    fn other(&self) -> Other {
        let in_heap = self.heap.top().0.time();
        if in_heap < self.outside_heap {
            return Other::Heap;
        }
        let (in_calendar, (head, lane)) = (self.calendar.next(), self.lanes.winner());
        let head = head.time();
        if head < in_calendar.min(in_heap) {
            return Other::Head(lane);
        }
        if in_calendar < head.min(in_heap) {
            return Other::Calendar;
        }
        self.other_by_key()
    }

    /// Like [`Self::other`], but compares whole keys. Comparing times is not enough if two or three
    /// of the structures (heap, lane tournament, calendar) have an event due at the earliest time.
    #[inline(never)]
    fn other_by_key(&self) -> Other {
        let (head, lane) = self.lanes.winner();
        let (in_heap, in_calendar) = (self.heap.top().0, self.calendar_key());
        if in_heap < head.min(in_calendar) {
            Other::Heap
        } else if head < in_calendar {
            Other::Head(lane)
        } else {
            Other::Calendar
        }
    }

    #[inline(never)]
    fn fire_from_calendar(&mut self, now: Time) -> u32 {
        let flow = self.calendar.fire(now);
        self.find_outside_heap();
        self.find_others();
        flow
    }

    /// Ends the current event, which must have been a tournament timer.
    #[inline]
    pub fn close_timer(&mut self) {
        self.tournament.close();
    }

    /// Ends the current event, which must have been an entry of the heap.
    #[inline]
    pub fn close_entry(&mut self) {
        if self.heap.is_open() {
            self.heap.close();
            self.find_others();
        }
    }

    /// Inserts an event. [`Self::take`] returns `index` with the event.
    #[inline]
    pub fn insert(&mut self, key: Key, index: u32) {
        if self.heap.is_open() {
            self.heap.push(key, index);
            self.find_others();
        } else {
            self.heap.push(key, index);
            self.others = self.others.min(key.time());
        }
    }

    /// Iterates over all entries of the heap in no particular order: inserted events and entries of
    /// timers.
    pub fn entries(&self) -> impl Iterator<Item = (Key, u32)> {
        self.heap.iter()
    }

    /// Sets the head of a lane to a packet that has just entered. The lane was empty, or the packet
    /// precedes all other packets of the lane.
    #[inline]
    pub fn head_arrived(&mut self, lane: u32, key: Key) {
        match lane.checked_sub(FIRST_LANES) {
            None => self.first_heads[lane as usize] = key,
            Some(lane) => {
                self.lanes.set(lane, key);
                self.outside_heap = self.outside_heap.min(key.time());
                self.others = self.others.min(key.time());
            }
        }
    }

    /// Returns the head of lane 0 or 1, which must be the event that was just taken. Set the
    /// returned head to the key of the next packet, or to [`Key::NEVER`] if the lane is now empty.
    #[inline]
    pub fn first_head_mut(&mut self, lane: u32) -> &mut Key {
        &mut self.first_heads[(lane % FIRST_LANES) as usize]
    }

    /// Sets the head of a lane other than 0 and 1. The lane's previous head must be the event that
    /// was just taken. `next` is the key of the next packet, or [`Key::NEVER`] if the lane is now
    /// empty.
    #[inline]
    pub fn head_left(&mut self, lane: u32, next: Key) {
        self.lanes.set(lane - FIRST_LANES, next);
        self.find_outside_heap();
        self.find_others();
    }

    #[inline]
    fn find_others(&mut self) {
        self.others = self.heap.top().0.time().min(self.outside_heap);
    }

    #[inline]
    fn find_outside_heap(&mut self) {
        self.outside_heap = self.lanes.winner().0.time().min(self.calendar.next());
    }

    /// Arms a timer of a flow for `at`, which replaces any previous deadline. `at` must not be
    /// before `now`, the time of the current event. The timer never expires if `at` is `NEVER`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "runs for each packet of a paced sender; `timer` is a constant there"
    )]
    pub fn arm(&mut self, flow: u32, timer: TimerId, at: Time, now: Time) {
        if timer == self.tournament_timer {
            if !self.tournament.arm(flow, at) {
                self.arm_late_tournament_timer(flow, at, now);
            }
        } else if timer == self.calendar_timer {
            self.arm_calendar_timer(flow, at, now);
        } else {
            self.arm_in_heap(flow, timer, at);
        }
    }

    /// Like [`Self::arm`], but faster than `arm` if the timer is the calendar timer.
    #[inline]
    pub fn arm_mostly_calendar(&mut self, flow: u32, timer: TimerId, at: Time, now: Time) {
        if timer == self.calendar_timer {
            self.arm_calendar_timer(flow, at, now);
        } else {
            self.arm_apart(flow, timer, at, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn arm_apart(&mut self, flow: u32, timer: TimerId, at: Time, now: Time) {
        self.arm(flow, timer, at, now);
    }

    #[inline(never)]
    fn arm_calendar_timer(&mut self, flow: u32, at: Time, now: Time) {
        if !self.enter_calendar(flow, at, now) {
            self.arm_calendar_timer_again(flow, at, now);
        }
    }

    /// Arms a calendar timer that is already armed, or whose deadline has no bucket or is `NEVER`.
    #[cold]
    #[inline(never)]
    fn arm_calendar_timer_again(&mut self, flow: u32, at: Time, now: Time) {
        self.disarm(flow, self.calendar_timer, now);
        if at < Time::NEVER && !self.enter_calendar(flow, at, now) {
            self.calendar.mark_in_heap(flow, now);
            self.arm_in_heap(flow, self.calendar_timer, at);
        }
    }

    /// Puts a timer into the calendar and returns true. Returns false, and does nothing, if the
    /// timer was already armed before the call or if the deadline `at` has no bucket.
    #[inline]
    fn enter_calendar(&mut self, flow: u32, at: Time, now: Time) -> bool {
        let is_armed = self.calendar.arm(flow, at, now);
        if is_armed && at < self.outside_heap {
            self.outside_heap = at;
            self.others = self.others.min(at);
        }
        is_armed
    }

    /// Arms a timer in the heap. If the timer already has an entry with an earlier time, no entry
    /// is added: the old entry stays in the heap.
    #[inline]
    fn arm_in_heap(&mut self, flow: u32, timer: TimerId, at: Time) {
        let slot = self.timers.slot(flow, timer);
        if self.timers.arm(slot, at) {
            self.push_timer(flow, timer, slot, at);
        }
    }

    #[inline(never)]
    fn push_timer(&mut self, flow: u32, timer: TimerId, slot: u32, at: Time) {
        self.insert(Key::new(at, tie(Kind::Timer, id_tie(flow, timer.sequence()))), slot);
    }

    /// Arms a tournament timer for a deadline that is too late for an entry of the tournament. If
    /// the deadline is [`Time::NEVER`], the timer is disarmed. Any other deadline moves all timers
    /// of the tournament into the heap.
    #[cold]
    #[inline(never)]
    fn arm_late_tournament_timer(&mut self, flow: u32, at: Time, now: Time) {
        if at == Time::NEVER {
            self.tournament.disarm(flow);
        } else {
            let timer = self.tournament_timer;
            self.leave_tournament(now);
            self.arm_in_heap(flow, timer, at);
        }
    }

    /// Moves the tournament timers of all flows into the heap, where they stay until the end of the
    /// run.
    #[cold]
    fn leave_tournament(&mut self, now: Time) {
        let timer = std::mem::replace(&mut self.tournament_timer, TimerId::NONE);
        for flow in 0..self.flow_count {
            let deadline = self.tournament.deadline(flow);
            if deadline < Time::NEVER {
                self.tournament.disarm(flow);
                self.arm(flow, timer, deadline, now);
            }
        }
    }

    /// Disarms a timer of a flow. `now` is the time of the current event.
    #[inline]
    pub fn disarm(&mut self, flow: u32, timer: TimerId, now: Time) {
        if timer == self.tournament_timer {
            self.tournament.disarm(flow);
            return;
        }
        if timer == self.calendar_timer {
            let state = self.calendar.state(flow);
            self.disarm_in_calendar(flow, now);
            if state != TimerState::InHeap {
                return;
            }
        }
        let slot = self.timers.slot(flow, timer);
        self.timers.disarm(slot);
    }

    fn disarm_in_calendar(&mut self, flow: u32, now: Time) {
        self.calendar.disarm(flow, now);
        self.find_outside_heap();
        // While an entry of the heap is taken but not closed, this function does not update
        // `others`, because `close_entry` or `insert` will update it.
        if !self.heap.is_in_event() {
            self.find_others();
        }
    }

    /// Returns the deadline of a flow's timer; `None` if it is not armed.
    pub fn deadline(&self, flow: u32, timer: TimerId) -> Option<Time> {
        let deadline = if timer == self.tournament_timer {
            self.tournament.deadline(flow)
        } else if timer == self.calendar_timer
            && let Some(at) = self.calendar.state(flow).deadline()
        {
            at
        } else {
            self.timers.deadline(self.timers.slot(flow, timer))
        };
        (deadline != Time::NEVER).then_some(deadline)
    }

    /// Arms the timer of a link for `at`, which replaces any previous deadline.
    pub fn arm_link(&mut self, link: u32, at: Time) {
        if self.link_timers.arm(link, at) {
            self.insert(Key::new(at, tie(Kind::LinkTimer, id_tie(link, 0))), link);
        }
    }

    /// Whether the timer of an entry, taken at `now`, expires. If true, the timer is no longer
    /// armed. If false, the timer was moved or disarmed after the entry was inserted: the queue
    /// inserts the entry again at the new deadline, or drops the entry.
    #[inline]
    pub fn expires(&mut self, key: Key, index: u32, now: Time) -> bool {
        let timers =
            if key.kind() == Kind::LinkTimer { &mut self.link_timers } else { &mut self.timers };
        match timers.reached(index, now) {
            Reached::Expires => true,
            Reached::Later(at) => {
                self.insert(Key::new(at, key.tie()), index);
                false
            }
            Reached::Stale => false,
        }
    }
}

/// Returns the key of a timer with this deadline; [`Key::NEVER`] if the deadline is `NEVER`.
fn timer_key(at: Time, flow: u32, timer: TimerId) -> Key {
    match at {
        Time::NEVER => Key::NEVER,
        at => Key::new(at, tie(Kind::Timer, id_tie(flow, timer.sequence()))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, EventQueue};
    use crate::lazy_timers::TimerId;
    use bbrlab_units::Time;

    /// A deadline that is too late for an entry of the tournament. An entry has 64 bits. The
    /// highest bit is 0 if the timer is armed, and with two flows the lowest bit is the flow's
    /// number, so 62 bits are left for the deadline.
    const LATE: Time = Time(u64::MAX / 2);

    #[test]
    fn a_tournament_timer_that_is_armed_for_too_late_a_time_becomes_one_of_the_heap() {
        let timer = TimerId::new(0, 0);
        let mut queue = EventQueue::new(1);
        queue.set_tournament_timer(timer);
        (0..2).for_each(|_| queue.add_flow());
        queue.arm(0, timer, Time(8), Time::ZERO);
        assert_eq!(queue.tournament_timer, timer);
        queue.arm(1, timer, LATE, Time::ZERO);
        assert_eq!(queue.tournament_timer, TimerId::NONE);
        for (flow, at) in [(0, Time(8)), (1, LATE)] {
            assert_eq!(queue.deadline(flow, timer), Some(at));
            let (due, source) = queue.next();
            let Event::Entry(key, index) = queue.take(source, due) else { panic!("{source:?}") };
            assert!(queue.expires(key, index, due));
            queue.close_entry();
            assert_eq!((due, queue.deadline(flow, timer)), (at, None));
        }
        assert_eq!(queue.next().0, Time::NEVER);
    }
}
