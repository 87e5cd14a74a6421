//! Runs one scenario: combines the network (`net`), the hosts' TCP (`tcp`) and the measurements.
//!
//! A [`Sim`] is built from a resolved [`Run`], advanced in steps that the caller chooses, and
//! turned into a [`RunResult`] at the end. The simulator uses no thread, file, clock or global
//! variable, so a web page or a notebook can run it.
//!
//! | file | content |
//! | --- | --- |
//! | `wiring.rs` | builds the engine's links, routes and flows from a scenario |
//! | `run_network.rs` | the network of a run for hosts that are not simulated |
//! | `setup.rs` | builds the settings of sender and receiver from a scenario |
//! | `world.rs` | dispatches the engine's events to the flows |
//! | `flow.rs` | a flow: how an event changes its connection, application and counts |
//! | `connection.rs` | the two ends of a flow's connection, and the measurements at them |
//! | `app.rs` | the sending application: what it writes and when, and its transfers |
//! | `accounts.rs` | the packet and byte counts of a flow over all of its connections |
//! | `pacing_timer.rs` | the pacing timer, which is usually not in the event queue |
//! | `packets.rs` | the packets at the sending hosts, for captures |
//! | `wire.rs` | conversion between TCP segments and packets |
//! | `pieces.rs`, `arrivals.rs`, `client.rs`, `draw.rs` | write times, arriving flows, requests and bursts, and random draws |
//! | `path_delay.rs` | the propagation delay of a path |
//! | `datagrams.rs`, `copies.rs` | UDP flows |
//! | `meter.rs`, `round_trips.rs`, `latency.rs`, `histogram.rs`, `wide.rs` | measurements of a flow |
//! | `series.rs` | the rows of the time series |
//! | `windows.rs` | the time spans over which results are computed |
//! | `summary.rs`, `groups.rs`, `completions.rs`, `slowdown.rs`, `figures.rs` | the results at the end, and their units |

mod accounts;
mod app;
mod arrivals;
mod client;
mod completions;
mod connection;
mod copies;
mod datagrams;
mod draw;
mod duplex;
mod figures;
mod flow;
mod frames;
mod groups;
mod histogram;
mod latency;
mod meter;
mod pacing_timer;
mod packet_event;
mod packets;
mod pages;
mod path_delay;
mod pieces;
mod reader;
mod round_trips;
mod run_network;
mod samples;
mod schedule;
mod series;
mod setup;
mod slowdown;
mod summary;
mod wide;
mod windows;
mod wire;
mod wiring;
mod world;

pub use bbrlab_net::LinkMode;
#[cfg(feature = "tap")]
pub use bbrlab_net::{TapEvent, TapKind};
pub use bbrlab_tcp::segment::flag;
pub use bbrlab_tcp::{SackBlock, Segment};
pub use packet_event::PacketEvent;
pub use run_network::{NetworkResult, RunNetwork};

use bbrlab_cc::{CongestionControl as _, Conn, Controls};
use bbrlab_net::{FlowId, LinkStats, Network};
use bbrlab_run::{QueueSeries, Run, RunResult, Sample, Series, Transfers};
use bbrlab_units::Time;

use app::Token;
use arrivals::Population;
use flow::Flow;
use meter::Meter;
use pages::Browser;
use series::Sampler;
use slowdown::Ideal;
use windows::Windows;
use wire::Payload;
use wiring::ReportedLink;
use world::{Observer, PerAck, World};

/// Whether a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The run has not reached the scenario's duration.
    Running,
    /// The run has reached the scenario's duration.
    Done,
}

/// Rows of a run's time series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Rows of the flows.
    pub series: Series,
    /// Rows of the links.
    pub queue: QueueSeries,
}

/// One run in progress.
#[derive(Debug)]
pub struct Sim {
    run: Run,
    net: Network<Payload>,
    links: Vec<ReportedLink>,
    world: World,
    sampler: Sampler,
}

impl Sim {
    /// Creates a run at time zero.
    ///
    /// # Errors
    /// Fails if a congestion control rejects its parameters. The parameters of a checked scenario
    /// are valid.
    ///
    /// # Panics
    /// Panics like [`Self::with_links`].
    pub fn new(run: &Run) -> Result<Self, String> {
        Self::with_links(run, LinkMode::VirtualClock)
    }

    /// Creates a run at time zero whose drop-tail links are computed by the method `mode`. The
    /// results do not depend on `mode`.
    ///
    /// # Errors
    /// Fails like [`Self::new`].
    ///
    /// # Panics
    /// Panics with more than 2^24 flows. A checked scenario has at most 2^20 flows.
    pub fn with_links(run: &Run, mode: LinkMode) -> Result<Self, String> {
        Self::with_controls(run, mode, &Controls::none())
    }

