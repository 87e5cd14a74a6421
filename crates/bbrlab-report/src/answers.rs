//! What a sweep is about: the figures that answer its question, the most telling first.
//!
//! Where groups of flows compete, it is their shares; where transfers end, their completion times; else goodput, queue
//! delay and retransmissions. Tables and pictures take their columns and panels from here.

use bbrlab_run::{FlowGroup, Group, RunSummary};

/// A figure of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer<'a> {
    /// Its title, without the name of a group.
    pub(crate) title: &'a str,
    pub(crate) unit: &'a str,
    /// Factor from the record's unit to that of the title.
    pub(crate) scale: f64,
    pub(crate) decimals: usize,
    pub(crate) metric: Metric<'a>,
}

/// Of what the figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric<'a> {
    /// Of the run.
    Run(&'a str),
    /// Of the bottleneck, or else of the first shared link.
    Bottleneck(&'a str),
    /// Of each group of flows.
    PerGroup(&'a str),
}

impl<'a> Metric<'a> {
    /// Its name in records.
    pub(crate) fn name(self) -> &'a str {
        let (Self::Run(name) | Self::Bottleneck(name) | Self::PerGroup(name)) = self;
        name
    }

    pub(crate) fn is_per_group(self) -> bool {
        matches!(self, Self::PerGroup(_))
    }
}

const fn answer(
    title: &'static str,
    unit: &'static str,
    scale: f64,
    decimals: usize,
    metric: Metric<'static>,
) -> Answer<'static> {
    Answer { title, unit, scale, decimals, metric }
}

/// The figures for these runs; `groups` are the same by point.
pub(crate) fn answers(runs: &[RunSummary], groups: &[Group]) -> Vec<Answer<'static>> {
    let of_groups = || runs.iter().flat_map(|run| &run.flow_groups);
    let of_links = || runs.iter().flat_map(|run| &run.links);
    let competes = runs.iter().any(|run| run.flow_groups.len() > 1);
    let transfers = of_groups().any(FlowGroup::has_transfers);
    let mut all = Vec::new();
    if competes {
        all.push(answer("share", "%", 100.0, 1, Metric::PerGroup("share")));
    }
    if transfers {
        for (title, metric) in
            [("FCT p50", "fct_ms.p50"), ("FCT p95", "fct_ms.p95"), ("FCT p99", "fct_ms.p99")]
        {
            all.push(answer(title, "ms", 1.0, 0, Metric::PerGroup(metric)));
        }
        if of_groups().any(|group| group.fct_ms.unfinished > Some(0)) {
            let unfinished = Metric::PerGroup("fct_ms.unfinished");
            all.push(answer("unfinished", "", 1.0, 0, unfinished));
        }
    }
    all.extend([
        answer("goodput", "Mbit/s", 1.0, 2, Metric::Run("goodput_mbps")),
        answer("queue delay", "ms", 1.0, 2, Metric::Bottleneck("queue_delay_ms.mean")),
        answer("retrans", "pkt", 1.0, 0, Metric::PerGroup("retransmitted_packets")),
        answer("RTT mean", "ms", 1.0, 2, Metric::PerGroup("rtt_ms.mean")),
        answer("used", "%", 100.0, 1, Metric::Bottleneck("utilization")),
        answer("dropped", "%", 100.0, 2, Metric::Bottleneck("drop_ratio")),
    ]);
    if of_links().any(|link| link.random_losses.unwrap_or(0) > 0) {
        all.push(answer("lost", "pkt", 1.0, 0, Metric::Bottleneck("random_losses")));
    }
    if of_links().any(|link| link.policer_drops.unwrap_or(0) > 0) {
        all.push(answer("policed", "pkt", 1.0, 0, Metric::Bottleneck("policer_drops")));
    }
    if of_links().any(|link| link.marks.unwrap_or(0) > 0) {
        all.push(answer("marked", "pkt", 1.0, 0, Metric::Bottleneck("marks")));
    }
    if runs.iter().any(|run| run.flows.len() > 1) {
        all.push(answer("Jain", "", 1.0, 3, Metric::Run("jain")));
    }
    all.retain(|answer| !places(groups, answer.metric).is_empty());
    all
}

/// The places of the groups of flows that have this figure at some point; of a figure that is of no group, the first. What
/// has no meaning in any run would be an empty column.
pub(crate) fn places(groups: &[Group], metric: Metric<'_>) -> Vec<usize> {
    let all = if metric.is_per_group() { most_groups(groups) } else { 1 };
    let has = |place: &usize| groups.iter().any(|group| value(group, metric, *place).0.is_some());
    (0..all).filter(has).collect()
}

/// The largest number of groups of flows in a run.
pub(crate) fn most_groups(groups: &[Group]) -> usize {
    groups.iter().map(|group| flow_groups(group).count()).max().unwrap_or(0).max(1)
}

/// The names of the groups of flows by place: their own, if they are the same at every point.
pub(crate) fn group_names(groups: &[Group]) -> Vec<String> {
    (0..most_groups(groups))
        .map(|place| {
            let mut names = groups.iter().filter_map(|group| flow_groups(group).nth(place));
            let first = names.next().unwrap_or_default();
            if names.all(|name| name == first) {
                first.to_owned()
            } else {
                format!("group {}", place + 1)
            }
        })
        .collect()
}

const PREFIX: &str = "flow_groups.";

/// The names of a point's groups of flows, in order.
pub(crate) fn flow_groups(group: &Group) -> impl Iterator<Item = &str> {
    let names = group.metrics.names().filter_map(|name| name.strip_prefix(PREFIX));
    names.filter_map(|name| name.strip_suffix(".goodput_mbps"))
}

/// The mean at a point, and half its interval; `place` is that of a group of flows.
pub(crate) fn value(group: &Group, metric: Metric<'_>, place: usize) -> (Option<f64>, Option<f64>) {
    let found = match metric {
        Metric::Run(name) => group.metrics.get(name),
        Metric::Bottleneck(name) => {
            let of_link =
                |key: &str| key.starts_with("links.") && key.ends_with(&format!(".{name}"));
            group.metrics.get(&format!("links.bottleneck.{name}")).or_else(|| {
                group.metrics.iter().find(|(key, _)| of_link(key)).map(|(_, metric)| metric)
            })
        }
        Metric::PerGroup(name) => flow_groups(group)
            .nth(place)
            .and_then(|of| group.metrics.get(&format!("{PREFIX}{of}.{name}"))),
    };
    let Some(found) = found else { return (None, None) };
    (found.mean, found.mean.zip(found.ci95).map(|(mean, [_, high])| high - mean))
}
