//! Titles of axes: the words for each metric, for plots of the command line and of Python.

use bbrlab_run::{Field as _, FlowGroup, FlowSummary, LinkSummary, WaitSummary, leaves};

/// Titles, without units and statistics, of metrics whose names in the results of runs are
/// abbreviations.
const TITLES: [(&str, &str); 33] = [
    ("cwnd", "cwnd"),
    ("delay_ms.n", "Messages with a delay"),
    ("drop_ratio", "Dropped by the queue"),
    ("drops_dequeue", "Dropped when leaving the queue"),
    ("drops_enqueue", "Dropped on arrival"),
    ("duplicate", "Duplicates"),
    ("fct", "Completion time"),
    ("fct_ms.n", "Transfers completed"),
    ("fct_ms.never_begun", "Transfers never begun"),
    ("fct_ms.unfinished", "Transfers not completed"),
    ("goodput_active", "Goodput while active"),
    ("goodput_ss", "Goodput in the steady state"),
    ("jain", "Jain's index"),
    ("jain_ss", "Jain's index in the steady state"),
    ("late_ratio", "Late"),
    ("loss_ratio", "Datagrams lost"),
    ("marks", "Marked"),
    ("out_of_order", "Arrived out of order"),
    ("policer_drops", "Dropped by the policer"),
    ("random_losses", "Lost at random"),
    ("rejected", "Rejected flows"),
    ("retransmitted", "Retransmissions"),
    ("rtt", "RTT"),
    ("rtt_base", "Base RTT"),
    ("rtt_sample", "Sampled RTT"),
    ("rto_count", "Retransmission timeouts"),
    ("share", "Share of the goodput"),
    ("share_active", "Share while all flows are active"),
    ("share_ss", "Share in the steady state"),
    ("sim", "Simulated time"),
    ("srtt", "Smoothed RTT"),
    ("thinned_acks", "ACKs left out by thinning"),
    ("utilization", "Utilisation"),
];

/// The endings of metrics' names that state the unit. The title of an axis has the unit after a
/// comma instead.
const UNITS: [&str; 4] = ["_ms", "_mbps", "_packets", "_s"];

/// Returns the title of an axis without the unit. `name` is the metric's name in JSON documents,
/// without or with the name of its link, group or flow: `rtt_ms.p95` or
/// `links.up.queue_delay_ms.mean`. `of`, such as ` per flow`, is appended to the quantity in the
/// title.
#[must_use]
pub fn axis_title(name: &str, of: &str) -> String {
    if let Some((owner, own)) = owner_and_metric(name) {
        return axis_title(own, &format!(" of {owner}{of}"));
    }
    if let Some(limit) = name.strip_prefix("limited_by.") {
        return format!("Limited by {limit}{of}");
    }
    let known = |wanted: &str| TITLES.iter().find(|(name, _)| *name == wanted);
    if let Some((_, title)) = known(name) {
        return format!("{title}{of}");
    }
    let (quantity, statistic) = name.rsplit_once('.').unwrap_or((name, ""));
    let unit = UNITS.iter().find(|unit| quantity.ends_with(*unit));
    let base = unit.map_or(quantity, |unit| &quantity[..quantity.len() - unit.len()]);
    let words = || with_capital(&base.replace(['_', '.'], " "));
    let title = known(base).map_or_else(words, |(_, title)| (*title).to_owned());
    match statistic {
        "" => format!("{title}{of}"),
        "mean" => format!("Mean {}{of}", without_capital(&title)),
        "p50" => format!("{title}{of}, median"),
        "std" => format!("{title}{of}, standard deviation"),
        statistic => format!("{title}{of}, {statistic}"),
    }
}

/// Returns the unit as an axis shows it; `unit` is the metric's unit in the results of runs. The
/// result is empty if the metric has no unit.
#[must_use]
pub fn axis_unit(unit: &str) -> &str {
    match unit {
        "share" => "%",
        "pkt" => "packets",
        "index" | "hash" => "",
        unit => unit,
    }
}

/// Splits a name such as `links.up.marks` into the name of the link, `up`, and the metric's name,
/// `marks`. Groups, flows and waits are treated like links. The names of links, groups, flows and
/// waits may contain dots, and so may a metric's name. Returns `None` for a metric of the run.
fn owner_and_metric(name: &str) -> Option<(&str, &str)> {
    let objects = [
        ("links.", LinkSummary::PARTS),
        ("flow_groups.", FlowGroup::PARTS),
        ("flows.", FlowSummary::PARTS),
        ("waits.", WaitSummary::PARTS),
    ];
    let (rest, parts) =
        objects.iter().find_map(|(prefix, parts)| Some((name.strip_prefix(prefix)?, *parts)))?;
    let own = leaves(parts, "", ".").into_iter().filter_map(|leaf| {
        let owner = rest.strip_suffix(leaf.name.as_str())?.strip_suffix('.')?;
        (!owner.is_empty()).then(|| (owner, &rest[owner.len() + 1..]))
    });
    own.max_by_key(|(_, own)| own.len())
}

fn with_capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Makes the first letter small, unless the second letter is a capital, as in the abbreviation
/// `RTT`.
fn without_capital(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), text.chars().nth(1)) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{axis_title, axis_unit};
    use bbrlab_run::{FlowGroup, FlowSummary, LinkSummary, RunSummary, leaves};

    #[test]
    fn titles_are_words() {
        for (name, of, title) in [
            ("share", "", "Share of the goodput"),
            ("goodput_mbps", " per flow", "Goodput per flow"),
            ("rtt_ms.mean", "", "Mean RTT"),
            ("rtt_ms.p99", " per flow", "RTT per flow, p99"),
            ("queue_delay_ms.mean", " of up", "Mean queue delay of up"),
            ("links.up.queue_delay_ms.p95", "", "Queue delay of up, p95"),
            ("links.a.b.marks", "", "Marked of a.b"),
            ("flow_groups.bbr1.fct_ms.p50", "", "Completion time of bbr1, median"),
            ("cwnd_packets.mean", "", "Mean cwnd"),
            ("limited_by.cwnd", "", "Limited by cwnd"),
            ("stalled_s", "", "Stalled"),
        ] {
            assert_eq!(axis_title(name, of), title, "{name}");
        }
        assert_eq!((axis_unit("share"), axis_unit("ms"), axis_unit("index")), ("%", "ms", ""));
    }

    /// No axis title equals the name of a column, and no two metrics of a run, a group, a flow or a
    /// link have the same title.
    #[test]
    fn each_metric_has_a_title_of_its_own() {
        let tables =
            [RunSummary::FIGURES, FlowGroup::FIGURES, FlowSummary::FIGURES, LinkSummary::FIGURES];
        for figures in tables {
            let all: Vec<String> =
                leaves(figures, "", ".").into_iter().map(|leaf| leaf.name).collect();
            let titles: Vec<String> = all.iter().map(|name| axis_title(name, "")).collect();
            for (at, title) in titles.iter().enumerate() {
                assert!(!title.contains(['_', '.']) && !title.is_empty(), "{}: {title}", all[at]);
                assert!(!titles[..at].contains(title), "{}: {title} twice", all[at]);
            }
        }
    }
}