    /// Creates a run at time zero with custom congestion controls for the flows that name them. See
    /// [`Self::with_links`].
    ///
    /// # Errors
    /// Fails like [`Self::new`], and if a custom congestion control is missing from `controls` or
    /// fails during setup.
    ///
    /// # Panics
    /// Panics like [`Self::with_links`].
    pub fn with_controls(run: &Run, mode: LinkMode, controls: &Controls) -> Result<Self, String> {
        let setups = run
            .classes
            .iter()
            .map(|class| setup::class(run, class, controls))
            .collect::<Result<Vec<_>, String>>()?;
        let wired = wiring::wire(run, mode);
        let mut net = wired.net;
        let period = series::period(run.sample);
        let mut flows = Vec::with_capacity(run.flows.len());
        let mut populations: Vec<_> = run.classes.iter().map(|_| None).collect();
        let mut browsers: Vec<Option<Browser>> = run.classes.iter().map(|_| None).collect();
        for (id, spec) in run.flows.iter().enumerate() {
            let id = u32::try_from(id).expect("flows are numbered in 24 bits");
            let class = &run.classes[spec.class as usize];
            if let Some(arrivals) = class.source.arrivals() {
                let ideal = Ideal::of(run, class);
                let number = (spec.class as usize, id);
                let mut population = Population::new(arrivals, number, spec.stop, run.seed, ideal);
                if let Some(first) = population.next_after(spec.start) {
                    net.schedule(FlowId(id), first, Token::Arrive as u32);
                }
                populations[spec.class as usize] = Some(population);
            } else {
                let number = spec.class as usize;
                if !class.source.is_page() {
                    net.schedule(FlowId(id), spec.start, Token::Connect as u32);
                } else if browsers[number].is_none() {
                    let is_its = |flow: &&bbrlab_run::Flow| flow.class == spec.class;
                    let connections = run.flows.iter().filter(is_its).count();
                    browsers[number] =
                        Browser::new(&class.source, (number, id), connections, run.seed);
                    net.schedule(FlowId(id), spec.start, Token::Page as u32);
                }
                if let Some(stop) = spec.stop {
                    net.schedule(FlowId(id), stop, Token::Stop as u32);
                }
            }
            let meter = match class.source.arrivals() {
                Some(_) => arrivals::meter(period),
                None => Meter::new(period, run.flows.len()),
            };
            flows.push(Flow::new((run.seed, id), spec, &setups[spec.class as usize], meter));
        }
        refuse_failed(controls)?;
        let is_per_ack = run.sample == Sample::Ack && run.flow_series;
        Ok(Self {
            net,
            sampler: Sampler::new(run, &wired.links),
            links: wired.links,
            world: World {
                flows,
                classes: run.classes.clone(),
                setups,
                observer: is_per_ack.then(|| Observer {
                    per_ack: Some(PerAck::new(run.flows.len())),
                    arrivals: None,
                }),
                windows: Windows::new(run),
                populations,
                browsers,
                seed: run.seed,
                period,
            },
            run: run.clone(),
        })
    }

    /// Runs every event up to and including `until`, or to the end of the run if that is earlier.
    pub fn advance(&mut self, until: Time) -> Status {
        let end = Time(self.run.duration.0);
        let until = until.min(end);
        while self.net.now() < until || self.sampler.next() == Some(until) {
            let next_sample = self.sampler.next();
            let next_mark = self.world.windows.next();
            let stop = until.min(next_sample.unwrap_or(Time::NEVER)).min(next_mark);
            self.net.advance(stop, &mut self.world);
            if next_mark == stop {
                self.world.windows.reach(stop, &mut self.world.flows);
            }
            if next_sample == Some(stop) {
                self.catch_up();
                self.sampler.sample(stop, &mut self.net, &self.links, &self.world.flows);
            }
        }
        if self.net.now() >= end { Status::Done } else { Status::Running }
    }

    /// Fires the pacing timers that are due by now and not in the event queue: see
    /// [`Flow::catch_up`].
    fn catch_up(&mut self) {
        let now = self.net.now();
        let flows = self.world.flows.iter_mut();
        self.net.count_events(flows.map(|flow| u64::from(flow.catch_up(now))).sum());
    }

    /// Removes and returns the rows that the time series has gained since the last call, for a
    /// caller that shows the run's progress. [`Self::finish`] returns only the rows after the last
    /// call of this function. Together, the rows of all calls and of [`Self::finish`] are the
    /// complete series.
    pub fn take_rows(&mut self) -> Rows {
        let per_ack = self.world.observer.as_mut().and_then(|of| of.per_ack.as_mut());
        let series = match per_ack {
            Some(acks) => &mut acks.rows,
            None => &mut self.sampler.series,
        };
        Rows { series: std::mem::take(series), queue: std::mem::take(&mut self.sampler.queue) }
    }

    /// Returns the current state of a flow's sender, as its congestion control reads it.
    ///
    /// # Panics
    /// Panics if the flow does not exist.
    #[must_use]
    pub fn conn(&self, flow: u32) -> Conn {
        self.world.flows[flow as usize].connection.sender.snapshot()
    }

