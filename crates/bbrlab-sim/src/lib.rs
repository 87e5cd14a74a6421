//! Runs one scenario: joins the network (`net`), the hosts' TCP (`tcp`) and what is measured, step by step.
//!
//! A [`Sim`] is built from a resolved [`Run`], advanced as far as the caller likes and turned into a
//! [`RunResult`] at the end. No thread, file, clock or global: what a web page or a notebook could host.
//!
//! | file | idea |
//! | --- | --- |
//! | `wiring.rs` | scenario to links, routes and flows of the engine |
//! | `setup.rs` | scenario to settings of sender and receiver |
//! | `world.rs` | hands the engine's events to the flows |
//! | `flow.rs` | a flow: two ends of a connection, application, books |
//! | `wire.rs` | segment to packet and back |
//! | `app.rs` | when the application writes |
//! | `meter.rs`, `histogram.rs` | what a flow's figures are made of |
//! | `series.rs` | the rows of the time series |
//! | `summary.rs` | the figures at the end |

mod app;
mod flow;
mod histogram;
mod meter;
mod series;
mod setup;
mod summary;
mod wire;
mod wiring;
mod world;

pub use wiring::LinkMode;

use bbrlab_cc::{CongestionControl as _, Conn};
use bbrlab_net::{DropTail, FlowId, LinkStats, Network};
use bbrlab_run::{QueueSeries, RunResult, Series, TransferRow, Transfers};
use bbrlab_run::{Run, Sample};
use bbrlab_units::{Span, Time};

use app::Token;
use flow::Flow;
use wire::Payload;
use wiring::RatedLink;
use world::World;

/// The period at which smoothed RTTs and queues are sampled where the scenario does not say.
const DEFAULT_PERIOD: Span = Span::from_millis(10);

/// Whether a run has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is more to simulate.
    Running,
    /// The scenario's duration is over.
    Done,
}

/// One run in progress.
#[derive(Debug)]
pub struct Sim {
    run: Run,
    net: Network<Payload, DropTail>,
    rated: Vec<RatedLink>,
    world: World,
    /// When the next row of the series is due; none if no series is kept.
    next_sample: Option<Time>,
    steady_from: Time,
    is_steady: bool,
    series: Series,
    queue: QueueSeries,
}

impl Sim {
    /// A run at time zero.
    ///
    /// # Errors
    /// If a congestion control refuses its parameters, which a checked scenario's do not.
    ///
    /// # Panics
    /// As [`Self::with_links`].
    pub fn new(run: &Run) -> Result<Self, String> {
        Self::with_links(run, LinkMode::VirtualClock)
    }

    /// The same with a choice of how drop-tail links are computed; results do not depend on it.
    ///
    /// # Errors
    /// As [`Self::new`].
    ///
    /// # Panics
    /// With more than 2^24 flows, which a checked scenario does not have.
    pub fn with_links(run: &Run, mode: LinkMode) -> Result<Self, String> {
        let setups = run
            .classes
            .iter()
            .map(|class| setup::class(run, class))
            .collect::<Result<Vec<_>, String>>()?;
        let wired = wiring::wire(run, mode);
        let mut net = wired.net;
        let period = sample_period(run.sample);
        let mut flows = Vec::with_capacity(run.flows.len());
        for (id, spec) in run.flows.iter().enumerate() {
            let id = u32::try_from(id).expect("flows are numbered in 24 bits");
            net.schedule(FlowId(id), spec.start, Token::Connect as u32);
            if let Some(stop) = spec.stop {
                net.schedule(FlowId(id), stop, Token::Stop as u32);
            }
            flows.push(Flow::new(run, id, spec, &setups[spec.class as usize], period));
        }
        let is_per_ack = run.sample == Sample::Ack && run.flow_series;
        Ok(Self {
            net,
            rated: wired.rated,
            world: World {
                flows,
                classes: run.classes.clone(),
                setups,
                per_ack: is_per_ack.then(Series::default),
            },
            next_sample: (run.sample != Sample::Off).then_some(Time::ZERO),
            steady_from: summary::steady_from(run),
            is_steady: false,
            series: Series::default(),
            queue: QueueSeries::default(),
            run: run.clone(),
        })
    }

    /// Runs every event up to and including `until`, or to the end of the run if that is earlier.
    pub fn advance(&mut self, until: Time) -> Status {
        let end = Time(self.run.duration.0);
        let until = until.min(end);
        while self.net.now() < until || self.next_sample == Some(until) {
            let stop = until.min(self.next_sample.unwrap_or(Time::NEVER)).min(if self.is_steady {
                Time::NEVER
            } else {
                self.steady_from
            });
            self.net.advance(stop, &mut self.world);
            if stop == self.steady_from {
                self.begin_steady_state();
            }
            if self.next_sample == Some(stop) {
                self.sample(stop);
            }
        }
        if self.net.now() >= end { Status::Done } else { Status::Running }
    }

