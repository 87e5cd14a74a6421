//! Determines which runs of an experiment are needed to evaluate some of the paper's claims. If
//! claims are evaluated again in another setting (`settings.rs`), only these runs are computed.

use bbrlab_run::Run;

use super::evaluate::{Point, Scene, Value};
use super::evaluate_claim::{expr_of, home_of};
use super::points::{metrics_in, points};
use super::rows::key_value;
use crate::metrics::place_of;
use crate::papers::{Claim, Experiment, Key};

/// For each metric that some of a paper's claims look up, the keys of the metric's row. The names
/// of the metrics are not stored.
pub(crate) struct Needed(Vec<Point>);

impl Needed {
    /// Collects the keys of the rows in which these claims look up metrics.
    pub(crate) fn by<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> Self {
        let mut places: Vec<Point> = Vec::new();
        for claim in claims {
            let (paper, _) = home_of(claim);
            let metrics: Vec<&str> = paper.metrics.iter().map(|it| it.id.as_str()).collect();
            let scene = Scene {
                rows: &[],
                metrics: &metrics,
                constants: &paper.constants,
                decimals: &[],
                ties: None,
            };
            let expr = expr_of(claim);
            let mut calls = Vec::new();
            metrics_in(&expr, &metrics, &mut calls);
            let (at, forall) = key_value(claim);
            for point in points(&at, &forall) {
                let of_calls = calls
                    .iter()
                    .filter_map(|call| super::evaluate::place(call, &point, &scene).ok());
                for place in of_calls {
                    if !places.contains(&place) {
                        places.push(place);
                    }
                }
            }
        }
        Self(places)
    }

    /// Whether a run with these keys, and with flows of these algorithms, may yield a metric that
    /// the claims look up. A run may yield a metric if all keys that both the run and the metric
    /// have are equal. The key `rtt_ms` is not compared: if a row has the metrics of a single flow,
    /// its `rtt_ms` is the flow's RTT, but `run` has the run's RTT.
    pub(crate) fn has<N: AsRef<str>>(&self, run: &[(N, Key)], algorithms: &[&str]) -> bool {
        let is_of_run = |name: &str, value: &Value| match (name, value) {
            ("algorithm", Value::Word(name)) => algorithms.contains(&name.as_str()),
            ("rtt_ms", _) => true,
            _ => {
                let of_run = run.iter().find(|(key, _)| key.as_ref() == name);
                of_run.is_none_or(|(_, key)| Value::from(key).is(value))
            }
        };
        self.0.iter().any(|place| place.iter().all(|(name, value)| is_of_run(name, value)))
    }

    /// Whether a run of an experiment may yield a metric that the claims look up.
    pub(crate) fn has_run(&self, experiment: &Experiment, run: &Run) -> bool {
        self.has(&place_of(experiment, run), &algorithms_of(run))
    }
}

/// Returns the names of the algorithms of a run's flows, as claims spell them: Reno is `newreno`.
pub(crate) fn algorithms_of(run: &Run) -> Vec<&'static str> {
    run.classes
        .iter()
        .map(|class| match class.cc.name() {
            "reno" => "newreno",
            name => name,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Needed;
    use crate::papers::{Key, papers};

    fn runs_needed(claim: &str, runs: &[(&str, f64, f64)]) -> Vec<bool> {
        let claim = papers().iter().flat_map(|paper| &paper.claims).find(|it| it.id == claim);
        let needed = Needed::by(claim);
        let is_needed = |&(cc, rate, delay): &(&str, f64, f64)| {
            let keys = [("bandwidth_mbps", Key::Number(rate)), ("delay_ms", Key::Number(delay))];
            needed.has(&keys, &[cc])
        };
        runs.iter().map(is_needed).collect()
    }

    #[test]
    fn a_claim_needs_the_runs_at_its_points_and_along_axes_that_it_leaves_open() {
        // The tested claim compares three values of `goodput_mbps(bbr1)` at 5 Mbit/s: at delays of
        // 10, 40 and 100 ms.
        let runs = [("bbr1", 5.0, 40.0), ("bbr1", 10.0, 40.0), ("bbr2", 5.0, 40.0)];
        assert_eq!(runs_needed("lanigan2020.c16", &runs), [true, false, false]);
        // The tested claim is `fill_time_s(bbr2) > 20`, at all rates and delays.
        assert_eq!(runs_needed("lanigan2020.c11", &runs), [false, false, true]);
    }
}
