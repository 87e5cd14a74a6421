//! The rows of the time series. Each row describes a flow or a link at one time.
//!
//! A flow has rows from its start to its end. A flow's private link has rows until that flow's end.

#![allow(
    clippy::needless_update,
    reason = "`..default()` fills computed columns, if there are any"
)]

use bbrlab_cc::{CaState, Conn, Control};
use bbrlab_net::{FlowId, LinkStats, Network};
use bbrlab_run::{QueueRow, QueueSeries, Run, Sample, Series, SeriesRow};
use bbrlab_units::{NS_PER_S, Span, Time};

use crate::flow::Flow;
use crate::wire::Payload;
use crate::wiring::ReportedLink;

const NS_PER_US: u64 = 1000;

/// Bits in a byte.
const BITS: u64 = 8;

/// The period at which smoothed RTTs and queues are sampled if the scenario's `sample` is `ack` or
/// `off`.
const DEFAULT_PERIOD: Span = Span::from_millis(10);

/// Returns the period at which smoothed RTTs and queues are sampled: the scenario's `sample` if it
/// is a time, otherwise [`DEFAULT_PERIOD`].
pub(crate) fn period(sample: Sample) -> Span {
    match sample {
        Sample::Every(period) => period,
        Sample::Ack | Sample::Off => DEFAULT_PERIOD,
    }
}

/// The flows and links that get rows, the time of the next rows, and the rows so far.
#[derive(Debug)]
pub(crate) struct Sampler {
    period: Span,
    end: Time,
    /// When the next rows are due; `None` if the scenario requests no rows at fixed times.
    next: Option<Time>,
    /// Flows that have not started, in descending order of their start times.
    waiting: Vec<u32>,
    /// Active flows, in ascending order of their numbers, each with its counts at its previous row.
    flows: Vec<(u32, Before)>,
    /// The private links of flows that have not started, as indices into the links of the results.
    /// The links are in descending order of their flows' start times.
    waiting_links: Vec<u32>,
    /// The links that get rows, in ascending order, as indices into the links of the results.
    links: Vec<u32>,
    pub(crate) series: Series,
    pub(crate) queue: QueueSeries,
}

impl Sampler {
    pub(crate) fn new(run: &Run, links: &[ReportedLink]) -> Self {
        let numbers = |count: usize| 0..u32::try_from(count).expect("numbered in 24 bits");
        let is_on = run.sample != Sample::Off && run.queue_series;
        let mut waiting = Vec::new();
        if run.flow_series && matches!(run.sample, Sample::Every(_)) {
            // Flows that arrive at random (`arrivals`) have no rows.
            let lasts = |&id: &u32| run.class(id).source.arrivals().is_none();
            waiting.extend(numbers(run.flows.len()).filter(lasts));
            waiting.sort_by_key(|&id| std::cmp::Reverse(run.flows[id as usize].start));
        }
        let rated = links.iter().take_while(|link| link.has_rate).count();
        let (mut waiting_links, shared): (Vec<u32>, Vec<u32>) =
            numbers(if is_on { rated } else { 0 })
                .partition(|&place| links[place as usize].owner.is_some());
        waiting_links.sort_by_key(|&place| {
            let owner = links[place as usize].owner.expect("these have one");
            std::cmp::Reverse(run.flows[owner.0 as usize].start)
        });
        Self {
            period: period(run.sample),
            end: Time(run.duration.0),
            next: (is_on || !waiting.is_empty()).then_some(Time::ZERO),
            waiting,
            flows: Vec::new(),
            waiting_links,
            links: shared,
            series: Series::default(),
            queue: QueueSeries::default(),
        }
    }

    /// Returns when the next rows are due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.next
    }

    /// Adds a row for each flow and link that is still active.
    pub(crate) fn sample(
        &mut self,
        now: Time,
        net: &mut Network<Payload>,
        links: &[ReportedLink],
        all: &[Flow],
    ) {
        let at = |id: u32| &all[id as usize];
        let begun = self.waiting.partition_point(|&id| at(id).start > now);
        if begun < self.waiting.len() {
            // A flow that was stopped before its start time never starts. A connection of a browser
            // starts when it is first needed.
            let (begun, later): (Vec<u32>, Vec<u32>) =
                self.waiting.drain(begun..).partition(|&id| at(id).accounts.is_started);
            self.waiting.extend(later.into_iter().filter(|&id| !at(id).is_over()));
            self.flows.extend(begun.into_iter().map(|id| (id, Before::default())));
            self.flows.sort_unstable_by_key(|&(id, _)| id);
        }
        let is_first = now == Time::ZERO;
        self.flows.retain_mut(|(id, before)| {
            let flow = at(*id);
            if !flow.is_over() {
                let left = net.flow_wire_bytes(FlowId(*id));
                let left_since = left - std::mem::replace(&mut before.wire_bytes, left);
                self.series.push(SeriesRow {
                    throughput_bps: (flow.has_rated_link && !is_first)
                        .then(|| per_second(left_since, self.period)),
                    ..row(now, *id, flow, before)
                });
            }
            !flow.is_over()
        });
        let owner_of = |place: u32| links[place as usize].owner.map(|owner| at(owner.0));
        let begun = self
            .waiting_links
            .partition_point(|&place| owner_of(place).is_some_and(|owner| owner.start > now));
        if begun < self.waiting_links.len() {
            let is_used =
                |&place: &u32| owner_of(place).is_some_and(|owner| owner.accounts.is_started);
            let (begun, later): (Vec<u32>, Vec<u32>) =
                self.waiting_links.drain(begun..).partition(is_used);
            let is_over = |&place: &u32| owner_of(place).is_some_and(Flow::is_over);
            self.waiting_links.extend(later.into_iter().filter(|place| !is_over(place)));
            self.links.extend(begun);
            self.links.sort_unstable();
        }
        self.links.retain(|&place| {
            let link = &links[place as usize];
            let is_over = owner_of(place).is_some_and(Flow::is_over);
            if !is_over {
                self.queue.push(queue_row(now, place, net.link_stats(link.id)));
            }
            !is_over
        });
        let next = now + self.period;
        self.next = (next <= self.end).then_some(next);
    }
}

