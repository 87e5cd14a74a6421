//! Checks the names of groups of flows that the user gave with `--group`.

use bbrlab_run::Group;

use crate::alike::alike;
use crate::answers::{flow_groups, group_names};

/// Checks that each wanted name is one of the known names of groups of flows.
///
/// # Errors
/// Fails if a name is unknown. The error's text lists the known names, and suggests a similar one.
pub fn check_flow_groups(wanted: &[String], known: &[&str]) -> Result<(), String> {
    let Some(unknown) = wanted.iter().find(|name| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    if known.is_empty() {
        return Err(format!("--group: unknown `{unknown}`: there are no groups of flows here"));
    }
    let near = alike(unknown, known.iter().copied());
    let near = near.into_iter().find(|near| known.contains(near));
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(format!("--group: unknown `{unknown}`; groups of flows are {}{near}", known.join(", ")))
}

/// Checks that each wanted name is a known name of a group of flows. Known are the names that
/// tables of the whole sweep show, such as `flows[0]`, and the groups' own names at the single
/// points of the sweep.
pub(crate) fn check_groups_of_sweep(groups: &[Group], wanted: &[String]) -> Result<(), String> {
    let of_sweep = group_names(groups);
    let mut known: Vec<&str> = of_sweep.iter().map(String::as_str).collect();
    for name in groups.iter().flat_map(flow_groups) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    check_flow_groups(wanted, &known)
}

#[cfg(test)]
mod tests {
    use super::check_flow_groups;

    #[test]
    fn an_unknown_group_is_named_with_the_known_ones() {
        let check = |wanted: &[&str], known: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
            check_flow_groups(&wanted, known)
        };
        let known = ["bbr1", "cubic"];
        assert_eq!(check(&[], &known), Ok(()));
        assert_eq!(check(&["cubic", "bbr1"], &known), Ok(()));
        assert_eq!(
            check(&["bbr1", "cubik"], &known).unwrap_err(),
            "--group: unknown `cubik`; groups of flows are bbr1, cubic; did you mean `cubic`?"
        );
        assert_eq!(
            check(&["vegas"], &known).unwrap_err(),
            "--group: unknown `vegas`; groups of flows are bbr1, cubic"
        );
        assert_eq!(
            check(&["bbr1"], &[]).unwrap_err(),
            "--group: unknown `bbr1`: there are no groups of flows here"
        );
    }
}
