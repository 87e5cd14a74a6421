//! The results of a group of flows: their totals, and percentiles over all of their measured
//! values.

#![allow(
    clippy::needless_update,
    reason = "`..default()` fills computed metrics, and is also written in structs without any"
)]

use bbrlab_net::FlowLosses;
use bbrlab_run::{Delays, FlowGroup, GroupFct, GroupRtt, Run, Slowdown, Source};
use bbrlab_units::{Span, Time};

use crate::accounts::Totals;
use crate::arrivals::Population;
use crate::completions::Completions;
use crate::figures::{self, NS_PER_MS, SLOWDOWN_UNIT, US_PER_MS, mbps, ratio, rtts};
use crate::flow::Flow;
use crate::histogram::Histogram;
use crate::latency::Latency;
use crate::slowdown::Ideal;
use crate::wiring;
use crate::world::World;

/// The sums over a group while the flows of the group are being added.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags are independent properties of the group"
)]
struct Gathered<'a> {
    name: &'a str,
    flows: u64,
    rejected: Option<u64>,
    bytes: u64,
    /// Two counts of the bytes read: one from the start of the run's last flow, one from the start
    /// of the steady state. Both counts stop when the first of the run's flows ends, so all flows
    /// were active in both periods.
    competing: [u64; 2],
    /// Bytes that each flow's application read during that flow's active time, summed over the
    /// flows.
    active_bytes: u64,
    /// Start and end of each flow's active time, in the order of the flows.
    active: Vec<(Time, Time)>,
    totals: Totals,
    losses: FlowLosses,
    is_policed: bool,
    has_connections: bool,
    /// Whether at least one flow of the group counts duplicates of its datagrams.
    counts_duplicates: bool,
    rtt_us: Option<Histogram>,
    latency: Option<Latency>,
    /// Whether the delays of messages are measured for at least one flow of the group.
    has_messages: bool,
    /// Whether jitter is defined: true if no flow of the group has `arrivals`. Messages of flows
    /// with `arrivals` have no defined order.
    has_jitter: bool,
    /// The numbers of lost and of sent datagrams.
    datagrams: (u64, u64),
    /// For the flows with a bound on the delay of messages (`late`): the number of messages later
    /// than the bound, and the number of all messages.
    late: (u64, u64),
    transfers: Completions,
    /// Transfers that never began, counted for sources with a fixed number of transfers.
    never_begun: Option<u64>,
}

