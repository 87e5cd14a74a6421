//! Reference values drawn next to curves: link rates, the bandwidth-delay product, buffers.

use bbrlab_link::{DelaySteps, Link, Rate, Trace};
use bbrlab_run::{FlowClass, Hop, wire_bytes};

use super::{QUEUES_SHOWN, Sheet, value};

/// The number of bins in which the delivery opportunities of a trace are counted.
const BINS: u32 = 250;

/// The least queue, in packets, in which a packet waits. A single packet does not wait, because it
/// is being sent.
const SOMEBODY_WAITS: u64 = 2;

impl<'a> Sheet<'a> {
    /// Returns the link that the flows share: the bottleneck of a dumbbell; without a bottleneck,
    /// the first link with a limited rate.
    pub(super) fn main_link(&self) -> Option<&'a Link> {
        let run = self.input.run;
        run.bottleneck_link().or_else(|| run.links.iter().find(|link| link.rate.is_limited()))
    }

    /// Returns the scenario's link for a link of the summary: a shared link or, if the name is
    /// `left[3]`, the private link `left` of the class of flow 3.
    pub(super) fn link_of(&self, summary_link: u32) -> Option<&'a Link> {
        let name = &self.input.summary.links.get(summary_link as usize)?.name;
        let run = self.input.run;
        run.links.iter().find(|link| link.name == *name).or_else(|| {
            let (stem, flow) = name.strip_suffix(']')?.split_once('[')?;
            let flow: usize = flow.parse().ok()?;
            let class = run.classes.get(run.flows.get(flow)?.class as usize)?;
            class.private_links.iter().find(|link| link.name == stem)
        })
    }

    /// Returns the links whose queues are drawn, and the number of other links at which a packet
    /// waited. The drawn links are the main link and, of the links at which a packet ever waited,
    /// those with the longest mean queues. The links include those of the reverse path and are in
    /// the order of the summary. Private links of flows are drawn only if the run has no shared
    /// links.
    pub(super) fn shown_links(&self) -> (Vec<u32>, usize) {
        let queue = self.input.queue;
        if queue.is_empty() {
            return (Vec::new(), 0);
        }
        let links = &self.input.summary.links;
        let mut longest = vec![0u64; links.len()];
        for (row, &link) in queue.link.iter().enumerate() {
            if let Some(longest) = longest.get_mut(link as usize) {
                *longest = (*longest).max(queue.packets[row]);
            }
        }
        let main = self.main_link().map(|link| link.name.as_str());
        let all_private = links.iter().all(bbrlab_run::LinkSummary::is_private);
        let mut shown: Vec<(u32, bool, f64)> = (0u32..)
            .zip(links.iter().zip(&longest))
            .filter(|(_, (link, longest))| {
                let is_main = Some(link.name.as_str()) == main;
                is_main || **longest >= SOMEBODY_WAITS && (all_private || !link.is_private())
            })
            .map(|(at, (link, _))| {
                let is_main = Some(link.name.as_str()) == main;
                (at, is_main, link.queue_packets.mean.unwrap_or(0.0))
            })
            .collect();
        if shown.is_empty() && !links.is_empty() {
            shown.push((0, false, 0.0));
        }
        shown.sort_by(|one, other| {
            other.1.cmp(&one.1).then(other.2.total_cmp(&one.2)).then(one.0.cmp(&other.0))
        });
        let left_out = shown.len().saturating_sub(QUEUES_SHOWN);
        shown.truncate(QUEUES_SHOWN);
        let mut shown: Vec<u32> = shown.into_iter().map(|link| link.0).collect();
        shown.sort_unstable();
        (shown, left_out)
    }

    /// Returns the wire bytes of a full packet on the main link.
    fn wire_bytes(&self, mss: u32) -> f64 {
        value(wire_bytes(self.main_link(), mss))
    }

    /// If the run has a single flow, returns its bandwidth-delay product over time, in packets, as
    /// the corners of a line; otherwise no corners. The product changes with the rate of the link
    /// and with the base RTT. With a trace there is no line, because the rate of a trace varies too
    /// much within one RTT.
    pub(super) fn bdp_packets(&self) -> Vec<(f64, f64)> {
        let ([class], [_]) = (self.input.run.classes.as_slice(), self.rows.as_slice()) else {
            return Vec::new();
        };
        let Some(rates) = self.main_link().and_then(|link| rate_steps(&link.rate)) else {
            return Vec::new();
        };
        let rtts = self.base_rtt_steps(class);
        let mut times: Vec<f64> = rates.iter().chain(&rtts).map(|step| step.0).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        // The product of Mbit/s and milliseconds is in thousands of bits.
        let packets = 1e3 / 8.0 / self.wire_bytes(class.mss);
        let product = |time_s: f64| held(&rates, time_s) * held(&rtts, time_s) * packets;
        self.steps(times.into_iter().map(|time_s| (time_s, product(time_s))))
    }

    /// Returns a link's buffer as a number of full packets, with the segment size of the first
    /// class of flows.
    pub(super) fn buffer_packets(&self, link: &Link) -> Option<f64> {
        let mss = self.input.run.classes.first()?.mss;
        link.room_packets(self.wire_bytes(mss))
    }

    /// Returns the different rates, in Mbit/s, of the shared links on the forward paths, each as
    /// the corners of a line. Only the first [`QUEUES_SHOWN`] rates are returned.
    pub(super) fn forward_rates(&self) -> Vec<Vec<(f64, f64)>> {
        let run = self.input.run;
        let mut rates: Vec<&Rate> = Vec::new();
        for hop in run.classes.iter().flat_map(|class| &class.forward) {
            let Hop::Link(link) = hop else { continue };
            let link = run.links.get(*link as usize).filter(|link| link.rate.is_limited());
            if let Some(link) = link
                && !rates.contains(&&link.rate)
            {
                rates.push(&link.rate);
            }
        }
        rates.into_iter().take(QUEUES_SHOWN).map(|rate| self.corners(rate)).collect()
    }

    /// Returns the rate of a link over the time of the picture as the corners of a line, in Mbit/s.
    pub(super) fn rate_mbps(&self, link: &Link) -> Vec<(f64, f64)> {
        self.corners(&link.rate)
    }

    fn corners(&self, rate: &Rate) -> Vec<(f64, f64)> {
        let (from_s, to_s) = (self.from_s, self.to_s);
        match rate {
            Rate::Trace(trace) => trace_bins(trace, from_s, to_s),
            _ => rate_steps(rate).map_or_else(Vec::new, |steps| self.steps(steps.into_iter())),
        }
    }

    /// Converts steps, each a time and the value from then on, to the corners of a line over the
    /// time of the picture.
    fn steps(&self, mut steps: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        let (from_s, to_s) = (self.from_s, self.to_s);
        let mut held = steps.next().map_or(0.0, |(_, first)| first);
        let mut corners = vec![(from_s, held)];
        for (at_s, next) in steps {
            if at_s > to_s {
                break;
            }
            if at_s <= from_s {
                corners[0].1 = next;
            } else {
                corners.extend([(at_s, held), (at_s, next)]);
            }
            held = next;
        }
        corners.push((to_s, held));
        corners
    }

    /// Returns the base RTT of a class over the time of the picture, in milliseconds, as the
    /// corners of a line.
    pub(super) fn base_rtt(&self, class: &FlowClass) -> Vec<(f64, f64)> {
        self.steps(self.base_rtt_steps(class).into_iter())
    }

    /// Returns the base RTT as steps, each with its time in seconds and the base RTT in
    /// milliseconds from then on. The base RTT changes with the delays of links.
    fn base_rtt_steps(&self, class: &FlowClass) -> Vec<(f64, f64)> {
        let hops = class.forward.iter().chain(&class.reverse);
        let changes: Vec<&DelaySteps> = hops
            .filter_map(|hop| {
                let &Hop::Link(link) = hop else { return None };
                self.input.run.links.get(link as usize)?.delay_steps.as_ref()
            })
            .collect();
        let mut times: Vec<_> =
            changes.iter().flat_map(|of| of.steps.iter()).map(|of| of.0).collect();
        times.sort_unstable();
        times.dedup();
        // Returns by how many seconds a link's delay at a time exceeds its delay at the start.
        let more_s = |of: &DelaySteps, time| {
            let after = of.steps.partition_point(|step| step.0 <= time);
            let [first, now] = [0, after.saturating_sub(1)].map(|at| of.steps.get(at));
            now.map_or(0.0, |step| step.1.as_secs_f64())
                - first.map_or(0.0, |step| step.1.as_secs_f64())
        };
        let base_s = class.base_rtt.as_secs_f64();
        let first = std::iter::once((0.0, base_s * 1e3));
        let later = times.iter().map(|&time| {
            let more_s: f64 = changes.iter().map(|of| more_s(of, time)).sum();
            (time.as_secs_f64(), (base_s + more_s) * 1e3)
        });
        first.chain(later).collect()
    }

    /// Returns the rates of the links' policers in Mbit/s, of at most [`QUEUES_SHOWN`] links.
    pub(super) fn policed_rates(&self) -> Vec<f64> {
        let rates = self.input.run.links.iter().filter_map(|link| Some(link.police?.rate));
        rates.take(QUEUES_SHOWN).map(|rate| value(rate.0) / 1e6).collect()
    }
}

