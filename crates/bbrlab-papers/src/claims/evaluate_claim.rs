//! Evaluates a paper's claim on measured rows: counts the parameter points and the seeds at which
//! the claim is true.

use super::evaluate::{Asked, Compared, Fault, Point, Row, Scene, Trace, is_true, matching, place};
use super::parse::{Expr, parse};
use super::points::{metrics_in, points, split};
use super::rows::{key_value, medians, of_seed, printed_rows};
use crate::papers::{Claim, Experiment, Key, Paper, papers};
use crate::row::MeasuredRows;

/// The result of evaluating a paper's claim on measured rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimEvaluation {
    /// Whether the claim is true: the medians over the seeds make it true at the required share of
    /// parameter points.
    pub is_true: bool,
    /// Number of parameter points at which the medians make the claim true.
    pub points_true: u64,
    /// Number of all parameter points at which the claim was evaluated.
    pub points: u64,
    /// Number of seeds whose values alone make the claim true at the required share of parameter
    /// points.
    pub seeds_true: u64,
    /// The seeds that `seeds_true` counts.
    pub true_in: Vec<u64>,
    /// Number of seeds that were run at all points of the claim.
    pub seeds: u64,
    /// The metrics that the claim uses, as medians over the seeds, without duplicates.
    pub figures: Vec<ClaimFigure>,
    /// The claim's comparisons of computed values, without duplicates.
    pub compared: Vec<Compared>,
    /// The parameter points at which the claim is false or has no value.
    pub false_points: Vec<FalsePoint>,
    /// Whether `is_true` depends on the results of comparisons between numbers that differ by less
    /// than one unit of the last printed digit.
    pub is_by_grain: bool,
}

/// A metric value that a paper's claim uses.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimFigure {
    /// The metric's name in the paper's data file.
    pub metric: String,
    /// The keys that locate the value, such as algorithm and delay.
    pub at: Vec<(String, Key)>,
    /// The metric's median over the seeds.
    pub value: f64,
}

/// A parameter point at which a claim is false or has no value.
#[derive(Clone, Debug, PartialEq)]
pub struct FalsePoint {
    /// The parameter point's keys.
    pub at: Vec<(String, Key)>,
    /// The metrics that the claim uses at this parameter point.
    pub figures: Vec<ClaimFigure>,
    /// The comparisons of values that the claim computes from these metrics.
    pub compared: Vec<Compared>,
    /// The reason why the expression has no value at this parameter point; `None` if the expression
    /// has a value.
    pub fault: Option<String>,
}

/// Returns the paper of a claim, and the experiment on which the claim is evaluated.
///
/// # Panics
/// Panics if no paper's data file has the claim, or if the claim's paper does not have its
/// experiment. The test `what_a_claim_or_a_contradiction_names_exists` verifies that the
/// experiments of all claims exist.
pub(crate) fn home_of(claim: &Claim) -> (&'static Paper, &'static Experiment) {
    let has = |paper: &&Paper| paper.claims.iter().any(|it| it.id == claim.id);
    let paper = papers().iter().find(has).expect("the claim is in a paper's data file");
    let experiment = paper.experiments.iter().find(|it| it.id == claim.experiment);
    (paper, experiment.expect("a claim's experiment is in its paper's data file"))
}

/// Parses a claim's expression.
///
/// # Panics
/// Panics if the expression is invalid. The test `every_claim_is_an_expression` verifies that the
/// expressions of all claims are valid.
pub(crate) fn expr_of(claim: &Claim) -> Expr {
    parse(&claim.expr).unwrap_or_else(|reason| panic!("{}: {reason}", claim.id))
}

