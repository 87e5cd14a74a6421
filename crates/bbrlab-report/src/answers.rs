//! The metrics that tables and pictures of a sweep show, the most important first.
//!
//! The order is:
//!
//! 1. the share of late messages and the delays of messages, if they are measured,
//! 2. the shares of groups of flows, if groups compete,
//! 3. completion times, if transfers end,
//! 4. goodput, queue delay and retransmissions.
//!
//! Tables have these metrics as columns, pictures as panels.

use bbrlab_run::{FlowGroup, Group, GroupMetric, RunSummary};

use crate::number::{BEYOND, NONE, fixed, with_half};
use crate::swept_key::value_text;

/// A metric that tables and pictures of sweeps show, with its title, its unit and its number of
/// decimals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer<'a> {
    /// The metric's title, without the name of the group of flows.
    pub(crate) title: &'a str,
    pub(crate) unit: &'a str,
    /// Factor from the metric's unit in `RunSummary` to the unit of the title.
    pub(crate) scale: f64,
    pub(crate) decimals: usize,
    pub(crate) metric: Metric<'a>,
}

/// A metric's name, and whether it describes the run, a link, groups of flows or single flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric<'a> {
    /// A metric of the run.
    Run(&'a str),
    /// A metric of the bottleneck or, if there is no bottleneck, of the first shared link.
    Bottleneck(&'a str),
    /// A metric of each group of flows.
    PerGroup(&'a str),
    /// A metric of single flows: the mean over the flows of each group.
    PerFlow(&'a str),
}

impl<'a> Metric<'a> {
    /// Returns the metric's name in `RunSummary`.
    pub(crate) fn name(self) -> &'a str {
        let (Self::Run(name) | Self::Bottleneck(name) | Self::PerGroup(name) | Self::PerFlow(name)) =
            self;
        name
    }

    /// Whether each group of flows has its own value of this metric.
    pub(crate) fn is_per_group(self) -> bool {
        matches!(self, Self::PerGroup(_) | Self::PerFlow(_))
    }
}

impl Answer<'_> {
    /// Returns the greatest possible value of the metric, in its unit in `RunSummary`.
    pub(crate) fn greatest(&self) -> f64 {
        greatest(self.metric.name())
    }
}

/// Returns the greatest possible value of the metric `name`; infinity for a metric without an upper
/// bound. Every metric is at least 0.
pub(crate) fn greatest(name: &str) -> f64 {
    /// The metrics that are at most 1: shares of a whole, and Jain's index.
    const UP_TO_ONE: [&str; 9] = [
        "share",
        "share_active",
        "share_ss",
        "utilization",
        "drop_ratio",
        "loss_ratio",
        "late_ratio",
        "jain",
        "jain_ss",
    ];
    let is_part = name.rsplit('.').next().is_some_and(|last| UP_TO_ONE.contains(&last));
    if is_part || name.contains("limited_by.") { 1.0 } else { f64::INFINITY }
}

/// Whether an interval of a metric begins below 0 or ends above `greatest`, the metric's greatest
/// possible value.
pub(crate) fn is_beyond([low, high]: [f64; 2], greatest: f64) -> bool {
    low < 0.0 || high > greatest
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

/// The maximum of each count over the runs of a sweep. [`answers`] omits a metric whose count is
/// too small, such as the shares of a single group of flows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Most {
    flow_groups: usize,
    flows: usize,
    /// Number of groups of flows with transfers.
    transfers: usize,
    unfinished: u64,
    never_begun: u64,
    rejected: u64,
    /// Whether the flows of some group were active for only part of the measured time.
    is_active_in_part: bool,
    /// Number of groups of flows in which delays of messages are measured.
    delays: usize,
    /// Whether some run has a group for which [`has_shares_apart`] is true.
    has_shares_apart: bool,
    /// Whether some run has a group for which [`has_steady_apart`] is true.
    has_steady_apart: bool,
    random_losses: u64,
    /// The random losses of all groups of flows in a run together, if this sum exceeds the random
    /// losses that the run's links count; otherwise 0. Links do not count corrupt packets: a link
    /// delivers a corrupt packet, and the host discards the packet.
    lost_elsewhere: u64,
    policer_drops: u64,
    thinned_acks: u64,
    marks: u64,
}

impl Most {
    /// Raises each maximum to the count in another run, if this count is larger.
    pub(crate) fn see(&mut self, run: &RunSummary) {
        let most = |known: &mut u64, found: Option<u64>| *known = found.unwrap_or(0).max(*known);
        let transfers = run.flow_groups.iter().filter(|group| group.has_transfers()).count();
        self.flow_groups = self.flow_groups.max(run.flow_groups.len());
        self.flows = self.flows.max(run.flows.len());
        self.transfers = self.transfers.max(transfers);
        let delays = run.flow_groups.iter().filter(|group| group.delay_ms.p50.is_some()).count();
        self.delays = self.delays.max(delays);
        let at_links: u64 = run.links.iter().filter_map(|link| link.random_losses).sum();
        let of_groups: u64 = run.flow_groups.iter().filter_map(|group| group.random_losses).sum();
        most(&mut self.lost_elsewhere, Some(of_groups).filter(|&lost| lost > at_links));
        for group in &run.flow_groups {
            most(&mut self.unfinished, group.fct_ms.unfinished);
            most(&mut self.never_begun, group.fct_ms.never_begun);
            most(&mut self.rejected, group.rejected);
            self.is_active_in_part |= group.is_active_in_part();
            self.has_shares_apart |= has_shares_apart(group);
            self.has_steady_apart |= has_steady_apart(group);
        }
        for link in &run.links {
            most(&mut self.random_losses, link.random_losses);
            most(&mut self.policer_drops, link.policer_drops);
            most(&mut self.thinned_acks, link.thinned_acks);
            most(&mut self.marks, link.marks);
        }
    }
}

/// Whether a group's share of all bytes and its share while all flows are active differ by 0.01 or
/// more. If the shares differ less, a table would have two almost equal columns.
pub(crate) fn has_shares_apart(group: &FlowGroup) -> bool {
    are_apart(group.share, group.share_active)
}

/// Whether a group's share while all flows are active and its share in the steady state differ by
/// 0.01 or more.
pub(crate) fn has_steady_apart(group: &FlowGroup) -> bool {
    are_apart(group.share_active, group.share_ss)
}

fn are_apart(one: Option<f64>, other: Option<f64>) -> bool {
    one.zip(other).is_some_and(|(one, other)| (one - other).abs() >= 0.01)
}

/// Returns the metrics worth showing for a sweep. `groups` are the points of the sweep. `most` has
/// the largest counts in the runs of these points, and the properties that any of the runs has.
pub(crate) fn answers(most: &Most, groups: &[Group]) -> Vec<Answer<'static>> {
    let is_worth_showing = |answer: &Answer<'_>| match answer.metric.name() {
        "share" => most.flow_groups > 1,
        "share_active" => most.has_shares_apart && most.flow_groups > 1,
        "share_ss" => most.has_steady_apart && most.flow_groups > 1,
        // If several groups have delays of messages, these columns would make the table too wide.
        "delay_ms.p99" | "jitter_ms" => most.delays == 1,
        "fct_ms.unfinished" => most.unfinished > 0,
        "fct_ms.never_begun" => most.never_begun > 0,
        "rejected" => most.rejected > 0,
        "goodput_active_mbps" => most.is_active_in_part && most.flow_groups > 1,
        name if name.starts_with("fct_ms") => most.transfers > 0,
        "random_losses" if answer.metric.is_per_group() => most.lost_elsewhere > 0,
        "random_losses" => most.random_losses > 0,
        "policer_drops" => most.policer_drops > 0,
        "thinned_acks" => most.thinned_acks > 0,
        "marks" => most.marks > 0,
        "jain" => most.flows > 1,
        _ => true,
    };
    let is_there = |answer: &&Answer<'_>| !places(groups, answer.metric).is_empty();
    ALL.iter().filter(|answer| is_worth_showing(answer)).filter(is_there).cloned().collect()
}

