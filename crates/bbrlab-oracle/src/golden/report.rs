//! The results of replays: plain records, for the caller to print or keep.

/// The first difference of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The file as the manifest lists it.
    pub file: String,
    /// The row, from 1.
    pub row: u64,
    /// The column; `rnd<i>` for a wrong draw.
    pub field: String,
    /// The kernel's value; -1 in a draw's column means that it drew nothing.
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

/// Whether a trace could be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was replayed.
    Replayed(Tally),
    /// Its algorithm or service is not built yet.
    Unsupported,
}

/// The outcome for one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The file as the manifest lists it.
    pub file: String,
    /// The algorithm or service, as the manifest names it.
    pub algorithm: String,
    /// The result.
    pub verdict: Verdict,
}

/// All traces of one algorithm or service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByAlgorithm {
    /// Its name in the manifest.
    pub name: String,
    /// Traces replayed.
    pub traces: u64,
    /// Rows replayed.
    pub rows: u64,
    /// Rows with any difference.
    pub mismatches: u64,
    /// The columns compared in any of its traces.
    pub columns: Vec<String>,
}

/// All traces together: the record that `validate golden` prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Traces replayed.
    pub traces: u64,
    /// Rows replayed.
    pub rows: u64,
    /// Rows with any difference.
    pub mismatches: u64,
    /// Algorithms and services of the plan that are not built yet.
    pub unsupported: Vec<String>,
    /// Results by name, in the order of the outcomes.
    pub by_algorithm: Vec<ByAlgorithm>,
    /// The first difference, in the order of the outcomes.
    pub first: Option<Mismatch>,
}

impl Report {
    /// Adds up outcomes. Their order decides which difference is the first, so keep the manifest's
    /// order.
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
            Verdict::Replayed(tally) => tally,
            Verdict::Unsupported => {
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
