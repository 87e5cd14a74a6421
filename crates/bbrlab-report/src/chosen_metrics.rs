//! The metrics of a comparison that the user chose by name.

use serde_json::{Map, Value};

use crate::alike::{alike, meant};
use crate::answers::answers_of_heading;

/// Removes from each sweep point the metrics that have none of the names in `wanted`. A name may be
/// a metric's full name or the part after a dot: `share` is a name of `flow_groups.bbr1.share`. A
/// name may also be the heading of a metric in tables. If `wanted` is empty, all metrics stay.
///
/// # Errors
/// Fails if a name fits no metric.
pub(crate) fn keep_metrics<'a>(
    points: impl Iterator<Item = &'a mut Map<String, Value>>,
    wanted: &[String],
) -> Result<(), String> {
    let points: Vec<_> = points.collect();
    let mut wanted = wanted.to_vec();
    for name in &mut wanted {
        let mut metrics = points.iter().flat_map(|metrics| metrics.keys());
        if metrics.any(|metric| has_name(metric, name)) {
            continue;
        }
        let metric = answers_of_heading(name).next().map(|answer| answer.metric.name());
        if let Some(metric) = metric {
            metric.clone_into(name);
        }
    }
    for name in &wanted {
        if !points.iter().any(|metrics| metrics.keys().any(|metric| has_name(metric, name))) {
            return Err(unknown(name, points.iter().flat_map(|metrics| metrics.keys())));
        }
    }
    if !wanted.is_empty() {
        for metrics in points {
            metrics.retain(|metric, _| wanted.iter().any(|name| has_name(metric, name)));
        }
    }
    Ok(())
}

fn has_name(metric: &str, name: &str) -> bool {
    metric == name || metric.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
}

/// Returns the message about an unknown name, with similar names that exist.
fn unknown<'a>(wanted: &str, metrics: impl Iterator<Item = &'a String>) -> String {
    let beginning: String = wanted.chars().take(4).collect::<String>().to_lowercase();
    let mut near: Vec<&str> = Vec::new();
    let metrics: Vec<&String> = metrics.collect();
    for metric in &metrics {
        // Suggest the metric's name, or its part after a dot, whichever begins with the first four
        // letters of the wanted name.
        let starts = std::iter::once(0).chain(metric.match_indices('.').map(|(at, _)| at + 1));
        let found = starts.map(|at| &metric[at..]).find(|part| part.starts_with(&beginning));
        near.extend(found.filter(|part| !near.contains(part)));
    }
    let of_words = meant(wanted).iter().copied();
    let of_words: Vec<&str> =
        of_words.filter(|name| metrics.iter().any(|metric| has_name(metric, name))).collect();
    if !of_words.is_empty() {
        near = of_words;
    } else if beginning.is_empty() || near.is_empty() {
        near = alike(wanted, metrics.iter().map(|metric| metric.as_str()));
    }
    if near.is_empty() {
        format!("unknown metric `{wanted}`; `bbrlab list metrics` lists all")
    } else {
        format!("unknown metric `{wanted}`; similar metrics: {}", near.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::keep_metrics;
    use serde_json::{Map, Value, json};

    fn kept(wanted: &[&str]) -> Result<String, String> {
        let names = ["jain", "goodput_mbps", "flow_groups.a.goodput_mbps", "flow_groups.a.share"];
        let mut metrics: Map<String, Value> =
            names.into_iter().map(|name| (name.to_owned(), json!(1))).collect();
        let wanted: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
        keep_metrics(std::iter::once(&mut metrics), &wanted)?;
        Ok(metrics.keys().map(String::as_str).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_name_fits_in_full_or_from_a_dot_on() {
        assert_eq!(kept(&["share", "jain"]).unwrap(), "jain flow_groups.a.share");
        let both = "goodput_mbps flow_groups.a.goodput_mbps";
        assert_eq!(kept(&["goodput_mbps"]).unwrap(), both);
        assert_eq!(kept(&["a.share"]).unwrap(), "flow_groups.a.share");
        assert_eq!(kept(&["Jain"]).unwrap(), "jain");
        assert_eq!(kept(&[]).unwrap().split(' ').count(), 4);
    }

    #[test]
    fn an_unknown_name_is_refused() {
        // The heading of a metric in tables is accepted like the metric's name.
        assert_eq!(kept(&["goodput"]), kept(&["goodput_mbps"]));
        assert_eq!(
            kept(&["goodputs"]).unwrap_err(),
            "unknown metric `goodputs`; similar metrics: goodput_mbps"
        );
        assert_eq!(kept(&["sahre"]).unwrap_err(), "unknown metric `sahre`; similar metrics: share");
        assert_eq!(
            kept(&["throughput"]).unwrap_err(),
            "unknown metric `throughput`; similar metrics: goodput_mbps"
        );
        assert_eq!(
            kept(&["are"]).unwrap_err(),
            "unknown metric `are`; `bbrlab list metrics` lists all"
        );
        assert_eq!(kept(&[""]).unwrap_err(), "unknown metric ``; `bbrlab list metrics` lists all");
    }
}
