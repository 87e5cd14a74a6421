//! If a scenario has `repeat = { until, ... }`, decides after each batch of seeds which points of
//! the sweep need more seeds. A point is a combination of swept values.
//!
//! A decision looks at the first seeds of a point, never at the runs that happened to finish first.
//! The same scenario therefore has the same runs with any number of threads, and a sweep that was
//! interrupted is continued with the same decisions.

use std::collections::{BTreeMap, BTreeSet};

use bbrlab_report::{flat_metrics, interval};
use bbrlab_run::RunSummary;
use bbrlab_scenario::{Scenario, Until};

/// The number of seeds that each sweep point of a scenario needs. If the point's intervals are
/// still too wide when the runs with these seeds have ended, the number grows.
#[derive(Debug)]
pub(crate) struct SeedPlan<'s> {
    scenario: &'s Scenario,
    until: &'s Until,
    points: Vec<Point>,
}

/// The results of a sweep point so far, and the number of seeds that it needs.
#[derive(Debug, Default)]
struct Point {
    /// For each metric that `until` names: its values in the order of the seeds; `None` for a run
    /// without a value.
    values: Vec<(String, Vec<Option<f64>>)>,
    /// The number of seeds whose runs have been added to `values`.
    seeds: u64,
    /// The number of seeds that this sweep point needs, as decided after its latest batch of seeds.
    wanted: u64,
}

/// How many of a sweep's points ended without a confidence interval as narrow as `until` requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The number of all points of the sweep, also of those with a narrow enough interval.
    pub points: u64,
    /// The number of sweep points whose interval is still too wide with the largest number of
    /// seeds.
    pub undecided: u64,
    /// The largest number of seeds per sweep point.
    pub at_most: u64,
    /// The number of sweep points that ended after the first seeds, because none of their runs has
    /// a value of any metric that `until` names.
    pub valueless: u64,
}

impl<'s> SeedPlan<'s> {
    /// Starts the plan; `None` if the scenario has a fixed number of seeds.
    pub(crate) fn of(scenario: &'s Scenario) -> Option<Self> {
        let until = scenario.until()?;
        let wanted = Until::LEAST.min(until.at_most());
        let points = (0..scenario.points()).map(|_| Point { wanted, ..Point::default() });
        Some(Self { scenario, until, points: points.collect() })
    }

    /// Returns the numbers of the runs that the sweep points still need, in order; empty if the
    /// plan is complete.
    pub(crate) fn next_batch(&self) -> BTreeSet<u64> {
        let repeat = self.scenario.repeat();
        let of_point = |(at, point): (u64, &Point)| {
            let first = at * repeat;
            first + point.seeds..first + point.wanted
        };
        (0..).zip(&self.points).flat_map(of_point).collect()
    }

    /// Adds the results of a run. If the run is the last that its sweep point needs so far, decides
    /// whether the point needs more runs. The runs of a point must be added in the order of their
    /// seeds.
    pub(crate) fn take(&mut self, number: u64, run: &RunSummary) {
        let at = usize::try_from(number / self.scenario.repeat())
            .expect("the list of points fits in memory");
        let point = &mut self.points[at];
        let seeds = usize::try_from(point.seeds).expect("a list of a point's seeds fits in memory");
        let metrics = flat_metrics(run).into_iter();
        for (name, value) in metrics.filter(|(name, _)| self.until.of().is(name)) {
            let known = point.values.iter().position(|(known, _)| *known == name);
            let at = known.unwrap_or_else(|| {
                point.values.push((name, Vec::new()));
                point.values.len() - 1
            });
            let (_, values) = &mut point.values[at];
            values.resize(seeds, None);
            values.push(value);
        }
        point.seeds += 1;
        let needs_more = point.has_value() && !point.is_decided(self.until.share());
        if point.seeds == point.wanted && needs_more {
            point.wanted = (point.wanted + Until::BATCH).min(self.until.at_most());
        }
    }

    /// Adds the results of `runs`, the runs in a folder, in the order of the plan, up to the first
    /// run that the folder lacks.
    pub(crate) fn take_known(&mut self, runs: &[RunSummary]) {
        let known: BTreeMap<(&str, u64), &RunSummary> =
            runs.iter().map(|run| ((run.scenario_hash.as_str(), run.seed), run)).collect();
        while !self.is_complete() {
            for number in self.next_batch() {
                let (point, seed) = self.scenario.point_and_seed(number);
                let Some(run) = known.get(&(self.scenario.point_hash(point), seed)) else { return };
                self.take(number, run);
            }
        }
    }

