//! Evaluates the expressions of a paper's data file on the numbers that the paper prints.
//! `papers/check.py` uses the results.

use bbrlab_run::Algorithm;
use serde::Serialize;

use super::evaluate::{Row, Scene, Trace, Value, is_true, number_of};
use super::evaluate_claim::describe;
use super::parse::parse;
use super::points::points;
use super::rows::{key_values, printed_rows};
use crate::papers::{Key, Paper, Published, read_alone};

/// The results of a paper's expressions on the numbers that the paper prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Printed {
    /// The paper's key.
    pub paper: String,
    /// The results of the paper's claims. If printed numbers cannot decide a claim, the claim's
    /// result has no parameter points, and the claim's expression is only checked for errors.
    pub claims: Vec<PrintedRule>,
    /// The results of the identities: expressions that must be true for the printed numbers.
    pub identities: Vec<PrintedRule>,
    /// The results of the calculations in the paper's `[[artifacts]]`. An artifact is an effect in
    /// a paper's numbers that comes from the paper's simulator, from the paper's averaging, or from
    /// printing errors.
    pub calcs: Vec<PrintedCalc>,
}

/// The result for a paper's claim, or for an identity: an expression that must be true for the
/// printed numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PrintedRule {
    /// The id of the claim or identity.
    pub id: String,
    /// The number of parameter points at which the expression is true, and the number of all
    /// points. `None` if the printed numbers cannot decide the claim, or after an error.
    pub points: Option<(u64, u64)>,
    /// Why the expression has no value; `None` if it has one.
    pub error: Option<String>,
}

/// The result of a calculation in an entry of `[[artifacts]]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PrintedCalc {
    /// The artifact's id.
    pub artifact: String,
    /// The expression.
    pub expr: String,
    /// The value of the expression.
    pub value: Option<f64>,
    /// Why the expression has no value; `None` if it has one.
    pub error: Option<String>,
}

/// The parameter points of an expression: keys with the same value at all points, and keys with
/// lists of values. Each combination of values is a point.
type Place<'a> = (&'a [(String, Key)], &'a [(String, Vec<Key>)]);

/// Evaluates the expressions of a paper's data file. The paper need not be a built-in one.
///
/// # Errors
/// Fails if the file is not valid TOML.
///
/// # Panics
/// Panics if a claim or an artifact in the file does not follow `papers/README.md`.
pub fn evaluate_printed(key: &str, text: &str) -> Result<Printed, String> {
    let paper = read_alone(key, text)?;
    let claims = paper.claims.iter().map(|claim| {
        let is_decided = matches!(claim.published, Published::True | Published::False);
        let place: Place<'_> = (&claim.at, &claim.forall);
        let found = on_rows(&paper, &claim.experiment, &claim.expr, place, is_decided);
        rule(&claim.id, found.map(|points| is_decided.then_some(points)))
    });
    let identities = paper.identities.iter().map(|it| {
        let found = on_rows(&paper, &it.experiment, &it.expr, (&it.at, &it.forall), true);
        rule(&it.id, found.map(Some))
    });
    let scene =
        Scene { rows: &[], metrics: &[], constants: &paper.constants, decimals: &[], ties: None };
    let calcs = paper.artifacts.iter().flat_map(|artifact| {
        artifact.calcs.iter().map(|calc| {
            let value = parse(&calc.expr)
                .and_then(|expr| number_of(&expr, &Vec::new(), &scene).map_err(|it| describe(&it)));
            PrintedCalc {
                artifact: artifact.id.clone(),
                expr: calc.expr.clone(),
                error: value.as_ref().err().cloned(),
                value: value.ok(),
            }
        })
    });
    Ok(Printed {
        paper: key.to_owned(),
        claims: claims.collect(),
        identities: identities.collect(),
        calcs: calcs.collect(),
    })
}

fn rule(id: &str, found: Result<Option<(u64, u64)>, String>) -> PrintedRule {
    let error = found.as_ref().err().cloned();
    PrintedRule { id: id.to_owned(), points: found.unwrap_or_default(), error }
}

/// Returns the number of parameter points at which an expression is true on an experiment's printed
/// rows, and the number of all points. If `is_decided` is false, the expression is evaluated with 1
/// for every metric, only to check that it is valid.
fn on_rows(
    paper: &Paper,
    experiment: &str,
    expr: &str,
    (at, forall): Place<'_>,
    is_decided: bool,
) -> Result<(u64, u64), String> {
    let metrics: Vec<&str> = paper.metrics.iter().map(|metric| metric.id.as_str()).collect();
    let of = paper.experiments.iter().find(|it| it.id == experiment);
    let of = of.ok_or_else(|| format!("there is no experiment `{experiment}`"))?;
    let (rows, decimals) = if is_decided { printed_rows(of) } else { (ones(&metrics), Vec::new()) };
    let constants = paper.constants.as_slice();
    let scene =
        Scene { rows: &rows, metrics: &metrics, constants, decimals: &decimals, ties: None };
    let expr = parse(expr)?;
    let (at, forall) = key_values(at, forall);
    let (mut hits, mut all) = (0, 0);
    for point in points(&at, &forall) {
        all += 1;
        let is_hit = is_true(&expr, &point, &scene, &mut Trace::default());
        hits += u64::from(is_hit.map_err(|fault| describe(&fault))?);
    }
    Ok((hits, all))
}

/// Returns one row per algorithm, with the value 1 for every metric.
fn ones(metrics: &[&str]) -> Vec<Row> {
    let figures: Vec<_> = metrics.iter().map(|&metric| (metric.to_owned(), Some(1.0))).collect();
    let row = |algorithm: &Algorithm| Row {
        keys: vec![("algorithm".to_owned(), Value::Word(algorithm.name().to_owned()))],
        figures: figures.clone(),
    };
    Algorithm::ALL.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::evaluate_printed;

    const FILE: &str = r#"
[paper]
title = "t"
[constants]
k = 2.0
[[metrics]]
id = "x"
[[experiments]]
id = "some2020.one"
rows = [{ algorithm = "bbr1", x = 3.0 }, { algorithm = "bbr2", x = 4.0 }]
[[identities]]
id = "some2020.i01"
experiment = "some2020.one"
expr = "x(a) >= k"
forall = { a = ["bbr1", "bbr2"] }
[[claims]]
id = "some2020.c01"
experiment = "some2020.one"
expr = "x(bbr1) > x(bbr2)"
published = "false"
expected = "holds"
[[claims]]
id = "some2020.c02"
experiment = "some2020.one"
expr = "x(bbr3) > x(cubic)"
published = "figure"
expected = "holds"
[[claims]]
id = "some2020.c03"
experiment = "some2020.one"
expr = "y(bbr1) > 0"
published = "figure"
expected = "holds"
[[artifacts]]
id = "some2020.a01"
calcs = [{ expr = "k * 3", value = 6.0, tol = 0.0 }]
"#;

    #[test]
    fn claims_and_identities_have_points_and_what_makes_no_sense_has_an_error() {
        let found = evaluate_printed("some2020", FILE).unwrap();
        assert_eq!(found.identities[0].points, Some((2, 2)));
        let claims: Vec<_> =
            found.claims.iter().map(|it| (it.points, it.error.is_some())).collect();
        assert_eq!(claims, [(Some((0, 1)), false), (None, false), (None, true)]);
        assert_eq!(found.calcs[0].value, Some(6.0));
        assert!(
            evaluate_printed("some2020", "[[").unwrap_err().starts_with("papers/some2020.toml")
        );
    }
}
