//! Simulates a link that passes the packets of a log to a queue discipline, and records each
//! packet's fate: departed, dropped or marked.
//!
//! The link requests a packet from the discipline when the link becomes free, or when a packet
//! arrives at the idle link. The link becomes free when its timer fires. As in the log, the timer
//! may fire up to `LATE_NS` after the computed end of a service. If a packet waits then, its
//! service begins at the computed end of the previous service, not when the timer fires.

use std::collections::VecDeque;

use bbrlab_queue::{Discipline, DropCause, Hosts, Police, Queued, Rule as _};
use bbrlab_units::Time;

use super::chance::{Chance, Event, Kind};
use super::episode::{Episode, Point};
use super::row::{Call, Fate, Row};
use super::tc::Child;

/// The longest delay between a timer's computed time and its firing, in nanoseconds.
const LATE_NS: u64 = 1000;

/// A moment of the replay, before or after a call of the discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// A packet is about to be enqueued.
    BeforeEnqueue,
    /// A packet has been enqueued.
    AfterEnqueue,
    /// The link has requested a packet.
    Dequeued {
        /// Whether the discipline returned a packet.
        is_some: bool,
    },
    /// The discipline's timer has been handled.
    Timer,
}

/// Replays the packets of `rows`, which must be the rows of `point`, and returns each packet's
/// fate. At each [`Moment`], calls `watch` with the moment, the time in nanoseconds, and the
/// discipline.
pub(super) fn replay(
    episode: &Episode,
    point: &Point,
    rows: &[Row],
    events: &[Event],
    watch: impl FnMut(Moment, u64, &Discipline),
) -> Vec<Fate> {
    match &point.child {
        Child::Queue { queue, limit } => {
            let chance = Chance::new(rows, point.name, events);
            let discipline = Discipline::new(queue, *limit);
            let of_timer = |e: &&Event| e.kind == Kind::PieTimer && e.point == point.name;
            Link {
                t0_ns: episode.t0_ns,
                rate_bps: point.rate_bps,
                discipline,
                chance,
                rows,
                fates: vec![Fate::default(); rows.len()],
                in_service: None,
                last_service: (0, 0),
                fired: fired(rows, point.rate_bps.is_some()),
                timer: events.iter().filter(of_timer).map(|event| event.time_ns).collect(),
                watch,
            }
            .run()
        }
        Child::Police(policer) => {
            let mut police = Police::new(policer);
            let fate = |row: &Row| {
                let now = Time(episode.t0_ns + row.arrives.ns);
                let passes = police.admits(now, row.wire_bytes);
                let dropped_ns = (!passes).then_some(row.arrives.ns);
                Fate { dropped_ns, ..Fate::default() }
            };
            rows.iter().map(fate).collect()
        }
    }
}

/// Returns the times at which the link's timer fired, as far as the log shows them. If the link has
/// a rate, the returned times are the departures, otherwise the times at which the discipline
/// released packets.
fn fired(rows: &[Row], is_serialised: bool) -> VecDeque<Call> {
    let mut calls: Vec<Call> =
        rows.iter().filter_map(|row| if is_serialised { row.departs } else { row.taken }).collect();
    calls.sort_unstable();
    calls.into()
}

/// A link with its discipline, during the replay of a log.
struct Link<'a, W> {
    t0_ns: u64,
    rate_bps: Option<u64>,
    discipline: Discipline,
    chance: Chance<'a>,
    rows: &'a [Row],
    fates: Vec<Fate>,
    /// The index of the packet in service, and the computed end of its service in nanoseconds.
    in_service: Option<(u32, u64)>,
    /// Two times of the last departure in nanoseconds: the time at which the link's timer fired,
    /// and the computed end of the service.
    last_service: (u64, u64),
    fired: VecDeque<Call>,
    /// The times at which the discipline's timer fires. Only logs of `pie` have such times.
    timer: VecDeque<u64>,
    watch: W,
}

/// The kind of the next event. The log numbers the events of one time; events whose number the log
/// lacks have the number 0 or `u64::MAX`. If two events have the same time and the same number, a
/// timer comes before a departure, and a departure before an arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Timer,
    Departure,
    Arrival,
}

