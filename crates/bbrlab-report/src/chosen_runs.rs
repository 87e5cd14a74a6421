//! Selects the runs of a sweep whose swept keys have the values that the user chose.

use bbrlab_run::RunSummary;

use crate::swept_key::{swept_key, value_text};

/// Returns the runs whose swept keys have the wanted values, each given as `KEY=VALUE`. If `wanted`
/// has several values of a key, one of them suffices. A key may be named by its last part if no
/// other swept key has the same last part.
///
/// # Errors
/// Fails if an element of `wanted` is not `KEY=VALUE`, if the key is not swept or never has the
/// value, or if no run has all wanted values. The error's text lists the swept keys or the key's
/// values.
pub fn runs_where(runs: &[RunSummary], wanted: &[String]) -> Result<Vec<RunSummary>, String> {
    let runs = runs.iter().zip(which_runs(runs, wanted)?);
    Ok(runs.filter(|(_, is_chosen)| *is_chosen).map(|(run, _)| run.clone()).collect())
}

/// Returns for each run whether [`runs_where`] returns it.
///
/// # Errors
/// Fails like [`runs_where`].
pub fn which_runs(runs: &[RunSummary], wanted: &[String]) -> Result<Vec<bool>, String> {
    if wanted.is_empty() {
        return Ok(vec![true; runs.len()]);
    }
    let chosen = values_by_key(runs, wanted)?;
    let is_chosen = |run: &RunSummary| {
        chosen.iter().all(|(key, values)| {
            run.point.get(key).is_some_and(|value| values.contains(&value_text(value).as_str()))
        })
    };
    let found: Vec<bool> = runs.iter().map(is_chosen).collect();
    if !found.contains(&true) {
        return Err(format!("--where: no run has all of {}", wanted.join(", ")));
    }
    Ok(found)
}

/// Returns the wanted values as words, such as `bottleneck.buffer 1bdp or 2bdp`. The text is empty
/// if `wanted` is empty.
///
/// # Errors
/// Fails if an element of `wanted` is not `KEY=VALUE`, or if the key is not swept or never has the
/// value.
pub fn where_words(runs: &[RunSummary], wanted: &[String]) -> Result<String, String> {
    let chosen = values_by_key(runs, wanted)?;
    let words = chosen.iter().map(|(key, values)| format!("{key} {}", values.join(" or ")));
    Ok(words.collect::<Vec<_>>().join(", "))
}

/// Returns the wanted values of each key, each value once.
fn values_by_key<'a>(
    runs: &[RunSummary],
    wanted: &'a [String],
) -> Result<Vec<(String, Vec<&'a str>)>, String> {
    let mut swept: Vec<String> = Vec::new();
    for key in runs.iter().flat_map(|run| run.point.keys()) {
        if !swept.contains(key) {
            swept.push(key.clone());
        }
    }
    let mut chosen: Vec<(String, Vec<&str>)> = Vec::new();
    for one in wanted {
        let Some((key, value)) = one.split_once('=') else {
            return Err(format!("--where: expected KEY=VALUE, found `{one}`"));
        };
        let key = swept_key(key, &swept).map_err(|reason| format!("--where: {reason}"))?;
        let mut values: Vec<String> = Vec::new();
        for known in runs.iter().filter_map(|run| run.point.get(key)).map(value_text) {
            if !values.contains(&known) {
                values.push(known);
            }
        }
        if !values.iter().any(|known| known == value) {
            return Err(format!(
                "--where: `{key}` is never `{value}`; its values are {}",
                values.join(", ")
            ));
        }
        match chosen.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => chosen.push((key.to_owned(), vec![value])),
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::{runs_where, where_words};
    use crate::table::tests::sample_run;
    use bbrlab_run::RunSummary;

    #[test]
    fn runs_are_chosen_by_the_values_of_their_keys() {
        let mut runs: Vec<RunSummary> = Vec::new();
        for cc in ["bbr1", "bbr3", "cubic"] {
            for buffer in ["1bdp", "2bdp"] {
                let mut run = sample_run();
                run.point.insert("flows[0].cc".to_owned(), cc.into());
                run.point.insert("bottleneck.buffer".to_owned(), buffer.into());
                runs.push(run);
            }
        }
        let count = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|&one| one.to_owned()).collect();
            runs_where(&runs, &wanted).map(|found| found.len())
        };
        assert_eq!(count(&[]), Ok(6));
        assert_eq!(count(&["cc=bbr1"]), Ok(2));
        assert_eq!(count(&["cc=bbr1", "flows[0].cc=cubic", "buffer=2bdp"]), Ok(2));
        let wanted = ["cc=bbr1", "buffer=2bdp", "flows[0].cc=cubic", "cc=bbr1"].map(str::to_owned);
        assert_eq!(
            where_words(&runs, &wanted).as_deref(),
            Ok("flows[0].cc bbr1 or cubic, bottleneck.buffer 2bdp")
        );
        assert_eq!(where_words(&runs, &[]).as_deref(), Ok(""));
        assert_eq!(
            count(&["buffer=4bdp"]).unwrap_err(),
            "--where: `bottleneck.buffer` is never `4bdp`; its values are 1bdp, 2bdp"
        );
        assert_eq!(
            count(&["rtt=4ms"]).unwrap_err(),
            "--where: `rtt` is not swept; swept keys are flows[0].cc, bottleneck.buffer"
        );
        assert_eq!(count(&["cc"]).unwrap_err(), "--where: expected KEY=VALUE, found `cc`");
        assert_eq!(runs_where(&[], &[]), Ok(Vec::new()));
        assert_eq!(
            runs_where(&[], &["cc=bbr1".to_owned()]).unwrap_err(),
            "--where: `cc` is not swept: this sweep has no swept key"
        );
    }
}
