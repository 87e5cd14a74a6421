//! The choice of metrics, axis, colours and small multiples for a sweep's pictures, by the user or
//! by default.

use bbrlab_run::{
    Field, FlowGroup, FlowSummary, Group, Leaf, LinkSummary, RunSummary, WaitSummary, leaves,
};

use super::values_of;
use crate::answers::{Answer, Metric};
use crate::groups::is_metric;
use crate::picture::labels::Labels;
use crate::picture::shape::Shape;
use crate::picture::swept::Swept;
use crate::points::Points;
use crate::swept_key::{stem, swept_key};

/// The user's choice for the pictures of a sweep. By default they show the metrics that answer the
/// sweep's question against each swept quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepChoice {
    /// Names of metrics: `share`, `fct_ms.p95`, `links.bottleneck.utilization`.
    pub metrics: Vec<String>,
    /// The metric on the x axis, instead of a swept key.
    pub against: Option<String>,
    /// The swept key on the x axis; with `against`, the key along which points are joined.
    pub x: Option<String>,
    /// The swept key shown by colours.
    pub by: Option<String>,
    /// The groups of flows that are drawn; all if empty.
    pub groups: Vec<String>,
    /// Whether each dot of a scatter has the value of the key along which dots are joined.
    pub dot_labels: bool,
    /// The size.
    pub shape: Shape,
    /// The texts that replace the default title, axis names and legends.
    pub labels: Labels,
}

impl Default for SweepChoice {
    fn default() -> Self {
        Self {
            metrics: Vec::new(),
            against: None,
            x: None,
            by: None,
            groups: Vec::new(),
            dot_labels: false,
            shape: Shape::SCREEN,
            labels: Labels::default(),
        }
    }
}

/// The role of each swept key: it determines the position on the x axis, the colour, or the small
/// multiple.
pub(super) struct Keys<'a> {
    pub(super) axis: &'a str,
    pub(super) color: Option<&'a str>,
    pub(super) multiples: Vec<&'a str>,
}

/// More colours than this cannot be distinguished.
const COLORS: usize = 8;

impl SweepChoice {
    /// Adds the chosen metrics of single flows to the points, as means over the flows of groups.
    pub(super) fn add_of_flows(&self, points: &mut Points, runs: &[RunSummary]) {
        let leaves = leaves_of::<FlowSummary>().into_iter().filter(is_metric);
        let names: Vec<String> = leaves.map(|leaf| leaf.name).collect();
        let mut added: Vec<&str> = Vec::new();
        for wanted in self.metrics.iter().chain(&self.against) {
            let own = wanted.strip_prefix(FLOWS).unwrap_or(wanted);
            let is_new = !added.contains(&own);
            if let Some(at) = names.iter().position(|name| name == own).filter(|_| is_new) {
                points.add_of_flows(runs, own, at);
                added.push(own);
            }
        }
    }