impl<W: FnMut(Moment, u64, &Discipline)> Link<'_, W> {
    fn run(mut self) -> Vec<Fate> {
        let mut arrived = 0;
        loop {
            let arrival = self.rows.get(arrived).map(|row| (row.arrives, Step::Arrival));
            let departure = self.in_service.map(|(_, end)| (self.fires_at(end), Step::Departure));
            let timer = self.next_timer().map(|call| (call, Step::Timer));
            let Some((call, step)) = [arrival, departure, timer].into_iter().flatten().min() else {
                return self.fates;
            };
            if self.log_has_ended(call, arrived) {
                return self.fates;
            }
            match step {
                Step::Arrival => {
                    self.arrive(arrived);
                    arrived += 1;
                }
                Step::Departure => self.depart(call),
                Step::Timer => self.tick(call),
            }
        }
    }

    /// Whether the log has ended before `call`: all packets have arrived, and every firing of the
    /// link's timer in the log is earlier than `call`.
    fn log_has_ended(&self, call: Call, arrived: usize) -> bool {
        arrived == self.rows.len() && self.fired.back().is_none_or(|last| call.ns > last.ns)
    }

    /// The link's timer is set for the time `computed`. Returns the call in the log at which this
    /// timer fired; if the log has no such call, a call at `computed`.
    fn fires_at(&self, computed: u64) -> Call {
        let from = self.fired.partition_point(|call| call.ns < computed);
        match self.fired.get(from) {
            Some(&call) if call.ns <= computed + LATE_NS => call,
            _ => Call { ns: computed, number: u64::MAX },
        }
    }

    fn next_timer(&self) -> Option<Call> {
        if let Some(&ns) = self.timer.front() {
            return Some(Call { ns, number: 0 });
        }
        let at = self.discipline.timer();
        // In the logs of links with a rate, `pie` is the only discipline with a timer. The times of
        // `pie`'s timer come from the log (`self.timer`), so the computed time is used only for
        // links without a rate.
        let computed = at.0.checked_sub(self.t0_ns)?;
        (at != Time::NEVER && self.rate_bps.is_none()).then(|| self.fires_at(computed))
    }

    fn time(&self, ns: u64) -> Time {
        Time(self.t0_ns + ns)
    }

    fn arrive(&mut self, at: usize) {
        let row = &self.rows[at];
        let now = self.time(row.arrives.ns);
        let packet = Queued {
            handle: u32::try_from(at).expect("a log has fewer than 2^32 rows"),
            flow: row.flow,
            wire_bytes: row.wire_bytes,
            ecn: row.ecn,
            // The recorded hosts set no DSCP.
            dscp: 0,
            hosts: Hosts::default(),
            tin: 0,
            marked: false,
            arrived_at: now,
        };
        let fates = &mut self.fates;
        let drop_ns = row.arrives.ns;
        let drop = &mut |dropped: Queued, _: DropCause| {
            fates[dropped.handle as usize].dropped_ns = Some(drop_ns);
        };
        let idle = self.in_service.is_none();
        (self.watch)(Moment::BeforeEnqueue, drop_ns, &self.discipline);
        self.discipline.enqueue(now, packet, idle, &mut self.chance, drop);
        (self.watch)(Moment::AfterEnqueue, drop_ns, &self.discipline);
        if idle {
            // A packet that arrives at the clock step of the last departure counts as queued before
            // this departure. The service of such a packet therefore begins at the computed end of
            // the last service.
            let (fired, ended) = self.last_service;
            let from = if row.arrives.ns == fired { ended } else { row.arrives.ns };
            self.serve(row.arrives.ns, from);
        }
    }

    fn depart(&mut self, call: Call) {
        let Some((handle, end)) = self.in_service.take() else { return };
        self.fates[handle as usize].departed_ns = Some(call.ns);
        self.last_service = (call.ns, end);
        self.serve(call.ns, end);
    }

    fn tick(&mut self, call: Call) {
        self.timer.pop_front();
        let fates = &mut self.fates;
        let now = Time(self.t0_ns + call.ns);
        self.discipline.on_timer(now, &mut |dropped: Queued, _| {
            fates[dropped.handle as usize].dropped_ns = Some(call.ns);
        });
        (self.watch)(Moment::Timer, call.ns, &self.discipline);
        if self.in_service.is_none() {
            self.serve(call.ns, call.ns);
        }
    }

    /// Requests the next packet at `now_ns`. The packet's service begins at `from_ns`.
    fn serve(&mut self, now_ns: u64, from_ns: u64) {
        let now = self.time(now_ns);
        loop {
            let fates = &mut self.fates;
            let drop = &mut |dropped: Queued, _: DropCause| {
                fates[dropped.handle as usize].dropped_ns = Some(now_ns);
            };
            let taken = self.discipline.dequeue(now, &mut self.chance, drop);
            let moment = Moment::Dequeued { is_some: taken.is_some() };
            (self.watch)(moment, now_ns, &self.discipline);
            let Some(packet) = taken else { return };
            let fate = &mut self.fates[packet.handle as usize];
            fate.marked = packet.marked;
            let Some(rate_bps) = self.rate_bps else {
                fate.departed_ns = Some(now_ns);
                continue;
            };
            let service = u128::from(packet.wire_bytes) * 8_000_000_000 / u128::from(rate_bps);
            let end = from_ns.saturating_add(u64::try_from(service).unwrap_or(u64::MAX));
            self.in_service = Some((packet.handle, end));
            return;
        }
    }
}
