//! The parts of runs for which the trust section states a validation, such as congestion controls,
//! queues and traffic sources.

use std::collections::BTreeMap;

use bbrlab_link::{Buffer, Link, Loss, Probability, Queue, Rate};
use bbrlab_run::{FlowClass, Hop, Profile, Run, Source};
use bbrlab_stack::{EcnMode, SenderQdisc, SocketBuffer, Tso};

use super::facts::About;

/// The wire size of a full segment, in bytes.
const PACKET_BYTES: f64 = 1514.0;

/// A range of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub least: f64,
    pub most: f64,
}

impl Range {
    fn add(range: &mut Option<Self>, value: f64) {
        let range = range.get_or_insert(Self { least: value, most: value });
        range.least = range.least.min(value);
        range.most = range.most.max(value);
    }
}

/// The rates, RTTs and buffers at which the flows of a congestion control run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Places {
    pub rate_mbps: Option<Range>,
    pub rtt_ms: Option<Range>,
    pub buffer_bdp: Option<Range>,
}

/// The parts of a result's runs about which the trust section has lines.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    pub(super) parts: Vec<(About, &'static str)>,
    pub(super) places: BTreeMap<&'static str, Places>,
    /// Congestion controls with other parameters than the defaults.
    pub(super) changed: Vec<&'static str>,
    /// Congestion controls that are not part of bbrlab.
    pub(super) outside: Vec<String>,
    pub(super) flows_max: usize,
    pub(super) has_udp: bool,
}

impl Subject {
    /// Adds the parts of a run to the parts of the runs added before.
    pub fn add(&mut self, run: &Run) {
        self.flows_max = self.flows_max.max(run.flows.len());
        self.part(About::Profile, run.profile.name());
        for class in &run.classes {
            self.class(run, class);
        }
        let links =
            || run.links.iter().chain(run.classes.iter().flat_map(|class| &class.private_links));
        for link in links() {
            self.link(link);
        }
        let limited = |is_back: bool| {
            let is_wanted =
                |link: &&Link| link.rate.is_limited() && link.name.contains("reverse") == is_back;
            run.links.iter().filter(is_wanted).count()
        };
        match limited(false) {
            0 | 1 => {}
            2 => self.part(About::Path, "two links with a rate"),
            _ => self.part(About::Path, "more than two links with a rate"),
        }
        if limited(true) > 0 && run.profile.is_linux() {
            self.part(About::Path, "a reverse path with a rate");
        }
        self.hosts(run);
    }

    fn part(&mut self, about: About, name: &'static str) {
        if !self.parts.contains(&(about, name)) {
            self.parts.push((about, name));
        }
    }

    fn class(&mut self, run: &Run, class: &FlowClass) {
        if class.is_udp {
            self.has_udp = true;
        } else if let Some(outside) = &class.outside {
            if !self.outside.contains(&outside.name) {
                self.outside.push(outside.name.clone());
            }
        } else {
            let name = class.cc.name();
            self.part(About::Algorithm, name);
            if !class.cc_params.is_empty() && !self.changed.contains(&name) {
                self.changed.push(name);
            }
            self.place(run, class, name);
        }
        let source = match class.source {
            Source::Unlimited => "unlimited",
            Source::Bytes(_) => "a number of bytes",
            Source::Cbr(_) | Source::OnOff { .. } | Source::Write { .. } => {
                "an application with pauses"
            }
            Source::Rates(_)
            | Source::Frames(_)
            | Source::Train { .. }
            | Source::Bursts(_)
            | Source::Requests(_)
            | Source::Arrivals(_) => "a model of traffic",
        };
        self.part(About::Source, source);
        if class.settings.ecn != EcnMode::Off {
            self.part(About::Host, "ECN");
        }
    }

    /// Extends the ranges of the congestion control `name` so that they include the class's base
    /// RTT, and the rate and the buffer of the narrowest link on the class's forward path.
    #[expect(clippy::cast_precision_loss, reason = "quantities for comparison")]
    fn place(&mut self, run: &Run, class: &FlowClass, name: &'static str) {
        let places = self.places.entry(name).or_default();
        let rtt_ms = class.base_rtt.as_secs_f64() * 1e3;
        Range::add(&mut places.rtt_ms, rtt_ms);
        let links = class.forward.iter().filter(|hop| !matches!(hop, Hop::Delay(_)));
        let rated = links.filter_map(|&hop| run.link_at(class, hop)).filter_map(|link| {
            let rate = link.rate.at_start().filter(|rate| rate.0 > 0)?;
            Some((rate.0, link))
        });
        let Some((rate, link)) = rated.min_by_key(|&(rate, _)| rate) else { return };
        Range::add(&mut places.rate_mbps, rate as f64 / 1e6);
        let bytes = match link.buffer {
            Buffer::Unlimited => return,
            Buffer::Packets(packets) => packets.0 as f64 * PACKET_BYTES,
            Buffer::Bytes(bytes) => bytes.0 as f64,
        };
        if rtt_ms > 0.0 {
            Range::add(&mut places.buffer_bdp, bytes * 8.0 / (rate as f64 * rtt_ms * 1e-3));
        }
    }

    fn link(&mut self, link: &Link) {
        if link.rate.is_limited() {
            self.part(About::Queue, link.queue.name());
            let rate = match &link.rate {
                _ if link.airtime.is_some() => "shared airtime",
                _ if link.burst.is_some() => "token bucket",
                Rate::Schedule(_) => "steps",
                Rate::Trace(_) => "trace",
                Rate::Constant(_) | Rate::Unlimited => "constant",
            };
            self.part(About::Rate, rate);
        } else if !matches!(link.queue, Queue::DropTail) {
            self.part(About::Queue, link.queue.name());
        }
        if let Some(loss) = &link.loss {
            let loss = match loss {
                Loss::Bernoulli(_) => "ratio",
                Loss::Steps(_) => "schedule of ratios",
                Loss::GilbertElliott { .. } => "bursts (Gilbert-Elliott)",
                Loss::InTime { .. } => "bursts in time",
            };
            self.part(About::Loss, loss);
        }
        let on_path = [
            (link.police.is_some(), "policer"),
            (link.reorder.is_some(), "reordering"),
            (link.ack_thinning.is_some(), "ACK thinning"),
            (link.delay_steps.is_some(), "a delay that changes"),
            (
                link.jitter.is_some()
                    || link.random_delay.is_some()
                    || link.duplicate != Probability::ZERO
                    || link.corrupt != Probability::ZERO,
                "jitter, duplicates or corruption",
            ),
        ];
        for (is_there, name) in on_path {
            if is_there {
                self.part(About::Path, name);
            }
        }
    }

    fn hosts(&mut self, run: &Run) {
        if !matches!(run.profile, Profile::Linux | Profile::LinuxStock) {
            return;
        }
        let stack = &run.stack;
        let usual = bbrlab_stack::Stack::default();
        if stack.rwnd.is_some()
            || stack.sndbuf != SocketBuffer::default()
            || stack.rcvbuf != SocketBuffer::default()
            || (run.profile == Profile::Linux
                && (stack.tcp_rmem != usual.tcp_rmem || stack.tcp_wmem != usual.tcp_wmem))
        {
            self.part(About::Host, "socket buffers or a receive window unlike Linux's defaults");
        }
        if stack.sender_qdisc != SenderQdisc::None {
            self.part(About::Host, "fq at the sender");
        }
        if stack.tso == Tso::Whole {
            self.part(About::Host, "bursts that cross the network whole");
        }
    }
}