/// The counts of a flow at its previous row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before {
    wire_bytes: u64,
    limits: [Span; 5],
}

/// Returns the mean rate, in bit/s, of `bytes` bytes in `period`.
fn per_second(bytes: u64, period: Span) -> u64 {
    let bits = u128::from(bytes) * u128::from(BITS) * u128::from(NS_PER_S);
    u64::try_from(bits / u128::from(period.0.max(1))).unwrap_or(u64::MAX)
}

/// Returns the limit that applied to the sender for the longest time since the previous row. If no
/// time has passed under any limit, returns `app`.
fn limited_by(limits: [Span; 5], before: &mut Before) -> &'static str {
    const NAMES: [&str; 5] = ["cwnd", "pacing", "rwnd", "sndbuf", "app"];
    let was = std::mem::replace(&mut before.limits, limits);
    let spent = |at: usize| limits[at].0.saturating_sub(was[at].0);
    (0..NAMES.len()).max_by_key(|&at| spent(at)).map_or("app", |at| NAMES[at])
}

fn ca_state(conn: &Conn) -> &'static str {
    match conn.ca_state {
        CaState::Open | CaState::Disorder if conn.in_slow_start() => "slow_start",
        CaState::Open | CaState::Disorder => "avoidance",
        CaState::Cwr => "cwr",
        CaState::Recovery => "recovery",
        CaState::Loss => "loss",
    }
}

/// Returns the one-way delay of the flow's message that was read last, if delays are measured.
fn last_delay_us(flow: &Flow) -> Option<u64> {
    let latency = flow.application.latency.as_ref()?;
    latency.last().map(|delay| delay.0 / NS_PER_US)
}

/// Returns the queueing delay of the flow's data packet that arrived last, if it is measured.
fn last_wait_us(flow: &Flow) -> Option<u64> {
    let latency = flow.application.latency.as_ref()?;
    latency.last_wait().map(|waited| waited.0 / NS_PER_US)
}

/// Returns the row of a flow at `now`.
pub(crate) fn row(now: Time, id: u32, flow: &Flow, before: &mut Before) -> SeriesRow {
    let conn = flow.connection.sender.snapshot();
    let info = flow.info();
    let totals = flow.totals(now);
    if flow.is_udp {
        return SeriesRow {
            time_s: now.as_secs_f64(),
            flow: id,
            cwnd_packets: 0.into(),
            inflight_packets: 0.into(),
            sent_packets: totals.sender.sent.into(),
            delivered_packets: 0.into(),
            retransmitted_packets: 0.into(),
            delay_us: last_delay_us(flow),
            path_queue_delay_us: last_wait_us(flow),
            received_bytes: totals.receiver.bytes_read.into(),
            limited_by: "app".into(),
            ..SeriesRow::default()
        };
    }
    let known = |value: u32| (value != u32::MAX).then_some(value);
    SeriesRow {
        time_s: now.as_secs_f64(),
        flow: id,
        cwnd_packets: conn.ctl.cwnd.into(),
        ssthresh_packets: (conn.ctl.ssthresh < Control::INFINITE_SSTHRESH)
            .then_some(conn.ctl.ssthresh),
        inflight_packets: conn.inflight.into(),
        pacing_rate_bps: flow.pacing_rate().map(|rate| rate.saturating_mul(BITS)),
        bw_bps: info.bw.map(|bw| bw.saturating_mul(BITS)),
        min_rtt_us: info.min_rtt_us.or(known(conn.min_rtt_us)),
        srtt_us: (conn.srtt_us > 0).then_some(conn.srtt_us >> 3),
        rtt_us: flow.connection.meter.last_sample_us(),
        delay_us: last_delay_us(flow),
        path_queue_delay_us: last_wait_us(flow),
        sent_packets: totals.sender.sent.into(),
        delivered_packets: totals.delivered.into(),
        lost_packets: totals.lost.into(),
        retransmitted_packets: totals.sender.retransmitted.into(),
        received_bytes: totals.receiver.bytes_read.into(),
        limited_by: limited_by(totals.limits, before).into(),
        ca_state: ca_state(&conn).into(),
        state: info.state.into(),
        inflight_hi_packets: info.inflight_hi,
        inflight_lo_packets: info.inflight_lo,
        bw_hi_bps: info.bw_hi.map(|bw| bw.saturating_mul(BITS)),
        bw_lo_bps: info.bw_lo.map(|bw| bw.saturating_mul(BITS)),
        ..SeriesRow::default()
    }
}

/// Returns the row of a link at `now`.
pub(crate) fn queue_row(now: Time, link: u32, stats: &LinkStats) -> QueueRow {
    QueueRow {
        time_s: now.as_secs_f64(),
        link,
        packets: stats.backlog_packets(),
        bytes: stats.backlog_bytes.into(),
        arrivals: stats.arrivals.into(),
        drops: (stats.drops_full + stats.drops_aqm).into(),
        random_losses: stats.drops_random.into(),
        policer_drops: stats.drops_policer,
        marks: stats.marks.into(),
        ..QueueRow::default()
    }
}
