//! Compares two values of a swept key seed by seed, at each point of the other swept keys.
//!
//! Two runs with the same seed that differ only in the compared key have the same random start
//! times and losses. The differences between such runs therefore vary less from seed to seed than
//! the metrics of the runs. The first value of the swept key, the reference value, is compared with
//! each of its other values. The mean of the differences and its 95 % interval (Student's t) are
//! computed from the seeds that have runs at both values. The user can choose another reference
//! value.

use std::collections::BTreeMap;

use bbrlab_run::{RunSummary, SweepPoint, mean};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::chosen_metrics::keep_metrics;
use crate::compare::json;
use crate::contrast::{Contrast, SeedsToDecide};
use crate::groups::flat_metrics;
use crate::merged_groups::merged_groups;
use crate::swept_key::{stem, swept_key, value_text};

/// The values of a swept key, compared seed by seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairedComparison {
    /// The swept key whose values are compared.
    pub paired: String,
    /// The points of the other swept keys, in the order in which they first appear.
    pub points: Vec<PairedPoint>,
    /// The combinations of the other swept keys' values that are left out because they have no run
    /// with the reference value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<SweepPoint>,
}

/// One combination of values of the swept keys other than the compared key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairedPoint {
    /// The swept keys except the compared one, with their values.
    pub point: SweepPoint,
    /// For each value of the key except the reference value: its comparison with the reference
    /// value. A value is missing here if no seed has runs at both values.
    pub pairs: Vec<PairedValues>,
}

/// Two compared values of the swept key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairedValues {
    /// The reference value, by default the key's first value in the sweep, and the value compared
    /// with it.
    pub values: [Value; 2],
    /// The seeds with runs at both values.
    pub seeds: Vec<u64>,
    /// The number of runs without a partner: no run at the other value has the same seed.
    pub unpaired: usize,
    /// Notes on groups of flows that have the same name at both values but contain different flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The metrics by name, each a [`PairedMetric`]. If the key sets a congestion control, each of
    /// the two values may be the name of a group of flows, in the runs with this value. If both
    /// groups have the same number of flows, their metrics are compared with each other. The names
    /// of these metrics contain the key instead of the value, as in
    /// `flow_groups.<flows[0].cc>.share`.
    pub metrics: Map<String, Value>,
}

/// A metric, compared between two values of the key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedMetric {
    /// The number of seeds for which both values have the metric.
    pub n: usize,
    /// The metric's means over these seeds, at the reference value and at the value compared with
    /// it.
    pub values: [Option<f64>; 2],
    /// The mean of the differences: the metric at the second of the two compared values minus the
    /// metric at the first, the reference value.
    pub difference: Option<f64>,
    /// Lower and upper end of the difference's 95 % interval. The interval is null with fewer than
    /// two seeds, and if all differences are equal.
    pub ci95: Option<[f64; 2]>,
    /// Whether there are several differences and all are equal.
    pub is_equal: bool,
    /// If the interval includes zero: the estimated number of seeds with which it would exclude
    /// zero.
    pub seeds_to_decide: Option<SeedsToDecide>,
}

