//! The rows of the time series: a flow or a link at a time.
//!
//! A flow has rows from its start to its end, and a flow's private link until that flow's end. Flows that are over
//! cost nothing.

#![allow(
    clippy::needless_update,
    reason = "columns that follow from others are not filled in here"
)]

use bbrlab_cc::Control;
use bbrlab_net::{LinkStats, Network};
use bbrlab_run::{QueueRow, QueueSeries, Run, Sample, Series, SeriesRow};
use bbrlab_units::{Span, Time};

use crate::flow::Flow;
use crate::wire::Payload;
use crate::wiring::RatedLink;

/// Bits in a byte.
const BITS: u64 = 8;

/// The period at which smoothed RTTs and queues are sampled if the scenario sets none.
const DEFAULT_PERIOD: Span = Span::from_millis(10);

/// The period at which smoothed RTTs and queues are sampled.
pub(crate) fn period(sample: Sample) -> Span {
    match sample {
        Sample::Every(period) => period,
        Sample::Ack | Sample::Off => DEFAULT_PERIOD,
    }
}

/// Which flows and links get a row when, and the rows so far.
#[derive(Debug)]
pub(crate) struct Sampler {
    period: Span,
    end: Time,
    /// When the next rows are due; `None` if no series is kept.
    next: Option<Time>,
    /// Flows that have not started, in descending order of their start times.
    waiting: Vec<u32>,
    /// Flows that get a row, in order.
    flows: Vec<u32>,
    /// The links that get a row, in order, as places in the list of rated links.
    links: Vec<u32>,
    pub(crate) series: Series,
    pub(crate) queue: QueueSeries,
}

impl Sampler {
    pub(crate) fn new(run: &Run, rated: &[RatedLink]) -> Self {
        let numbers = |count: usize| 0..u32::try_from(count).expect("numbered in 24 bits");
        let is_on = run.sample != Sample::Off;
        let mut waiting = Vec::new();
        if run.flow_series && matches!(run.sample, Sample::Every(_)) {
            waiting.extend(numbers(run.flows.len()));
            waiting.sort_by_key(|&id| std::cmp::Reverse(run.flows[id as usize].start));
        }
        Self {
            period: period(run.sample),
            end: Time(run.duration.0),
            next: is_on.then_some(Time::ZERO),
            waiting,
            flows: Vec::new(),
            links: numbers(if is_on { rated.len() } else { 0 }).collect(),
            series: Series::default(),
            queue: QueueSeries::default(),
        }
    }

    /// When the next rows are due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.next
    }

    /// Adds a row for each flow and link that is not over.
    pub(crate) fn sample(
        &mut self,
        now: Time,
        net: &mut Network<Payload>,
        rated: &[RatedLink],
        all: &[Flow],
    ) {
        let at = |id: u32| &all[id as usize];
        let begun = self.waiting.partition_point(|&id| at(id).start > now);
        if begun < self.waiting.len() {
            // A flow that was stopped before its start never starts.
            self.flows.extend(self.waiting.drain(begun..).filter(|&id| at(id).is_started));
            self.flows.sort_unstable();
        }
        self.flows.retain(|&id| {
            let flow = at(id);
            if !flow.is_over() {
                self.series.push(row(now, id, flow));
            }
            !flow.is_over()
        });
        self.links.retain(|&place| {
            let link = &rated[place as usize];
            let is_over = link.owner.is_some_and(|owner| at(owner.0).is_over());
            if !is_over {
                self.queue.push(queue_row(now, place, net.link_stats(link.id)));
            }
            !is_over
        });
        let next = now + self.period;
        self.next = (next <= self.end).then_some(next);
    }
}

/// The row of a flow at `now`.
pub(crate) fn row(now: Time, id: u32, flow: &Flow) -> SeriesRow {
    let conn = flow.sender.conn();
    let info = flow.info();
    let totals = flow.totals(now);
    let known = |value: u32| (value != u32::MAX).then_some(value);
    SeriesRow {
        time_s: now.as_secs_f64(),
        flow: id,
        cwnd_packets: conn.ctl.cwnd,
        ssthresh_packets: (conn.ctl.ssthresh < Control::INFINITE_SSTHRESH)
            .then_some(conn.ctl.ssthresh),
        inflight_packets: conn.inflight,
        pacing_rate_bps: flow.pacing_rate().map(|rate| rate.saturating_mul(BITS)),
        bw_bps: info.bw.map(|bw| bw.saturating_mul(BITS)),
        min_rtt_us: info.min_rtt_us.or(known(conn.min_rtt_us)),
        srtt_us: (conn.srtt_us > 0).then_some(conn.srtt_us >> 3),
        rtt_us: flow.meter.last_rtt_us,
        sent_packets: totals.sender.sent.into(),
        delivered_packets: totals.delivered,
        lost_packets: totals.lost.into(),
        retransmitted_packets: totals.sender.retransmitted,
        received_bytes: totals.receiver.bytes_read,
        state: info.state.into(),
        inflight_hi_packets: info.inflight_hi,
        inflight_lo_packets: info.inflight_lo,
        bw_hi_bps: info.bw_hi.map(|bw| bw.saturating_mul(BITS)),
        bw_lo_bps: info.bw_lo.map(|bw| bw.saturating_mul(BITS)),
        ..SeriesRow::default()
    }
}

/// The row of a link at `now`.
fn queue_row(now: Time, link: u32, stats: &LinkStats) -> QueueRow {
    QueueRow {
        time_s: now.as_secs_f64(),
        link,
        packets: stats.backlog_packets(),
        bytes: stats.backlog_bytes.into(),
        drops: stats.drops_full + stats.drops_aqm,
        marks: stats.marks.into(),
        ..QueueRow::default()
    }
}
