//! The parts of a testbed, and the keys of a scenario that a testbed cannot express.

use bbrlab_run::{Place, Run};

/// A testbed of Linux hosts for one scenario: the commands and options from which an export writes
/// its program.
#[derive(Debug, Default)]
pub(super) struct Testbed {
    pub(super) title: String,
    pub(super) duration_s: f64,
    pub(super) hosts: Vec<HostPair>,
    /// The commands of `tc` that set up the bottleneck, in order and without the word `tc`.
    pub(super) bottleneck: Vec<String>,
    /// Commands of `tc` that change the bottleneck during the run, each with its time in seconds.
    pub(super) steps: Vec<(f64, String)>,
    /// Arguments of `tc` that make the second router lose packets after the bottleneck; `None`
    /// without loss.
    pub(super) behind: Option<String>,
    /// Settings for `sysctl` on all hosts, each as `NAME=VALUE`.
    pub(super) sysctls: Vec<String>,
    /// The initial cwnd in packets; `None` if it is Linux's default.
    pub(super) initial_cwnd: Option<u32>,
    /// Differences between the testbed and the scenario, which the exported program has as
    /// comments.
    pub(super) remarks: Vec<String>,
}

/// The sending and the receiving host of a `[[flows]]` table.
#[derive(Debug, Default)]
pub(super) struct HostPair {
    /// The name of the table, such as `flows[0]`.
    pub(super) table: String,
    /// Linux's name of the congestion control; `None` if no Linux has it or the flows send UDP.
    pub(super) cc: Option<String>,
    pub(super) rtt: String,
    /// For each iperf3 client: its start in seconds, and its options except the server and the
    /// port.
    pub(super) clients: Vec<(f64, String)>,
}

/// Collects the keys of the scenario that a testbed cannot express, each with the reason.
pub(super) struct Refusals<'a> {
    pub(super) run: &'a Run,
    pub(super) texts: Vec<String>,
}

impl<'a> Refusals<'a> {
    pub(super) fn of(run: &'a Run) -> Self {
        Self { run, texts: Vec::new() }
    }

    pub(super) fn refuse(&mut self, place: Place, key: &str, reason: &str) {
        let text = format!("`{}`: {reason}", self.run.key(place, key));
        if !self.texts.contains(&text) {
            self.texts.push(text);
        }
    }
}