/// Compares the metrics at each value of the swept key `wanted` with the metrics at the key's
/// reference value. The reference value is `against`; with `None`, it is the key's first value in
/// these runs.
///
/// # Errors
/// Fails if the key is not swept, or if it has the value `against` in no run. Also fails if no run
/// with the reference value can be paired with a run that differs in this key alone and has the
/// same seed.
pub fn paired(
    runs: &[RunSummary],
    wanted: &str,
    against: Option<&str>,
) -> Result<PairedComparison, String> {
    let mut swept: Vec<String> = Vec::new();
    for key in runs.iter().flat_map(|run| run.point.keys()) {
        if !swept.contains(key) {
            swept.push(key.clone());
        }
    }
    let key = swept_key(wanted, &swept)?;
    if let Some(against) = against {
        let known = values_of(key, runs);
        if !known.iter().any(|value| value_text(value) == against) {
            let known: Vec<String> = known.into_iter().map(value_text).collect();
            return Err(format!(
                "--against: `{key}` is never `{against}`; its values are {}",
                known.join(", ")
            ));
        }
    }
    let mut points: Vec<(SweepPoint, Vec<Value>, Vec<&RunSummary>)> = Vec::new();
    let mut place_of: BTreeMap<String, usize> = BTreeMap::new();
    for run in runs {
        let Some(value) = run.point.get(key) else { continue };
        let mut others = run.point.clone();
        others.retain(|own, _| own != key);
        let place =
            *place_of.entry(Value::Object(others.clone()).to_string()).or_insert_with(|| {
                points.push((others, Vec::new(), Vec::new()));
                points.len() - 1
            });
        let (_, values, runs) = &mut points[place];
        if !values.contains(value) {
            values.push(value.clone());
        }
        runs.push(run);
    }
    // All sweep points have the same reference value, so that a table can name it once.
    let first = values_of(key, runs).first().map(|value| value_text(value)).unwrap_or_default();
    let reference = against.unwrap_or(&first);
    let mut left_out: Vec<SweepPoint> = Vec::new();
    let found = points.into_iter().filter_map(|(point, mut values, runs)| {
        let Some(place) = values.iter().position(|value| value_text(value) == reference) else {
            left_out.push(point);
            return None;
        };
        values[..=place].rotate_right(1);
        let (first, others) = values.split_first()?;
        let pairs = others.iter().map(|other| pair(key, [first, other], &runs));
        let pairs: Vec<PairedValues> = pairs.filter(|pair| !pair.seeds.is_empty()).collect();
        (!pairs.is_empty()).then_some(PairedPoint { point, pairs })
    });
    let points: Vec<PairedPoint> = found.collect();
    if points.is_empty() {
        return Err(no_pair(key, runs));
    }
    Ok(PairedComparison { paired: key.to_owned(), points, left_out })
}

