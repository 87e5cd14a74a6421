//! One run, fully resolved: the input of `sim`.
//!
//! All quantities are integers in the units of `bbrlab-units`, and the abbreviations of scenarios
//! (the dumbbell, `[access]`, `left_link`, `path`, `rtt`) have been replaced by links and routes.
//! The settings of a `[[flows]]` table are stored once, in a [`FlowClass`], so 100,000 flows of one
//! table need little memory.

use std::sync::Arc;

use bbrlab_cc::{Algorithm, Params};
use bbrlab_link::Link;
use bbrlab_stack::Stack;
use bbrlab_units::{BitRate, Bytes, Span, Time};

use crate::flow_settings::FlowSettings;
use crate::profile::Profile;
use crate::traffic::{Arrivals, Bursts, Frames, Paces, Pause, Requests};

/// The swept keys of a run with their values, in the order of the sweep; empty without a sweep.
pub type SweepPoint = serde_json::Map<String, serde_json::Value>;

/// One run: a network, the flows that cross it, the duration and the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The scenario's name: a built-in's id, or the file's name without `.toml`.
    pub scenario: String,
    /// The purpose of the scenario, shown to users.
    pub title: String,
    /// SHA-256 (hexadecimal) of everything, except the seed, that determines the results.
    pub scenario_hash: String,
    /// The TCP stack that the run imitates.
    pub profile: Profile,
    /// The swept keys of this run with their values.
    pub point: SweepPoint,
    /// The values of `point` that are quantities, converted to base units: `{ value, unit }`.
    pub point_values: SweepPoint,
    /// The seed from which all random generators are derived.
    pub seed: u64,
    /// Simulated time, from 0 to the end of the run.
    pub duration: Span,
    /// The rule by which the time series are sampled.
    pub sample: Sample,
    /// Whether the run has time series of each flow. By default, a run has series of each flow if
    /// the run has at most 1,000 flows, or if the scenario sets `sample`.
    pub flow_series: bool,
    /// Whether the run has time series of its links. If [`Self::sample`] is [`Sample::Off`], the
    /// run has none, even if this field is true.
    pub queue_series: bool,
    /// The settings that all hosts share.
    pub stack: Stack,
    /// The links that flows share, in the order of their numbers. The numbers of private access
    /// links follow the numbers of shared links: see [`Run::private_link_numbers`].
    ///
    /// The name of a link is also its name in the results: `bottleneck`, the `name` of `[[links]]`,
    /// or one of these followed by `.reverse`.
    pub links: Vec<Link>,
    /// The scenario table from which each link comes: `bottleneck` or `links[1]`.
    pub link_tables: Vec<String>,
    /// The index in `links` of the dumbbell's bottleneck link; `None` if the scenario has no
    /// `[bottleneck]` or the bottleneck has no rate. The departures from this link count as
    /// `data_packets`.
    pub bottleneck: Option<u32>,
    /// The classes of flows, one per `[[flows]]` table.
    pub classes: Vec<FlowClass>,
    /// The flows, in the order of their numbers (ids). All flows of a class with
    /// [`Source::Arrivals`] are one entry.
    pub flows: Vec<Flow>,
}

/// The rule by which the time series are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// A time series has rows at time 0 and at every multiple of the period.
    Every(Span),
    /// In the simulator, the series of a flow has a row after every ACK that the sender has
    /// processed. The other back ends refuse this value.
    Ack,
    /// No series. The smoothed RTT is still sampled every 10 ms.
    Off,
}