    /// Whether a group of flows is drawn.
    pub(super) fn shows(&self, group: &str) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|wanted| wanted == group)
    }

    /// Checks that the chosen groups of flows have a metric to be drawn.
    pub(super) fn check_groups(&self, figures: &[Answer<'_>]) -> Result<(), String> {
        match figures.iter().find(|figure| !figure.metric.is_per_group()) {
            Some(figure) if !self.groups.is_empty() => Err(format!(
                "--group: expected metrics of groups of flows, found `{}`, which is a metric of the \
                 whole run or of a link; choose others with --metric, such as share or rtt_ms.mean",
                figure.metric.name()
            )),
            _ => Ok(()),
        }
    }

    /// The chosen metrics; empty if the user chose none.
    pub(super) fn figures<'a>(
        &'a self,
        groups: &[Group],
        usual: &[Answer<'a>],
    ) -> Result<Vec<Answer<'a>>, String> {
        self.metrics.iter().map(|wanted| figure(wanted, groups, usual)).collect()
    }

    /// The keys for the x axis. There is one picture for each of them.
    pub(super) fn axes<'a>(
        &self,
        swept: &'a [String],
        groups: &[Group],
    ) -> Result<Vec<&'a str>, String> {
        if let Some(wanted) = &self.x {
            return Ok(vec![swept_key(wanted, swept)?]);
        }
        let is_quantity = |key: &&String| Swept::new(key, &values_of(groups, key)).joins;
        let quantities: Vec<&str> = swept.iter().filter(is_quantity).map(String::as_str).collect();
        let quantities: Vec<&str> =
            quantities.into_iter().filter(|key| self.by.as_deref() != Some(*key)).collect();
        if !quantities.is_empty() {
            return Ok(quantities);
        }
        let others = swept.iter().find(|key| stem(key) != "cc" && self.by.as_ref() != Some(*key));
        Ok(others.or(swept.first()).map(String::as_str).into_iter().collect())
    }

    /// Decides for each key that is not on the x axis whether colours or small multiples show it.
    pub(super) fn keys<'a>(
        &self,
        axis: &'a str,
        swept: &'a [String],
        groups: &[Group],
    ) -> Result<Keys<'a>, String> {
        let others: Vec<&str> =
            swept.iter().map(String::as_str).filter(|key| *key != axis).collect();
        let n = |key: &str| values_of(groups, key).len();
        let color = if let Some(wanted) = &self.by {
            let key = swept_key(wanted, swept)?;
            if key == axis {
                return Err(format!("`{key}` is on the x axis: --by needs another swept key"));
            }
            Some(key)
        } else {
            let fits = || others.iter().copied().filter(|key| n(key) <= COLORS);
            // If several keys have the largest number of values, take the first of these keys.
            let most = fits().rev().max_by_key(|key| n(key));
            fits().find(|key| stem(key) == "cc").or(most).or(others.first().copied())
        };
        let multiples = others.into_iter().filter(|key| Some(*key) != color).collect();
        Ok(Keys { axis, color, multiples })
    }
}

const FLOWS: &str = "flows.";
const GROUPS: &str = "flow_groups.";
const LINKS: &str = "links.";
const WAITS: &str = "waits.";

/// The metric with this name: first of the run, then of each group of flows, then of the
/// bottleneck.
pub(super) fn figure<'a>(
    wanted: &'a str,
    groups: &[Group],
    usual: &[Answer<'a>],
) -> Result<Answer<'a>, String> {
    let has = |name: &str| groups.iter().any(|group| group.metrics.get(name).is_some());
    let has_part = |prefix: &str, name: &str| {
        let ending = format!(".{name}");
        let is_it = |key: &str| {
            let rest = key.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(&ending));
            // The text between prefix and metric is the name of a group or link.
            rest.is_some_and(|between| !between.is_empty())
        };
        groups.iter().any(|group| group.metrics.names().any(is_it))
    };
    let own = wanted.strip_prefix(GROUPS).unwrap_or(wanted);
    let of_link = wanted.strip_prefix(LINKS).unwrap_or(wanted);
    let of_flows = wanted.strip_prefix(FLOWS).unwrap_or(wanted);
    let metric = if has(wanted) {
        Metric::Run(wanted)
    } else if !wanted.starts_with(LINKS) && is_of::<FlowGroup>(own) && has_part(GROUPS, own) {
        Metric::PerGroup(own)
    } else if is_of::<LinkSummary>(of_link) && has_part(LINKS, of_link) {
        Metric::Bottleneck(of_link)
    } else if is_of::<FlowSummary>(of_flows) && has_part(FLOWS, of_flows) {
        Metric::PerFlow(of_flows)
    } else {
        return Err(column(wanted, groups, usual).unwrap_or_else(|| unknown(wanted, groups)));
    };
    if let Some(usual) = usual.iter().find(|answer| answer.metric == metric) {
        return Ok(usual.clone());
    }
    let name = metric.name();
    let mut known = known();
    known.extend(leaves_of::<WaitSummary>());
    if let Metric::PerFlow(_) = metric {
        known = leaves_of::<FlowSummary>();
    }
    let leaf =
        known.iter().find(|leaf| name == leaf.name || name.ends_with(&format!(".{}", leaf.name)));
    let unit = leaf.map_or("", |leaf| leaf.figure.unit);
    let (unit, scale) = match unit {
        "share" => ("%", 100.0),
        "index" => ("", 1.0),
        unit => (unit, 1.0),
    };
    Ok(Answer { title: wanted, unit, scale, decimals: 2, metric })
}