/// Evaluates a claim on the measured rows of its experiment.
///
/// # Errors
/// Returns a message if the expression uses an unknown name, or if a row that the claim uses was
/// not measured.
pub(crate) fn evaluate_claim(
    claim: &Claim,
    rows: &MeasuredRows,
) -> Result<ClaimEvaluation, String> {
    let (paper, experiment) = home_of(claim);
    let metrics: Vec<&str> = paper.metrics.iter().map(|metric| metric.id.as_str()).collect();
    let (_, decimals) = printed_rows(experiment);
    let of_medians = medians(rows);
    let scene = Scene {
        rows: &of_medians,
        metrics: &metrics,
        constants: &paper.constants,
        decimals: &decimals,
        ties: None,
    };
    let expr = expr_of(claim);
    let (at, forall) = key_value(claim);
    let all = split(&expr, points(&at, &forall), &scene).map_err(|fault| describe(&fault))?;
    let mut evaluation = ClaimEvaluation {
        is_true: false,
        points_true: 0,
        points: all.len() as u64,
        seeds_true: 0,
        true_in: Vec::new(),
        seeds: seeds_of(&expr, &all, &scene, rows),
        figures: Vec::new(),
        compared: Vec::new(),
        false_points: Vec::new(),
        is_by_grain: false,
    };
    for point in &all {
        let mut trace = Trace::default();
        let outcome = is_true(&expr, point, &scene, &mut trace);
        let figures = each_once(trace.asked.iter().map(figure));
        let compared = each_once(trace.compared.into_iter());
        evaluation.figures =
            each_once(evaluation.figures.into_iter().chain(figures.iter().cloned()));
        evaluation.compared =
            each_once(evaluation.compared.into_iter().chain(compared.iter().copied()));
        let fault = match outcome {
            Ok(true) => {
                evaluation.points_true += 1;
                continue;
            }
            Ok(false) => None,
            Err(fault @ Fault::NoRow { .. }) => return Err(describe(&fault)),
            Err(fault) => Some(describe(&fault)),
        };
        evaluation.false_points.push(FalsePoint { at: keys(point), figures, compared, fault });
    }
    evaluation.is_true = is_enough(claim, evaluation.points_true, all.len());
    let with_ties = |ties: bool| {
        let scene = Scene { ties: Some(ties), ..scene };
        let is_hit =
            |point: &&Point| is_true(&expr, point, &scene, &mut Trace::default()) == Ok(true);
        is_enough(claim, all.iter().filter(is_hit).count() as u64, all.len())
    };
    evaluation.is_by_grain = with_ties(true) != with_ties(false);
    let counted = usize::try_from(evaluation.seeds).unwrap_or(usize::MAX);
    for (place, &seed) in rows.seeds.iter().enumerate().take(counted) {
        let of_seed = of_seed(rows, place);
        let scene = Scene { rows: &of_seed, ..scene };
        let is_hit =
            |point: &&Point| is_true(&expr, point, &scene, &mut Trace::default()) == Ok(true);
        let hits = all.iter().filter(is_hit).count();
        if is_enough(claim, hits as u64, all.len()) {
            evaluation.seeds_true += 1;
            evaluation.true_in.push(seed);
        }
    }
    Ok(evaluation)
}

/// Whether the claim is true at enough parameter points: their share is at least the claim's
/// `min_fraction`. The tolerance of 1e-9 points, as in `papers/check.py`, allows for rounding
/// errors.
#[expect(clippy::cast_precision_loss, reason = "some hundred points")]
fn is_enough(claim: &Claim, points_true: u64, points: usize) -> bool {
    points_true as f64 >= claim.min_fraction * points as f64 - 1e-9
}

/// Returns the number of seeds that were run for every row that the claim uses: the smallest
/// `seeds_run` of these rows.
fn seeds_of(expr: &Expr, points: &[Point], scene: &Scene<'_>, rows: &MeasuredRows) -> u64 {
    let mut calls = Vec::new();
    metrics_in(expr, scene.metrics, &mut calls);
    let index_of = |row: &Row| scene.rows.iter().position(|known| std::ptr::eq(known, row));
    let mut least = rows.seeds.len() as u64;
    for call in calls {
        for at in points.iter().filter_map(|point| place(call, point, scene).ok()) {
            for row in matching(scene.rows, &call.name, &at) {
                least = index_of(row).map_or(least, |at| least.min(rows.rows[at].seeds_run));
            }
        }
    }
    least
}

/// Removes duplicates, and keeps the first of several equal elements.
fn each_once<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