    /// Whether every sweep point has all the runs that it needs according to the decisions so far.
    pub(crate) fn is_complete(&self) -> bool {
        self.points.iter().all(|point| point.seeds >= point.wanted)
    }

    /// Returns how many sweep points have results but no confidence interval as narrow as `until`
    /// requires. `None` if there are no such points.
    pub(crate) fn undecided(&self) -> Option<Undecided> {
        let share = self.until.share();
        let begun = || self.points.iter().filter(|point| point.seeds > 0);
        let is_undecided = |point: &&Point| point.has_value() && !point.is_decided(share);
        let undecided = begun().filter(is_undecided).count() as u64;
        let valueless = begun().filter(|point| !point.has_value()).count() as u64;
        let (points, at_most) = (self.scenario.points(), self.until.at_most());
        let counts = Undecided { points, undecided, at_most, valueless };
        (undecided + valueless > 0).then_some(counts)
    }
}

impl Point {
    /// Iterates over the values of each metric of which at least one run has a value. The other
    /// metrics are omitted, because they have no values with more seeds either: for example, a
    /// group of flows without transfers has no completion times.
    fn known(&self) -> impl Iterator<Item = &[Option<f64>]> {
        let values = self.values.iter().map(|(_, values)| values.as_slice());
        values.filter(|values| values.iter().any(Option::is_some))
    }

    /// Whether at least one run has a value of a metric.
    fn has_value(&self) -> bool {
        self.known().next().is_some()
    }

