//! Finds the valid name that is nearest to a misspelt one.

use strsim::osa_distance;

/// Returns the candidate that the user probably meant by `typed`, if at most a third of the letters
/// of `typed` are wrong, missing, extra or swapped; one such letter is always allowed. The
/// comparison ignores case and treats `-` and `_` as equal.
#[must_use]
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// The longest text that may be a misspelt name; all names are shorter.
    const TYPED_MAX: usize = 64;
    if typed.len() > TYPED_MAX {
        return None;
    }
    let typed = folded(typed);
    let allowed = (typed.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (osa_distance(&typed, &folded(candidate)), candidate))
        .filter(|&(far, candidate)| far <= allowed && far < candidate.len())
        .min_by_key(|&(far, _)| far)
        .map(|(_, candidate)| candidate)
}

/// Returns the dotted name, such as `examples.dumbbell`, that the user probably meant by `typed`.
/// Prefers a name whose last part is `typed`, then a name that begins with `typed`. If no name
/// begins with or ends in `typed`, returns the name that is nearest as a whole or in its last part.
#[must_use]
pub fn nearest_dotted<'a>(typed: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let last = |name: &'a str| name.rsplit_once('.').map_or(name, |(_, last)| last);
    let all = || candidates.iter().copied();
    if typed.is_empty() {
        return None;
    }
    let folded_name = folded(typed);
    all()
        .find(|name| folded(last(name)) == folded_name)
        .or_else(|| all().find(|name| folded(name).starts_with(&folded_name)))
        .or_else(|| nearest(typed, all()))
        .or_else(|| {
            let near = nearest(typed, all().map(last))?;
            all().find(|name| last(name) == near)
        })
}

fn folded(name: &str) -> String {
    name.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::{nearest, nearest_dotted};

    #[test]
    fn slips_of_the_finger_are_understood() {
        let names = ["bbr1", "bbr2", "bbr3", "bbr_hsr", "cubic", "reno", "vegas"];
        for (typed, meant) in [
            ("cubci", Some("cubic")),
            ("cubick", Some("cubic")),
            ("Cubic", Some("cubic")),
            ("bbr-hsr", Some("bbr_hsr")),
            ("vgas", Some("vegas")),
            ("bbr", Some("bbr1")),
            ("copa", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names), meant, "{typed}");
        }
        assert_eq!(nearest(&"x".repeat(1_000_000), names), None);
    }

    #[test]
    fn a_part_of_a_dotted_name_is_enough() {
        let names = ["examples.dumbbell", "examples.two-bbr", "goodput_mbps", "rtt_ms.mean"];
        for (typed, meant) in [
            ("dumbbell", Some("examples.dumbbell")),
            ("dumbell", Some("examples.dumbbell")),
            ("Two_BBR", Some("examples.two-bbr")),
            ("exampels.two-bbr", Some("examples.two-bbr")),
            ("goodput", Some("goodput_mbps")),
            ("rtt", Some("rtt_ms.mean")),
            ("copa", None),
            ("", None),
        ] {
            assert_eq!(nearest_dotted(typed, &names), meant, "{typed}");
        }
        assert_eq!(nearest_dotted(&"x".repeat(1_000_000), &names), None);
    }
}
