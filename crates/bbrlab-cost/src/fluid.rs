//! A fluid model of how flows share their links over time. A class has the flows of one `[[flows]]`
//! table. Within a slice of time, rates are constant and max-min fair. To find them, the model
//! raises the rate per flow equally in all classes. A class keeps its rate once one of its links is
//! full or its demand is met; the rates of the other classes are raised further.

#![expect(clippy::cast_precision_loss, reason = "no result of a run depends on an estimate")]

use bbrlab_link::{Link, Rate};
use bbrlab_run::Hop;
use bbrlab_scenario::{FlowsOutline, Outline};

use crate::crowd::{Crowd, starved, timeouts};
use crate::demand::{AROUND_PAYLOAD, Demand, highest, seconds};

/// The largest number of slices of a run. If there are more starts, stops and rate changes, slices
/// are merged.
const SLICES_MAX: usize = 48;

/// The largest number of rounds of the computation for a slice. Each round raises the rate per flow
/// until a link is full or a class's demand is met. Classes whose rate could still rise keep the
/// rate of the last round.
const ROUNDS_MAX: usize = 24;

/// Transfers of fewer packets than this are short: they may end during slow start.
const SHORT_PACKETS: f64 = 100.0;

/// The activity of the flows of a class in a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Activity {
    /// Number of data packets that all flows of the class together send.
    pub(crate) packets: f64,
    /// Seconds from the start of a flow to its end, summed over the flows. All arriving flows of a
    /// class together count as one flow.
    pub(crate) active_s: f64,
    /// True if the other values are estimates of the run's real values, false if they are only
    /// upper bounds of the real values.
    pub(crate) is_sure: bool,
    /// Seconds for which flows are active, summed over the flows. Here, each arriving flow counts
    /// by itself.
    pub(crate) flow_s: f64,
    /// Number of connections whose data the links carry; zero for datagrams.
    pub(crate) connections: f64,
    /// Packets per connection, or per response if the flow sends responses to requests; infinite if
    /// the source never ends.
    pub(crate) each: f64,
    /// The largest number of arriving flows that are active at the same time.
    pub(crate) under_way: f64,
    /// The number of arriving flows that have not completed when the run ends.
    pub(crate) waiting: f64,
    /// The number of arriving flows that are rejected.
    pub(crate) rejected: f64,
    /// The part of `flow_s` in which flows wait for a timeout, because other flows fill the link.
    pub(crate) starved_s: f64,
    /// Number of timeouts of all flows together. In a class with arrivals, only the timeouts of the
    /// flows in `waiting` are counted.
    pub(crate) timeouts: f64,
}

/// The flows of a class, with their activity in the slices of time so far.
struct Class {
    starts: Starts,
    demand: Demand,
    /// The shared links with a limited rate on the path of the class's data.
    links: Vec<usize>,
    /// Bytes of a full data packet on a link: payload, headers and Ethernet framing.
    wire_bytes: f64,
    rtt_s: f64,
    is_udp: bool,
    /// The arriving flows, if the class has arrivals.
    crowd: Option<Crowd>,
    /// Packets that the transfers in progress still have to send.
    backlog: f64,
    activity: Activity,
}

/// The times at which the flows of a class start (one every `step_s` seconds) and stop.
#[derive(Clone, Copy)]
struct Starts {
    first_s: f64,
    step_s: f64,
    count: f64,
    end_s: f64,
}

/// Returns the activity of each class.
pub(crate) fn activities(outline: &Outline) -> Vec<Activity> {
    let end_s = seconds(outline.duration);
    let crossing = flows_by_link(outline);
    let mut classes: Vec<Class> =
        outline.tables.iter().map(|flows| Class::new(outline, flows, &crossing)).collect();
    let cuts = cuts(&classes, &outline.links, end_s);
    for pair in cuts.windows(2) {
        slice(&mut classes, &outline.links, pair[0], pair[1]);
    }
    // A greedy flow whose demand is sure uses all capacity that the other flows leave on the flow's
    // narrowest link. This function treats all links on the flow's path as full. The values of all
    // classes with a full link count as estimates, not only as upper bounds.
    let mut is_full = vec![false; outline.links.len()];
    for class in classes.iter().filter(|class| class.demand.is_greedy && class.demand.is_sure) {
        class.links.iter().for_each(|&link| is_full[link] = true);
    }
    let finished = classes.into_iter().map(|class| {
        let is_covered = class.links.iter().any(|&link| is_full[link]);
        class.finished(end_s, is_covered)
    });
    finished.collect()
}

