//! Checks of names that the user gave for pictures: groups of flows, entries of legends.

use bbrlab_report::{Labels, Picture};
use bbrlab_run::RunSummary;
use bbrlab_scenario::nearest;

/// Checks that each group of flows that the user named is in a run.
pub(crate) fn check_groups<'r>(
    wanted: &[String],
    runs: impl IntoIterator<Item = &'r RunSummary>,
) -> Result<(), String> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut known: Vec<&str> = Vec::new();
    for group in runs.into_iter().flat_map(|run| &run.flow_groups) {
        if !known.contains(&group.group.as_str()) {
            known.push(&group.group);
        }
    }
    let unknown = wanted.iter().find(|name| !known.contains(&name.as_str()));
    unknown.map_or(Ok(()), |name| Err(unknown_name("--group", name, "groups of flows", &known)))
}

/// Checks that each entry of a legend that the user renamed is in one of the pictures.
pub(crate) fn check_entries(labels: &Labels, pictures: &[Picture]) -> Result<(), String> {
    let mut known: Vec<&str> = Vec::new();
    for name in pictures.iter().flat_map(|picture| &picture.entries) {
        if !known.contains(&name.as_str()) {
            known.push(name);
        }
    }
    let is_of =
        |own: &str, name: &str| own.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    let unknown = labels.legend.iter().find(|own| !known.iter().any(|name| is_of(own, name)));
    unknown.map_or(Ok(()), |own| {
        let name = own.split_once('=').map_or(own.as_str(), |(name, _)| name);
        Err(unknown_name("--legend", name, "entries of the legend", &known))
    })
}

/// Returns the error of an unknown name, with the names there are.
fn unknown_name(flag: &str, name: &str, what: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("{flag}: unknown `{name}`: there are no {what} here");
    }
    let near = nearest(name, known.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("{flag}: unknown `{name}`; {what} are {}{near}", known.join(", "))
}
