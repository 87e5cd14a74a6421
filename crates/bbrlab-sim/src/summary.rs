//! The results of a run, computed from the meters of its flows and the statistics of its links.
//!
//! The simulation computes only with integers; floating-point numbers are used only to compute the
//! results from these integers. The summary does not set metrics that are formulas of other
//! metrics, because `record.rs` of `bbrlab-run` contains these formulas.

#![allow(
    clippy::needless_update,
    reason = "`..default()` fills computed metrics, and is also written in structs without any"
)]

use bbrlab_net::{DelayHistogram, FlowLosses, LinkId, LinkStats, Network, PacketData, TinStats};
use bbrlab_run::{
    ControlFromOutside, Cwnd, Delays, Fct, Field as _, FlowSummary, LimitedBy, LinkSummary,
    Outside, QueueDelay, QueuePackets, Rtt, Run, RunSummary, SIMULATOR, Sojourn, Srtt, TinSummary,
    Wait, WaitSummary, jain,
};
use bbrlab_units::{NS_PER_S, Span, Time};

use crate::completions::Completions;
use crate::figures::{self, BITS, MEGA, NS_PER_MS, US_PER_MS, mbps, ratio, rtts};
use crate::flow::Flow;
use crate::groups;
use crate::histogram::Histogram;
use crate::latency::Latency;
use crate::wire::Payload;
use crate::wiring::{self, ReportedLink};
use crate::world::World;

/// Returns all results at the end of the run, and the distributions from which percentiles are
/// computed.
pub(crate) fn summarise(
    run: &Run,
    net: &mut Network<Payload>,
    links: &[ReportedLink],
    world: &World,
    losses: &[FlowLosses],
) -> (RunSummary, Delays) {
    let World { flows, windows, .. } = world;
    let now = net.now();
    let link_summaries: Vec<LinkSummary> =
        links.iter().map(|link| link_summary(net, link, windows.first_start, now)).collect();
    let mut delays = queue_delays(net, links);
    let flow_groups = groups::summarise(run, world, losses, &mut delays);
    for (id, flow) in flows.iter().enumerate().filter(|_| run.flow_series) {
        delays.add(Delays::FLOW_RTT, id, rtts(&flow.connection.meter.rtt_us));
        if let Some(latency) = &flow.application.latency {
            let Latency { delays_ns, waits_ns, .. } = &**latency;
            delays.add(Delays::FLOW_DELAY, id, figures::delays(delays_ns));
            let waits = waits_ns.iter().flat_map(figures::delays);
            delays.add(Delays::FLOW_QUEUE_DELAY, id, waits);
        }
    }
    let is_policed: Vec<bool> =
        run.classes.iter().map(|class| wiring::is_policed(run, class)).collect();
    let mut names = Names::new(run);
    let flow_summaries: Vec<FlowSummary> = flows
        .iter()
        .zip(losses)
        .enumerate()
        .map(|(id, (flow, &losses))| FlowSummary {
            name: names.next(flow.class),
            drops: Some(losses.drops),
            random_losses: Some(losses.random),
            policer_drops: is_policed[flow.class as usize].then_some(losses.policer),
            ..flow_summary(run, id, flow, world)
        })
        .collect();
    let bytes = |count: fn(&Flow) -> u64| flows.iter().map(count).sum::<u64>();
    let [all_active, all_active_ss] = windows.all_active();
    let lasting = flows.iter().filter(|flow| world.population(flow).is_none());
    let fairness = |while_all_are: bool, bytes: fn(&Flow) -> u64| {
        #[expect(clippy::cast_precision_loss, reason = "a run delivers fewer than 2^52 bytes")]
        let shares: Vec<f64> = lasting.clone().map(|flow| bytes(flow) as f64).collect();
        (while_all_are && shares.len() > 1).then(|| jain(&shares)).flatten()
    };
    let mut summary = RunSummary {
        scenario: run.scenario.clone(),
        scenario_hash: run.scenario_hash.clone(),
        profile: run.profile.name().to_owned(),
        backend: SIMULATOR.to_owned(),
        backend_version: env!("CARGO_PKG_VERSION").to_owned(),
        point: run.point.clone(),
        point_values: run.point_values.clone(),
        seed: run.seed,
        sim_s: now.as_secs_f64(),
        cpu_s: None,
        events: Some(net.events()),
        data_packets: Some(data_packets(run, net, flows)),
        digest: Some(net.digest().to_string()),
        goodput_mbps: mbps(bytes(|flow| flow.accounts.marks.in_traffic), windows.traffic()),
        goodput_ss_mbps: windows.steady_traffic().and_then(|span| {
            mbps(
                bytes(|flow| {
                    flow.accounts.marks.in_traffic.saturating_sub(flow.accounts.marks.at_steady)
                }),
                span,
            )
        }),
        jain: fairness(all_active, |flow| {
            flow.accounts.marks.at_first_end.saturating_sub(flow.accounts.marks.at_last_start)
        }),
        jain_ss: fairness(all_active_ss, |flow| {
            flow.accounts.marks.at_first_end.saturating_sub(flow.accounts.marks.at_steady)
        }),
        links: link_summaries,
        waits: wiring::waits(run).map(|(id, name)| wait_summary(net, id, name)).collect(),
        flow_groups,
        flows: flow_summaries,
        controls: run.outside().into_iter().map(from_outside).collect(),
        ..RunSummary::default()
    };
    summary.derive();
    (summary, delays)
}