/// Returns the values of a key, each once.
fn values_of<'r>(key: &str, runs: &'r [RunSummary]) -> Vec<&'r Value> {
    let mut values: Vec<&Value> = Vec::new();
    for value in runs.iter().filter_map(|run| run.point.get(key)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Returns the error text for a key by which no two runs can be paired, with the reason.
fn no_pair(key: &str, runs: &[RunSummary]) -> String {
    if let [one] = values_of(key, runs)[..] {
        return format!(
            "`{key}`: expected two values with finished runs, found {} alone",
            value_text(one)
        );
    }
    // Another key is coupled to the compared key if all pairs of runs that differ in the compared
    // key also differ in the other key.
    let is_coupled = |other: &&String| {
        runs.iter().all(|one| {
            runs.iter().all(|two| {
                one.point.get(key) == two.point.get(key)
                    || one.point.get(*other) != two.point.get(*other)
            })
        })
    };
    let others = runs.first().into_iter().flat_map(|run| run.point.keys());
    let coupled: Vec<&str> =
        others.filter(|other| *other != key).filter(is_coupled).map(String::as_str).collect();
    if coupled.is_empty() {
        return format!("`{key}`: no two finished runs differ in it alone and have the same seed");
    }
    format!("`{key}`: no two points differ in it alone: {} changes with it", coupled.join(" and "))
}

fn pair(key: &str, values: [&Value; 2], runs: &[&RunSummary]) -> PairedValues {
    let by_seed = values.map(|value| {
        let own = runs.iter().filter(|run| run.point.get(key) == Some(value));
        own.map(|run| (run.seed, *run)).collect::<BTreeMap<u64, &RunSummary>>()
    });
    let pairs: Vec<[&RunSummary; 2]> = by_seed[0]
        .iter()
        .filter_map(|(seed, first)| Some([*first, *by_seed[1].get(seed)?]))
        .collect();
    let own = pairs.first().and_then(|runs| OwnGroup::of(key, values, *runs));
    let names = values.map(value_text);
    let merged = pairs.first().and_then(|runs| merged_groups([&names[0], &names[1]], *runs));
    let mut names: Vec<String> = Vec::new();
    let mut place_of: BTreeMap<String, usize> = BTreeMap::new();
    let mut samples: Vec<Vec<[Option<f64>; 2]>> = Vec::new();
    for (at, runs) in pairs.iter().enumerate() {
        for (side, run) in runs.iter().enumerate() {
            for (name, value) in flat_metrics(run) {
                let name = own.as_ref().and_then(|own| own.common(side, &name)).unwrap_or(name);
                let place = *place_of.entry(name).or_insert_with_key(|name| {
                    names.push(name.clone());
                    samples.push(vec![[None; 2]; pairs.len()]);
                    names.len() - 1
                });
                samples[place][at][side] = value;
            }
        }
    }
    let metrics = names.into_iter().zip(&samples).map(|(name, it)| (name, json(&metric(it))));
    PairedValues {
        values: values.map(Clone::clone),
        seeds: pairs.iter().map(|[first, _]| first.seed).collect(),
        unpaired: by_seed[0].len() + by_seed[1].len() - 2 * pairs.len(),
        notes: merged.into_iter().collect(),
        metrics: metrics.collect(),
    }
}

/// The group of flows whose congestion control is compared. The congestion control is the group's
/// name, so each of the two values gives the group a different name.
struct OwnGroup {
    /// For each of the two values, the text with which the names of the group's metrics begin, such
    /// as `flow_groups.cubic.`.
    names: [String; 2],
    common: String,
}

impl OwnGroup {
    /// Finds the group. Returns `None` if the key does not set a congestion control, if a run has
    /// no group with the name of the compared congestion control, or if the two groups have
    /// different numbers of flows. The numbers differ if one of the groups also contains flows that
    /// the key does not set.
    fn of(key: &str, values: [&Value; 2], runs: [&RunSummary; 2]) -> Option<Self> {
        let flows = |side: usize| {
            let name = values[side].as_str()?;
            let group = runs[side].flow_groups.iter().find(|group| group.group == name)?;
            Some(group.flows)
        };
        let is_own = stem(key) == "cc" && flows(0)? == flows(1)?;
        is_own.then(|| Self {
            names: values.map(|value| format!("flow_groups.{}.", value_text(value))),
            common: format!("flow_groups.<{key}>."),
        })
    }

    /// Returns the name that a metric of this group has for both values. `name` is the metric's
    /// name in the runs with one of the two values, and `side` is the index of this value. `None`
    /// if the metric is not one of this group.
    fn common(&self, side: usize, name: &str) -> Option<String> {
        Some(format!("{}{}", self.common, name.strip_prefix(&self.names[side])?))
    }
}

impl PairedComparison {
    /// Removes the metrics that have none of the names in `wanted`. A metric's names are its full
    /// name, the part after a dot, and its heading in tables. If `wanted` is empty, all metrics
    /// stay.
    ///
    /// # Errors
    /// Fails if no metric has one of the names.
    pub fn keep(&mut self, wanted: &[String]) -> Result<(), String> {
        let pairs = self.points.iter_mut().flat_map(|point| &mut point.pairs);
        keep_metrics(pairs.map(|pair| &mut pair.metrics), wanted)
    }
}

fn metric(pairs: &[[Option<f64>; 2]]) -> PairedMetric {
    let whole = pairs.iter().filter_map(|[first, other]| Some([(*first)?, (*other)?]));
    let whole: Vec<[f64; 2]> = whole.collect();
    let differences: Vec<f64> = whole.iter().map(|[first, other]| other - first).collect();
    let is_equal =
        differences.len() > 1 && differences.windows(2).all(|two| two[1] - two[0] == 0.0);
    let found = Contrast::of_pairs(&differences);
    let half = found.half.filter(|_| !is_equal);
    PairedMetric {
        n: whole.len(),
        values: [0, 1].map(|side| mean(&whole.iter().map(|it| it[side]).collect::<Vec<_>>())),
        difference: found.difference,
        ci95: found.difference.zip(half).map(|(mean, half)| [mean - half, mean + half]),
        is_equal,
        seeds_to_decide: found.seeds_to_decide,
    }
}

#[cfg(test)]
mod tests {
    use super::{PairedMetric, PairedValues, paired};
    use crate::contrast::SeedsToDecide;
    use crate::table::tests::sample_run;
    use bbrlab_run::RunSummary;
    use serde_json::json;

    /// Returns a run with these values of two swept keys.
    fn run(cc: &str, buffer: &str, seed: u64, jain: f64) -> RunSummary {
        let mut run = RunSummary { seed, jain: Some(jain), ..sample_run() };
        run.point.insert("flows[0].cc".to_owned(), cc.into());
        run.point.insert("bottleneck.buffer".to_owned(), buffer.into());
        run
    }

    fn jain(pair: &PairedValues) -> serde_json::Value {
        pair.metrics["jain"].clone()
    }

    #[test]
    fn runs_that_differ_in_the_key_alone_are_pairs() {
        let mut runs = Vec::new();
        for (seed, up) in [(1, 0.0), (2, 0.25), (3, 0.0), (4, 0.25)] {
            for (buffer, base) in [("1bdp", 0.25), ("2bdp", 0.5)] {
                runs.push(run("bbr1", buffer, seed, base));
                runs.push(run("cubic", buffer, seed, base + up));
                runs.push(run("reno", buffer, seed, base + 0.125));
            }
        }
        let found = paired(&runs, "flows[0].cc", None).unwrap();
        assert_eq!(found.points.len(), 2);
        assert_eq!(json!(found.points[1].point), json!({ "bottleneck.buffer": "2bdp" }));
        let [cubic, reno] = &found.points[1].pairs[..] else { panic!("two pairs") };
        assert_eq!((&cubic.seeds, cubic.unpaired), (&vec![1, 2, 3, 4], 0));
        assert_eq!(json!(cubic.values), json!(["bbr1", "cubic"]));
        // The mean is 0.125, the variance 0.0625 / 3 and t(3) 3.182, so half the width is 0.2297.
        // The standard deviation is 0.14434. With 7 seeds, half the width would be 2.447 * 0.14434
        // / sqrt(7) = 0.1335, and with 8 seeds 2.365 * 0.14434 / sqrt(8) = 0.1207, less than the
        // mean. The interval of eight seeds would therefore exclude zero, and the estimate is the
        // next multiple of five.
        let metric = jain(cubic);
        assert_eq!((&metric["n"], &metric["difference"]), (&json!(4), &json!(0.125)));
        let high = metric["ci95"][1].as_f64().unwrap();
        assert!((high - 0.125 - 3.182_446_305 * (0.0625_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-9);
        assert_eq!(metric["seeds_to_decide"], json!(SeedsToDecide::About(10)));
        // Every pair has the same difference, so there is no interval.
        let equal = PairedMetric {
            n: 4,
            values: [Some(0.5), Some(0.625)],
            difference: Some(0.125),
            ci95: None,
            is_equal: true,
            seeds_to_decide: None,
        };
        assert_eq!(jain(reno), json!(equal));
    }

    #[test]
    fn runs_without_a_partner_are_left_out_and_counted() {
        let runs = [
            run("bbr1", "1bdp", 1, 0.5),
            run("bbr1", "1bdp", 2, 0.5),
            run("cubic", "1bdp", 2, 0.25),
            run("cubic", "1bdp", 3, 0.0),
        ];
        let found = paired(&runs, "cc", None).unwrap();
        let pair = &found.points[0].pairs[0];
        assert_eq!(
            (found.paired.as_str(), &pair.seeds, pair.unpaired),
            ("flows[0].cc", &vec![2], 2)
        );
        let metric = jain(pair);
        assert_eq!((&metric["difference"], &metric["is_equal"]), (&json!(-0.25), &json!(false)));
    }

    #[test]
    fn the_compared_group_has_one_name() {
        let two = |cc: &str| {
            let mut run = run(cc, "1bdp", 1, 0.5);
            run.flow_groups[0].group = cc.to_owned();
            run.flow_groups[1].group = "vegas".to_owned();
            run
        };
        let found = paired(&[two("bbr1"), two("cubic")], "cc", None).unwrap();
        let names: Vec<&String> = found.points[0].pairs[0].metrics.keys().collect();
        assert!(names.iter().any(|name| *name == "flow_groups.<flows[0].cc>.share"), "{names:?}");
        assert!(names.iter().any(|name| *name == "flow_groups.vegas.share"), "{names:?}");
        // With the value `vegas`, one group contains both flows, so it is not compared with the
        // group of the one flow that runs `bbr1`.
        let mut all = two("vegas");
        all.flow_groups.truncate(1);
        all.flow_groups[0].flows = 2;
        let found = paired(&[two("bbr1"), all], "cc", None).unwrap();
        let names: Vec<&String> = found.points[0].pairs[0].metrics.keys().collect();
        assert!(names.iter().any(|name| *name == "flow_groups.bbr1.share"), "{names:?}");
        // The group `vegas` has one flow in one run and two in the other, so there is a note.
        let flows = |mut run: RunSummary, flows: u64| {
            run.flow_groups.last_mut().unwrap().flows = flows;
            run
        };
        let mut merged = flows(two("vegas"), 2);
        merged.flow_groups.remove(0);
        let found = paired(&[flows(two("bbr1"), 1), merged], "cc", None).unwrap();
        assert_eq!(
            found.points[0].pairs[0].notes,
            [
                "not the same flows: `vegas` is 1 flow in bbr1 and 2 flows in vegas; `group = \"NAME\"` in [[flows]] keeps groups apart"
            ]
        );
    }

    #[test]
    fn any_value_can_be_the_reference() {
        let runs = ["bbr1", "cubic", "reno"].map(|cc| run(cc, "1bdp", 1, 0.5));
        let found = paired(&runs, "cc", Some("cubic")).unwrap();
        let values: Vec<_> = found.points[0].pairs.iter().map(|pair| json!(pair.values)).collect();
        assert_eq!(values, [json!(["cubic", "bbr1"]), json!(["cubic", "reno"])]);
        // By default, the first value in the sweep is the reference value at all points, even if
        // another value comes first at a point. A point without this value is left out.
        let runs = [
            run("reno", "1bdp", 1, 0.5),
            run("cubic", "1bdp", 1, 0.5),
            run("cubic", "2bdp", 1, 0.25),
            run("reno", "2bdp", 1, 0.5),
            run("cubic", "3bdp", 1, 0.25),
            run("bbr1", "3bdp", 1, 0.5),
        ];
        let found = paired(&runs, "cc", None).unwrap();
        let values: Vec<_> = found.points.iter().map(|it| json!(it.pairs[0].values)).collect();
        assert_eq!(values, [json!(["reno", "cubic"]), json!(["reno", "cubic"])]);
        assert_eq!(jain(&found.points[1].pairs[0])["difference"], json!(-0.25));
        assert_eq!(json!(found.left_out), json!([{ "bottleneck.buffer": "3bdp" }]));
        assert_eq!(
            paired(&runs, "cc", Some("vegas")).unwrap_err(),
            "--against: `flows[0].cc` is never `vegas`; its values are reno, cubic, bbr1"
        );
    }

    #[test]
    fn a_key_without_pairs_is_refused_with_the_reason() {
        let refused = |runs: &[RunSummary], key: &str| paired(runs, key, None).unwrap_err();
        assert_eq!(
            refused(&[sample_run()], "flows.cc"),
            "`flows.cc` is not swept: this sweep has no swept key"
        );
        let coupled = [run("bbr1", "1bdp", 1, 0.5), run("cubic", "2bdp", 1, 0.5)];
        assert_eq!(
            refused(&coupled, "flows.rtt"),
            "`flows.rtt` is not swept; swept keys are flows[0].cc, bottleneck.buffer"
        );
        assert_eq!(
            refused(&coupled, "bottleneck.buffer"),
            "`bottleneck.buffer`: no two points differ in it alone: flows[0].cc changes with it"
        );
        assert_eq!(
            refused(&coupled[..1], "bottleneck.buffer"),
            "`bottleneck.buffer`: expected two values with finished runs, found 1bdp alone"
        );
        let seeds =
            [run("bbr1", "1bdp", 1, 0.5), run("bbr1", "2bdp", 2, 0.5), run("reno", "2bdp", 1, 0.5)];
        assert_eq!(
            refused(&seeds, "bottleneck.buffer"),
            "`bottleneck.buffer`: no two finished runs differ in it alone and have the same seed"
        );
    }
}