/// Returns, for each shared link, the number of flows whose data crosses it.
fn flows_by_link(outline: &Outline) -> Vec<f64> {
    let mut crossing = vec![0.0; outline.links.len()];
    for flows in &outline.tables {
        for hop in &flows.class.forward {
            if let Hop::Link(number) = *hop {
                crossing[number as usize] += flows.count as f64;
            }
        }
    }
    crossing
}

impl Class {
    fn new(outline: &Outline, flows: &FlowsOutline, crossing: &[f64]) -> Self {
        let class = &flows.class;
        let end = flows.stop.map_or(outline.duration, |stop| stop.min(outline.duration));
        // Random starts are spread over the range of the jitter. If the starts also have a fixed
        // step, the jitter delays them by half its range on average.
        let count = flows.count as f64;
        let (step_s, jitter_s) = (seconds(flows.start_step), seconds(flows.start_jitter));
        let (wait_s, step_s) = if step_s > 0.0 {
            (jitter_s / 2.0, step_s)
        } else {
            (jitter_s / 2.0 / count, jitter_s / count)
        };
        let (first_s, end_s) = (seconds(flows.start) + wait_s, seconds(end));
        let starts = Starts { first_s, step_s, count, end_s };
        let shared = class.forward.iter().filter_map(|hop| match *hop {
            Hop::Link(number) => Some(number as usize),
            Hop::Delay(_) | Hop::Private(_) => None,
        });
        let links: Vec<usize> =
            shared.filter(|&link| outline.links[link].rate.is_limited()).collect();
        let wire_bytes = f64::from(class.mss) + AROUND_PAYLOAD;
        let narrow = links.iter().map(|&link| crossing[link]).fold(1.0, f64::max);
        let active_s = starts.present_s(0.0, starts.end_s) / starts.count;
        let mut demand = Demand::of(class, outline, active_s, narrow);
        // The smallest rate of the access links, which are private to each flow.
        let own = class.private_links.iter().filter_map(|link| highest(&link.rate));
        let own = own.map(|rate| rate / 8.0 / wire_bytes).fold(f64::INFINITY, f64::min);
        demand.rate = demand.rate.min(own);
        let crowd = class.source.arrivals().map(|arrivals| Crowd::new(arrivals, &demand));
        let activity =
            Activity { is_sure: demand.is_sure, each: demand.each, ..Activity::default() };
        Self {
            starts,
            demand,
            links,
            wire_bytes,
            rtt_s: seconds(class.base_rtt),
            is_udp: class.is_udp,
            crowd,
            backlog: 0.0,
            activity,
        }
    }

    /// Returns the weight of the class in a slice, in flow-seconds. For a class without arrivals,
    /// the weight is `present_s`, which is summed over the flows. For a class with arrivals, the
    /// weight is `present_s` times the largest number of concurrent flows.
    fn weight(&self, present_s: f64) -> f64 {
        present_s * self.crowd.map_or(1.0, |crowd| crowd.weight())
    }

    fn finished(self, end_s: f64, is_covered: bool) -> Activity {
        let Self { starts, demand, crowd, mut activity, .. } = self;
        let started = starts.started(starts.end_s);
        // A flow sends no more packets than slow start permits in the time for which flows of the
        // class are active on average.
        let present_s = starts.present_s(0.0, starts.end_s) / started.max(1.0);
        activity.packets = activity.packets.min(started * demand.packets_within(present_s));
        if starts.end_s < end_s {
            activity.packets += started * demand.after_stop;
        }
        activity.is_sure |= is_covered;
        // Short transfers that lose packets at a full link retry at the same times, and the link
        // may be idle between these times. If the flows of short transfers wait for timeouts for
        // more than half of their time, the estimate is only an upper bound.
        let is_short = crowd.is_none() && demand.packets < SHORT_PACKETS;
        activity.is_sure &= !(is_short && activity.starved_s > 0.5 * activity.flow_s);
        let stay = crowd.map_or(started, |crowd| crowd.waiting);
        activity.timeouts = stay * timeouts(activity.starved_s / stay.max(1.0));
        if let Some(crowd) = crowd {
            activity.under_way = crowd.under_way;
            activity.waiting = crowd.waiting;
            activity.rejected = crowd.rejected;
        }
        // Each transfer of a train and each arriving flow has its own connection.
        let is_in_parts = crowd.is_some() || demand.packets > demand.each;
        activity.connections = match () {
            () if self.is_udp => 0.0,
            () if is_in_parts => activity.packets / demand.each,
            () => started,
        };
        activity
    }

