//! Compares the expression language with Python.
//!
//! Before `papers/check.py` called `bbrlab`, that script evaluated expressions itself in Python.
//! `data/printed.txt` has a line with the script's results for each claim that can be decided from
//! the paper's printed numbers alone. A line has the claim's id, the number of parameter points at
//! which the claim is true, and the number of all its points. `data/random.txt` has random
//! expressions, with the script's results on the rows in the last test below.

use super::evaluate::{Fault, Point, Row, Scene, Trace, Value, is_true, number_of};
use super::parse::parse;
use super::points::points;
use super::rows::{key_value, printed_rows};
use crate::papers::papers;

const PRINTED: &str = include_str!("data/printed.txt");
const RANDOM: &str = include_str!("data/random.txt");

#[test]
fn claims_on_printed_rows_are_as_true_as_check_py_finds_them() {
    let mut decided = 0;
    for paper in papers() {
        let metrics: Vec<&str> = paper.metrics.iter().map(|metric| metric.id.as_str()).collect();
        for claim in &paper.claims {
            let of_claim = PRINTED.lines().find_map(|line| line.strip_prefix(&claim.id));
            let Some(expected) = of_claim else { continue };
            let experiment = paper.experiments.iter().find(|it| it.id == claim.experiment).unwrap();
            let (rows, decimals) = printed_rows(experiment);
            let scene = Scene {
                rows: &rows,
                metrics: &metrics,
                constants: &paper.constants,
                decimals: &decimals,
                ties: None,
            };
            let expr = parse(&claim.expr).unwrap();
            let (at, forall) = key_value(claim);
            let points = points(&at, &forall);
            let hits = points.iter().filter(|point| {
                is_true(&expr, point, &scene, &mut Trace::default())
                    .unwrap_or_else(|fault| panic!("{}: {fault:?}", claim.id))
            });
            assert_eq!(format!(" {} {}", hits.count(), points.len()), expected, "{}", claim.id);
            decided += 1;
        }
    }
    assert_eq!(decided, 95);
}

#[test]
fn calculations_of_artifacts_give_their_values() {
    let mut done = 0;
    for paper in papers() {
        let scene = Scene {
            rows: &[],
            metrics: &[],
            constants: &paper.constants,
            decimals: &[],
            ties: None,
        };
        for calc in paper.artifacts.iter().flat_map(|artifact| &artifact.calcs) {
            let found = number_of(&parse(&calc.expr).unwrap(), &Vec::new(), &scene).unwrap();
            assert!((found - calc.value).abs() <= calc.tol, "{} = {found}", calc.expr);
            done += 1;
        }
    }
    assert_eq!(done, 128);
}

#[test]
fn random_expressions_mean_what_they_mean_to_check_py() {
    let word = |key: &str, word: &str| (key.to_owned(), Value::Word(word.to_owned()));
    let number = |key: &str, number: f64| (key.to_owned(), Value::Number(number));
    let row = |cc: &str, keys: &[(&str, f64)], figures: &[(&str, f64)]| Row {
        keys: std::iter::once(word("algorithm", cc))
            .chain(keys.iter().map(|&(key, value)| number(key, value)))
            .collect(),
        figures: figures.iter().map(|&(name, value)| (name.to_owned(), Some(value))).collect(),
    };
    let rows = [
        row("bbr1", &[("delay_ms", 10.0)], &[("x", 7.92), ("y", 4.0)]),
        row("bbr1", &[("delay_ms", 40.0)], &[("x", 2.4), ("y", 0.0)]),
        row("cubic", &[("delay_ms", 10.0)], &[("x", 6.44), ("y", 3.0)]),
        row("cubic", &[("delay_ms", 40.0)], &[("x", 8.6), ("y", 0.0)]),
        row("bbr2", &[], &[("x", 2.5)]),
        row("bbr_hsr", &[("hsr_lambda", 0.5)], &[("x", 1.25), ("y", 1.0)]),
        row("bbr_hsr", &[("hsr_lambda", 0.125)], &[("x", 1.25), ("y", 2.0)]),
    ];
    // `papers/check.py`, whose results this test expects, evaluated the expressions with unrounded
    // values. The rows therefore get enough decimals that rounding has no effect.
    let decimals = [("x".to_owned(), 12), ("y".to_owned(), 12)];
    let constants = [("k".to_owned(), 0.3), ("two".to_owned(), 2.0)];
    let scene = Scene {
        rows: &rows,
        metrics: &["x", "y"],
        constants: &constants,
        decimals: &decimals,
        ties: None,
    };
    let at: Point = vec![number("delay_ms", 10.0)];
    let words = |names: &[&str]| names.iter().map(|&it| Value::Word(it.to_owned())).collect();
    let forall = [
        ("alg".to_owned(), words(&["bbr1", "cubic", "bbr_hsr"])),
        ("d".to_owned(), vec![Value::Number(10.0), Value::Number(40.0)]),
    ];
    let points = points(&at, &forall);
    for line in RANDOM.lines() {
        let (expected, text) = line.split_once('\t').unwrap();
        let expr = parse(text).unwrap();
        let truths: Result<Vec<bool>, Fault> = points
            .iter()
            .map(|point| is_true(&expr, point, &scene, &mut Trace::default()))
            .collect();
        let found = match truths {
            Ok(truths) => format!("{}/6", truths.into_iter().filter(|&truth| truth).count()),
            Err(Fault::NoRow { .. }) => "missing".to_owned(),
            Err(Fault::Ambiguous { .. }) => "ambiguous".to_owned(),
            Err(Fault::NoFigure { .. } | Fault::Wrong(_)) => "wrong".to_owned(),
        };
        assert_eq!(found, expected, "{text}");
    }
    assert_eq!(RANDOM.lines().count(), 240);
}
