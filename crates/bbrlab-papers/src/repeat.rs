//! The commands with which users repeat runs of an experiment.

use crate::counting::Counting;
use crate::reproduce::ReproduceOptions;

/// Runs that a user can repeat with `bbrlab run`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatCommand {
    /// The ids of the built-in scenarios; empty if the experiment does not exist in the requested
    /// form (see [`crate::FORMS`]).
    pub scenarios: Vec<String>,
    /// Keys to set, in the syntax of `--set`.
    pub sets: Vec<String>,
    /// The rule that decides which packets count as sent, received and lost.
    pub counting: Counting,
    /// The number of seeds per sweep point, and the first seed. For each, `None` means the
    /// scenario's value.
    pub(crate) seeds: (Option<u64>, Option<u64>),
}

impl RepeatCommand {
    /// Returns the shell command, or `None` if there is nothing to run. If the paper's authors
    /// count packets by another rule, a comment in the command shows how to compute the printed
    /// values.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        if self.scenarios.is_empty() {
            return None;
        }
        let mut command = format!("bbrlab run {}", self.scenarios.join(" "));
        for set in &self.sets {
            command.push_str(&format!(" --set {}", word_of_a_shell(set)));
        }
        let (seeds, first) = self.seeds;
        for (key, value) in [("repeat", seeds), ("seed", first)] {
            command.extend(value.map(|value| format!(" --set {key}={value}")));
        }
        if self.counting == Counting::Program {
            command.push_str("  # as the authors count: sent = delivered_packets + duplicate_packets, received (for goodput) = delivered_packets - out_of_order_packets, lost = sent - received");
        }
        Some(command)
    }

    /// Returns this command with the seeds of `options`.
    pub(crate) fn with_seeds_of(self, options: &ReproduceOptions) -> Self {
        Self { seeds: (Some(options.seeds_of_a_point()), options.seed), ..self }
    }
}

/// Returns a text as one word of a shell command. The word is quoted if it contains a character
/// that is special to a shell.
#[must_use]
pub fn word_of_a_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-=/:,%+@".contains(c);
    if text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Counting, RepeatCommand};

    #[test]
    fn a_command_is_one_that_a_shell_takes() {
        let command = |scenarios: &[&str], sets: &[&str]| {
            let all = |list: &[&str]| list.iter().map(|&it| it.to_owned()).collect();
            let (scenarios, sets) = (all(scenarios), all(sets));
            RepeatCommand { scenarios, sets, ..RepeatCommand::default() }.command()
        };
        assert_eq!(command(&[], &["stack.tso=whole"]), None);
        assert_eq!(
            command(&["a.b", "a.c"], &["stack.tso=whole", "access.rate=1Gbit/s"]).unwrap(),
            "bbrlab run a.b a.c --set stack.tso=whole --set access.rate=1Gbit/s"
        );
        assert_eq!(
            command(
                &["a.b"],
                &["flows[1].start=2s", "stack.delack={ timer = \"1ms\" }", "title=it's"]
            )
            .unwrap(),
            "bbrlab run a.b --set 'flows[1].start=2s' --set 'stack.delack={ timer = \"1ms\" }' --set 'title=it'\\''s'"
        );
        let scenarios = vec!["a.b".to_owned()];
        let counted =
            RepeatCommand { scenarios, counting: Counting::Program, ..RepeatCommand::default() };
        let counted = RepeatCommand { seeds: (Some(2), Some(7)), ..counted };
        assert_eq!(
            counted.command().unwrap(),
            "bbrlab run a.b --set repeat=2 --set seed=7  # as the authors count: sent = delivered_packets + duplicate_packets, received (for goodput) = delivered_packets - out_of_order_packets, lost = sent - received"
        );
    }
}