/// Returns the queueing delays of packets at the links that flows share.
pub(crate) fn queue_delays<P: PacketData>(net: &mut Network<P>, links: &[ReportedLink]) -> Delays {
    let mut delays = Delays::default();
    for (index, link) in links.iter().enumerate().filter(|(_, link)| link.owner.is_none()) {
        delays.add(Delays::QUEUE_DELAY, index, net.link_stats(link.id).delay.buckets());
    }
    delays
}

fn from_outside(outside: &Outside) -> ControlFromOutside {
    ControlFromOutside {
        name: outside.name.clone(),
        source: outside.source.clone(),
        sha256: outside.sha256.clone(),
    }
}

/// Generates the names of flows. The flows must be passed in order of their numbers.
struct Names<'a> {
    run: &'a Run,
    /// For each class: its number of flows, and how many of them have been named.
    of_class: Vec<(u32, u32)>,
}

impl<'a> Names<'a> {
    fn new(run: &'a Run) -> Self {
        let mut of_class = vec![(0, 0); run.classes.len()];
        for flow in &run.flows {
            of_class[flow.class as usize].0 += 1;
        }
        Self { run, of_class }
    }

    fn next(&mut self, class: u32) -> Option<String> {
        let (count, named) = &mut self.of_class[class as usize];
        let place = *named;
        *named += 1;
        let name = self.run.classes[class as usize].name.as_ref()?;
        Some(if *count == 1 { name.clone() } else { format!("{name}[{place}]") })
    }
}

