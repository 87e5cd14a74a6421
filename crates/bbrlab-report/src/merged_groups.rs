//! Finds groups of flows that have the same name in two compared runs but contain different flows.
//!
//! A group without a name of its own is called after its congestion control. Flows that form two
//! groups in one run can therefore form one group in the other run. The metrics of two groups of
//! the same name then describe different flows.

use bbrlab_run::RunSummary;

/// Returns a sentence that lists the groups with different numbers of flows in the two runs; `None`
/// if there are none. The sentence calls the two runs by their `names`. The function also returns
/// `None` if both runs have the same group names. If a group's numbers of flows differ in this
/// case, the reason is that the scenarios set different values of `count`.
pub(crate) fn merged_groups(names: [&str; 2], runs: [&RunSummary; 2]) -> Option<String> {
    let [first, other] = runs.map(|run| &run.flow_groups);
    let has_all = first.len() == other.len()
        && first.iter().all(|group| other.iter().any(|it| it.group == group.group));
    if has_all {
        return None;
    }
    let differing = first.iter().filter_map(|group| {
        let same = other.iter().find(|it| it.group == group.group)?;
        (same.flows != group.flows).then(|| {
            let s = |flows: u64| if flows == 1 { "" } else { "s" };
            format!(
                "`{}` is {} flow{} in {} and {} flow{} in {}",
                group.group,
                group.flows,
                s(group.flows),
                names[0],
                same.flows,
                s(same.flows),
                names[1]
            )
        })
    });
    let differing: Vec<String> = differing.collect();
    (!differing.is_empty()).then(|| {
        format!(
            "not the same flows: {}; `group = \"NAME\"` in [[flows]] keeps groups apart",
            differing.join(", ")
        )
    })
}