fn figure(asked: &Asked) -> ClaimFigure {
    ClaimFigure { metric: asked.metric.clone(), at: keys(&asked.at), value: asked.value }
}

fn keys(point: &Point) -> Vec<(String, Key)> {
    point.iter().map(|(name, value)| (name.clone(), value.into())).collect()
}

pub(super) fn describe(fault: &Fault) -> String {
    let of = |what: &str, metric: &str, at: &Point| {
        let at: Vec<String> = at.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let place = if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) };
        format!("{what} {metric}{place}")
    };
    match fault {
        Fault::NoRow { metric, at } => of("there is no measured", metric, at),
        Fault::NoFigure { metric, at } => of("no seed has a", metric, at),
        Fault::Ambiguous { metric, at } => of("several rows fit", metric, at),
        Fault::Wrong(reason) => reason.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Compared, evaluate_claim};
    use crate::papers::{Claim, Key, papers};
    use crate::row::{MeasuredRow, MeasuredRows};

    fn claim(id: &str) -> &'static Claim {
        let mut claims = papers().iter().flat_map(|paper| &paper.claims);
        claims.find(|claim| claim.id == id).expect("a data file has the claim")
    }

    /// Returns a row of BBRv1 for each tuple of a rate, a buffer and values. The values, one per
    /// seed, are both the `utilisation` and the `jain` of the row.
    fn rows(of: &[(f64, f64, &[Option<f64>])]) -> MeasuredRows {
        let row = |&(rate, buffer, values): &(f64, f64, &[Option<f64>])| MeasuredRow {
            keys: vec![
                ("algorithm".to_owned(), Key::word("bbr1")),
                ("bandwidth_mbps".to_owned(), Key::Number(rate)),
                ("buffer_packets".to_owned(), Key::Number(buffer)),
            ],
            metrics: vec![
                ("utilisation".to_owned(), values.to_vec()),
                ("jain".to_owned(), values.to_vec()),
            ],
            seeds_run: values.iter().flatten().count() as u64,
            scenario_hash: String::new(),
        };
        MeasuredRows {
            experiment: "kato2025.sixteen-340".to_owned(),
            seeds: vec![1, 2, 3],
            rows: of.iter().map(row).collect(),
        }
    }

    #[test]
    fn medians_decide_and_each_seed_is_looked_at_alone() {
        // The claim is `0.57 <= utilisation <= 0.64` with buffers of 100, 500 and 1000 packets.
        let values: &[Option<f64>] = &[Some(0.6), Some(0.9), Some(0.58)];
        let of: Vec<_> = [100.0, 500.0, 1000.0].map(|buffer| (1000.0, buffer, values)).to_vec();
        let evaluation = evaluate_claim(claim("kato2025.c02"), &rows(&of)).unwrap();
        assert!(evaluation.is_true);
        assert_eq!((evaluation.points_true, evaluation.points), (3, 3));
        assert_eq!((evaluation.seeds_true, evaluation.seeds), (2, 3));
        assert_eq!(evaluation.true_in, [1, 3]);
        assert!((evaluation.figures[0].value - 0.6).abs() < 1e-12);
    }

    #[test]
    fn a_verdict_by_less_than_the_last_printed_digit_says_so() {
        // The claim is `throughput_mbps(bbrplus) >= throughput_mbps(bbr1)` at six parameter points.
        // The paper prints these throughputs with two decimals.
        let judged = |plus: f64, other: f64| {
            let mut rows = Vec::new();
            for rate in [5.0, 10.0] {
                for delay in [10.0, 40.0, 100.0] {
                    let is_first = rate < 7.0 && delay < 20.0;
                    let plus = if is_first { plus } else { other };
                    for (cc, value) in [("bbr1", 4.661_608), ("bbrplus", plus)] {
                        rows.push(MeasuredRow {
                            keys: vec![
                                ("algorithm".to_owned(), Key::word(cc)),
                                ("bandwidth_mbps".to_owned(), Key::Number(rate)),
                                ("delay_ms".to_owned(), Key::Number(delay)),
                            ],
                            metrics: vec![("throughput_mbps".to_owned(), vec![Some(value)])],
                            seeds_run: 1,
                            scenario_hash: String::new(),
                        });
                    }
                }
            }
            let experiment = "lanigan2020.single-flow".to_owned();
            let found = evaluate_claim(
                claim("lanigan2020.c17"),
                &MeasuredRows { experiment, seeds: vec![1], rows },
            );
            let found = found.unwrap();
            (found.is_true, found.is_by_grain)
        };
        assert_eq!(judged(4.661_466, 4.7), (false, true));
        assert_eq!(judged(4.662, 4.7), (true, true));
        assert_eq!(judged(4.7, 4.7), (true, false));
        assert_eq!(judged(4.65, 4.7), (false, false));
        // Now the claim is false at all six parameter points. At five of these points, BBRPlus has
        // 4.6 and BBRv1 4.66. The difference of 0.06 exceeds 0.01, the unit of the last digit that
        // the paper prints.
        assert_eq!(judged(4.661_466, 4.6), (false, false));
    }

    #[test]
    fn an_axis_left_open_is_looped_over() {
        // The claim is `jain >= 0.99 and utilisation >= 0.89` with a buffer of 5000 packets. The
        // claim names no rate, so it has a parameter point for each rate.
        let full: &[Option<f64>] = &[Some(0.995)];
        let idle: &[Option<f64>] = &[Some(0.5)];
        let evaluation = evaluate_claim(
            claim("kato2025.c03"),
            &rows(&[(1000.0, 5000.0, full), (100.0, 5000.0, idle)]),
        );
        let evaluation = evaluation.unwrap();
        assert_eq!((evaluation.is_true, evaluation.points_true, evaluation.points), (false, 1, 2));
        assert_eq!(evaluation.seeds, 1, "only one seed was run at each point");
        let at = &evaluation.false_points[0].at;
        assert!(at.contains(&("bandwidth_mbps".to_owned(), Key::Number(100.0))), "{at:?}");
    }

    #[test]
    fn a_point_that_was_not_run_and_one_without_a_figure_have_different_reasons() {
        let full: &[Option<f64>] = &[Some(0.6)];
        let missing =
            evaluate_claim(claim("kato2025.c02"), &rows(&[(1000.0, 100.0, full)])).unwrap_err();
        assert_eq!(
            missing,
            "there is no measured utilisation at buffer_packets 500, algorithm bbr1"
        );
        let none: &[Option<f64>] = &[None];
        let of: Vec<_> = [100.0, 500.0, 1000.0].map(|buffer| (1000.0, buffer, none)).to_vec();
        let evaluation = evaluate_claim(claim("kato2025.c02"), &rows(&of)).unwrap();
        assert_eq!((evaluation.points_true, evaluation.points), (0, 3));
        let fault = evaluation.false_points[0].fault.as_deref();
        assert_eq!(fault, Some("no seed has a utilisation at buffer_packets 100, algorithm bbr1"));
    }

    #[test]
    fn values_computed_from_metrics_are_shown_next_to_them() {
        let row = MeasuredRow {
            keys: vec![("algorithm".to_owned(), Key::word("bbr1"))],
            metrics: vec![
                ("lost_packets".to_owned(), vec![Some(440.0)]),
                ("transmitted_packets".to_owned(), vec![Some(1000.0)]),
            ],
            seeds_run: 1,
            scenario_hash: String::new(),
        };
        let rows = MeasuredRows {
            experiment: "mahmud2020.sim-congested".to_owned(),
            seeds: vec![1],
            rows: vec![row],
        };
        // The claim is `approx(100 * lost_packets(bbr1) / transmitted_packets(bbr1), 42, 1)`.
        let evaluation = evaluate_claim(claim("mahmud2020.c10"), &rows).unwrap();
        let wanted = Compared { left: 44.0, by: "approx", right: 42.0, within: Some(1.0) };
        assert!(!evaluation.is_true);
        assert_eq!(evaluation.compared, [wanted]);
        assert_eq!(evaluation.false_points[0].compared, [wanted]);
    }
}
