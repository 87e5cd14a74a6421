//! Whether runs of a scenario can have a value of the metric in `repeat.of`. A metric without a
//! value decides nothing, so such a scenario would run the largest number of seeds.

use crate::keys::repeat::{Repeat, UntilOf};
use crate::keys::spec::Spec;

/// Returns the reason why no run of a point has a value of the metric in `repeat.of`, as the end of
/// a message; `None` if runs may have one. Metrics that depend on what happens in a run, such as
/// the index of fairness, may have one.
pub(crate) fn reason_against(spec: &Spec) -> Option<String> {
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
            let (needs, has) = match metric.split('.').next()? {
                "fct_ms" | "slowdown" => (
                    "transfers: `bytes`, `train`, `requests`, `video`, `page` or `arrivals`",
                    flows.iter().any(|flow| flow.source.has_transfers()),
                ),
                "late_ratio" => ("`late`", flows.iter().any(|flow| flow.late.is_some())),
                "path_queue_delay_ms" => ("`latency`", flows.iter().any(|flow| flow.latency)),
                _ => return None,
            };
            (!has).then(|| format!("no flow has {needs}"))
        }
    }
}