/// All metrics that can be shown for a sweep, in the order in which they are shown.
pub(crate) const ALL: [Answer<'static>; 29] = [
    answer("late", "%", 100.0, 2, Metric::PerGroup("late_ratio")),
    answer("delay p50", "ms", 1.0, 2, Metric::PerGroup("delay_ms.p50")),
    answer("delay p95", "ms", 1.0, 2, Metric::PerGroup("delay_ms.p95")),
    answer("delay p99", "ms", 1.0, 2, Metric::PerGroup("delay_ms.p99")),
    answer("jitter", "ms", 1.0, 2, Metric::PerGroup("jitter_ms")),
    answer("datagrams lost", "%", 100.0, 2, Metric::PerGroup("loss_ratio")),
    answer("share", "%", 100.0, 1, Metric::PerGroup("share")),
    answer("share all active", "%", 100.0, 1, Metric::PerGroup("share_active")),
    answer("share steady", "%", 100.0, 1, Metric::PerGroup("share_ss")),
    answer("FCT p50", "ms", 1.0, 0, Metric::PerGroup("fct_ms.p50")),
    answer("FCT p95", "ms", 1.0, 0, Metric::PerGroup("fct_ms.p95")),
    answer("FCT p99", "ms", 1.0, 0, Metric::PerGroup("fct_ms.p99")),
    answer("unfinished", "", 1.0, 0, Metric::PerGroup("fct_ms.unfinished")),
    answer("never begun", "", 1.0, 0, Metric::PerGroup("fct_ms.never_begun")),
    answer("rejected", "", 1.0, 0, Metric::PerGroup("rejected")),
    answer("path queue delay", "ms", 1.0, 2, Metric::PerGroup("path_queue_delay_ms.mean")),
    answer("while active", "Mbit/s", 1.0, 2, Metric::PerGroup("goodput_active_mbps")),
    answer("goodput", "Mbit/s", 1.0, 2, Metric::Run("goodput_mbps")),
    answer("queue delay", "ms", 1.0, 2, Metric::Bottleneck("queue_delay_ms.mean")),
    answer("retrans", "pkt", 1.0, 0, Metric::PerGroup("retransmitted_packets")),
    answer("RTT mean", "ms", 1.0, 2, Metric::PerGroup("rtt_ms.mean")),
    answer("used", "%", 100.0, 1, Metric::Bottleneck("utilization")),
    answer("dropped", "%", 100.0, 2, Metric::Bottleneck("drop_ratio")),
    answer("lost", "pkt", 1.0, 0, Metric::Bottleneck("random_losses")),
    answer("lost or corrupt", "pkt", 1.0, 0, Metric::PerGroup("random_losses")),
    answer("policed", "pkt", 1.0, 0, Metric::Bottleneck("policer_drops")),
    answer("thinned", "ACKs", 1.0, 0, Metric::Bottleneck("thinned_acks")),
    answer("marked", "pkt", 1.0, 0, Metric::Bottleneck("marks")),
    answer("Jain", "", 1.0, 3, Metric::Run("jain")),
];

