//! The metrics of a sweep that the user chose by name, for tables and pictures.

use bbrlab_run::{
    Field, FlowGroup, FlowSummary, Group, Leaf, LinkSummary, RunSummary, WaitSummary, leaves,
};

use crate::alike::{alike, meant};
use crate::answers::{ALL, Answer, Metric, answers_of_heading, places};
use crate::groups::is_metric;
use crate::points::Points;

/// Adds the wanted metrics of single flows to the sweep points. Each group of flows gets one value
/// per metric: the mean over the group's flows.
pub(crate) fn add_of_flows<'a>(
    points: &mut Points,
    runs: &[RunSummary],
    wanted: impl Iterator<Item = &'a String>,
) {
    let leaves = leaves_of::<FlowSummary>().into_iter().filter(is_metric);
    let names: Vec<String> = leaves.map(|leaf| leaf.name).collect();
    let mut added: Vec<&str> = Vec::new();
    for wanted in wanted {
        let own = wanted.strip_prefix(FLOWS).unwrap_or(wanted);
        let is_new = !added.contains(&own);
        if let Some(at) = names.iter().position(|name| name == own).filter(|_| is_new) {
            points.add_of_flows(runs, own, at);
            added.push(own);
        }
    }
}

/// Returns, for each element of `wanted`, the metric that [`chosen_answer`] finds.
///
/// # Errors
/// Fails if an element is neither the name nor the heading of a metric in these results. The
/// error's text lists similar names of metrics.
pub(crate) fn chosen_answers<'a>(
    wanted: &'a [String],
    groups: &[Group],
    usual: &[Answer<'a>],
) -> Result<Vec<Answer<'a>>, String> {
    wanted.iter().map(|wanted| chosen_answer(wanted, groups, usual)).collect()
}

const FLOWS: &str = "flows.";
const GROUPS: &str = "flow_groups.";
const LINKS: &str = "links.";
const WAITS: &str = "waits.";

/// Returns the metric with this name, or with this heading in tables. The search is in this order:
/// full names of metrics, then names of metrics of groups of flows, of the bottleneck and of single
/// flows, and last the headings.
pub(crate) fn chosen_answer<'a>(
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
        // A group of flows and a link may have metrics of the same name but with different
        // headings. Return the metric that has the wanted heading, instead of searching for the
        // metric's name.
        let mut of_heading = answers_of_heading(wanted);
        if let Some(answer) = of_heading.find(|answer| !places(groups, answer.metric).is_empty()) {
            return Ok(answer.clone());
        }
        return Err(column(wanted, groups, usual).unwrap_or_else(|| unknown(wanted, groups)));
    };
    if let Some(usual) = usual.iter().chain(&ALL).find(|answer| answer.metric == metric) {
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
    let (unit, scale, decimals) = match unit {
        "share" => ("%", 100.0, 2),
        "index" => ("", 1.0, 3),
        unit => (unit, 1.0, 2),
    };
    Ok(Answer { title: wanted, unit, scale, decimals, metric })
}

fn leaves_of<R: Field>() -> Vec<Leaf> {
    leaves(R::PARTS, "", ".")
}

fn is_of<R: Field>(name: &str) -> bool {
    leaves_of::<R>().iter().any(|leaf| leaf.name == name)
}

/// Returns all metrics with a single value for a run, a group of flows or a link.
fn known() -> Vec<Leaf> {
    let mut all = leaves_of::<RunSummary>();
    all.extend(leaves_of::<FlowGroup>());
    all.extend(leaves_of::<LinkSummary>());
    all.retain(|leaf| leaf.figure.role == bbrlab_run::Role::Result);
    all
}

/// Returns a hint if `wanted` is a column of `summary.parquet` with a metric of runs, groups of
/// flows or links. The hint gives the name to use instead.
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
    // The run and its groups or links may have metrics of the same short name, so recommend the
    // short name only if a search for it finds this metric.
    let meant = chosen_answer(&full, groups, usual).ok()?.metric;
    let is_short = chosen_answer(&short, groups, usual).is_ok_and(|it| it.metric == meant);
    let name = if is_short { &short } else { &full };
    Some(format!("`{wanted}` is a column of summary.parquet; write the metric as `{name}`"))
}

fn unknown(wanted: &str, groups: &[Group]) -> String {
    let mut names: Vec<String> = Vec::new();
    // Take the names of the metrics under `waits.` from the results, because these names contain
    // names of links.
    let of_waits = groups.iter().flat_map(|group| group.metrics.names());
    let of_waits = of_waits.filter(|name| name.starts_with(WAITS)).map(str::to_owned);
    for name in known().into_iter().map(|leaf| leaf.name).chain(of_waits) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.iter().any(|name| name == wanted) {
        return format!("`{wanted}` has no number in these results, so it cannot be shown");
    }
    let first = wanted.split(['.', '_', ' ']).next().unwrap_or(wanted).to_lowercase();
    // The first four characters of most misspelled names are correct, so names that contain these
    // characters count as similar, like names that contain the whole first word.
    let beginning: String = first.chars().take(4).collect();
    let is_near = |name: &&str| name.contains(&first) || name.contains(&beginning);
    let near: Vec<&str> = names.iter().map(String::as_str).filter(is_near).collect();
    if is_of::<FlowSummary>(wanted.strip_prefix(FLOWS).unwrap_or(wanted)) {
        return format!("`{wanted}` has no number in these results, so it cannot be shown");
    }
    let near = if near.is_empty() || first.is_empty() {
        alike(wanted, names.iter().map(String::as_str))
    } else {
        near
    };
    // Suggest only metrics with a value in the results. If no similar metric has a value, suggest
    // all similar names.
    let is_here = |name: &&str| {
        let ending = format!(".{name}");
        groups.iter().any(|group| {
            let mut metrics = group.metrics.iter().filter(|(_, metric)| metric.mean.is_some());
            metrics.any(|(known, _)| known == *name || known.ends_with(&ending))
        })
    };
    let of_words: Vec<&str> = meant(wanted).iter().copied().filter(is_here).collect();
    let near = if of_words.is_empty() { near } else { of_words };
    let here: Vec<&str> = near.iter().copied().filter(is_here).collect();
    let near = if here.is_empty() { near } else { here };
    if near.is_empty() {
        format!("unknown metric `{wanted}`; `bbrlab list metrics` lists all")
    } else {
        format!("unknown metric `{wanted}`; similar metrics: {}", near.join(", "))
    }
}