    /// Returns the number of packets that the class would send in a slice if the links set no
    /// limit.
    fn wanted(&self, from_s: f64, to_s: f64) -> f64 {
        let present_s = self.starts.present_s(from_s, to_s);
        let arrived = self.starts.started(to_s) - self.starts.started(from_s);
        let at_rate = present_s * self.demand.rate + arrived * self.demand.before_loss;
        let left = if self.demand.packets.is_finite() {
            self.backlog + arrived * self.demand.packets
        } else {
            f64::INFINITY
        };
        at_rate.min(left) + self.crowd.map_or(0.0, |crowd| crowd.backlog())
    }

    /// Advances the model by the slice from `from_s` to `to_s`, in which the class sent `packets`
    /// packets. Returns the seconds for which the flows of the class were active, summed over the
    /// flows.
    fn sent(&mut self, packets: f64, from_s: f64, to_s: f64) -> f64 {
        let active_s = self.activity.active_s;
        self.be_active(packets, from_s, to_s);
        let present_s = self.activity.active_s - active_s;
        let flow_s = match &mut self.crowd {
            Some(crowd) => crowd.sent(packets, present_s),
            None => present_s,
        };
        self.activity.flow_s += flow_s;
        flow_s
    }

    fn be_active(&mut self, packets: f64, from_s: f64, to_s: f64) {
        self.activity.packets += packets;
        let present_s = self.starts.present_s(from_s, to_s);
        let each = self.demand.packets;
        if each.is_infinite() || !self.activity.is_sure {
            self.activity.active_s += present_s;
            self.backlog = if each.is_finite() {
                let arrived = self.starts.started(to_s) - self.starts.started(from_s);
                (self.backlog + arrived * each - packets).max(0.0)
            } else {
                0.0
            };
            return;
        }
        let arrived = self.starts.started(to_s) - self.starts.started(from_s);
        let before = self.backlog;
        self.backlog = (before + arrived * each - packets).max(0.0);
        let waiting_s = (before + self.backlog) / each / 2.0 * (to_s - from_s);
        let alone_s = packets / each * self.demand.alone_s;
        self.activity.active_s += waiting_s.max(alone_s).min(present_s);
    }
}

impl Starts {
    /// Returns the number of flows that have started before `at_s`.
    fn started(self, at_s: f64) -> f64 {
        if at_s <= self.first_s {
            return 0.0;
        }
        if self.step_s <= 0.0 {
            return self.count;
        }
        ((at_s - self.first_s) / self.step_s).ceil().min(self.count)
    }

    /// Returns the seconds from `from_s` to `to_s` in which flows are active (started and not
    /// stopped), summed over the flows.
    fn present_s(self, from_s: f64, to_s: f64) -> f64 {
        (self.present_until_s(to_s) - self.present_until_s(from_s)).max(0.0)
    }

    fn present_until_s(self, at_s: f64) -> f64 {
        let at_s = at_s.min(self.end_s);
        let started = self.started(at_s);
        let last = (started - 1.0).max(0.0);
        started * (at_s - self.first_s) - self.step_s * started * last / 2.0
    }
}

/// Returns the boundaries of the slices: the starts and stops of flows and the changes of rates.
/// There are at most [`SLICES_MAX`] slices.
fn cuts(classes: &[Class], links: &[Link], end_s: f64) -> Vec<f64> {
    /// The number of slices into which the time from the first to the last start of a class's flows
    /// is divided.
    const PARTS: u32 = 12;
    let mut cuts = vec![0.0, end_s];
    for Class { starts, demand, .. } in classes {
        let last_s = starts.first_s + starts.step_s * (starts.count - 1.0);
        let parts = if last_s > starts.first_s { PARTS } else { 1 };
        for part in 0..=parts {
            cuts.push(
                starts.first_s + (last_s - starts.first_s) * f64::from(part) / f64::from(parts),
            );
        }
        cuts.push(starts.end_s);
        if demand.alone_s.is_finite() {
            cuts.push(last_s + demand.alone_s);
        }
    }
    for link in links {
        if let Rate::Schedule(steps) = &link.rate {
            cuts.extend(steps.iter().map(|&(at, _)| at.as_secs_f64()));
        }
    }
    cuts.retain(|&at| (0.0..=end_s).contains(&at));
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let every = cuts.len().div_ceil(SLICES_MAX);
    let mut kept: Vec<f64> = cuts.into_iter().step_by(every).collect();
    if kept.last() != Some(&end_s) {
        kept.push(end_s);
    }
    kept
}