/// The heading of a metric in tables of sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The heading's text, without the name of a group or a link.
    pub title: &'static str,
    /// The unit in the table.
    pub unit: &'static str,
    /// The subject of the metric: `run`, `link` or `group`.
    pub of: &'static str,
    /// The metric's name in the results of runs.
    pub name: &'static str,
    /// The number of decimals in the table.
    pub decimals: usize,
}

/// Returns the heading of each metric that tables of sweeps can show.
pub fn headings() -> impl Iterator<Item = Heading> {
    const SHOWN: &[Answer<'static>] = &ALL;
    SHOWN.iter().map(|answer| {
        let of = match answer.metric {
            Metric::Run(_) => "run",
            Metric::Bottleneck(_) => "link",
            Metric::PerGroup(_) | Metric::PerFlow(_) => "group",
        };
        let name = answer.metric.name();
        Heading { title: answer.title, unit: answer.unit, of, name, decimals: answer.decimals }
    })
}

/// Returns the metrics that tables show under this heading, such as `late` or `queue delay`.
pub(crate) fn answers_of_heading(title: &str) -> impl Iterator<Item = &'static Answer<'static>> {
    ALL.iter().filter(move |answer| answer.title == title)
}

/// Whether tables and pictures need a metric of this name: the metric is in `ALL`, or describes how
/// long packets waited at links with the keys `slot` or `grant`. The goodput of each group of flows
/// is needed too, because [`flow_groups`] reads the groups' names from the names of the goodputs.
pub(crate) fn is_of_an_answer(name: &str) -> bool {
    name.starts_with("waits.")
        || ALL.iter().any(|answer| {
            let start = name.strip_suffix(answer.metric.name());
            start.is_some_and(|start| start.is_empty() || start.ends_with('.'))
        })
}

/// Returns the indices of the groups of flows that have this metric at some point of the sweep. For
/// a metric of the run or of a link, the only index is 0. A metric without a value at any point has
/// no index, because its column would be empty.
pub(crate) fn places(groups: &[Group], metric: Metric<'_>) -> Vec<usize> {
    let all = if metric.is_per_group() { most_groups(groups) } else { 1 };
    let has = |place: &usize| groups.iter().any(|group| value(group, metric, *place).0.is_some());
    (0..all).filter(has).collect()
}

/// Whether a metric of a link counts drops, losses, thinned ACKs or CE marks. On most links, these
/// counts are 0.
fn counts_losses_or_marks(figure: &str) -> bool {
    ["drop_ratio", "random_losses", "policer_drops", "thinned_acks", "marks"].contains(&figure)
}

/// Returns the names of the links for which a table has a column of this metric. For a count of
/// losses or marks, these are the links with a nonzero count; for other metrics, the links of
/// [`links_to_show`], if there are several. Returns no name if only the bottleneck has a column,
/// because a single column needs no name.
pub(crate) fn links_to_name<'g>(groups: &'g [Group], figure: &str) -> Vec<&'g str> {
    let told = links_to_show(groups);
    let mut links = link_names(groups, figure);
    if !counts_losses_or_marks(figure) || links.is_empty() {
        links.retain(|link| told.len() > 1 && told.contains(link));
        return links;
    }
    let is_main_alone = told.len() < 2
        && links.len() == 1
        && main_link(groups).as_deref() == links.first().copied();
    if is_main_alone { Vec::new() } else { links }
}