/// Returns the number of data packets that the bottleneck has sent. Without a bottleneck, returns
/// the number of data packets that have reached their receivers.
fn data_packets(run: &Run, net: &mut Network<Payload>, flows: &[Flow]) -> u64 {
    if let Some(bottleneck) = run.bottleneck {
        return net.link_stats(LinkId(bottleneck)).sent_data_packets;
    }
    flows.iter().map(|flow| flow.connection.data_arrivals).sum()
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
pub(crate) fn link_summary<P: PacketData>(
    net: &mut Network<P>,
    link: &ReportedLink,
    first_start: Time,
    now: Time,
) -> LinkSummary {
    let capacity = net.capacity_bits(link.id, first_start, now).filter(|&bits| bits > 0);
    let active = u128::from(now.since(first_start).0);
    // Bits and time are integers, so the rate is rounded to whole bits per second.
    let rate = |bits: u128| (bits * u128::from(NS_PER_S) + active / 2) / active;
    let tin_names = net.tin_names(link.id);
    let stats: &LinkStats = net.link_stats(link.id);
    let ms = |delay: Option<Span>| delay.map(|delay| delay.0 as f64 / NS_PER_MS);
    LinkSummary {
        name: link.name.clone(),
        rate_mbps: capacity.filter(|_| active > 0).map(|bits| rate(bits) as f64 / MEGA),
        utilization: capacity.map(|bits| stats.sent_bytes as f64 * BITS / bits as f64),
        arrivals: Some(stats.arrivals),
        departures: Some(stats.sent_packets),
        queued_at_end: Some(stats.backlog_packets()),
        drops: Some(stats.drops_of_queue()),
        drops_enqueue: stats.drops_dequeue.map(|drops| stats.drops_of_queue() - drops),
        drops_dequeue: stats.drops_dequeue,
        random_losses: Some(stats.drops_random),
        policer_drops: stats.drops_policer,
        thinned_acks: Some(stats.drops_thinned),
        marks: Some(stats.marks),
        queue_packets: QueuePackets {
            mean: stats.queue.mean(),
            std: stats.queue.std_dev(),
            p95: stats.queue.quantile(950).map(|packets| packets as f64),
            max: Some(stats.queue.max() as f64),
        },
        queue_delay_ms: QueueDelay {
            mean: stats.delay.mean_ns().map(|ns| ns / NS_PER_MS),
            p50: ms(stats.delay.quantile(500)),
            p95: ms(stats.delay.quantile(950)),
            p99: ms(stats.delay.quantile(990)),
        },
        sojourn_ms: match stats.drops_dequeue {
            Some(_) => sojourn(&stats.delay),
            None => Sojourn::default(),
        },
        tins: tins(stats, tin_names, capacity),
        ..LinkSummary::default()
    }
}

/// Returns mean, 95th percentile and maximum of the times that packets waited for `netem` slots or
/// grants to send at a link. The percentile and the maximum have a relative error of at most 1/128.
pub(crate) fn wait_summary<P: PacketData>(
    net: &mut Network<P>,
    id: LinkId,
    name: &str,
) -> WaitSummary {
    let stats: &LinkStats = net.link_stats(id);
    let Sojourn { mean, p95, max } = sojourn(&stats.delay);
    WaitSummary {
        name: name.to_owned(),
        arrivals: Some(stats.arrivals),
        departures: Some(stats.sent_packets),
        queued_at_end: Some(stats.backlog_packets()),
        drops: Some(stats.drops_of_queue()),
        wait_ms: Wait { mean, p95, max },
    }
}

/// Returns the metrics of each tin of a link's queue discipline; the list is empty if the
/// discipline has no tins.
#[expect(clippy::cast_precision_loss, reason = "for people")]
fn tins(stats: &LinkStats, names: Vec<String>, capacity: Option<u128>) -> Vec<TinSummary> {
    let figures = |(name, tin): (String, &TinStats)| TinSummary {
        name,
        utilization: capacity.map(|bits| tin.sent_bytes as f64 * BITS / bits as f64),
        arrivals: Some(tin.arrivals),
        departures: Some(tin.sent_packets),
        drops: Some(tin.drops),
        marks: Some(tin.marks),
        sojourn_ms: sojourn(&tin.delay),
    };
    names.into_iter().zip(&stats.tins).map(figures).collect()
}

/// Returns mean, 95th percentile and maximum of the times that packets spent in a queue discipline.
/// The percentile and the maximum have a relative error of at most 1/128.
#[expect(clippy::cast_precision_loss, reason = "for people")]
fn sojourn(delay: &DelayHistogram) -> Sojourn {
    let ms = |delay: Option<Span>| delay.map(|delay| delay.0 as f64 / NS_PER_MS);
    Sojourn {
        mean: delay.mean_ns().map(|ns| ns / NS_PER_MS),
        p95: ms(delay.quantile(950)),
        max: ms(delay.quantile(1000)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn flow_summary(run: &Run, id: usize, flow: &Flow, world: &World) -> FlowSummary {
    let population = world.population(flow);
    let class = &run.classes[flow.class as usize];
    let at_end = flow.accounts.at_end();
    let end = at_end.at.max(flow.start);
    let active = end.since(flow.start);
    let bytes = at_end.bytes_read;
    // At any time of a flow's active time, exactly one limit applies, so `spent` is the flow's
    // active time. In a class with arrivals, `spent` is the total active time of the class's flows.
    let spent = Span(at_end.limits.iter().map(|span| span.0).sum());
    let present = if population.is_some() { spent } else { active };
    let totals = flow.totals_at_end();
    let meter = &flow.connection.meter;
    let latency = flow.application.latency.as_deref();
    let ms = |us: Option<u64>| us.map(|us| us as f64 / US_PER_MS);
    FlowSummary {
        id: u32::try_from(id).expect("flows are numbered in 24 bits"),
        group: class.group.clone(),
        cc: class.cc_name().to_owned(),
        start_s: Some(flow.start.as_secs_f64()),
        stop_s: Some(end.as_secs_f64()),
        rtt_base_ms: Some(class.base_rtt.0 as f64 / NS_PER_MS),
        throughput_mbps: mbps(at_end.wire_bytes, active).filter(|_| flow.has_rated_link),
        goodput_mbps: mbps(bytes, active),
        goodput_ss_mbps: mbps(
            bytes.saturating_sub(flow.accounts.marks.at_steady),
            end.since(world.windows.steady_from),
        ),
        sent_packets: Some(totals.sender.sent),
        delivered_packets: Some(totals.receiver.new_packets),
        out_of_order_packets: (!class.is_udp).then_some(totals.receiver.out_of_order_packets),
        duplicate_packets: (!class.is_udp || flow.accounts.counts_copies())
            .then_some(totals.receiver.duplicate_packets),
        discarded_packets: (!class.is_udp).then_some(totals.receiver.dropped_packets),
        lost_packets: (!class.is_udp).then_some(totals.lost),
        retransmitted_packets: Some(totals.sender.retransmitted),
        rto_count: (!class.is_udp).then_some(u64::from(totals.sender.rto_count)),
        rtt_ms: Rtt {
            min: ms(meter.rtt_us.min()),
            mean: meter.rtt_us.mean().map(|us| us / US_PER_MS),
            p50: ms(meter.rtt_us.quantile(500)),
            p95: ms(meter.rtt_us.quantile(950)),
            p99: ms(meter.rtt_us.quantile(990)),
            max: ms(meter.rtt_us.max()),
        },
        rtt_sample_ms: Rtt {
            min: ms(meter.samples_us.min()),
            mean: meter.samples_us.mean().map(|us| us / US_PER_MS),
            p50: ms(meter.samples_us.quantile(500)),
            p95: ms(meter.samples_us.quantile(950)),
            p99: ms(meter.samples_us.quantile(990)),
            max: ms(meter.samples_us.max()),
        },
        srtt_ms: Srtt {
            mean: meter.srtt_us.mean().map(|us| us / US_PER_MS),
            p95: ms(meter.srtt_us.quantile(950)),
        },
        cwnd_packets: Cwnd {
            mean: match population {
                Some(_) => meter.cwnd_mean_over(present),
                None if class.is_udp => None,
                None => meter.cwnd_mean(flow.start),
            },
            max: (flow.accounts.is_started && !class.is_udp).then(|| f64::from(meter.cwnd_max)),
        },
        limited_by: if class.is_udp {
            LimitedBy::default()
        } else {
            limited_by(flow, at_end.limits, present)
        },
        delay_ms: latency
            .filter(|_| class.measures_messages())
            .map(|latency| figures::message_delays(&latency.delays_ns))
            .unwrap_or_default(),
        jitter_ms: latency
            .filter(|_| population.is_none())
            .and_then(Latency::mean_jitter_ns)
            .map(|ns| ns / NS_PER_MS),
        loss_ratio: flow
            .lost_with_all_copies()
            .and_then(|lost| figures::ratio(lost, totals.sender.sent)),
        late_ratio: flow.late_messages().and_then(|(late, all)| ratio(late, all)),
        path_queue_delay_ms: latency
            .and_then(|latency| latency.waits_ns.as_ref())
            .map(figures::queue_delays)
            .unwrap_or_default(),
        fct_ms: match population {
            Some(population) => fct(&population.counts.all.fct_ns),
            None => completion_times(class, flow),
        },
        stalled_s: flow.application.stalled(end).map(Span::as_secs_f64),
        ..FlowSummary::default()
    }
}

/// Returns, for each limit, the share of the active time during which it applied to the sender.
/// Pauses between the transfers of a train (transfers in sequence, each on its own connection)
/// count as application-limited.
#[expect(clippy::cast_precision_loss, reason = "shares")]
fn limited_by(flow: &Flow, spent: [Span; 5], active: Span) -> LimitedBy {
    if active == Span::ZERO || !flow.accounts.is_started {
        return LimitedBy::default();
    }
    let known: u64 = spent.iter().map(|span| span.0).sum();
    let share = |ns: u64| Some(ns as f64 / active.0.max(known) as f64);
    let idle = active.0.saturating_sub(known);
    LimitedBy {
        cwnd: share(spent[0].0),
        pacing: share(spent[1].0),
        rwnd: share(spent[2].0),
        sndbuf: share(spent[3].0),
        app: share(spent[4].0 + idle),
    }
}

fn completion_times(class: &bbrlab_run::FlowClass, flow: &Flow) -> Fct {
    if class.source.transfers() == 0 {
        return Fct { n: Some(0), ..Fct::default() };
    }
    let mut all = Completions::new();
    flow.application.transfers.iter().for_each(|transfer| all.add(transfer, None));
    fct(&all.fct_ns)
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn fct(times: &Histogram) -> Fct {
    let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / NS_PER_MS);
    Fct {
        n: Some(times.total()),
        mean: times.mean().map(|ns| ns / NS_PER_MS),
        p50: ms(times.quantile(500)),
        p95: ms(times.quantile(950)),
        p99: ms(times.quantile(990)),
    }
}
