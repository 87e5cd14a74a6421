//! Two event queues with the same interface: the crate's queue and a plain binary heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use bbrlab_events::{Event, EventQueue, Key, Kind, TimerId, id_tie, tie};
use bbrlab_units::Time;

/// Number of timers at each end of a flow.
pub(crate) const TIMERS_PER_END: u8 = 2;

/// The parameters of an event queue. The fields `flows`, `links` and `lanes` are the number of
/// flows, the number of links and the number of lanes (delay lines). The plain heap uses only
/// `flows` and `links`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) flows: u32,
    pub(crate) links: u32,
    /// The number of delay lines. With 0 delay lines, [`Queue::send`] inserts each packet as a
    /// separate event.
    pub(crate) lanes: u32,
    /// The timer of each flow that the crate's queue stores in its tournament tree.
    pub(crate) tournament_timer: Option<TimerId>,
    /// The timer of each flow that the crate's queue stores in its calendar queue.
    pub(crate) calendar_timer: Option<TimerId>,
}

/// The calls that a simulator makes to an event queue.
pub(crate) trait Queue {
    fn new(size: Size) -> Self;

    fn insert(&mut self, key: Key);

    /// Puts a packet into a lane. `key` has the time and the order of the packet's arrival.
    fn send(&mut self, lane: u32, key: Key);

    fn arm(&mut self, flow: u32, timer: TimerId, at: Time, now: Time);

    fn disarm(&mut self, flow: u32, timer: TimerId, now: Time);

    fn deadline(&self, flow: u32, timer: TimerId) -> Option<Time>;

    fn arm_link(&mut self, link: u32, at: Time);

    /// Ends the current event, if there is one, and takes the next event.
    fn next(&mut self) -> Option<Key>;
}

/// A queue that stores every packet, event and timer in one binary heap. A timer that is armed
/// again gets an additional entry. A timer's entry is an event only if its time is the timer's
/// current deadline.
pub(crate) struct Plain {
    heap: BinaryHeap<Reverse<Key>>,
    deadlines: Vec<Time>,
    link_deadlines: Vec<Time>,
}

fn place(flow: u32, timer: TimerId) -> usize {
    let number = timer.end() * TIMERS_PER_END + timer.number();
    flow as usize * 2 * usize::from(TIMERS_PER_END) + usize::from(number)
}

fn timer_key(at: Time, flow: u32, timer: TimerId) -> Key {
    let sequence = (u32::from(timer.end()) << 8) | u32::from(timer.number());
    Key::new(at, tie(Kind::Timer, id_tie(flow, sequence)))
}

impl Queue for Plain {
    fn new(size: Size) -> Self {
        Self {
            heap: BinaryHeap::new(),
            deadlines: vec![Time::NEVER; size.flows as usize * 2 * usize::from(TIMERS_PER_END)],
            link_deadlines: vec![Time::NEVER; size.links as usize],
        }
    }

    fn insert(&mut self, key: Key) {
        self.heap.push(Reverse(key));
    }

    fn send(&mut self, _: u32, key: Key) {
        self.heap.push(Reverse(key));
    }

    fn arm(&mut self, flow: u32, timer: TimerId, at: Time, _: Time) {
        self.deadlines[place(flow, timer)] = at;
        if at < Time::NEVER {
            self.heap.push(Reverse(timer_key(at, flow, timer)));
        }
    }

    fn disarm(&mut self, flow: u32, timer: TimerId, _: Time) {
        self.deadlines[place(flow, timer)] = Time::NEVER;
    }

    fn deadline(&self, flow: u32, timer: TimerId) -> Option<Time> {
        Some(self.deadlines[place(flow, timer)]).filter(|&at| at < Time::NEVER)
    }

    fn arm_link(&mut self, link: u32, at: Time) {
        self.link_deadlines[link as usize] = at;
        self.heap.push(Reverse(Key::new(at, tie(Kind::LinkTimer, id_tie(link, 0)))));
    }

