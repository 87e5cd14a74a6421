//! A claim on measured rows: at how many points it is true, and in how many seeds.

use super::evaluate::{Asked, Fault, Point, Row, Scene, is_true, matching, place};
use super::parse::{Expr, parse};
use super::points::{metrics_in, points, split};
use super::rows::{key_value, medians, of_seed, printed_rows};
use crate::papers::{Claim, Experiment, Key, Paper, papers};
use crate::reproduce::rows::Rows;

/// How a claim fares on some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Looked {
    /// Whether it is true at as many points as it asks for, on medians over the seeds.
    pub is_true: bool,
    /// Points at which it is.
    pub points_true: u64,
    /// All points.
    pub points: u64,
    /// Seeds in which it is true when they are looked at alone.
    pub seeds_true: u64,
    /// Seeds that were run of all its points.
    pub seeds: u64,
    /// The medians that it asked for, each once.
    pub figures: Vec<ClaimFigure>,
    /// The points at which it is not true.
    pub false_points: Vec<FalsePoint>,
}

/// A figure that a claim asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimFigure {
    /// Its name in the paper's file.
    pub metric: String,
    /// Where it was asked for.
    pub at: Vec<(String, Key)>,
    /// The median over the seeds.
    pub value: f64,
}

/// A point at which a claim is not true.
#[derive(Clone, Debug, PartialEq)]
pub struct FalsePoint {
    /// The point's keys.
    pub at: Vec<(String, Key)>,
    /// The figures behind it.
    pub figures: Vec<ClaimFigure>,
    /// Why it has no value, if it has none.
    pub fault: Option<String>,
}

/// The paper and the experiment of a claim.
///
/// # Panics
/// If the data files do not have them; a test reads them all.
pub(crate) fn home_of(claim: &Claim) -> (&'static Paper, &'static Experiment) {
    let has = |paper: &&Paper| paper.claims.iter().any(|it| it.id == claim.id);
    let paper = papers().iter().find(has).expect("the claim stands in a paper");
    let experiment = paper.experiments.iter().find(|it| it.id == claim.experiment);
    (paper, experiment.expect("a claim's experiment stands in its paper"))
}

/// A claim's expression.
///
/// # Panics
/// If it is none; a test reads them all.
pub(crate) fn expr_of(claim: &Claim) -> Expr {
    parse(&claim.expr).unwrap_or_else(|reason| panic!("{}: {reason}", claim.id))
}

/// Looks at a claim.
///
/// # Errors
/// In words, if rows or figures that it asks for were not measured.
pub(crate) fn look(claim: &Claim, rows: &Rows) -> Result<Looked, String> {
    let (paper, experiment) = home_of(claim);
    let metrics: Vec<&str> = paper.metrics.iter().map(|metric| metric.id.as_str()).collect();
    let (_, decimals) = printed_rows(experiment);
    let of_medians = medians(rows);
    let scene = Scene {
        rows: &of_medians,
        metrics: &metrics,
        constants: &paper.constants,
        decimals: &decimals,
    };
    let expr = expr_of(claim);
    let (at, forall) = key_value(claim);
    let all = split(&expr, points(&at, &forall), &scene).map_err(|fault| words(&fault))?;
    let mut looked = Looked {
        is_true: false,
        points_true: 0,
        points: all.len() as u64,
        seeds_true: 0,
        seeds: seeds_of(&expr, &all, &scene, rows),
        figures: Vec::new(),
        false_points: Vec::new(),
    };
    for point in &all {
        let mut asked = Vec::new();
        let outcome = is_true(&expr, point, &scene, &mut asked);
        let figures: Vec<ClaimFigure> = asked.iter().map(figure).collect();
        for figure in &figures {
            if !looked.figures.contains(figure) {
                looked.figures.push(figure.clone());
            }
        }
        let fault = match outcome {
            Ok(true) => {
                looked.points_true += 1;
                continue;
            }
            Ok(false) => None,
            Err(fault @ Fault::NoRow { .. }) => return Err(words(&fault)),
            Err(fault) => Some(words(&fault)),
        };
        looked.false_points.push(FalsePoint { at: keys(point), figures, fault });
    }
    looked.is_true = is_enough(claim, looked.points_true, all.len());
    for seed in 0..looked.seeds {
        let of_seed = of_seed(rows, usize::try_from(seed).unwrap_or(usize::MAX));
        let scene = Scene { rows: &of_seed, ..scene };
        let is_hit = |point: &&Point| is_true(&expr, point, &scene, &mut Vec::new()) == Ok(true);
        let hits = all.iter().filter(is_hit).count();
        looked.seeds_true += u64::from(is_enough(claim, hits as u64, all.len()));
    }
    Ok(looked)
}

/// As `papers/check.py` compares.
#[expect(clippy::cast_precision_loss, reason = "some hundred points")]
fn is_enough(claim: &Claim, points_true: u64, points: usize) -> bool {
    points_true as f64 >= claim.min_fraction * points as f64 - 1e-9
}

/// The seeds that all rows have which a claim looks at.
fn seeds_of(expr: &Expr, points: &[Point], scene: &Scene<'_>, rows: &Rows) -> u64 {
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

fn figure(asked: &Asked) -> ClaimFigure {
    ClaimFigure { metric: asked.metric.clone(), at: keys(&asked.at), value: asked.value }
}

fn keys(point: &Point) -> Vec<(String, Key)> {
    point.iter().map(|(name, value)| (name.clone(), value.into())).collect()
}

fn words(fault: &Fault) -> String {
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
