//! Evaluates the expressions of papers' claims on measured or printed rows.
//!
//! The papers' data were first checked in Python, so expressions must have the same results as in
//! Python; a test compares the results. Two rules of evaluation differ from Python's: both sides of
//! `and` and `or` are always evaluated, and a word (a text such as `bbr1`) can be compared only
//! with a word. A call such as `jain(bbr1)` looks up a metric by its keys. If several rows match
//! the keys, the values of the metric in these rows must be equal. Rows without a value are
//! ignored.

use std::fmt;

use bbrlab_run::Algorithm;

use super::parse::{Arithmetic, Call, Comparison, Expr};
use crate::papers::equal;

/// The value of a key, such as `algorithm` or `delay_ms`, or of a subexpression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A number.
    Number(f64),
    /// A word, such as an algorithm's name.
    Word(String),
    /// The result of a comparison.
    Truth(bool),
}

/// A row of metric values, with the keys that locate it in a paper's table, such as algorithm and
/// delay.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    /// The keys that locate the row.
    pub(crate) keys: Vec<(String, Value)>,
    /// The values of metrics by name. A value is `None` if the metric is not defined for the run.
    pub(crate) figures: Vec<(String, Option<f64>)>,
}

/// The data with which expressions are evaluated: rows of metric values, the names of the metrics,
/// the paper's constants, and how numbers are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    /// The rows in which metrics are looked up.
    pub(crate) rows: &'a [Row],
    /// The names of metrics. A call `NAME(...)` with one of these names looks up a metric; a call
    /// with another name is a function call.
    pub(crate) metrics: &'a [&'a str],
    /// The paper's constants.
    pub(crate) constants: &'a [(String, f64)],
    /// The number of decimals with which the paper prints each metric. A metric is rounded to this
    /// number before it is compared by `==` or `!=`; a metric that is not listed is rounded to a
    /// whole number.
    pub(crate) decimals: &'a [(String, usize)],
    /// If set, the result of `<`, `<=`, `>` and `>=` for two numbers whose difference is below one
    /// unit in the last printed digit of a compared metric. With `None`, such numbers are compared
    /// like all others.
    pub(crate) ties: Option<bool>,
}

/// A parameter point: keys such as `delay_ms`, each with a value. A paper's claim is evaluated at
/// each of its points.
pub(crate) type Point = Vec<(String, Value)>;

/// A metric that an evaluation looked up, with the value found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    /// The metric's name.
    pub(crate) metric: String,
    /// The keys with which the metric was looked up.
    pub(crate) at: Point,
    /// The value found.
    pub(crate) value: f64,
}

/// A comparison of two numbers, at least one of which was computed from metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// The number on the left.
    pub left: f64,
    /// The operator, such as `<=`, or `approx`.
    pub by: &'static str,
    /// The number on the right.
    pub right: f64,
    /// The tolerance if the operator is `approx`; otherwise `None`.
    pub within: Option<f64>,
}

/// The metrics that an evaluation looked up, and its comparisons of computed values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trace {
    /// The metrics looked up, with their values.
    pub(crate) asked: Vec<Asked>,
    /// The comparisons of values computed from metrics.
    pub(crate) compared: Vec<Compared>,
}

/// The reason why an expression has no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// No measured row with the given keys has the metric.
    NoRow {
        /// The metric's name.
        metric: String,
        /// The given keys.
        at: Point,
    },
    /// Rows with the given keys have the metric, but no such row has a value.
    NoFigure {
        /// The metric's name.
        metric: String,
        /// The given keys.
        at: Point,
    },
    /// Rows with the given keys have different values of the metric.
    Ambiguous {
        /// The metric's name.
        metric: String,
        /// The given keys.
        at: Point,
    },
    /// The expression is invalid; the text says why.
    Wrong(String),
}

/// The keys that locate rows, as `papers/README.md` lists them. A number under any other key
/// of a row is a metric.
pub(crate) const LOCATING_KEYS: &[&str] = &[
    "algorithm",
    "opponent",
    "flow",
    "bandwidth_mbps",
    "delay_ms",
    "rtt_ms",
    "rtt2_ms",
    "rtt_ratio",
    "buffer_bdp",
    "buffer_packets",
    "hsr_lambda",
    "alpha_us",
    "loss_pct",
    "scenario",
    "n_flows",
    "version",
    "bottleneck_delay_ms",
    "rtt_case",
    "start_first",
    "phase",
    "time_s",
    "step_from_mbps",
    "step_to_mbps",
    "reference",
];

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Word(word) => write!(out, "{word}"),
            Self::Truth(truth) => write!(out, "{truth}"),
        }
    }
}