    fn next(&mut self) -> Option<Key> {
        loop {
            let Reverse(key) = self.heap.pop()?;
            let id = bbrlab_events::id_of(key.tie());
            let deadline = match key.kind() {
                Kind::Timer => {
                    let timer = TimerId::of_sequence(bbrlab_events::sequence_of(key.tie()));
                    &mut self.deadlines[place(id, timer)]
                }
                Kind::LinkTimer => &mut self.link_deadlines[id as usize],
                _ => return Some(key),
            };
            if *deadline == key.time() {
                *deadline = Time::NEVER;
                return Some(key);
            }
        }
    }
}

/// The crate's queue and the packets of the lanes, which a caller of the queue must store.
pub(crate) struct Structured {
    queue: EventQueue,
    lanes: Vec<VecDeque<Key>>,
    open: Open,
}

/// Where the entry of the current event is still open (not removed): in the tournament tree of
/// timers, in the heap, or nowhere. `next` must close this entry before `next` takes another event.
#[derive(Clone, Copy)]
enum Open {
    Nothing,
    Timer,
    Entry,
}

impl Structured {
    /// Removes the head of a lane. Returns the key of the head and the key of the next packet.
    fn pop(&mut self, lane: u32) -> (Key, Key) {
        let packets = &mut self.lanes[lane as usize];
        let head = packets.pop_front().expect("the lane of the next event has a packet");
        (head, packets.front().copied().unwrap_or(Key::NEVER))
    }
}

impl Queue for Structured {
    fn new(size: Size) -> Self {
        let mut queue = EventQueue::new(TIMERS_PER_END);
        size.tournament_timer.into_iter().for_each(|timer| queue.set_tournament_timer(timer));
        size.calendar_timer.into_iter().for_each(|timer| queue.set_calendar_timer(timer));
        (0..size.flows).for_each(|_| queue.add_flow());
        (0..size.links).for_each(|_| queue.add_link());
        (0..size.lanes).for_each(|_| queue.add_lane());
        let lanes = vec![VecDeque::new(); size.lanes as usize];
        Self { queue, lanes, open: Open::Nothing }
    }

    fn insert(&mut self, key: Key) {
        self.queue.insert(key, 0);
    }

    fn send(&mut self, lane: u32, key: Key) {
        let Some(packets) = self.lanes.get_mut(lane as usize) else {
            self.insert(key);
            return;
        };
        let behind = packets.iter().rev().take_while(|&&other| other > key).count();
        let place = packets.len() - behind;
        packets.insert(place, key);
        if place == 0 {
            self.queue.head_arrived(lane, key);
        }
    }

    fn arm(&mut self, flow: u32, timer: TimerId, at: Time, now: Time) {
        self.queue.arm(flow, timer, at, now);
    }

    fn disarm(&mut self, flow: u32, timer: TimerId, now: Time) {
        self.queue.disarm(flow, timer, now);
    }

    fn deadline(&self, flow: u32, timer: TimerId) -> Option<Time> {
        self.queue.deadline(flow, timer)
    }

    fn arm_link(&mut self, link: u32, at: Time) {
        self.queue.arm_link(link, at);
    }

    fn next(&mut self) -> Option<Key> {
        loop {
            match std::mem::replace(&mut self.open, Open::Nothing) {
                Open::Nothing => {}
                Open::Timer => self.queue.close_timer(),
                Open::Entry => self.queue.close_entry(),
            }
            let (at, source) = self.queue.next();
            if at == Time::NEVER {
                return None;
            }
            match self.queue.take(source, at) {
                Event::FirstHead(lane) => {
                    let (head, next) = self.pop(lane);
                    *self.queue.first_head_mut(lane) = next;
                    return Some(head);
                }
                Event::Head(lane) => {
                    let (head, next) = self.pop(lane);
                    self.queue.head_left(lane, next);
                    return Some(head);
                }
                Event::TournamentTimer(flow) => {
                    self.open = Open::Timer;
                    return Some(timer_key(at, flow, self.queue.tournament_timer()));
                }
                Event::CalendarTimer(flow) => {
                    return Some(timer_key(at, flow, self.queue.calendar_timer()));
                }
                Event::Entry(key, index) => {
                    self.open = Open::Entry;
                    let is_timer = matches!(key.kind(), Kind::Timer | Kind::LinkTimer);
                    if !is_timer || self.queue.expires(key, index, at) {
                        return Some(key);
                    }
                }
            }
        }
    }
}