/// Returns the results of the groups, in the order of their first flows. Adds to `delays` the
/// distributions of each group's round-trip times, message delays and queueing delays, as far as
/// they are measured.
pub(crate) fn summarise(
    run: &Run,
    world: &World,
    losses: &[FlowLosses],
    delays: &mut Delays,
) -> Vec<FlowGroup> {
    let mut groups: Vec<Gathered<'_>> = Vec::new();
    let place_of_class: Vec<usize> = run
        .classes
        .iter()
        .map(|class| {
            groups.iter().position(|group| group.name == class.group).unwrap_or_else(|| {
                groups.push(Gathered::new(&class.group));
                groups.len() - 1
            })
        })
        .collect();
    let ideals: Vec<Ideal> = run.classes.iter().map(|class| Ideal::of(run, class)).collect();
    for (class, &place) in run.classes.iter().zip(&place_of_class) {
        groups[place].is_policed |= wiring::is_policed(run, class);
        groups[place].has_connections |= !class.is_udp;
        groups[place].counts_duplicates |= !class.is_udp;
        groups[place].has_messages |= class.measures_messages();
        groups[place].has_jitter &= class.source.arrivals().is_none();
    }
    for (flow, &lost) in world.flows.iter().zip(losses) {
        let class = flow.class as usize;
        let group = &mut groups[place_of_class[class]];
        group.add(&ideals[class], flow, lost);
        group.count_never_begun(&run.classes[class].source, flow);
        match world.population(flow) {
            Some(population) => group.add_population(population),
            None => group.flows += 1,
        }
    }
    let window = world.windows.traffic();
    let total = |bytes: fn(&Gathered<'_>) -> u64| groups.iter().map(bytes).sum::<u64>();
    let all_active = world.windows.all_active();
    let competing = [total(|group| group.competing[0]), total(|group| group.competing[1])];
    let competing = [0, 1].map(|at| competing[at] * u64::from(all_active[at]));
    let bytes = total(|group| group.bytes);
    for (index, group) in groups.iter().enumerate() {
        if let Some(rtt_us) = &group.rtt_us {
            delays.add(Delays::GROUP_RTT, index, rtts(rtt_us));
        }
        if let Some(latency) = &group.latency {
            let waits = latency.waits_ns.iter().flat_map(figures::delays);
            delays.add(Delays::GROUP_DELAY, index, figures::delays(&latency.delays_ns));
            delays.add(Delays::GROUP_QUEUE_DELAY, index, waits);
        }
    }
    groups.into_iter().map(|group| group.finish(window, bytes, competing)).collect()
}

impl<'a> Gathered<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            name,
            flows: 0,
            rejected: None,
            bytes: 0,
            competing: [0; 2],
            active_bytes: 0,
            active: Vec::new(),
            totals: Totals::default(),
            losses: FlowLosses::default(),
            is_policed: false,
            has_connections: false,
            counts_duplicates: false,
            rtt_us: None,
            latency: None,
            has_messages: false,
            has_jitter: true,
            datagrams: (0, 0),
            late: (0, 0),
            transfers: Completions::new(),
            never_begun: None,
        }
    }

    fn add(&mut self, ideal: &Ideal, flow: &Flow, losses: FlowLosses) {
        self.counts_duplicates |= flow.accounts.counts_copies();
        let marks = &flow.accounts.marks;
        self.bytes += marks.in_traffic;
        for (bytes, from) in self.competing.iter_mut().zip([marks.at_last_start, marks.at_steady]) {
            *bytes += marks.at_first_end.saturating_sub(from);
        }
        let at_end = flow.accounts.at_end();
        self.active.push((flow.start, at_end.at));
        self.active_bytes += at_end.bytes_read;
        self.totals.merge(&flow.totals_at_end());
        self.losses += losses;
        let rtt_us = &flow.connection.meter.rtt_us;
        match &mut self.rtt_us {
            Some(all) => all.merge(rtt_us),
            None => self.rtt_us = Some(rtt_us.clone()),
        }
        if let Some(latency) = &flow.application.latency {
            match &mut self.latency {
                Some(all) => all.merge(latency),
                None => self.latency = Some((**latency).clone()),
            }
        }
        if let Some((late, messages)) = flow.late_messages() {
            self.late.0 += late;
            self.late.1 += messages;
        }
        if flow.is_udp {
            let lost = losses.drops + losses.random + losses.policer;
            self.datagrams.0 += flow.lost_with_all_copies().unwrap_or(lost);
            self.datagrams.1 += flow.totals_at_end().sender.sent;
        }
        for transfer in &flow.application.transfers {
            self.transfers.add(transfer, ideal.slowdown(transfer));
        }
    }

    /// Adds the flows of a class with arrivals.
    fn add_population(&mut self, population: &Population) {
        self.flows += population.came;
        *self.rejected.get_or_insert(0) += population.rejected;
        self.transfers.merge(&population.counts.all);
    }

    /// Counts how many of a flow's transfers never began.
    fn count_never_begun(&mut self, source: &Source, flow: &Flow) {
        let transfers = source.transfers();
        if (1..u32::MAX).contains(&transfers) {
            let begun = flow.application.transfers.len() as u64;
            *self.never_begun.get_or_insert(0) += u64::from(transfers).saturating_sub(begun);
        }
    }

    /// Computes the group's results. `total_bytes` and `competing` are the sums of `bytes` and
    /// `competing` over all groups. If the flows of the run were never all active at the same time,
    /// the first sum of `competing` is 0. If they were never all active in the steady state, the
    /// second sum is 0.
    #[expect(clippy::cast_precision_loss, reason = "figures in floating point")]
    fn finish(mut self, window: Span, total_bytes: u64, competing: [u64; 2]) -> FlowGroup {
        let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / NS_PER_MS);
        let rtt = self.rtt_us.as_ref();
        let latency = self.latency.as_ref();
        let Completions { fct_ns, slowdown, unfinished } = &self.transfers;
        let slowdown = |per_mille| slowdown.quantile(per_mille).map(|it| it as f64 / SLOWDOWN_UNIT);
        FlowGroup {
            group: self.name.to_owned(),
            flows: self.flows,
            rejected: self.rejected,
            goodput_mbps: mbps(self.bytes, window),
            goodput_active_mbps: match self.rejected {
                Some(_) => None,
                None => mbps(self.active_bytes, covered(&mut self.active)),
            },
            share: ratio(self.bytes, total_bytes),
            share_active: ratio(self.competing[0], competing[0]),
            share_ss: ratio(self.competing[1], competing[1]),
            retransmitted_packets: Some(self.totals.sender.retransmitted),
            out_of_order_packets: self
                .has_connections
                .then_some(self.totals.receiver.out_of_order_packets),
            duplicate_packets: self
                .counts_duplicates
                .then_some(self.totals.receiver.duplicate_packets),
            drops: Some(self.losses.drops),
            random_losses: Some(self.losses.random),
            policer_drops: self.is_policed.then_some(self.losses.policer),
            rtt_ms: GroupRtt {
                mean: rtt.and_then(Histogram::mean).map(|us| us / US_PER_MS),
                p95: rtt.and_then(|rtt| rtt.quantile(950)).map(|us| us as f64 / US_PER_MS),
            },
            delay_ms: latency
                .filter(|_| self.has_messages)
                .map(|latency| figures::message_delays(&latency.delays_ns))
                .unwrap_or_default(),
            jitter_ms: latency
                .filter(|_| self.has_jitter)
                .and_then(Latency::mean_jitter_ns)
                .map(|ns| ns / NS_PER_MS),
            loss_ratio: ratio(self.datagrams.0, self.datagrams.1),
            late_ratio: ratio(self.late.0, self.late.1),
            path_queue_delay_ms: latency
                .and_then(|latency| latency.waits_ns.as_ref())
                .map(figures::queue_delays)
                .unwrap_or_default(),
            fct_ms: GroupFct {
                n: Some(fct_ns.total()),
                unfinished: (fct_ns.total() + unfinished > 0).then_some(*unfinished),
                never_begun: self.never_begun,
                mean: fct_ns.mean().map(|ns| ns / NS_PER_MS),
                p50: ms(fct_ns.quantile(500)),
                p95: ms(fct_ns.quantile(950)),
                p99: ms(fct_ns.quantile(990)),
            },
            slowdown: Slowdown { p50: slowdown(500), p95: slowdown(950), p99: slowdown(990) },
            ..FlowGroup::default()
        }
    }
}

/// Returns the total length of the periods. Time in which periods overlap counts once.
fn covered(periods: &mut [(Time, Time)]) -> Span {
    periods.sort_unstable();
    let (mut total, mut until) = (Span::ZERO, Time::ZERO);
    for &mut (from, to) in periods {
        total = total + to.since(from.max(until));
        until = until.max(to);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::covered;
    use bbrlab_units::{Span, Time};

    #[test]
    fn time_in_which_several_flows_are_active_counts_once() {
        let mut periods =
            [(50, 60), (0, 20), (10, 30), (15, 18), (60, 70)].map(|(a, b)| (Time(a), Time(b)));
        assert_eq!(covered(&mut periods), Span(50));
    }
}