/// Whether a count of losses or marks is 0 at the bottleneck, but not at another link.
pub(crate) fn is_only_at_other_links(groups: &[Group], answer: &Answer<'_>) -> bool {
    let Metric::Bottleneck(figure) = answer.metric else { return false };
    let has_some = |group: &Group| value(group, answer.metric, 0).0.is_some_and(|mean| mean > 0.0);
    counts_losses_or_marks(figure)
        && !groups.iter().any(has_some)
        && !links_to_name(groups, figure).is_empty()
}

/// Returns the name of the link whose values [`Metric::Bottleneck`] shows.
fn main_link(groups: &[Group]) -> Option<String> {
    const OF_EACH: &str = "drop_ratio";
    link_of(groups, Metric::Bottleneck(OF_EACH), OF_EACH)
}

/// Returns the name of the link that [`position`] finds for `metric`; `figure` is the metric's name
/// in the results of runs.
fn link_of(groups: &[Group], metric: Metric<'_>, figure: &str) -> Option<String> {
    let at = groups.iter().find_map(|group| Some((group, position(group, metric, 0)?)));
    let name = at.and_then(|(group, at)| group.metrics.names().nth(at))?;
    Some(name.strip_prefix("links.")?.strip_suffix(figure)?.strip_suffix('.')?.to_owned())
}