    /// Whether every metric of [`Self::known`] has a value for every seed, and a confidence
    /// interval whose half width is at most `share` times the mean. False if no metric has a value.
    fn is_decided(&self, share: f64) -> bool {
        self.has_value()
            && self.known().all(|values| {
                let known: Vec<f64> = values.iter().copied().flatten().collect();
                let found = interval(&known);
                known.len() as u64 == self.seeds
                    && found
                        .mean
                        .zip(found.half)
                        .is_some_and(|(mean, half)| half <= share * mean.abs())
            })
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_run::RunSummary;
    use bbrlab_scenario::Scenario;
    use bbrlab_units::split_mix;

    use super::{Point, SeedPlan, Undecided, Until, interval};

    const TEXT: &str = "duration = \"1s\"\nrepeat = { until = \"10%\", of = \"goodput_mbps\", at_most = 22 }\n\
                        [bottleneck]\nrate = \"5Mbit/s\"\nbuffer = \"1bdp\"\n[[flows]]\ncc = \"reno\"\nrtt = \"20ms\"\n\
                        [sweep]\n\"bottleneck.buffer\" = [\"1bdp\", \"2bdp\"]\n";

    /// Adds made-up results of the runs of a batch, and returns the runs' numbers. At the first
    /// sweep point, goodput alternates between 10 and 10 + `far`; at the second point, goodput is
    /// 10.
    fn take(plan: &mut SeedPlan<'_>, far: f64) -> Vec<u64> {
        let batch: Vec<u64> = plan.next_batch().into_iter().collect();
        for &number in &batch {
            let is_far = number < 22 && number % 2 == 1;
            let goodput_mbps = Some(if is_far { 10.0 + far } else { 10.0 });
            plan.take(number, &RunSummary { goodput_mbps, ..RunSummary::default() });
        }
        batch
    }

    fn scenario(of: &str) -> Scenario {
        let text = TEXT.replace("goodput_mbps", of);
        Scenario::parse("s", "s.toml", &text, None, &[]).expect("the scenario is valid")
    }

    #[test]
    fn a_point_ends_when_its_interval_is_narrow_enough() {
        let scenario = scenario("goodput_mbps");
        let mut plan = SeedPlan::of(&scenario).unwrap();
        // In the test, the first batch has ten seeds of each sweep point: the runs 0 to 9 of the
        // first point, and 22 to 31 of the second.
        assert_eq!(take(&mut plan, 4.0), (0..10).chain(22..32).collect::<Vec<u64>>());
        // With 10 seeds, the first sweep point has the mean 12, and half the width of its interval
        // is 1.508, more than 10 % of the mean. With 15 seeds, the mean is 11.87, and half the
        // width of the interval is 1.144.
        assert_eq!(take(&mut plan, 4.0), (10..15).collect::<Vec<u64>>());
        assert!(take(&mut plan, 4.0).is_empty());
        assert!(plan.is_complete() && plan.undecided().is_none());
    }

    #[test]
    fn the_largest_number_ends_a_point_undecided() {
        let scenario = scenario("goodput_mbps");
        let mut plan = SeedPlan::of(&scenario).unwrap();
        assert_eq!(take(&mut plan, 10.0).len(), 20);
        assert!(!plan.is_complete());
        assert_eq!(take(&mut plan, 10.0), (10..15).collect::<Vec<u64>>());
        assert_eq!(take(&mut plan, 10.0), (15..20).collect::<Vec<u64>>());
        // In the test, the last batch has only two seeds, because 22 is the largest number of
        // seeds.
        assert_eq!(take(&mut plan, 10.0), [20, 21]);
        assert!(take(&mut plan, 10.0).is_empty());
        assert_eq!(
            plan.undecided(),
            Some(Undecided { points: 2, undecided: 1, at_most: 22, valueless: 0 })
        );
    }

    #[test]
    fn points_without_a_value_end_after_the_first_seeds() {
        let scenario = scenario("jain");
        let mut plan = SeedPlan::of(&scenario).unwrap();
        let mut runs = 0;
        while !plan.is_complete() {
            runs += take(&mut plan, 0.0).len();
        }
        assert_eq!(runs, 20);
        let expected = Undecided { points: 2, undecided: 0, at_most: 22, valueless: 2 };
        assert_eq!(plan.undecided(), Some(expected));
    }

    #[test]
    fn a_group_without_a_value_decides_nothing_and_the_others_do() {
        let of_group = |value: fn(u64) -> Option<f64>| (0..10).map(value).collect();
        let mut point = Point { seeds: 10, wanted: 10, ..Point::default() };
        point.values.push(("flow_groups.bulk.fct_ms.p50".to_owned(), of_group(|_| None)));
        assert!(!point.has_value() && !point.is_decided(0.1));
        point.values.push(("flow_groups.web.fct_ms.p50".to_owned(), of_group(|_| Some(7.0))));
        assert!(point.has_value() && point.is_decided(0.1));
        // A sweep point is not decided if one of its runs lacks a value of a metric that its other
        // runs have.
        let some = of_group(|seed| (seed > 0).then_some(7.0));
        point.values.push(("flow_groups.rpc.fct_ms.p50".to_owned(), some));
        assert!(!point.is_decided(0.1));
    }

    /// Draws samples from a normal distribution. Each sample grows batch by batch, until its
    /// interval is narrow enough or it has 200 values. Returns the share of samples whose final
    /// interval contains the true mean. `deviation` is the standard deviation divided by the mean.
    fn coverage(deviation: f64) -> f64 {
        const SAMPLES: u32 = 4000;
        let mut state = 1;
        // Uniform random numbers between 0 and 1. The numbers are never 0, because `normal` takes
        // their logarithm.
        #[expect(
            clippy::cast_precision_loss,
            reason = "an f64 represents every integer of 53 bits exactly"
        )]
        let mut uniform = || ((split_mix(&mut state) >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let mut normal =
            || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        let mut covered = 0;
        for _ in 0..SAMPLES {
            let mut point = Point { wanted: Until::LEAST, ..Point::default() };
            point.values.push((String::new(), Vec::new()));
            loop {
                while point.seeds < point.wanted {
                    point.values[0].1.push(Some(1.0 + deviation * normal()));
                    point.seeds += 1;
                }
                if point.seeds == 200 || point.is_decided(0.02) {
                    break;
                }
                point.wanted += Until::BATCH;
            }
            let values: Vec<f64> = point.values[0].1.iter().copied().flatten().collect();
            let found = interval(&values);
            covered += u32::from((found.mean.unwrap() - 1.0).abs() <= found.half.unwrap());
        }
        f64::from(covered) / f64::from(SAMPLES)
    }

    /// Checks the shares in `docs/sweeps.md` to 0.8 percentage points, the precision of 4,000
    /// samples.
    #[test]
    fn optional_stopping_costs_about_one_percent_of_coverage() {
        for (deviation, expected) in [(0.04, 0.936), (0.1, 0.949)] {
            let found = coverage(deviation);
            assert!((found - expected).abs() < 0.008, "{deviation}: {found}");
        }
    }

    #[test]
    fn a_fixed_number_has_no_plan() {
        let sets = ["repeat=3".to_owned()];
        let fixed = Scenario::parse("s", "s.toml", TEXT, None, &sets).unwrap();
        assert!(SeedPlan::of(&fixed).is_none() && fixed.runs() == 6);
    }
}
