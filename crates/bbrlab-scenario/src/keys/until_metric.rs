//! Rejects a metric in `repeat.of` that cannot decide on the number of seeds. If the metric in
//! `repeat.of` never had a value, every sweep point would run the largest number of seeds. If all
//! flows are in one group, the group's share of the goodput is always 100 %, so every sweep point
//! would stop after the first few seeds.

use bbrlab_run::FlowClass;

use crate::keys::repeat::{Repeat, UntilOf};
use crate::keys::spec::Spec;

/// Returns why the metric in `repeat.of` cannot decide on the number of seeds, as the end of a
/// message. There are three reasons: the metric's link does not exist, no run of a sweep point has
/// the metric, or all runs have the same value. `None` if the values of runs may differ. A metric
/// that depends on events in a run, such as Jain's index, is never rejected.
pub(crate) fn reason_against(spec: &Spec, classes: &[FlowClass]) -> Option<String> {
    let Repeat::Until(until) = &spec.repeat else { return None };
    match until.of() {
        UntilOf::One(metric) => {
            let (link, _) = metric.strip_prefix("links.")?.split_once('.')?;
            let bottleneck = spec.bottleneck.as_ref().map(|_| "bottleneck");
            let named = spec.links.iter().map(|(name, _)| name.as_str());
            let links: Vec<&str> = bottleneck.into_iter().chain(named).collect();
            (!links.contains(&link)).then(|| match links.as_slice() {
                [] => format!("no link is named `{link}`, since this scenario names none"),
                links => format!("no link is named `{link}`; links are {}", links.join(", ")),
            })
        }
        UntilOf::EachGroup(metric) => {
            let flows = &spec.flows;
            let is_one_group = || classes.windows(2).all(|two| two[0].group == two[1].group);
            if metric.starts_with("share") && is_one_group() {
                let name = classes.first().map_or("", |class| &class.group);
                return Some(format!(
                    "all flows are in the group `{name}`, whose share is always 100 %"
                ));
            }
            let (needs, has) = match metric.split('.').next()? {
                "fct_ms" | "slowdown" => (
                    "transfers: `bytes`, `train`, `requests`, `video`, `page` or `arrivals`",
                    flows.iter().any(|flow| flow.source.has_transfers()),
                ),
                "late_ratio" => ("`late`", flows.iter().any(|flow| flow.settings.late.is_some())),
                "path_queue_delay_ms" => {
                    ("`latency`", flows.iter().any(|flow| flow.settings.latency))
                }
                _ => return None,
            };
            (!has).then(|| format!("no flow has {needs}"))
        }
    }
}