/// Returns the names of the shared links that have this metric at some sweep point. If the metric
/// counts losses or marks and there are several links, returns only links with a nonzero count.
pub(crate) fn link_names<'g>(groups: &'g [Group], figure: &str) -> Vec<&'g str> {
    let ending = format!(".{figure}");
    let mut links: Vec<(&str, bool)> = Vec::new();
    for group in groups {
        for name in group.metrics.names() {
            let Some(link) = name.strip_prefix("links.").and_then(|it| it.strip_suffix(&ending))
            else {
                continue;
            };
            let value = group.metrics.position(name).and_then(|at| group.metrics.at(at));
            let Some(mean) = value.and_then(|value| value.mean) else { continue };
            match links.iter_mut().find(|(known, _)| *known == link) {
                Some((_, is_any)) => *is_any |= mean > 0.0,
                None => links.push((link, mean > 0.0)),
            }
        }
    }
    if counts_losses_or_marks(figure) && links.len() > 1 {
        links.retain(|&(_, is_any)| is_any);
    }
    links.into_iter().map(|(link, _)| link).collect()
}

/// Threshold in milliseconds. A link whose mean queue delay is below this threshold at all sweep
/// points is not shown separately, unless it drops packets.
pub(crate) const WORTH_SHOWING_MS: f64 = 1.0;

/// Returns the links whose values a table shows separately: the bottleneck (without one, the first
/// link), and other links that drop packets or have a queue delay of at least [`WORTH_SHOWING_MS`].
pub(crate) fn links_to_show(groups: &[Group]) -> Vec<&str> {
    let most = |link: &str, figure: &str| {
        let values = groups.iter().filter_map(|group| link_value(group, link, figure).0);
        values.fold(0.0, f64::max)
    };
    let mut links = link_names(groups, "queue_delay_ms.mean");
    let main = links.iter().position(|&link| link == "bottleneck").unwrap_or(0);
    let main = links.get(main).copied();
    links.retain(|&link| {
        Some(link) == main
            || most(link, "queue_delay_ms.mean") >= WORTH_SHOWING_MS
            || most(link, "drop_ratio") > 0.0
    });
    links
}

/// If `metric` is a [`Metric::Bottleneck`] and tables show several links, returns the name of the
/// link whose values the metric shows. With a single link, returns `None`, because its name need
/// not be shown.
pub(crate) fn link_to_name(groups: &[Group], metric: Metric<'_>) -> Option<String> {
    let Metric::Bottleneck(figure) = metric else { return None };
    if links_to_show(groups).len() < 2 {
        return None;
    }
    link_of(groups, metric, figure)
}

/// Returns the mean of a link's metric at a sweep point, and half the width of its interval.
pub(crate) fn link_value(group: &Group, link: &str, figure: &str) -> (Option<f64>, Option<f64>) {
    let at = link_position(group, link, figure);
    at.and_then(|at| group.metrics.at(at)).map_or((None, None), mean_and_half)
}

/// Returns the index of a link's metric among the metrics of a sweep point.
pub(crate) fn link_position(group: &Group, link: &str, figure: &str) -> Option<usize> {
    group.metrics.position(&format!("links.{link}.{figure}"))
}

fn mean_and_half(found: &GroupMetric) -> (Option<f64>, Option<f64>) {
    (found.mean, found.mean.zip(found.ci95).map(|(mean, [_, high])| high - mean))
}

const OF_FLOWS: &str = "flows.";

/// Returns the name under which a sweep point has the mean of `metric` over the flows in the group
/// `group`.
pub(crate) fn name_of_flows(group: &str, metric: &str) -> String {
    format!("{OF_FLOWS}{group}.{metric}")
}

/// Returns the largest number of groups of flows at a sweep point, and at least 1.
pub(crate) fn most_groups(groups: &[Group]) -> usize {
    groups.iter().map(|group| flow_groups(group).count()).max().unwrap_or(0).max(1)
}

/// Returns the names of the groups of flows by index. If a group's name differs between sweep
/// points, because a swept key of a `[[flows]]` table sets the name, the result is the name of this
/// table, such as `flows[0]`. Other names that differ between points are joined by slashes.
pub(crate) fn group_names(groups: &[Group]) -> Vec<String> {
    (0..most_groups(groups)).map(|place| name_of_group(groups, place)).collect()
}

