//! The results of replays of traces, as structs that the caller prints or stores.

/// The first difference between the kernel's values and ours in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The file as the manifest lists it.
    pub file: String,
    /// The row, from 1.
    pub row: u64,
    /// The column that differs, or `rnd<i>` if draw number `i` differs.
    pub field: String,
    /// The kernel's value. In the column of a draw, -1 means that the kernel drew no number.
    pub expected: i128,
    /// Our value.
    pub got: i128,
}

/// The counts of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows replayed.
    pub rows: u64,
    /// Rows with any difference.
    pub mismatches: u64,
    /// The columns compared, in the file's order.
    pub columns: Vec<String>,
    /// The first difference.
    pub first: Option<Mismatch>,
}

/// The result of a trace's replay: counts, or that the trace cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceVerdict {
    /// The trace was replayed, with these counts of rows and differences.
    Replayed(Tally),
    /// The algorithm or service is not implemented.
    Unsupported,
}

/// The outcome for one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The file as the manifest lists it.
    pub file: String,
    /// The algorithm or service, as the manifest names it.
    pub algorithm: String,
    /// The result of the replay.
    pub verdict: TraceVerdict,
}

/// The results of all traces of one algorithm or service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByAlgorithm {
    /// The name of the algorithm or service in the manifest.
    pub name: String,
    /// Traces replayed.
    pub traces: u64,
    /// Rows replayed.
    pub rows: u64,
    /// Rows with any difference.
    pub mismatches: u64,
    /// The columns compared in any of these traces.
    pub columns: Vec<String>,
}

/// The results of all traces: the document that `validate golden` prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Traces replayed.
    pub traces: u64,
    /// Rows replayed.
    pub rows: u64,
    /// Rows with any difference.
    pub mismatches: u64,
    /// Algorithms and services that have traces but are not implemented.
    pub unsupported: Vec<String>,
    /// The results per algorithm or service, in the order of their first traces.
    pub by_algorithm: Vec<ByAlgorithm>,
    /// The first difference in the first outcome that has one.
    pub first: Option<Mismatch>,
}

impl Report {
    /// Adds up outcomes. The outcomes should be in the manifest's order, because the report shows
    /// the first difference of the first outcome that has one.
    #[must_use]
    pub fn from_outcomes(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let mut report = Self::default();
        for outcome in outcomes {
            report.add(outcome);
        }
        report
    }

    fn add(&mut self, outcome: Outcome) {
        let tally = match outcome.verdict {
            TraceVerdict::Replayed(tally) => tally,
            TraceVerdict::Unsupported => {
                if !self.unsupported.contains(&outcome.algorithm) {
                    self.unsupported.push(outcome.algorithm);
                }
                return;
            }
        };
        self.traces += 1;
        self.rows += tally.rows;
        self.mismatches += tally.mismatches;
        if self.first.is_none() {
            self.first = tally.first;
        }
        let index = self.by_algorithm.iter().position(|entry| entry.name == outcome.algorithm);
        let index = index.unwrap_or_else(|| {
            self.by_algorithm
                .push(ByAlgorithm { name: outcome.algorithm, ..ByAlgorithm::default() });
            self.by_algorithm.len() - 1
        });
        let entry = &mut self.by_algorithm[index];
        entry.traces += 1;
        entry.rows += tally.rows;
        entry.mismatches += tally.mismatches;
        for column in tally.columns {
            if !entry.columns.contains(&column) {
                entry.columns.push(column);
            }
        }
    }
}
