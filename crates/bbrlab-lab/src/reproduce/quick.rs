//! `--quick`: one seed, no points at 1 Gbit/s and above, and short runs where nothing needs longer ones.

/// The length of a short run.
pub(super) const SHORT_S: u64 = 30;

/// Experiments whose figures settle within [`SHORT_S`]: one flow, or flows that start together, and no event later.
/// Claims on them get no verdict from short runs.
const SETTLED_EARLY: &[&str] = &["song2021.single-buffer", "song2021.random-loss"];

/// Whether an experiment's runs are cut short.
pub(super) fn is_cut_short(experiment: &str) -> bool {
    SETTLED_EARLY.contains(&experiment)
}