impl Value {
    /// Whether two values of a key are equal. Numbers that differ only in the last bits count as
    /// equal, because the keys of measured rows are computed.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => equal(*one, *other),
            (one, other) => one == other,
        }
    }
}

impl Row {
    fn key(&self, name: &str) -> Option<&Value> {
        self.keys.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns the value of a metric. The outer `None` means that the row does not have the metric,
    /// the inner one that the metric has no value in this row.
    #[expect(clippy::option_option, reason = "a row can lack the metric, or only its value")]
    pub(crate) fn figure(&self, metric: &str) -> Option<Option<f64>> {
        self.figures.iter().find(|(name, _)| name == metric).map(|(_, value)| *value)
    }
}

/// Whether an expression is true at a parameter point. Adds the metrics that the expression looks
/// up, and the comparisons in it, to `trace`.
///
/// # Errors
/// Fails if the expression has no value at this parameter point.
pub(crate) fn is_true(
    expr: &Expr,
    point: &Point,
    scene: &Scene<'_>,
    trace: &mut Trace,
) -> Result<bool, Fault> {
    let mut at = At { point, scene, trace };
    Ok(match at.value(expr)?.value {
        Value::Truth(truth) => truth,
        Value::Number(number) => number != 0.0,
        Value::Word(word) => !word.is_empty(),
    })
}

/// Evaluates an expression that yields a number.
///
/// # Errors
/// Fails if the expression has no value, or a value that is not a number.
pub(crate) fn number_of(expr: &Expr, point: &Point, scene: &Scene<'_>) -> Result<f64, Fault> {
    At { point, scene, trace: &mut Trace::default() }.number(expr)
}

/// Returns the rows that have the metric, and that have all keys of `at` with the values in `at`.
/// If there is no such row, returns rows that lack some keys of `at`. Such a row must not lack the
/// key `algorithm`, and the keys that it shares with `at` must have the values in `at`.
pub(super) fn matching<'a>(rows: &'a [Row], metric: &str, at: &Point) -> Vec<&'a Row> {
    let with_figure = || rows.iter().filter(|row| row.figure(metric).is_some());
    let exact: Vec<&Row> = with_figure()
        .filter(|row| at.iter().all(|(key, value)| row.key(key).is_some_and(|it| it.is(value))))
        .collect();
    if !exact.is_empty() {
        return exact;
    }
    with_figure()
        .filter(|row| {
            at.iter().all(|(key, value)| match row.key(key) {
                Some(found) => found.is(value),
                None => key != "algorithm",
            })
        })
        .collect()
}

/// Returns the keys of the row in which a call looks up a metric: the algorithm and the keys that
/// the call gives, and the parameter point's other [`LOCATING_KEYS`].
pub(super) fn place(call: &Call, point: &Point, scene: &Scene<'_>) -> Result<Point, Fault> {
    At { point, scene, trace: &mut Trace::default() }.place(call)
}

/// The value of a subexpression. `metric` is the metric's name if the subexpression is a metric
/// alone, such as `jain(bbr1)`.
struct Found {
    value: Value,
    metric: Option<String>,
}

struct At<'a> {
    point: &'a Point,
    scene: &'a Scene<'a>,
    trace: &'a mut Trace,
}

fn wrong<T>(text: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Wrong(text.into()))
}

