//! Returns labels of keys and metrics for figures, in the words of the papers.

use bbrlab_report::split_unit;

use crate::papers::{Key, paper_of, unit_of};

/// Returns the name that a paper uses for an algorithm. If `name` has a number after a blank, this
/// number is the lambda of BBR+. The result is then the name that the paper uses for BBR+, followed
/// by the lambda.
fn algorithm(paper: &str, name: &str) -> String {
    let (name, lambda) =
        name.split_once(' ').map_or((name, None), |(name, lambda)| (name, Some(lambda)));
    let study = paper_of(paper).map(|paper| &paper.study);
    let own = study.and_then(|study| study.algorithms.iter().find(|it| it.cc == name));
    let told = own.map_or_else(|| usual(name), |own| &own.name);
    lambda.map_or_else(|| told.to_owned(), |lambda| format!("{told} λ {lambda}"))
}

/// Returns the name that most papers use for an algorithm.
fn usual(name: &str) -> &str {
    match name {
        "bbr1" => "BBRv1",
        "bbr2" => "BBRv2",
        "bbr3" => "BBRv3",
        "bbr2_exp" => "BBRv2-EXP",
        "bbr_prime" => "BBR'",
        "bbr_hsr" => "BBR+",
        "bbrplus" => "BBRPlus",
        "delay_bbr" => "Delay-BBR",
        "bbr_acd" => "BBR-ACD",
        "cubic" => "CUBIC",
        "vegas" => "Vegas",
        other => other,
    }
}

/// Returns the value of a key as text without the key's name, for an axis or for a column that has
/// the key as its heading.
pub(super) fn bare(paper: &str, key: &str, value: &Key) -> String {
    match value {
        Key::Word(word) if matches!(key, "algorithm" | "opponent" | "reference") => {
            algorithm(paper, word)
        }
        Key::Word(word) => word.clone(),
        // Write numbers without an exponent. Nine decimals are enough: the smallest numbers are
        // percentages of about 10^-6.
        Key::Number(value) => {
            let text = format!("{value:.9}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

/// Returns the value of a key with the key's description, for a title or a legend.
pub(super) fn full(paper: &str, key: &str, value: &Key) -> String {
    let bare = bare(paper, key, value);
    match key {
        "algorithm" | "scenario" => bare,
        "opponent" => format!("against {bare}"),
        "bandwidth_mbps" if bare == "1000" => "1 Gbit/s".to_owned(),
        "bandwidth_mbps" => format!("{bare} Mbit/s"),
        "buffer_bdp" => format!("{bare} BDP"),
        "buffer_packets" => format!("{bare} packets"),
        "delay_ms" => format!("{bare} ms"),
        "bottleneck_delay_ms" => format!("bottleneck {bare} ms"),
        "alpha_us" => format!("α = {bare} µs"),
        "rtt_ratio" => format!("RTT ratio {bare}"),
        "rtt_case" => format!("{bare} RTT"),
        "start_first" => format!("{bare} RTT starts first"),
        "flow" => flow(&bare),
        _ => {
            let (stem, unit) = split_unit(key);
            format!("{} {bare} {unit}", stem.replace('_', " ")).trim_end().to_owned()
        }
    }
}

/// Returns the label of a flow, such as `flow 3` for the name `f3` and `long RTT` for `long`. Other
/// names are used unchanged.
pub(super) fn flow(name: &str) -> String {
    match name.strip_prefix('f').and_then(|number| number.parse::<u32>().ok()) {
        Some(number) => format!("flow {number}"),
        None if matches!(name, "long" | "short") => format!("{name} RTT"),
        None => name.to_owned(),
    }
}

/// Writes the descriptions of several keys and their values as one text.
pub(super) fn joined(paper: &str, keys: &[String], values: &[Key]) -> String {
    let words: Vec<String> =
        keys.iter().zip(values).map(|(key, value)| full(paper, key, value)).collect();
    words.join(", ")
}

/// Returns the description of a key, for the heading of a column or the title of an axis.
pub(super) fn heading(key: &str) -> String {
    match key {
        "loss_pct" => return "random loss, %".to_owned(),
        "rtt2_ms" => return "RTT of the other flow, ms".to_owned(),
        "alpha_us" => return "α, µs".to_owned(),
        "rtt_ms" => return "RTT, ms".to_owned(),
        _ => {}
    }
    let (stem, unit) = split_unit(key);
    let stem = stem.replace('_', " ").replace("rtt", "RTT");
    if unit.is_empty() { stem } else { format!("{stem}, {unit}") }
}

/// Returns the description of a metric with its unit.
pub(super) fn metric(experiment: &str, name: &str) -> String {
    let words = match name {
        "std_mbps" => "standard deviation".to_owned(),
        "jain" => "Jain's index".to_owned(),
        "utilisation" => "utilisation".to_owned(),
        "queue_std_packets" => "queue, standard deviation".to_owned(),
        "queue_mean_packets" => "queue, mean".to_owned(),
        "cwnd_mean_packets" => "cwnd, mean".to_owned(),
        "drop_pct" => "drop ratio".to_owned(),
        "within_group_jain" => "index of the two".to_owned(),
        _ => split_unit(name).0.replace('_', " "),
    };
    let unit = match unit_of(experiment, name) {
        unknown if unknown.is_empty() => split_unit(name).1.to_owned(),
        unit => unit,
    };
    if unit.is_empty() { words } else { format!("{words}, {unit}") }
}

/// Returns the name of an algorithm in the paper `paper`.
pub(super) fn of_algorithm(paper: &str, name: &str) -> String {
    algorithm(paper, name)
}
