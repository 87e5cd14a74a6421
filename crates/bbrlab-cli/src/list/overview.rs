//! All names on one screen.

use std::fmt::Write as _;

use bbrlab_run::Algorithm;
use bbrlab_scenario::{BUILTINS, queues};

use super::entries::metric_entries;
use super::{ALL, heading};
use crate::args::What;

/// Characters per line of the output.
const WIDTH: usize = 100;

/// Returns the names of each kind, and the commands that show more.
pub(super) fn overview() -> String {
    let mut text = String::new();
    for what in ALL {
        let plural = heading(what).to_lowercase();
        writeln!(text, "{} (`bbrlab list {plural}`)", heading(what)).expect("writing to a string");
        for (label, names) in groups(what) {
            text.push_str(&wrapped(&label, &names, if what == What::Papers { " " } else { "  " }));
        }
        text.push('\n');
    }
    text.push_str(
        "`bbrlab list algorithms bbr3` shows one with its parameters, `bbrlab show ID` a scenario.\n",
    );
    text
}

/// Returns the names of one kind in groups, each with a label that may be empty.
fn groups(what: What) -> Vec<(String, Vec<String>)> {
    match what {
        What::Algorithms => {
            vec![(String::new(), Algorithm::ALL.iter().map(|of| of.name().to_owned()).collect())]
        }
        What::Queues => {
            vec![(String::new(), queues().into_iter().map(|of| of.name.to_owned()).collect())]
        }
        What::Scenarios => by_prefix(BUILTINS.iter().map(|of| of.id.to_owned())),
        What::Papers => bbrlab_papers::papers()
            .iter()
            .map(|paper| {
                let title = format!("{} ({})", paper.title, paper.year);
                (paper.key.clone(), title.split(' ').map(str::to_owned).collect())
            })
            .collect(),
        What::Metrics => by_prefix(metric_entries().into_iter().map(|of| of.name)),
    }
}

/// Groups names by the part in front of their first dot. Groups are in the order of their first
/// names.
fn by_prefix(names: impl Iterator<Item = String>) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for name in names {
        let (prefix, rest) = name.split_once('.').unwrap_or(("", &name));
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}.") };
        match groups.iter_mut().find(|(known, _)| *known == prefix) {
            Some((_, names)) => names.push(rest.to_owned()),
            None => groups.push((prefix, vec![rest.to_owned()])),
        }
    }
    groups
}

/// Returns a label and names as lines of at most [`WIDTH`] columns. `gap` separates the names.
fn wrapped(label: &str, names: &[String], gap: &str) -> String {
    const INDENT: usize = 2;
    let label_width = if label.is_empty() { 0 } else { 16 };
    let start = format!("{:INDENT$}{label:<label_width$}", "");
    let more = " ".repeat(INDENT + label_width);
    let mut text = String::new();
    let mut line = start;
    let mut is_first = true;
    for name in names {
        let gap = if is_first { "" } else { gap };
        if !is_first && line.chars().count() + gap.len() + name.chars().count() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = format!("{more}{name}");
        } else {
            line.push_str(gap);
            line.push_str(name);
        }
        is_first = false;
    }
    text + &line + "\n"
}