impl At<'_> {
    fn value(&mut self, expr: &Expr) -> Result<Found, Fault> {
        let value = match expr {
            Expr::Number(number) => Value::Number(*number),
            Expr::Word(word) => Value::Word(word.clone()),
            Expr::Name(name) => self.named(name)?,
            Expr::Negative(inner) => Value::Number(-self.number(inner)?),
            Expr::Not(inner) => Value::Truth(!self.truth(inner)?),
            Expr::Arithmetic(arithmetic, left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                Value::Number(calculate(*arithmetic, left, right)?)
            }
            Expr::All(parts) => {
                let truths: Result<Vec<bool>, Fault> =
                    parts.iter().map(|part| self.truth(part)).collect();
                Value::Truth(truths?.into_iter().all(|truth| truth))
            }
            Expr::Any(parts) => {
                let truths: Result<Vec<bool>, Fault> =
                    parts.iter().map(|part| self.truth(part)).collect();
                Value::Truth(truths?.into_iter().any(|truth| truth))
            }
            Expr::Compare(first, rest) => {
                let mut left = self.value(first)?;
                let mut is_left_computed = self.is_computed(first);
                let mut is_true = true;
                for (comparison, expr) in rest {
                    let right = self.value(expr)?;
                    let is_right_computed = self.is_computed(expr);
                    if is_left_computed || is_right_computed {
                        self.note(&left.value, comparison.sign(), &right.value, None);
                    }
                    is_true &= self.compare(*comparison, &left, &right)?;
                    (left, is_left_computed) = (right, is_right_computed);
                }
                Value::Truth(is_true)
            }
            Expr::Call(call) => return self.call(call),
        };
        Ok(Found { value, metric: None })
    }

    /// Whether an expression is a calculation with metrics: false for a metric alone and for
    /// constants. The reason for a verdict lists the metrics and the results of calculations.
    fn is_computed(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Negative(inner) => self.is_computed(inner),
            Expr::Arithmetic(_, left, right) => self.has_figure(left) || self.has_figure(right),
            Expr::Call(call) => !self.scene.metrics.contains(&call.name.as_str()),
            _ => false,
        }
    }

    fn has_figure(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Call(_)) || self.is_computed(expr)
    }

    fn note(&mut self, left: &Value, by: &'static str, right: &Value, within: Option<f64>) {
        if let (&Value::Number(left), &Value::Number(right)) = (left, right) {
            self.trace.compared.push(Compared { left, by, right, within });
        }
    }

    fn number(&mut self, expr: &Expr) -> Result<f64, Fault> {
        match self.value(expr)?.value {
            Value::Number(number) => Ok(number),
            other => wrong(format!("`{other}` is not a number")),
        }
    }

    fn truth(&mut self, expr: &Expr) -> Result<bool, Fault> {
        match self.value(expr)?.value {
            Value::Truth(truth) => Ok(truth),
            other => wrong(format!("`{other}` is neither true nor false")),
        }
    }

    fn named(&self, name: &str) -> Result<Value, Fault> {
        if let Some((_, value)) = self.point.iter().find(|(key, _)| key == name) {
            return Ok(value.clone());
        }
        if let Some((_, value)) = self.scene.constants.iter().find(|(key, _)| key == name) {
            return Ok(Value::Number(*value));
        }
        if Algorithm::from_name(name).is_some() {
            return Ok(Value::Word(name.to_owned()));
        }
        wrong(format!("unknown name `{name}`"))
    }

    fn compare(&self, comparison: Comparison, left: &Found, right: &Found) -> Result<bool, Fault> {
        let order = match (&left.value, &right.value) {
            (Value::Word(one), Value::Word(other)) => Some(one.cmp(other)),
            (Value::Number(one), Value::Number(other)) => {
                let is_rounded = matches!(comparison, Comparison::Equal | Comparison::Unequal);
                if let Some(is_true) = self.scene.ties
                    && !is_rounded
                    && self.grain(left, right).is_some_and(|grain| (one - other).abs() < grain)
                {
                    return Ok(is_true);
                }
                let decimals = [left, right]
                    .iter()
                    .filter_map(|side| Some(self.decimals(side.metric.as_deref()?)))
                    .max();
                match decimals.filter(|_| is_rounded) {
                    Some(decimals) => {
                        rounded(*one, decimals).partial_cmp(&rounded(*other, decimals))
                    }
                    None => one.partial_cmp(other),
                }
            }
            (one, other) => return wrong(format!("`{one}` and `{other}` cannot be compared")),
        };
        // If one of the values is NaN, only `!=` is true.
        Ok(match comparison {
            Comparison::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            Comparison::AtMost => order.is_some_and(std::cmp::Ordering::is_le),
            Comparison::More => order.is_some_and(std::cmp::Ordering::is_gt),
            Comparison::AtLeast => order.is_some_and(std::cmp::Ordering::is_ge),
            Comparison::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
            Comparison::Unequal => !order.is_some_and(std::cmp::Ordering::is_eq),
        })
    }

    /// Returns one unit of the last digit with which the paper prints the compared metric. If two
    /// metrics are compared, returns the smaller of their units. `None` if no side consists of a
    /// printed metric and nothing else.
    fn grain(&self, left: &Found, right: &Found) -> Option<f64> {
        let printed = |side: &Found| {
            let metric = side.metric.as_deref()?;
            self.scene.decimals.iter().find(|(name, _)| name == metric).map(|(_, n)| *n)
        };
        let decimals = [left, right].into_iter().filter_map(printed).max()?;
        Some(10_f64.powi(-i32::try_from(decimals).ok()?))
    }

    fn decimals(&self, metric: &str) -> usize {
        self.scene.decimals.iter().find(|(name, _)| name == metric).map_or(0, |(_, n)| *n)
    }

    fn call(&mut self, call: &Call) -> Result<Found, Fault> {
        let is_metric = self.scene.metrics.contains(&call.name.as_str());
        let value = match (call.name.as_str(), call.args.as_slice()) {
            ("abs", [one]) => Value::Number(self.number(one)?.abs()),
            ("sqrt", [one]) => {
                let value = self.number(one)?;
                if value < 0.0 {
                    return wrong(format!("the square root of a negative number: {value}"));
                }
                Value::Number(value.sqrt())
            }
            ("min" | "max", [_, _, ..]) => {
                let values = self.numbers(&call.args)?;
                let pick = if call.name == "min" { f64::min } else { f64::max };
                Value::Number(values.into_iter().reduce(pick).expect("two or more"))
            }
            // The arguments of `approx` are a value, its target, and the absolute tolerance.
            ("approx", [value, target, tolerance]) => {
                let is_computed = [value, target].into_iter().any(|it| self.is_computed(it));
                let (left, right) = (self.number(value)?, self.number(target)?);
                let within = self.number(tolerance)?;
                if is_computed {
                    let (left, right) = (Value::Number(left), Value::Number(right));
                    self.note(&left, "approx", &right, Some(within));
                }
                Value::Truth((left - right).abs() <= within)
            }
            // Computes Jain's index of two flows whose throughputs have this ratio.
            ("jain_ratio", [ratio]) => {
                let ratio = self.number(ratio)?;
                Value::Number((1.0 + ratio).powi(2) / (2.0 * (1.0 + ratio * ratio)))
            }
            ("jain_of", [_, ..]) => Value::Number(jain(&self.numbers(&call.args)?)?),
            _ if is_metric => return self.metric(call),
            (name, args) => {
                return wrong(format!(
                    "unknown metric or function `{name}` (number of arguments: {})",
                    args.len()
                ));
            }
        };
        if let Some((key, _)) = call.keys.first() {
            return wrong(format!("{}() has no key `{key}`", call.name));
        }
        Ok(Found { value, metric: None })
    }

    fn numbers(&mut self, exprs: &[Expr]) -> Result<Vec<f64>, Fault> {
        exprs.iter().map(|expr| self.number(expr)).collect()
    }

    fn place(&mut self, call: &Call) -> Result<Point, Fault> {
        let mut at: Point = self
            .point
            .iter()
            .filter(|(key, _)| LOCATING_KEYS.contains(&key.as_str()))
            .cloned()
            .collect();
        let mut set = |key: &str, value: Value| match at.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => at.push((key.to_owned(), value)),
        };
        match call.args.as_slice() {
            [] => {}
            [algorithm] => match self.value(algorithm)?.value {
                Value::Word(name) if Algorithm::from_name(&name).is_some() => {
                    set("algorithm", Value::Word(name));
                }
                other => return wrong(format!("{}(): unknown algorithm `{other}`", call.name)),
            },
            _ => return wrong(format!("{}(): expected one algorithm, then keys", call.name)),
        }
        for (key, value) in &call.keys {
            if !LOCATING_KEYS.contains(&key.as_str()) {
                return wrong(format!("{}(): `{key}` does not select points", call.name));
            }
            set(key, self.value(value)?.value);
        }
        Ok(at)
    }

    fn metric(&mut self, call: &Call) -> Result<Found, Fault> {
        let (metric, at) = (call.name.clone(), self.place(call)?);
        let rows = matching(self.scene.rows, &metric, &at);
        if rows.is_empty() {
            return Err(Fault::NoRow { metric, at });
        }
        let mut figures = rows.iter().filter_map(|row| row.figure(&metric).flatten());
        let Some(value) = figures.next() else { return Err(Fault::NoFigure { metric, at }) };
        #[expect(clippy::float_cmp, reason = "the rows' values must be exactly equal")]
        if figures.any(|other| other != value) {
            return Err(Fault::Ambiguous { metric, at });
        }
        self.trace.asked.push(Asked { metric: metric.clone(), at, value });
        Ok(Found { value: Value::Number(value), metric: Some(metric) })
    }
}

fn calculate(arithmetic: Arithmetic, left: f64, right: f64) -> Result<f64, Fault> {
    Ok(match arithmetic {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide if right == 0.0 => return wrong("a division by zero"),
        Arithmetic::Divide => left / right,
        Arithmetic::Power => left.powf(right),
    })
}

/// Computes Jain's index of throughputs.
#[expect(clippy::cast_precision_loss, reason = "a few flows")]
fn jain(values: &[f64]) -> Result<f64, Fault> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    calculate(Arithmetic::Divide, sum * sum, values.len() as f64 * squares)
}

/// Rounds a value to the number of decimals that the paper prints.
fn rounded(value: f64, decimals: usize) -> f64 {
    format!("{value:.decimals$}").parse().unwrap_or(value)
}
