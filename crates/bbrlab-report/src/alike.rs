//! Finds the names that resemble a misspelt name, for the suggestions in error messages.

/// The largest number of names that [`alike`] returns.
const SHOWN: usize = 3;

/// A text of at least this number of letters is also compared with the beginnings of names, not
/// only with whole names. A shorter text resembles the beginnings of many names.
const BEGINNING: usize = 6;

/// Returns the names, or their parts after a dot, that resemble `wanted`, the nearest first. A name
/// resembles `wanted` if the number of wrong, missing, extra or swapped letters is at most a third
/// of the letters of `wanted`; one such letter is always allowed. If `wanted` has at least
/// `BEGINNING` letters, `wanted` is also compared with all beginnings of each name. The comparison
/// ignores case.
pub(crate) fn alike<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().collect();
    let allowed = (wanted.len() / 3).max(1);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for name in names {
        let starts = std::iter::once(0).chain(name.match_indices('.').map(|(at, _)| at + 1));
        let parts = starts.map(|at| (distance(&wanted, &name[at..]), &name[at..]));
        let best = parts.min_by_key(|&(far, _)| far);
        let is_new = |part: &str| !found.iter().any(|(_, known)| *known == part);
        let is_near =
            |&(far, part): &(usize, &str)| !wanted.is_empty() && far <= allowed && far < part.len();
        found.extend(best.filter(is_near).filter(|(_, part)| is_new(part)));
    }
    found.sort_by_key(|&(far, _)| far);
    found.into_iter().take(SHOWN).map(|(_, part)| part).collect()
}

/// Words that users may write instead of the name of a metric, each with the names of the metrics
/// that it may mean.
const OTHER_WORDS: [(&str, &[&str]); 14] = [
    ("throughput", &["goodput_mbps"]),
    ("bandwidth", &["goodput_mbps", "utilization"]),
    ("tput", &["goodput_mbps"]),
    ("speed", &["goodput_mbps"]),
    ("latency", &["rtt_ms.mean", "queue_delay_ms.mean", "delay_ms.p50"]),
    ("ping", &["rtt_ms.mean"]),
    ("bufferbloat", &["queue_delay_ms.mean"]),
    ("loss", &["drop_ratio", "random_losses", "loss_ratio"]),
    ("losses", &["drop_ratio", "random_losses", "loss_ratio"]),
    ("retransmissions", &["retransmitted_packets"]),
    ("retransmits", &["retransmitted_packets"]),
    ("fairness", &["jain", "share"]),
    ("utilisation", &["utilization"]),
    ("usage", &["utilization"]),
];

/// Returns the metrics that a user may mean by a word such as `bandwidth`, which is not the name of
/// a metric. The result is empty for an unknown word.
pub(crate) fn meant(word: &str) -> &'static [&'static str] {
    let plain = word.to_lowercase().replace([' ', '-'], "_");
    // If `OTHER_WORDS` lacks the whole text, such as `loss_rate`, look up its part before the first
    // `_` or `.`: `loss`.
    let first = plain.split(['_', '.']).next().unwrap_or_default();
    let known = |wanted: &str| OTHER_WORDS.iter().find(|(other, _)| *other == wanted);
    known(&plain).or_else(|| known(first)).map_or(&[], |(_, metrics)| metrics)
}

/// Returns the number of letters to insert, remove, replace or swap with their neighbour to turn
/// `wanted` into the name. If `wanted` has at least `BEGINNING` letters, the result is the smallest
/// such number for the name and all its beginnings.
fn distance(wanted: &[char], name: &str) -> usize {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=name.len()).collect()];
    for (at, letter) in wanted.iter().enumerate() {
        let mut row = vec![at + 1];
        for (place, other) in name.iter().enumerate() {
            let replaced = rows[at][place] + usize::from(letter != other);
            let mut best = replaced.min(rows[at][place + 1] + 1).min(row[place] + 1);
            let is_swap =
                at > 0 && place > 0 && *letter == name[place - 1] && wanted[at - 1] == *other;
            if is_swap {
                best = best.min(rows[at - 1][place - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    let last = &rows[wanted.len()];
    let whole = last[name.len()];
    if wanted.len() < BEGINNING { whole } else { last.iter().copied().fold(whole, usize::min) }
}

#[cfg(test)]
mod tests {
    use super::alike;

    #[test]
    fn misspelt_names_are_found() {
        let names = ["goodput_mbps", "jain", "flow_groups.a.share", "links.b.utilization"];
        let of = |wanted: &str| alike(wanted, names.into_iter()).join(" ");
        assert_eq!(of("godput_mbps"), "goodput_mbps");
        assert_eq!(of("godput"), "goodput_mbps");
        assert_eq!(of("hsare"), "share");
        assert_eq!(of("utilisation"), "utilization");
        assert_eq!(of("Jain"), "jain");
        assert_eq!(of("foo") + &of("") + &of("x") + &of("are"), "");
    }
}