    /// The present moment.
    #[must_use]
    pub fn now(&self) -> Time {
        self.net.now()
    }

    /// The sender of a flow as its congestion control sees it.
    ///
    /// # Panics
    /// If there is no such flow.
    #[must_use]
    pub fn conn(&self, flow: u32) -> &Conn {
        self.world.flows[flow as usize].sender.conn()
    }

    /// What a flow's congestion control tells of itself.
    ///
    /// # Panics
    /// If there is no such flow.
    #[must_use]
    pub fn info(&self, flow: u32) -> bbrlab_cc::Info {
        self.world.flows[flow as usize].info()
    }

    /// The private state of a flow's congestion control, field by field under the kernel's names.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn cc_snapshot(&self, flow: u32, field: &mut dyn FnMut(&'static str, i64)) {
        let sender = &self.world.flows[flow as usize].sender;
        sender.cc().snapshot(field);
    }

    /// The counts up to now of the link at that place of the summary's `links`.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn link_stats(&mut self, link: usize) -> &LinkStats {
        self.net.link_stats(self.rated[link].id)
    }

    /// Ends the run where it stands: asserts that no packet was lost sight of, and makes up the figures.
    ///
    /// # Panics
    /// If the engine has lost sight of a packet: an error of ours.
    #[must_use]
    pub fn finish(mut self) -> RunResult {
        self.net.check_conservation();
        let now = self.net.now();
        let wire_bytes = self.net.flow_wire_bytes().to_vec();
        for (flow, bytes) in self.world.flows.iter_mut().zip(wire_bytes) {
            flow.freeze(now, bytes);
        }
        let summary = summary::summarise(&self.run, &mut self.net, &self.rated, &self.world.flows);
        RunResult {
            summary,
            series: self.world.per_ack.take().unwrap_or(self.series),
            queue: self.queue,
            transfers: transfers(&self.run, &self.world.flows),
        }
    }

    fn begin_steady_state(&mut self) {
        self.is_steady = true;
        for flow in &mut self.world.flows {
            flow.bytes_at_ss = flow.bytes_read();
        }
    }

    /// A row for each flow and link, and the time of the next.
    fn sample(&mut self, now: Time) {
        if self.run.flow_series && self.world.per_ack.is_none() {
            for (id, flow) in self.world.flows.iter().enumerate() {
                if flow.is_started && flow.start <= now {
                    let id = u32::try_from(id).expect("flows are numbered in 24 bits");
                    self.series.push(series::row(now, id, flow));
                }
            }
        }
        for (place, link) in self.rated.iter().enumerate() {
            let place = u32::try_from(place).expect("links are numbered in 24 bits");
            let stats = self.net.link_stats(link.id);
            self.queue.push(series::queue_row(now, place, stats));
        }
        let next = now + sample_period(self.run.sample);
        self.next_sample = (next <= Time(self.run.duration.0)).then_some(next);
    }
}

/// The period at which smoothed RTTs and queues are sampled.
fn sample_period(sample: Sample) -> Span {
    match sample {
        Sample::Every(period) => period,
        Sample::Ack | Sample::Off => DEFAULT_PERIOD,
    }
}

/// Simulates `run` from its beginning to its end.
///
/// # Errors
/// As [`Sim::new`].
pub fn simulate(run: &Run) -> Result<RunResult, String> {
    let mut sim = Sim::new(run)?;
    sim.advance(Time(run.duration.0));
    Ok(sim.finish())
}

fn transfers(run: &Run, flows: &[Flow]) -> Transfers {
    let mut rows = Transfers::default();
    for (id, flow) in flows.iter().enumerate() {
        let Some(bytes) = app::transfer_bytes(&run.classes[flow.class as usize].source) else {
            continue;
        };
        for (n, transfer) in flow.transfers.iter().enumerate() {
            rows.push(TransferRow {
                flow: u32::try_from(id).expect("flows are numbered in 24 bits"),
                n: u32::try_from(n).expect("a train's count has 32 bits"),
                bytes,
                start_s: transfer.start.as_secs_f64(),
                fct_s: transfer.done.map(|done| done.since(transfer.start).as_secs_f64()),
                retransmitted_packets: flow.retransmitted_in(n),
            });
        }
    }
    rows
}