/// Shares the links among the classes in the slice between two times.
fn slice(classes: &mut [Class], links: &[Link], from_s: f64, to_s: f64) {
    let mut room: Vec<f64> =
        links.iter().map(|link| capacity_bytes(&link.rate, from_s, to_s)).collect();
    // The weight of a class is its flow-seconds. `level` is the number of packets per flow-second:
    // it rises for all classes together, until a link is full or a class has sent what it wanted.
    // Each class that goes on therefore has the same rate per flow.
    let mut open: Vec<(usize, f64, f64)> = Vec::new();
    for (number, class) in classes.iter().enumerate() {
        let weight = class.weight(class.starts.present_s(from_s, to_s));
        let wanted = class.wanted(from_s, to_s);
        if weight > 0.0 && wanted > 0.0 {
            open.push((number, weight, wanted));
        }
    }
    let mut sent = vec![0.0; classes.len()];
    let mut stopped_by: Vec<Option<usize>> = vec![None; classes.len()];
    let mut level = 0.0_f64;
    let mut load = vec![0.0; links.len()];
    for round in 0..ROUNDS_MAX {
        if open.is_empty() {
            break;
        }
        load.fill(0.0);
        for &(number, weight, _) in &open {
            for &link in &classes[number].links {
                load[link] += weight * classes[number].wire_bytes;
            }
        }
        let by_link = room.iter().zip(&load).filter(|&(_, &load)| load > 0.0);
        let by_link = by_link.map(|(&room, &load)| room / load).fold(f64::INFINITY, f64::min);
        let by_demand = open.iter().map(|&(_, weight, wanted)| wanted / weight - level);
        let by_demand = by_demand.fold(f64::INFINITY, f64::min);
        let rise = by_link.min(by_demand).max(0.0);
        if rise.is_infinite() {
            break;
        }
        level += rise;
        for (room, load) in room.iter_mut().zip(&load) {
            *room = (*room - rise * load).max(0.0);
        }
        let full: Vec<bool> = room
            .iter()
            .zip(&load)
            .map(|(&room, &load)| load > 0.0 && room <= load * rise * 1e-9)
            .collect();
        let is_last = round + 1 == ROUNDS_MAX;
        open.retain(|&(number, weight, wanted)| {
            let is_full = classes[number].links.iter().copied().find(|&link| full[link]);
            stopped_by[number] = is_full;
            let is_over = is_last || is_full.is_some() || wanted <= level * weight * (1.0 + 1e-9);
            if is_over {
                sent[number] = (level * weight).min(wanted);
            }
            !is_over
        });
    }
    let mut present = vec![0.0; links.len()];
    let mut flow_s = Vec::with_capacity(classes.len());
    for (class, sent) in classes.iter_mut().zip(sent) {
        let own_s = class.sent(sent, from_s, to_s);
        for &link in &class.links {
            present[link] += own_s / (to_s - from_s);
        }
        flow_s.push(own_s);
    }
    for ((class, flow_s), stopped_by) in classes.iter_mut().zip(flow_s).zip(stopped_by) {
        let Some(number) = stopped_by.filter(|_| !class.is_udp) else { continue };
        let link = &links[number];
        let bytes_per_s = capacity_bytes(&link.rate, from_s, to_s) / (to_s - from_s);
        let on_the_way = bytes_per_s * class.rtt_s / class.wire_bytes;
        let waiting = link.room_packets(class.wire_bytes).unwrap_or(f64::INFINITY);
        let each = (on_the_way + waiting) / present[number].max(1.0);
        class.activity.starved_s += flow_s * starved(each);
    }
}

/// Returns the wire bytes that a link can send between two times.
fn capacity_bytes(rate: &Rate, from_s: f64, to_s: f64) -> f64 {
    match rate {
        Rate::Unlimited => f64::INFINITY,
        Rate::Constant(_) | Rate::Trace(_) => {
            rate.at_start().map_or(0.0, |rate| rate.0 as f64 / 8.0 * (to_s - from_s))
        }
        Rate::Schedule(steps) => {
            let ends = steps.iter().skip(1).map(|&(at, _)| at.as_secs_f64()).chain([f64::INFINITY]);
            let pieces = steps.iter().zip(ends).map(|(&(at, rate), end)| {
                let span = end.min(to_s) - at.as_secs_f64().max(from_s);
                rate.0 as f64 / 8.0 * span.max(0.0)
            });
            pieces.sum()
        }
    }
}