    /// Returns the report of a flow's congestion control about its state.
    ///
    /// # Panics
    /// Panics if the flow does not exist.
    #[must_use]
    pub fn info(&self, flow: u32) -> bbrlab_cc::Info {
        self.world.flows[flow as usize].info()
    }

    /// Calls `field` with the name and value of each variable in the private state of a flow's
    /// congestion control. The names are the kernel's.
    ///
    /// # Panics
    /// Panics if the flow does not exist.
    pub fn cc_snapshot(&self, flow: u32, field: &mut dyn FnMut(&'static str, i64)) {
        let sender = &self.world.flows[flow as usize].connection.sender;
        sender.cc().snapshot(field);
    }

    /// Returns, for each link of the summary's `links` in order, the link's number in the run and
    /// the link's name. Private links are numbered after shared links: see
    /// [`Run::private_link_numbers`].
    pub fn links(&self) -> impl Iterator<Item = (u32, &str)> {
        self.links.iter().map(|link| (link.id.0, link.name.as_str()))
    }

    /// Begins to record what happens to packets, in at most `most` records. All links must be in
    /// the mode [`LinkMode::DepartureEvents`]; nothing is recorded at links in other modes.
    #[cfg(feature = "tap")]
    pub fn open_tap(&mut self, most: usize) {
        self.net.open_tap(most);
    }

    /// Ends recording: see [`bbrlab_net::Network::close_tap`].
    #[cfg(feature = "tap")]
    pub fn close_tap(&mut self) -> (Vec<TapEvent>, Option<Time>) {
        self.net.close_tap()
    }

    /// Returns the statistics up to now of a link, given by its index in the summary's `links`.
    ///
    /// # Panics
    /// Panics if the link does not exist.
    pub fn link_stats(&mut self, link: usize) -> &LinkStats {
        self.net.link_stats(self.links[link].id)
    }

    /// Ends the run at the current time: asserts that every packet is accounted for, and computes
    /// the results. Rows that [`Self::take_rows`] has returned are not included.
    ///
    /// # Panics
    /// Panics if the engine has not accounted for a packet: a bug.
    #[must_use]
    pub fn finish(mut self) -> RunResult {
        self.net.check_conservation();
        self.net.end();
        self.catch_up();
        let now = self.net.now();
        let World { flows, windows, populations, browsers, .. } = &mut self.world;
        let mut goes_on = false;
        for (id, flow) in (0..).zip(&mut *flows) {
            flow.connection.count_round_trips();
            let unfinished = match &browsers[flow.class as usize] {
                Some(browser) => browser.loading_since().filter(|_| browser.first == id),
                None => flow.unfinished_since(),
            };
            flow.end_latency(now, unfinished);
            let is_present = flow.freeze(now, self.net.flow_wire_bytes(FlowId(id)));
            let population = populations[flow.class as usize].as_ref();
            goes_on |= is_present && population.is_none_or(|them| them.ended.is_none());
        }
        if goes_on {
            windows.run_ended(now, flows);
        }
        let mut losses = self.net.flow_losses().to_vec();
        for population in populations.iter_mut().flatten() {
            population.gather(flows, &mut losses, now);
        }
        flows.truncate(self.run.flows.len());
        let (summary, delays) =
            summary::summarise(&self.run, &mut self.net, &self.links, &self.world, &losses);
        let Rows { series, queue } = self.take_rows();
        let transfers = transfers(&self.run, &self.world);
        RunResult { summary, series, queue, transfers, delays }
    }
}

/// Checks that no custom congestion control has failed.
///
/// # Errors
/// Returns the failure of the first custom congestion control that has failed. The text may lack
/// the cause; the caller that registered the control can add the cause.
pub fn refuse_failed(controls: &Controls) -> Result<(), String> {
    match controls.failed() {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

/// Simulates `run` from start to end.
///
/// # Errors
/// Fails like [`Sim::new`].
pub fn simulate(run: &Run) -> Result<RunResult, String> {
    let mut sim = Sim::new(run)?;
    sim.advance(Time(run.duration.0));
    Ok(sim.finish())
}

fn transfers(run: &Run, world: &World) -> Transfers {
    let mut rows = Transfers::default();
    let ideals: Vec<Ideal> = run.classes.iter().map(|class| Ideal::of(run, class)).collect();
    for (id, flow) in world.flows.iter().enumerate() {
        if let Some(population) = &world.populations[flow.class as usize] {
            population.counts.rows.iter().for_each(|row| rows.push(row.clone()));
        }
        let ideal = &ideals[flow.class as usize];
        let id = u32::try_from(id).expect("flows are numbered in 24 bits");
        for (n, transfer) in flow.transfers().enumerate() {
            let n = u32::try_from(n).expect("the number of a flow's transfers has 32 bits");
            rows.push(transfer.row(id, n, ideal.slowdown(&transfer)));
        }
    }
    rows
}
