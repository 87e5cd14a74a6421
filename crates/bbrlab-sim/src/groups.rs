//! The figures of a group of flows: what they got together, and percentiles over all of their samples.

#![allow(
    clippy::needless_update,
    reason = "a record need not have a figure that follows from others"
)]

use bbrlab_net::FlowLosses;
use bbrlab_run::{FlowClass, FlowGroup, GroupFct, GroupRtt, Run, Slowdown};
use bbrlab_units::Span;

use crate::figures::{NS_PER_MS, TRANSFER_PRECISION, US_PER_MS, mbps};
use crate::flow::Flow;
use crate::histogram::Histogram;
use crate::slowdown::Ideal;

/// Slowdowns are counted in thousandths.
pub(crate) const SLOWDOWN_UNIT: f64 = 1000.0;

/// A group in the making.
struct Gathered<'a> {
    name: &'a str,
    flows: u64,
    bytes: u64,
    retransmitted: u64,
    losses: FlowLosses,
    rtt_us: Option<Histogram>,
    unfinished: u64,
    fct_ns: Histogram,
    slowdown: Histogram,
}

/// The groups in the order of their first flows. `window` is what the run's goodput is over.
pub(crate) fn summarise(
    run: &Run,
    flows: &[Flow],
    losses: &[FlowLosses],
    window: Span,
) -> Vec<FlowGroup> {
    let mut groups: Vec<Gathered<'_>> = Vec::new();
    let place_of_class: Vec<usize> = run
        .classes
        .iter()
        .map(|class| {
            groups.iter().position(|group| group.name == class.group).unwrap_or_else(|| {
                groups.push(Gathered::new(&class.group));
                groups.len() - 1
            })
        })
        .collect();
    for (flow, &lost) in flows.iter().zip(losses) {
        let class = &run.classes[flow.class as usize];
        groups[place_of_class[flow.class as usize]].add(run, class, flow, lost);
    }
    let total: u64 = groups.iter().map(|group| group.bytes).sum();
    groups.into_iter().map(|group| group.finish(window, total)).collect()
}

impl<'a> Gathered<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            name,
            flows: 0,
            bytes: 0,
            retransmitted: 0,
            losses: FlowLosses::default(),
            rtt_us: None,
            unfinished: 0,
            fct_ns: Histogram::new(TRANSFER_PRECISION),
            slowdown: Histogram::new(TRANSFER_PRECISION),
        }
    }

    fn add(&mut self, run: &Run, class: &FlowClass, flow: &Flow, losses: FlowLosses) {
        self.flows += 1;
        self.bytes += flow.bytes_in_traffic;
        self.retransmitted += flow.retransmitted();
        self.losses.drops += losses.drops;
        self.losses.random += losses.random;
        match &mut self.rtt_us {
            Some(all) => all.merge(&flow.meter.rtt_us),
            None => self.rtt_us = Some(flow.meter.rtt_us.clone()),
        }
        let ideal = Ideal::of(run, class);
        for transfer in &flow.transfers {
            let Some(done) = transfer.done else {
                self.unfinished += 1;
                continue;
            };
            self.fct_ns.add(done.since(transfer.start).0, 1);
            if let Some(slowdown) = ideal.as_ref().and_then(|ideal| ideal.slowdown(transfer)) {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "positive; what is larger than 2^64 becomes 2^64"
                )]
                self.slowdown.add((slowdown * SLOWDOWN_UNIT).round() as u64, 1);
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "figures in floating point")]
    fn finish(self, window: Span, total_bytes: u64) -> FlowGroup {
        let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / NS_PER_MS);
        let rtt = self.rtt_us.as_ref();
        let slowdown =
            |per_mille| self.slowdown.quantile(per_mille).map(|it| it as f64 / SLOWDOWN_UNIT);
        FlowGroup {
            group: self.name.to_owned(),
            flows: self.flows,
            goodput_mbps: mbps(self.bytes, window),
            share: (total_bytes > 0).then(|| self.bytes as f64 / total_bytes as f64),
            retransmitted_packets: Some(self.retransmitted),
            drops: Some(self.losses.drops),
            random_losses: Some(self.losses.random),
            rtt_ms: GroupRtt {
                mean: rtt.and_then(Histogram::mean).map(|us| us / US_PER_MS),
                p95: rtt.and_then(|rtt| rtt.quantile(950)).map(|us| us as f64 / US_PER_MS),
            },
            fct_ms: GroupFct {
                n: Some(self.fct_ns.total()),
                unfinished: (self.fct_ns.total() + self.unfinished > 0).then_some(self.unfinished),
                mean: self.fct_ns.mean().map(|ns| ns / NS_PER_MS),
                p50: ms(self.fct_ns.quantile(500)),
                p95: ms(self.fct_ns.quantile(950)),
                p99: ms(self.fct_ns.quantile(990)),
            },
            slowdown: Slowdown { p50: slowdown(500), p95: slowdown(950), p99: slowdown(990) },
            ..FlowGroup::default()
        }
    }
}