fn leaves_of<R: Field>() -> Vec<Leaf> {
    leaves(R::PARTS, "", ".")
}

fn is_of<R: Field>(name: &str) -> bool {
    leaves_of::<R>().iter().any(|leaf| leaf.name == name)
}

/// All metrics with a single value for a run, a group of flows or a link.
fn known() -> Vec<Leaf> {
    let mut all = leaves_of::<RunSummary>();
    all.extend(leaves_of::<FlowGroup>());
    all.extend(leaves_of::<LinkSummary>());
    all.retain(|leaf| leaf.figure.role == bbrlab_run::Role::Result);
    all
}

/// If `wanted` is a column of `summary.parquet` with a metric of runs, groups of flows or links: a
/// hint with the name that a picture uses for the metric.
fn column(wanted: &str, groups: &[Group], usual: &[Answer<'_>]) -> Option<String> {
    let named = |leaves: Vec<Leaf>, own: &str, prefix: &str| {
        let leaf = leaves.into_iter().find(|leaf| leaf.name.replace('.', "_") == own)?;
        Some((leaf.name.clone(), format!("{prefix}{}", leaf.name)))
    };
    let (short, full) = if let Some(own) = wanted.strip_prefix("group_") {
        named(leaves_of::<FlowGroup>(), own, GROUPS)?
    } else if let Some(own) = wanted.strip_prefix("bottleneck_") {
        named(leaves_of::<LinkSummary>(), own, LINKS)?
    } else {
        named(leaves_of::<RunSummary>(), wanted.strip_prefix("run_")?, "")?
    };
    // A metric of the run and one of its groups or links may have the same short name.
    let meant = figure(&full, groups, usual).ok()?.metric;
    let is_short = figure(&short, groups, usual).is_ok_and(|it| it.metric == meant);
    let name = if is_short { &short } else { &full };
    Some(format!("`{wanted}` is a column of summary.parquet; write the metric as `{name}`"))
}

fn unknown(wanted: &str, groups: &[Group]) -> String {
    let mut names: Vec<String> = Vec::new();
    // The names of waits contain the names of links, which only the results contain.
    let of_waits = groups.iter().flat_map(|group| group.metrics.names());
    let of_waits = of_waits.filter(|name| name.starts_with(WAITS)).map(str::to_owned);
    for name in known().into_iter().map(|leaf| leaf.name).chain(of_waits) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.iter().any(|name| name == wanted) {
        return format!("`{wanted}` has no number in these results, so it cannot be drawn");
    }
    let first = wanted.split(['.', '_', ' ']).next().unwrap_or(wanted).to_lowercase();
    // The first characters of most misspelled names are correct.
    let beginning: String = first.chars().take(4).collect();
    let is_near = |name: &&str| name.contains(&first) || name.contains(&beginning);
    let near: Vec<&str> = names.iter().map(String::as_str).filter(is_near).collect();
    if is_of::<FlowSummary>(wanted.strip_prefix(FLOWS).unwrap_or(wanted)) {
        return format!("`{wanted}` has no number in these results, so it cannot be drawn");
    }
    if near.is_empty() || first.is_empty() {
        format!("unknown metric `{wanted}`; known are {}", names.join(", "))
    } else {
        format!("unknown metric `{wanted}`; similar are {}", near.join(", "))
    }
}
