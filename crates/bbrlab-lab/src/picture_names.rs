//! Checks the names that the user gave for plots: groups of flows, entries of legends.

use bbrlab_report::{Labels, Picture, check_flow_groups};
use bbrlab_run::RunSummary;
use bbrlab_scenario::nearest;

/// Checks that each group of flows that the user named is in at least one of the runs.
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
    check_flow_groups(wanted, &known)
}

/// Returns a copy of `labels` in which the user's names of legend entries are replaced by the full
/// names. A user may give only the last word of a full name: `bbr1` for `flows[0].cc bbr1`.
///
/// # Errors
/// Fails if no picture has such an entry, or if the names of several entries end in the word.
pub(crate) fn entries_in_full(labels: &Labels, pictures: &[Picture]) -> Result<Labels, String> {
    let mut known: Vec<&str> = Vec::new();
    for name in pictures.iter().flat_map(|picture| &picture.entries) {
        if !known.contains(&name.as_str()) {
            known.push(name);
        }
    }
    let mut named: Vec<&str> = Vec::new();
    let mut legend = Vec::new();
    for own in &labels.legend {
        let (name, full) = in_full(own, &known)?;
        if named.contains(&name) {
            return Err(format!("--legend: `{name}` is named twice"));
        }
        named.push(name);
        legend.push(full);
    }
    Ok(Labels { legend, ..labels.clone() })
}

/// Completes a value `ENTRY=TEXT` of `--legend`, which the user gave as `own`. Returns the full
/// name of the legend's entry that ENTRY means, and the value with this full name instead of ENTRY.
fn in_full<'k>(own: &str, known: &[&'k str]) -> Result<(&'k str, String), String> {
    let begins_with = |name: &str| own.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    if let Some(name) = known.iter().find(|name| begins_with(name)) {
        return Ok((name, own.to_owned()));
    }
    // An entry such as `0 bbr1 / cubic`, for a flow with different algorithms in two runs, cannot
    // be named by its last word.
    let word = |name: &'_ str| name.rsplit_once(' ').map(|(_, last)| last.to_owned());
    let is_short =
        |name: &&&str| !name.contains(" / ") && word(name).is_some_and(|last| begins_with(&last));
    let fitting: Vec<&'k str> = known.iter().filter(is_short).copied().collect();
    let name = own.split_once('=').map_or(own, |(name, _)| name);
    match fitting.as_slice() {
        [one] => {
            let text = &own[word(one).unwrap_or_default().len()..];
            Ok((one, format!("{one}{text}")))
        }
        [] => Err(unknown_entry(name, known)),
        several => Err(format!(
            "--legend: several entries end in `{name}`: {}; write one in full",
            several.join(", ")
        )),
    }
}

/// Returns the error for an unknown entry of legends, which lists the known entries.
fn unknown_entry(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("--legend: unknown `{name}`: these plots have no entries of a legend");
    }
    let near = nearest(name, known.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let known = known.join(", ");
    format!("--legend: unknown `{name}`; entries of the legend are {known}{near}")
}

#[cfg(test)]
mod tests {
    use super::{entries_in_full, in_full};
    use bbrlab_report::{Labels, Picture};

    #[test]
    fn an_entry_is_named_once() {
        let entries = ["cc bbr1".to_owned(), "cc cubic".to_owned()].to_vec();
        let picture = Picture { name: String::new(), svg: String::new(), entries };
        let of = |legend: [&str; 2]| {
            let legend = legend.map(str::to_owned).to_vec();
            entries_in_full(&Labels { legend, ..Labels::default() }, std::slice::from_ref(&picture))
        };
        assert!(of(["bbr1=BBR", "cubic=CUBIC"]).is_ok());
        let twice = of(["bbr1=BBR", "cc bbr1=BBRv1"]).unwrap_err();
        assert_eq!(twice, "--legend: `cc bbr1` is named twice");
    }

    #[test]
    fn an_entry_may_be_named_by_its_last_word() {
        let known = ["flows[0].cc bbr1", "flows[0].cc bbr3", "buffer 1bdp", "0 reno / cubic"];
        let of = |own: &str| in_full(own, &known).map(|(_, full)| full);
        assert_eq!(of("bbr1=BBR=v1"), Ok("flows[0].cc bbr1=BBR=v1".to_owned()));
        assert_eq!(of("buffer 1bdp=1 BDP"), Ok("buffer 1bdp=1 BDP".to_owned()));
        assert_eq!(of("1bdp=1 BDP"), Ok("buffer 1bdp=1 BDP".to_owned()));
        assert!(of("cubic=CUBIC").unwrap_err().starts_with("--legend: unknown `cubic`; entries"));
        // A complete name takes precedence over a last word. A last word that several entries have
        // is an error.
        let with = |name| ["flows[0].cc bbr1", "flows[1].cc bbr1", name];
        assert_eq!(in_full("bbr1=v1", &with("bbr1")), Ok(("bbr1", "bbr1=v1".to_owned())));
        assert_eq!(
            in_full("bbr1=v1", &with("cubic")).unwrap_err(),
            "--legend: several entries end in `bbr1`: flows[0].cc bbr1, flows[1].cc bbr1; write one in full"
        );
    }
}
