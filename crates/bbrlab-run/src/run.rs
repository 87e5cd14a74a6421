//! One run, fully resolved: what `sim` needs and nothing else.
//!
//! All quantities are integers in the units of `bbrlab-units`; nothing here is short for something else.
//! The dumbbell, `[access]`, `left_link`, `path` and `rtt` have become links and routes. A hundred thousand
//! flows are cheap: what flows of one `[[flows]]` table share stands once, in their [`FlowClass`].

use bbrlab_cc::{Algorithm, Params};
use bbrlab_link::Link;
use bbrlab_stack::{EcnMode, Stack};
use bbrlab_units::{BitRate, Bytes, Span, Time};

/// The swept keys of a run with their values, in the order of the sweep; empty without a sweep.
pub type SweepPoint = serde_json::Map<String, serde_json::Value>;

/// One run: a network, who sends over it, for how long, and the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The scenario's name: a built-in's id, or the file's name without `.toml`.
    pub scenario: String,
    /// What the scenario shows, for people.
    pub title: String,
    /// SHA-256 (hexadecimal) of everything that decides the outcome but the seed.
    pub scenario_hash: String,
    /// Whose stack is imitated.
    pub profile: Profile,
    /// Where in the sweep this run stands.
    pub point: SweepPoint,
    /// The root of every random draw.
    pub seed: u64,
    /// The run ends here.
    pub duration: Span,
    /// How often the time series are sampled.
    pub sample: Sample,
    /// Whether series are kept per flow (default: up to 1,000 flows, or where `sample` is given).
    pub flow_series: bool,
    /// What all hosts have in common.
    pub stack: Stack,
    /// The links that flows share, in the order of their numbers. Private access links follow them:
    /// see [`Run::private_link_numbers`].
    ///
    /// Their names are those in results: `bottleneck`, the `name` of `[[links]]`, those with `.reverse` behind them.
    pub links: Vec<Link>,
    /// The link whose departures count as `data_packets`: the dumbbell's, if it has a rate.
    pub bottleneck: Option<u32>,
    /// What flows of one `[[flows]]` table have in common.
    pub classes: Vec<FlowClass>,
    /// The flows, in the order of their numbers (their ids).
    pub flows: Vec<Flow>,
}

/// Whose TCP and whose queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Linux 6.x.
    Linux,
    /// ns-3 with its simplifications.
    Ns3,
}

/// How often the time series are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// At 0, one period, two periods ...
    Every(Span),
    /// After every ACK that a sender has handled.
    Ack,
    /// No series; smoothed RTTs are taken every 10 ms all the same.
    Off,
}

/// What the flows of one `[[flows]]` table have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowClass {
    /// Congestion control; built, and accepting `cc_params`.
    pub cc: Algorithm,
    /// Its parameters.
    pub cc_params: Params,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// What the application sends.
    pub source: Source,
    /// Access links of finite rate that each flow of the class has for itself, in the order of the route; `left` or
    /// `right` by name (in results `left[3]` for flow 3).
    pub private_links: Vec<Link>,
    /// The way of the data, from sender to receiver. Neighbouring delays are one hop.
    pub forward: Vec<Hop>,
    /// The way of the ACKs, from receiver to sender. Neighbouring delays are one hop.
    pub reverse: Vec<Hop>,
    /// All delays there and back; no serialisation, no queue, no `reorder` wait.
    pub base_rtt: Span,
}

/// A step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// A pure delay.
    Delay(Span),
    /// A link of [`Run::links`], its own delay included.
    Link(u32),
    /// A link of [`FlowClass::private_links`], its own delay included.
    Private(u32),
}

/// What the application sends. Bytes are payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Always more.
    Unlimited,
    /// So many bytes, then the connection is done.
    Bytes(Bytes),
    /// At a constant rate.
    Cbr(BitRate),
    /// On for a time (at a rate, or as fast as the socket takes it), off for a time, on at the start.
    OnOff {
        /// Length of an on period.
        on: Span,
        /// Length of an off period.
        off: Span,
        /// Rate while on.
        rate: Option<BitRate>,
    },
    /// So many bytes handed over at that interval, first at the connect.
    Write {
        /// Bytes per hand-over.
        bytes: Bytes,
        /// Interval.
        every: Span,
    },
    /// A train of transfers, each on a new connection, `gap` after the receiver has read the last byte.
    Train {
        /// Bytes per transfer.
        bytes: Bytes,
        /// Number of transfers.
        count: u32,
        /// From the last byte read to the next connect.
        gap: Span,
    },
}

/// A flow. Its number, which is its id, is its place in [`Run::flows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its place in [`Run::classes`].
    pub class: u32,
    /// The connect, `start_step` and `start_jitter` included.
    pub start: Time,
    /// The application sends nothing from here on.
    pub stop: Option<Time>,
}

impl Run {
    /// The class of a flow.
    #[must_use]
    pub fn class(&self, flow: u32) -> &FlowClass {
        &self.classes[self.flows[flow as usize].class as usize]
    }

    /// The number of the first private link of each flow: they come after the shared links, flow by flow,
    /// each flow's in the order of [`FlowClass::private_links`].
    ///
    /// # Panics
    /// If there are more than 2^32 links; a scenario has at most 2^24.
    pub fn private_link_numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let mut next =
            u32::try_from(self.links.len()).expect("links are bounded when a scenario is read");
        self.flows.iter().map(move |flow| {
            let first = next;
            let own = self.classes[flow.class as usize].private_links.len();
            next += u32::try_from(own).expect("at most two");
            first
        })
    }
}
