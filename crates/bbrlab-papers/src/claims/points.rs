//! The parameter points at which a claim is evaluated.
//!
//! A claim has a parameter point for each combination of the values in its `forall` lists. A claim
//! that does not mention a key covers all values of this key (`papers/README.md`, "Usage", item 7).
//! Therefore, if the rows for one of a claim's metrics differ in a key that the claim does not
//! mention, the point is replaced by one point per value of the key.

use super::evaluate::{Fault, Point, Row, Scene, Value, matching, place};
use super::parse::{Call, Expr};

/// Returns a parameter point for each combination of the values in the lists of `forall`, in the
/// order of the lists. Each point also has the keys in `at`.
pub(crate) fn points(at: &Point, forall: &[(String, Vec<Value>)]) -> Vec<Point> {
    let mut points = vec![at.clone()];
    for (key, values) in forall {
        points = points
            .iter()
            .flat_map(|point| values.iter().map(|value| with(point, key, value.clone())))
            .collect();
    }
    points
}

/// Returns a copy of a parameter point with one key added or replaced.
fn with(point: &Point, key: &str, value: Value) -> Point {
    let mut point = point.clone();
    match point.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = value,
        None => point.push((key.to_owned(), value)),
    }
    point
}

/// Splits each parameter point that has an open key. A key is open if the rows for a metric have
/// different values of the key, and neither the point nor the metric's call sets the key.
///
/// A point is split at one open key: one new point per value of the key in the metric's rows
/// replaces the old point. A new point that still has an open key is split again, with only the
/// rows that match the new point.
///
/// # Errors
/// Fails if the expression is invalid.
pub(crate) fn split(
    expr: &Expr,
    points: Vec<Point>,
    scene: &Scene<'_>,
) -> Result<Vec<Point>, Fault> {
    let mut calls = Vec::new();
    metrics_in(expr, scene.metrics, &mut calls);
    let mut done = Vec::new();
    let mut left = points;
    left.reverse();
    while let Some(point) = left.pop() {
        match open_axis(&calls, &point, scene)? {
            None => done.push(point),
            Some((key, values)) => {
                left.extend(values.into_iter().rev().map(|value| with(&point, &key, value)));
            }
        }
    }
    Ok(done)
}

/// Finds, for one of a claim's lookups of metrics (`calls`), a key that neither the parameter point
/// nor the lookup sets, and whose values differ among the matching rows. Returns the key with these
/// values.
fn open_axis(
    calls: &[&Call],
    point: &Point,
    scene: &Scene<'_>,
) -> Result<Option<(String, Vec<Value>)>, Fault> {
    for call in calls {
        let at = place(call, point, scene)?;
        let rows = matching(scene.rows, &call.name, &at);
        let Some(first) = rows.first() else { continue };
        for (key, _) in first.keys.iter().filter(|(key, _)| !at.iter().any(|(it, _)| it == key)) {
            let values = values_of(key, &rows);
            if values.len() > 1 {
                return Ok(Some((key.clone(), values)));
            }
        }
    }
    Ok(None)
}

/// Returns the distinct values of a key, in the order of the rows.
fn values_of(key: &str, rows: &[&Row]) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    for (_, value) in rows.iter().flat_map(|row| &row.keys).filter(|(name, _)| name == key) {
        if !values.iter().any(|known| known.is(value)) {
            values.push(value.clone());
        }
    }
    values
}

/// Adds to `calls` the lookups of metrics in an expression: all calls whose names are in `metrics`.
pub(crate) fn metrics_in<'a>(expr: &'a Expr, metrics: &[&str], calls: &mut Vec<&'a Call>) {
    match expr {
        Expr::Number(_) | Expr::Word(_) | Expr::Name(_) => {}
        Expr::Negative(inner) | Expr::Not(inner) => metrics_in(inner, metrics, calls),
        Expr::Arithmetic(_, left, right) => {
            metrics_in(left, metrics, calls);
            metrics_in(right, metrics, calls);
        }
        Expr::All(parts) | Expr::Any(parts) => {
            for part in parts {
                metrics_in(part, metrics, calls);
            }
        }
        Expr::Compare(first, rest) => {
            metrics_in(first, metrics, calls);
            for (_, part) in rest {
                metrics_in(part, metrics, calls);
            }
        }
        Expr::Call(call) => {
            if metrics.contains(&call.name.as_str()) {
                calls.push(call);
            }
            call.args.iter().for_each(|arg| metrics_in(arg, metrics, calls));
            call.keys.iter().for_each(|(_, value)| metrics_in(value, metrics, calls));
        }
    }
}