fn name_of_group(groups: &[Group], place: usize) -> String {
    /// The largest number of names in a heading; more would be too wide.
    const JOINED: usize = 3;
    let with_it =
        || groups.iter().filter_map(|group| Some((group, flow_groups(group).nth(place)?)));
    let mut names: Vec<&str> = Vec::new();
    for (_, name) in with_it() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // Every sweep point has the same swept keys, so the first point suffices.
    let mut keys = groups.iter().take(1).flat_map(|group| group.point.keys());
    let sets_it = |key: &&String| {
        let own = |group: &Group, name: &str| {
            group.point.get(*key).is_some_and(|value| value_text(value) == name)
        };
        key.starts_with("flows[") && with_it().all(|(group, name)| own(group, name))
    };
    let owner = |key: &String| key.rsplit_once('.').map(|(owner, _)| owner.to_owned());
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        _ => keys.find(sets_it).and_then(owner).unwrap_or_else(|| match names.as_slice() {
            [first, .., last] if names.len() > JOINED => format!("{first}/…/{last}"),
            _ => names.join("/"),
        }),
    }
}

const PREFIX: &str = "flow_groups.";

/// Returns the names of a sweep point's groups of flows, in order.
pub(crate) fn flow_groups(group: &Group) -> impl Iterator<Item = &str> {
    let names = group.metrics.names().filter_map(|name| name.strip_prefix(PREFIX));
    names.filter_map(|name| name.strip_suffix(".goodput_mbps"))
}

/// Returns the mean of a metric at a sweep point, and half the width of its interval. `place` is
/// the index of the group of flows.
pub(crate) fn value(group: &Group, metric: Metric<'_>, place: usize) -> (Option<f64>, Option<f64>) {
    let found = position(group, metric, place).and_then(|at| group.metrics.at(at));
    found.map_or((None, None), mean_and_half)
}

/// Returns the mean at a sweep point with half the width of its interval, as a table shows them.
pub(crate) fn text(group: &Group, answer: &Answer<'_>, place: usize) -> String {
    text_of(value(group, answer.metric, place), answer)
}

/// Writes a mean and half the width of its interval, as a table shows them. If the interval goes
/// beyond the metric's possible values, the text ends with [`BEYOND`].
pub(crate) fn text_of((value, half): (Option<f64>, Option<f64>), answer: &Answer<'_>) -> String {
    // Metrics without decimals, such as counts, get one decimal if the mean is below 10 and has an
    // interval.
    let is_small_mean = |(value, half): (f64, f64)| half > 0.0 && value * answer.scale < 10.0;
    let is_small_mean = answer.decimals == 0 && value.zip(half).is_some_and(is_small_mean);
    let decimals = if is_small_mean { 1 } else { answer.decimals };
    let shown = |value: f64| fixed(value * answer.scale, decimals);
    let mean = value.map_or_else(|| NONE.to_owned(), shown);
    let Some((value, half)) = value.zip(half) else { return mean };
    let mut text = with_half(&mean, &shown(half));
    if text != mean && is_beyond([value - half, value + half], answer.greatest()) {
        text.push(BEYOND);
    }
    text
}

/// Returns the metric's index among the metrics of a sweep point.
pub(crate) fn position(group: &Group, metric: Metric<'_>, place: usize) -> Option<usize> {
    match metric {
        Metric::Run(name) => group.metrics.position(name),
        Metric::Bottleneck(name) => {
            let ending = format!(".{name}");
            let of_link = |key: &str| key.starts_with("links.") && key.ends_with(&ending);
            let of_bottleneck = group.metrics.position(&format!("links.bottleneck.{name}"));
            of_bottleneck.or_else(|| group.metrics.names().position(of_link))
        }
        Metric::PerGroup(name) => {
            let of = flow_groups(group).nth(place)?;
            group.metrics.position(&format!("{PREFIX}{of}.{name}"))
        }
        Metric::PerFlow(name) => {
            let of = flow_groups(group).nth(place)?;
            group.metrics.position(&name_of_flows(of, name))
        }
    }
}
