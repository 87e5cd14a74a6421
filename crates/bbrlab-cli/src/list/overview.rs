//! The output of `bbrlab list` without arguments: all names on one screen.

use std::fmt::Write as _;

use bbrlab_run::Algorithm;
use bbrlab_scenario::{BUILTINS, queues};

use super::entries::metric_entries;
use super::{ALL, heading};
use crate::args::What;

/// The largest number of characters in a line of the output.
const WIDTH: usize = 100;

/// Returns the names of all algorithms, queue disciplines, scenarios and so on. Above each of these
/// lists, a heading contains the `bbrlab list` command that describes the list's entries.
pub(super) fn overview() -> String {
    let mut text = String::new();
    for what in ALL {
        let plural = heading(what).to_lowercase();
        writeln!(text, "{} (`bbrlab list {plural}`)", heading(what)).expect("writing to a string");
        for group in groups(what) {
            text.push_str(&group.text());
        }
        text.push('\n');
    }
    text.push_str(
        "`bbrlab list algorithms bbr3` shows an algorithm with its parameters, `bbrlab show ID` a scenario.\n",
    );
    text
}

/// Names from one list, such as algorithms, that are shown together after one label.
struct Group {
    /// The text in front of the names. In the lists of scenarios and metrics: the beginning that
    /// the full names have in common, such as `examples.`. In the list of papers: a paper's key. In
    /// other lists, and for names without a dot: empty.
    label: String,
    names: Vec<String>,
    /// The largest number of lines for the names. If some names do not fit, the last line ends with
    /// the number of these names.
    lines_max: usize,
}

/// Divides the names of one list into groups, such as the ids of scenarios by the part before the
/// first dot.
fn groups(what: What) -> Vec<Group> {
    let one = |names: Vec<String>| vec![Group { label: String::new(), names, lines_max: 9 }];
    let papers = bbrlab_papers::papers();
    match what {
        What::Algorithms => one(Algorithm::ALL.iter().map(|of| of.name().to_owned()).collect()),
        What::Queues => one(queues().into_iter().map(|of| of.name.to_owned()).collect()),
        What::Scenarios => {
            let mut groups = by_prefix(BUILTINS.iter().map(|of| of.id.to_owned()), 3);
            // The scenarios of papers come last. Each paper has only one line, because `list
            // papers` shows all scenarios of papers, with their titles.
            let is_paper =
                |group: &Group| papers.iter().any(|it| group.label == it.key.clone() + ".");
            groups.sort_by_key(is_paper);
            for group in groups.iter_mut().filter(|group| is_paper(group)) {
                group.lines_max = 1;
            }
            groups
        }
        What::Papers => papers
            .iter()
            .map(|paper| {
                let title = format!("{} ({})", paper.title, paper.year);
                Group { label: paper.key.clone(), names: vec![title], lines_max: 1 }
            })
            .collect(),
        What::Metrics => by_prefix(metric_entries().into_iter().map(|of| of.name), 2),
    }
}

/// Groups names by the part in front of their first dot. Groups are in the order of their first
/// names.
fn by_prefix(names: impl Iterator<Item = String>, lines_max: usize) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for name in names {
        let (prefix, rest) = name.split_once('.').unwrap_or(("", &name));
        let label = if prefix.is_empty() { String::new() } else { format!("{prefix}.") };
        match groups.iter_mut().find(|group| group.label == label) {
            Some(group) => group.names.push(rest.to_owned()),
            None => groups.push(Group { label, names: vec![rest.to_owned()], lines_max }),
        }
    }
    groups
}

impl Group {
    /// Returns the label and the names as lines of at most [`WIDTH`] columns.
    fn text(&self) -> String {
        const INDENT: usize = 2;
        let label_width = if self.label.is_empty() { 0 } else { 17 };
        let room = WIDTH - INDENT - label_width;
        let mut lines = vec![String::new()];
        for (index, name) in self.names.iter().enumerate() {
            let left = self.names.len() - index - 1;
            // If other names follow, the last line must also have space for their number.
            let tail = if left > 0 { more(left).chars().count() } else { 0 };
            let is_last = lines.len() == self.lines_max;
            let line = lines.last_mut().expect("the list begins with one line and never shrinks");
            let gap = if line.is_empty() { "" } else { "  " };
            let width = line.chars().count() + gap.len() + name.chars().count();
            if width + if is_last { tail } else { 0 } <= room {
                line.push_str(gap);
                line.push_str(name);
            } else if !is_last {
                lines.push(name.clone());
            } else if line.is_empty() {
                line.extend(name.chars().take(room - 1));
                line.push('…');
            } else {
                line.push_str(&more(left + 1));
                break;
            }
        }
        let starts = std::iter::once(self.label.as_str()).chain(std::iter::repeat(""));
        let mut text = String::new();
        for (line, start) in lines.iter().zip(starts) {
            writeln!(text, "{:INDENT$}{start:label_width$}{line}", "")
                .expect("writing to a string");
        }
        text
    }
}

/// Returns the text at the end of a line from which `count` names are omitted.
fn more(count: usize) -> String {
    format!("  … {count} more")
}