/// The common settings of the flows of one `[[flows]]` table.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowClass {
    /// The class's name in tables and plots; `None` if the scenario sets none.
    pub name: Option<String>,
    /// The group in which the results of the flows are summarised.
    pub group: String,
    /// The congestion control, which accepts the parameters in `cc_params`.
    pub cc: Algorithm,
    /// The parameters of the congestion control.
    pub cc_params: Params,
    /// The custom congestion control, not part of bbrlab, that the flows have instead of `cc`;
    /// `None` if they have `cc`.
    pub outside: Option<Arc<Outside>>,
    /// Whether the flow sends datagrams at its source's rate, without a connection. `cc` is then
    /// unused.
    pub is_udp: bool,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// The number of the receiving host, from 1. With 0, each flow has its own receiving host.
    pub host: u32,
    /// The number of the sending host, from 1. With 0, each flow has its own sending host.
    pub sender_host: u32,
    /// The settings that the back end receives unchanged from the scenario.
    pub settings: FlowSettings,
    /// The data that the application sends.
    pub source: Source,
    /// The access links that have a rate. Each flow of the class has its own copy of these links.
    /// The links are in the order of the routes. The links are named `left`, `right` and, if the
    /// reverse direction has a rate, `right.reverse` and `left.reverse`. In results, `left[3]` is
    /// the copy of `left` that belongs to flow 3.
    pub private_links: Vec<Link>,
    /// The route of the data, from sender to receiver. Consecutive delays are combined into one
    /// hop.
    pub forward: Vec<Hop>,
    /// The route of the ACKs, from receiver to sender. Consecutive delays are combined into one
    /// hop.
    pub reverse: Vec<Hop>,
    /// The sum of all delays in both directions, without serialisation, queueing and the additional
    /// delay of `reorder`.
    pub base_rtt: Span,
}

/// An element of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// A delay without a link. The delay is the same for every packet.
    Delay(Span),
    /// A link of [`Run::links`], including its delay.
    Link(u32),
    /// A link of [`FlowClass::private_links`], including its delay.
    Private(u32),
}

/// The data that the application sends. All numbers of bytes are payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The application always has more to send.
    Unlimited,
    /// One transfer of this many bytes. The flow ends after the transfer.
    Bytes(Bytes),
    /// The application writes one segment at a time, at a constant rate.
    Cbr(BitRate),
    /// The application writes segments at paces that change over time. At the pace
    /// `Pace::Unlimited`, it writes as fast as the socket accepts data.
    Rates(Paces),
    /// Alternating on and off periods, beginning with an on period. In an on period, the
    /// application sends at a rate, or as fast as the socket accepts data.
    OnOff {
        /// Length of an on period.
        on: Span,
        /// Length of an off period.
        off: Span,
        /// Rate in an on period; `None` if the application writes as fast as the socket accepts
        /// data.
        rate: Option<BitRate>,
    },
    /// Writes `bytes` at the flow's start, and again after every interval `every`.
    Write {
        /// Bytes per write.
        bytes: Bytes,
        /// Time from one write to the next.
        every: Span,
    },
    /// The frames of a video call or a live stream.
    Frames(Frames),
    /// A sequence of transfers, each on a new connection. Each transfer begins `gap` after the
    /// receiver has read the last byte of the previous transfer.
    Train {
        /// Bytes per transfer.
        bytes: Bytes,
        /// Number of transfers.
        count: u32,
        /// Time from when the receiver has read a transfer's last byte to when the next connection
        /// opens.
        gap: Span,
    },
    /// Alternating on and off periods of random lengths.
    Bursts(Bursts),
    /// Responses to a client's requests, all on one connection.
    Requests(Requests),
    /// Many flows that arrive and leave during the run. All flows of a class with this source are
    /// one entry in [`Run::flows`].
    Arrivals(Arrivals),
}

impl Source {
    /// Whether the data consists of messages: transfers, or writes at known times.
    #[must_use]
    pub const fn has_messages(&self) -> bool {
        !matches!(
            self,
            Self::Unlimited
                | Self::Rates(_)
                | Self::OnOff { rate: None, .. }
                | Self::Bursts(Bursts { rate: None, .. })
        )
    }

    /// Whether the flows of the class are the connections of a browser, which loads pages.
    #[must_use]
    pub const fn is_page(&self) -> bool {
        matches!(self, Self::Requests(Requests { pause: Pause::Page(_), .. }))
    }

    /// Returns the arrival process of the flows; `None` for other sources.
    #[must_use]
    pub const fn arrivals(&self) -> Option<&Arrivals> {
        match self {
            Self::Arrivals(arrivals) => Some(arrivals),
            _ => None,
        }
    }

    /// Returns the bytes of one transfer; `None` if the source has no transfers, or if its
    /// transfers may differ in size.
    #[must_use]
    pub const fn transfer_bytes(&self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) | Self::Train { bytes, .. } => Some(bytes.0),
            _ => None,
        }
    }

    /// Returns the number of transfers: 0 if the source has none, `u32::MAX` if the number is
    /// limited only by the end of the run.
    #[must_use]
    pub const fn transfers(&self) -> u32 {
        match self {
            Self::Bytes(_) => 1,
            Self::Train { count, .. } | Self::Requests(Requests { count: Some(count), .. }) => {
                *count
            }
            Self::Requests(_) | Self::Arrivals(_) => u32::MAX,
            _ => 0,
        }
    }
}

