//! Finds the valid name that is nearest to a misspelt one.

/// The candidate that `typed` probably stands for, if one is near enough: at most a third of its
/// letters are wrong, missing, extra or swapped. Case and the difference between `-` and `_` are
/// ignored.
#[must_use]
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer than any name: a longer text is not a misspelt one.
    const TYPED_MAX: usize = 64;
    if typed.len() > TYPED_MAX {
        return None;
    }
    let typed = folded(typed);
    let allowed = (typed.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&typed, &folded(candidate)), candidate))
        .filter(|&(far, candidate)| far <= allowed && far < candidate.len())
        .min_by_key(|&(far, _)| far)
        .map(|(_, candidate)| candidate)
}

fn folded(name: &str) -> Vec<char> {
    name.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions
/// and swaps of neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

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
}
