//! How runs are repeated by hand: which built-in scenarios, and which of their keys are set to what.

/// Runs that `bbrlab run` computes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByHand {
    /// The built-in scenarios; none where the experiment has no such form.
    pub scenarios: Vec<String>,
    /// The keys, as `--set` takes them.
    pub sets: Vec<String>,
}

impl ByHand {
    /// The command, as a shell takes it; `None` if there is nothing to run.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        if self.scenarios.is_empty() {
            return None;
        }
        let mut command = format!("bbrlab run {}", self.scenarios.join(" "));
        for set in &self.sets {
            command.push_str(&format!(" --set {}", word_of_a_shell(set)));
        }
        Some(command)
    }
}

/// A text as one word of a shell: in quotes, unless nothing in it means anything to a shell.
fn word_of_a_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-=/:,%+@".contains(c);
    if text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::ByHand;

    #[test]
    fn a_command_is_one_that_a_shell_takes() {
        let command = |scenarios: &[&str], sets: &[&str]| {
            let all = |list: &[&str]| list.iter().map(|&it| it.to_owned()).collect();
            ByHand { scenarios: all(scenarios), sets: all(sets) }.command()
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
    }
}
