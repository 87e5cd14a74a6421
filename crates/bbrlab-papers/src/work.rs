//! Counts the runs from which results were computed, and sums their CPU time.

use std::collections::BTreeMap;

use crate::rows::Finished;

/// A set of runs. A run that is used several times counts once.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// CPU seconds of each run, by the hash of its scenario and by its seed.
    runs: BTreeMap<(String, u64), f64>,
    /// The number of runs that this call computed. The results of the other runs were found in
    /// their folders.
    pub computed: u64,
}

impl Work {
    pub(crate) fn add(&mut self, finished: &Finished) {
        self.computed += finished.computed;
        for run in &finished.runs {
            self.runs.insert((run.scenario_hash.clone(), run.seed), run.cpu_s.unwrap_or(0.0));
        }
    }

    /// Adds the runs of `other`.
    pub fn include(&mut self, other: &Self) {
        self.computed += other.computed;
        self.runs.extend(other.runs.iter().map(|(run, cpu_s)| (run.clone(), *cpu_s)));
    }

    /// Returns the number of runs that are not in `other`, and their CPU seconds.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> (u64, f64) {
        let beyond = || self.runs.iter().filter(|(run, _)| !other.runs.contains_key(*run));
        (beyond().count() as u64, total(beyond().map(|(_, cpu_s)| cpu_s)))
    }

    /// Returns the number of runs whose results were found in their folders, because earlier
    /// commands had computed them.
    #[must_use]
    pub fn found(&self) -> u64 {
        (self.runs.len() as u64).saturating_sub(self.computed)
    }

    /// Returns the CPU seconds of all runs, including those that earlier commands computed.
    #[must_use]
    pub fn cpu_s(&self) -> f64 {
        total(self.runs.values())
    }
}

/// Computes the sum. The sum is 0.0 if there are no values, while the standard library's sum is
/// -0.0.
fn total<'a>(seconds: impl Iterator<Item = &'a f64>) -> f64 {
    seconds.fold(0.0, |sum, it| sum + it)
}

#[cfg(test)]
mod tests {
    use super::Work;

    #[test]
    fn a_run_counts_once_and_runs_beyond_others_are_separate() {
        let work = |computed, runs: &[(&str, u64, f64)]| Work {
            runs: runs.iter().map(|&(hash, seed, s)| ((hash.to_owned(), seed), s)).collect(),
            computed,
        };
        let own = work(1, &[("a", 1, 1.0), ("a", 2, 2.0)]);
        let switched = work(1, &[("a", 1, 1.0), ("b", 1, 4.0)]);
        assert_eq!(switched.beyond(&own), (1, 4.0));
        let mut all = own.clone();
        all.include(&switched);
        assert_eq!((all.computed, all.found()), (2, 1));
        assert!((all.cpu_s() - 7.0).abs() < 1e-12);
        assert!(Work::default().cpu_s().is_sign_positive());
    }
}