/// A custom congestion control, which is not part of bbrlab, as a scenario declares it. The program
/// that runs the scenario must provide the implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The name in the scenario. No built-in algorithm has this name.
    pub name: String,
    /// The origin of the congestion control, shown to users.
    pub source: String,
    /// The SHA-256 of the program text of the congestion control; `None` if the text is not
    /// available.
    pub sha256: Option<String>,
    /// Whether the congestion control can respond to the share of marked packets in a round trip.
    /// If true, the receiver echoes each mark individually.
    pub answers_share_of_marks: bool,
}

impl Outside {
    /// Returns the error message for a congestion control that the running program does not
    /// provide.
    #[must_use]
    pub fn absent(&self) -> String {
        let Self { name, source, .. } = self;
        if self.ns3_type().is_some() {
            return format!(
                "`cc = \"{name}\"`: the simulator has no such congestion control; --on ns3 runs it"
            );
        }
        if name.starts_with("plugin:") {
            return format!(
                "`controls.{name}`: expected the shared object of this congestion control ({source}), found none; name it with --plugin; in Python: bbrlab.run(..., controls={{\"{name}\": \"LIB\"}})"
            );
        }
        format!(
            "`controls.{name}`: expected a program that provides this congestion control ({source}), found none; in Python: bbrlab.run(..., controls={{\"{name}\": ...}})"
        )
    }
}

/// A flow. The number of a flow, which is its id, is its index in [`Run::flows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The index of the flow's class in [`Run::classes`].
    pub class: u32,
    /// The time at which the flow connects, including `start_step` and `start_jitter`.
    pub start: Time,
    /// The time at which the application stops sending; `None` if it sends until its source or the
    /// run ends.
    pub stop: Option<Time>,
}

impl FlowClass {
    /// Returns the name of the congestion control; `udp` for flows of datagrams.
    #[must_use]
    pub fn cc_name(&self) -> &str {
        match &self.outside {
            Some(outside) => &outside.name,
            None if self.is_udp => "udp",
            None => self.cc.name(),
        }
    }

    /// Whether the delay of each message is measured. The delays of datagrams, frames and page
    /// loads are always measured.
    #[must_use]
    pub fn measures_messages(&self) -> bool {
        self.is_udp
            || matches!(self.source, Source::Frames(_))
            || self.source.is_page()
            || (self.source.has_messages()
                && (self.settings.latency || self.settings.late.is_some()))
    }

    /// Returns whether the congestion control responds to the share of marked packets in a round
    /// trip.
    #[must_use]
    pub fn answers_share_of_marks(&self) -> bool {
        self.outside.as_ref().map_or_else(
            || self.cc.answers_share_of_marks(&self.cc_params),
            |outside| outside.answers_share_of_marks,
        )
    }
}

impl Run {
    /// Returns the custom congestion controls that flows of the run use, each once, sorted by name.
    /// Congestion controls of ns-3 are not in the list, because callers do not provide them.
    #[must_use]
    pub fn outside(&self) -> Vec<&Outside> {
        let mut all: Vec<&Outside> =
            self.classes.iter().filter_map(|class| class.outside.as_deref()).collect();
        all.retain(|outside| outside.ns3_type().is_none());
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.dedup();
        all
    }

    /// Returns the class of a flow.
    #[must_use]
    pub fn class(&self, flow: u32) -> &FlowClass {
        &self.classes[self.flows[flow as usize].class as usize]
    }

    /// Returns the number of the first private link of each flow. Private links are numbered after
    /// all shared links, flow by flow. The private links of a flow are in the order of
    /// [`FlowClass::private_links`].
    ///
    /// # Panics
    /// Panics if there are more than 2^32 links; a scenario has at most 2^24.
    pub fn private_link_numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let mut next = u32::try_from(self.links.len())
            .expect("the reader of scenarios limits the number of links");
        self.flows.iter().map(move |flow| {
            let first = next;
            let own = self.classes[flow.class as usize].private_links.len();
            next += u32::try_from(own).expect("at most four");
            first
        })
    }
}