/// Returns a rate as steps, each with its time in seconds and the rate in Mbit/s from then on.
/// `None` for a trace and for a link without a rate.
fn rate_steps(rate: &Rate) -> Option<Vec<(f64, f64)>> {
    let mbps = |bits_per_s: u64| value(bits_per_s) / 1e6;
    match rate {
        Rate::Unlimited | Rate::Trace(_) => None,
        Rate::Constant(rate) => Some(vec![(0.0, mbps(rate.0))]),
        Rate::Schedule(steps) => {
            Some(steps.iter().map(|&(at, rate)| (at.as_secs_f64(), mbps(rate.0))).collect())
        }
    }
}

/// Returns the value at a time. The first of the steps must be at time zero.
fn held(steps: &[(f64, f64)], time_s: f64) -> f64 {
    let after = steps.partition_point(|step| step.0 <= time_s);
    steps.get(after.saturating_sub(1)).map_or(0.0, |step| step.1)
}

/// Returns the capacity of a trace in Mbit/s, as the mean over each of [`BINS`] equal parts of the
/// time shown.
fn trace_bins(trace: &Trace, from_s: f64, to_s: f64) -> Vec<(f64, f64)> {
    let opportunities = trace.opportunities_ms();
    let period_s = f64::from(trace.period_ms()) / 1e3;
    // Returns the number of the trace's delivery opportunities from the start of the run to a time.
    // The trace is repeated until the run ends.
    let before = |time_s: f64| {
        let rounds = (time_s / period_s).floor();
        let rest_ms = (time_s - rounds * period_s) * 1e3;
        let in_round = opportunities.partition_point(|&at| f64::from(at) <= rest_ms);
        rounds * value(opportunities.len() as u64) + value(in_round as u64)
    };
    let length = (to_s - from_s) / f64::from(BINS);
    let mut corners = Vec::new();
    for bin in 0..BINS {
        let (from, to) = (from_s + length * f64::from(bin), from_s + length * f64::from(bin + 1));
        let bits = (before(to) - before(from)) * f64::from(Trace::OPPORTUNITY_BYTES) * 8.0;
        corners.extend([(from, bits / length / 1e6), (to, bits / length / 1e6)]);
    }
    corners
}
