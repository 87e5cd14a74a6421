//! The network of a run for hosts that are not simulated, such as real kernels.
//!
//! The links, routes and queues are the same as in a [`crate::Sim`] of the same run. If the same
//! packets enter both networks at the same times, they therefore also leave at the same times.

use bbrlab_net::{FlowId, FlowLosses, Handler, LinkId, LinkMode, Network, PacketData};
use bbrlab_run::{Delays, LinkSummary, QueueSeries, Run, Sample, WaitSummary};
use bbrlab_units::{Span, Time};

use crate::series::{period, queue_row};
use crate::summary::{link_summary, queue_delays, wait_summary};
use crate::wiring::{ReportedLink, waits, wire};

/// The network of a run, with periodic samples of its queues.
#[derive(Debug)]
pub struct RunNetwork<P: PacketData> {
    net: Network<P>,
    links: Vec<ReportedLink>,
    period: Span,
    /// When the next rows about the queues are due.
    next_sample: Time,
    queue: QueueSeries,
    end: Time,
}

/// The results about the network at the end of a run.
#[derive(Debug)]
pub struct NetworkResult {
    /// The results of the links in a run's summary: every link with a rate, then every other link
    /// that can lose, police or thin packets.
    pub links: Vec<LinkSummary>,
    /// For each link that models waiting for `netem` slots or grants to send: the results about the
    /// waits of packets.
    pub waits: Vec<WaitSummary>,
    /// The rows of the queue series: periodic samples of the shared links that have a rate.
    pub queue: QueueSeries,
    /// The queueing delays at the links that flows share.
    pub delays: Delays,
    /// For each flow: the number of data packets that it has lost, by cause.
    pub losses: Vec<FlowLosses>,
    /// For each flow: the flow's bytes, with all headers, that have left the last link with a rate
    /// on its path.
    pub wire_bytes: Vec<u64>,
    /// The number of data packets that the bottleneck has sent; `None` without a bottleneck.
    pub data_packets: Option<u64>,
}

impl<P: PacketData> RunNetwork<P> {
    /// Builds the network of a run, at time zero.
    ///
    /// # Panics
    /// Panics with more than 2^24 flows. A checked scenario has at most 2^20 flows.
    #[must_use]
    pub fn new(run: &Run) -> Self {
        let wired = wire(run, LinkMode::VirtualClock);
        let is_on = run.sample != Sample::Off && run.queue_series;
        Self {
            net: wired.net,
            links: wired.links,
            period: period(run.sample),
            next_sample: if is_on { Time::ZERO } else { Time::NEVER },
            queue: QueueSeries::default(),
            end: Time(run.duration.0),
        }
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.net.now()
    }

    /// Returns when the next event, or the next sample of the queues, is due; the end of the run if
    /// that is earlier.
    pub fn next_due(&self) -> Time {
        self.net.next_due().min(self.next_sample).min(self.end)
    }

    /// Handles every event up to and including `until`, or up to the end of the run if that is
    /// earlier.
    pub fn advance<H: Handler<P>>(&mut self, until: Time, handler: &mut H) {
        let until = until.min(self.end);
        while self.next_sample <= until {
            let at = self.next_sample;
            self.net.advance(at, handler);
            for (place, link) in (0..).zip(&self.links) {
                if link.has_rate && link.owner.is_none() {
                    self.queue.push(queue_row(at, place, self.net.link_stats(link.id)));
                }
            }
            let next = at + self.period;
            self.next_sample = if next <= self.end { next } else { Time::NEVER };
        }
        self.net.advance(until, handler);
    }

    /// Calls [`Handler::on_application`] for a flow at the time `at`, after all events of that
    /// time. `at` must not have passed. In `on_application`, the handler sends the packets that the
    /// flow's hosts passed to it before this call of `enter`.
    pub fn enter<H: Handler<P>>(&mut self, flow: FlowId, at: Time, handler: &mut H) {
        self.advance(at, handler);
        self.net.schedule(flow, at, 0);
        self.advance(at, handler);
    }

    /// Returns the results at the current time.
    ///
    /// # Panics
    /// Panics like [`Self::new`].
    #[must_use]
    pub fn finish(mut self, run: &Run) -> NetworkResult {
        let first_start = run.flows.iter().map(|flow| flow.start).min().unwrap_or(Time::ZERO);
        let now = self.net.now();
        let net = &mut self.net;
        let links = self.links.iter().map(|link| link_summary(net, link, first_start, now));
        let links = links.collect();
        let flows = 0..u32::try_from(run.flows.len()).expect("flows are numbered in 24 bits");
        NetworkResult {
            links,
            waits: waits(run).map(|(id, name)| wait_summary(net, id, name)).collect(),
            delays: queue_delays(net, &self.links),
            losses: net.flow_losses().to_vec(),
            wire_bytes: flows.map(|flow| net.flow_wire_bytes(FlowId(flow))).collect(),
            data_packets: run.bottleneck.map(|it| net.link_stats(LinkId(it)).sent_data_packets),
            queue: self.queue,
        }
    }
}
