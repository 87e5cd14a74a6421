//! The runs that claims look at.

use super::evaluate::{Point, Scene, Value};
use super::look::{expr_of, home_of};
use super::points::{metrics_in, points};
use super::rows::key_value;
use crate::papers::{Claim, Key};

/// The places that some claims ask for figures of.
pub(crate) struct Needed(Vec<Point>);

impl Needed {
    /// The places of these claims.
    pub(crate) fn by<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> Self {
        let mut places: Vec<Point> = Vec::new();
        for claim in claims {
            let (paper, _) = home_of(claim);
            let metrics: Vec<&str> = paper.metrics.iter().map(|it| it.id.as_str()).collect();
            let scene =
                Scene { rows: &[], metrics: &metrics, constants: &paper.constants, decimals: &[] };
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

    /// Whether a run at this place yields a figure that is asked for: no key that both have differs.
    pub(crate) fn has<N: AsRef<str>>(&self, run: &[(N, Key)]) -> bool {
        self.0.iter().any(|place| {
            place.iter().all(|(name, value)| {
                let of_run = run.iter().find(|(key, _)| key.as_ref() == name);
                of_run.is_none_or(|(_, key)| Value::from(key).is(value))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Needed;
    use crate::papers::{Key, papers};

    fn runs_needed(claim: &str, runs: &[&[(&str, Key)]]) -> Vec<bool> {
        let claim = papers().iter().flat_map(|paper| &paper.claims).find(|it| it.id == claim);
        let needed = Needed::by(claim);
        runs.iter().map(|run| needed.has(run)).collect()
    }

    #[test]
    fn a_claim_needs_the_runs_at_its_points_and_along_axes_that_it_leaves_open() {
        let run = |cc: &str, rate: f64, delay: f64| {
            vec![
                ("algorithm", Key::word(cc)),
                ("bandwidth_mbps", Key::Number(rate)),
                ("delay_ms", Key::Number(delay)),
            ]
        };
        // goodput_mbps(bbr1, delay_ms=10) > ... at 5 Mbit/s.
        let runs = [run("bbr1", 5.0, 40.0), run("bbr1", 10.0, 40.0), run("bbr2", 5.0, 40.0)];
        let runs: Vec<&[(&str, Key)]> = runs.iter().map(Vec::as_slice).collect();
        assert_eq!(runs_needed("lanigan2020.c16", &runs), [true, false, false]);
        // fill_time_s(bbr2) > 20, wherever.
        assert_eq!(runs_needed("lanigan2020.c11", &runs), [false, false, true]);
    }
}
