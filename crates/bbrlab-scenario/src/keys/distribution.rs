//! Distributions of random times and sizes, as tables:
//! `{ distribution = "pareto", mean = "30KB", shape = 1.2 }`.

use bbrlab_run::{Distribution, Random};
use bbrlab_units::Span;

use crate::keys::size_distribution;
use crate::language::decimal::Decimal;
use crate::language::document::{Node, Table, Value};
use crate::language::key::{Form, Part, name_of, names, needed, optional};
use crate::language::quantity::show_span;
use crate::language::reader::{Keys, Reader, found};

/// The default of the key `max`, as a multiple of the mean.
pub(crate) const LARGEST_OVER_MEAN: u64 = 1000;

/// The upper bound of means and drawn values: 4.5 PB for sizes, which are in bytes; 52 days for
/// times, which are in nanoseconds.
pub(crate) const DRAWN_MAX: u64 = 1 << 52;

const DISTRIBUTIONS: [(&str, Kind); 4] = [
    ("constant", Kind::Constant),
    ("exponential", Kind::Exponential),
    ("pareto", Kind::Pareto),
    ("lognormal", Kind::Lognormal),
];

/// The distributions of sizes. Unlike times, sizes of transfers can also have a distribution given
/// by points.
const SIZE_DISTRIBUTIONS: [(&str, Kind); 6] = [
    DISTRIBUTIONS[0],
    DISTRIBUTIONS[1],
    DISTRIBUTIONS[2],
    DISTRIBUTIONS[3],
    ("cdf", Kind::Cdf),
    ("web_search", Kind::WebSearch),
];

/// A kind of distribution, without the values of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Constant,
    Exponential,
    Pareto,
    Lognormal,
    /// A distribution given by points of its cumulative distribution function.
    Cdf,
    /// The built-in distribution `web_search`: points from a published measurement of web-search
    /// traffic.
    WebSearch,
}

/// The bounds of `shape`, the parameter of a Pareto distribution. The sizes of web transfers have
/// Pareto tails with shapes from 1.1 to 1.5.
pub(crate) const SHAPE: Form = Form::Number(1.001, 100);
/// The bounds of `sigma`, the parameter of a log-normal distribution.
const SIGMA: Form = Form::Number(0.001, 5);
/// The default of `shape`, in thousandths.
const SHAPE_DEFAULT: u32 = 1200;
/// The default of `sigma`, in thousandths.
const SIGMA_DEFAULT: u32 = 1500;

const POINT_LIST: Form = Form::List(&Form::Pair(&Form::Bytes, &Form::Ratio));
const POINTS_FORM: Form = Form::Any(&[
    POINT_LIST,
    Form::Text,
    Form::Table(&[optional("trace", Form::Text), optional("rows", POINT_LIST)]),
]);

/// The form of random sizes in a scenario.
pub(crate) const SIZES_FORM: Form = Form::Table(&[
    needed("distribution", Form::Choice(|| names(&SIZE_DISTRIBUTIONS))),
    optional("mean", Form::Bytes),
    optional("shape", SHAPE),
    optional("sigma", SIGMA),
    optional("max", Form::Bytes),
    optional("points", POINTS_FORM),
]);

/// The form of times in a scenario: a constant time, or a table for random times.
pub(crate) const TIMES_FORM: Form = Form::Any(&[Form::Time, Form::Table(PARTS)]);

const PARTS: &[Part] = &[
    needed("distribution", Form::Choice(|| names(&DISTRIBUTIONS))),
    needed("mean", Form::Time),
    optional("shape", SHAPE),
    optional("sigma", SIGMA),
    optional("max", Form::Time),
];

const SIZES: &str = "a table such as { distribution = \"pareto\", mean = \"30KB\" }";

/// The unit of the drawn values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Bytes,
    Time,
}

/// Reads the table of random sizes.
pub(crate) fn read_sizes(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Random> {
    let table = reader.table(node, name, SIZES)?;
    read_random(reader, (table, node), name, Unit::Bytes)
}

/// Reads the table of random times, or a constant time.
pub(crate) fn read_times(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Random> {
    match &node.value {
        Value::Table(table) => read_random(reader, (table, node), name, Unit::Time),
        _ => Unit::Time.read(reader, node, name).map(constant),
    }
}

fn read_random(
    reader: &mut Reader<'_>,
    (table, node): (&Table, &Node),
    name: &str,
    unit: Unit,
) -> Option<Random> {
    let mut keys = Keys::new(table, name, node.at);
    let kind = reader.needed(
        &mut keys,
        "distribution",
        "the name of a distribution such as \"pareto\"",
        |reader, node, name| match unit {
            Unit::Bytes => reader.choice(node, name, &SIZE_DISTRIBUTIONS, ""),
            Unit::Time => reader.choice(node, name, &DISTRIBUTIONS, ""),
        },
    );
    if let Some(kind @ (Kind::Cdf | Kind::WebSearch)) = kind {
        let sizes = match kind {
            Kind::Cdf => size_distribution::read(reader, &mut keys),
            _ => Some(size_distribution::web_search()),
        };
        keys.finish(reader);
        return sizes;
    }
    let expected = match unit {
        Unit::Bytes => "the mean, such as \"30KB\"",
        Unit::Time => "the mean, such as \"2s\"",
    };
    let read = |reader: &mut Reader<'_>, node: &Node, name: &str| unit.read(reader, node, name);
    let mean = reader.needed(&mut keys, "mean", expected, read);
    let distribution = kind.and_then(|kind| read_distribution(reader, &mut keys, kind));
    let max = match keys.take("max") {
        None => mean.map(|mean| mean.saturating_mul(LARGEST_OVER_MEAN).min(DRAWN_MAX)),
        Some(node) => {
            let max = unit.read(reader, node, &keys.name("max"));
            if let (Some(max), Some(mean)) = (max, mean)
                && max < mean
            {
                let title = format!("`{}`: expected at least the mean", keys.name("max"));
                let found = format!("found {}", found(&node.value));
                reader.problem(node.at, title, found, Vec::new());
            }
            max
        }
    };
    keys.finish(reader);
    Some(Random { distribution: distribution?, mean: mean?, max: max? })
}

impl Unit {
    /// Reads a value of `mean` or `max`, or a constant time: a quantity of this unit, above zero
    /// and at most [`DRAWN_MAX`].
    fn read(self, reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<u64> {
        let read = match self {
            Self::Bytes => reader.positive_bytes(node, name)?.0,
            Self::Time => reader.positive_span(node, name)?.0,
        };
        if read > DRAWN_MAX {
            reader.wrong(node, name, &format!("at most {}", self.show(DRAWN_MAX)));
            return None;
        }
        Some(read)
    }

    fn show(self, value: u64) -> String {
        match self {
            Self::Bytes => format!("\"{value}B\""),
            Self::Time => format!("\"{}\"", show_span(Span(value))),
        }
    }
}

/// Returns the description of random sizes as TOML, as a scenario would write it.
pub(crate) fn show_sizes(sizes: &Random) -> String {
    match &sizes.distribution {
        Distribution::Cdf(points) => size_distribution::show(points),
        _ => show(sizes, Unit::Bytes),
    }
}

/// Returns the description of random times as TOML, as a scenario would write it.
pub(crate) fn show_times(times: &Random) -> String {
    if *times == constant(times.mean) {
        Unit::Time.show(times.mean)
    } else {
        show(times, Unit::Time)
    }
}

fn show(random: &Random, unit: Unit) -> String {
    let distribution = name_of(&SIZE_DISTRIBUTIONS, kind(&random.distribution));
    let (mean, max) = (unit.show(random.mean), unit.show(random.max));
    let parameter = show_parameter(&random.distribution);
    format!("{{ distribution = \"{distribution}\", mean = {mean}{parameter}, max = {max} }}")
}

/// Returns the distribution whose only value is `value`.
pub(crate) const fn constant(value: u64) -> Random {
    Random { distribution: Distribution::Constant, mean: value, max: value }
}

pub(crate) const fn kind(distribution: &Distribution) -> Kind {
    match distribution {
        Distribution::Constant => Kind::Constant,
        Distribution::Exponential => Kind::Exponential,
        Distribution::Pareto { .. } => Kind::Pareto,
        Distribution::Lognormal { .. } => Kind::Lognormal,
        Distribution::Cdf(_) => Kind::Cdf,
    }
}

pub(crate) fn show_parameter(distribution: &Distribution) -> String {
    let number = |thousandths: u32| {
        Decimal::parse(&format!("{thousandths}e-3")).expect("a number with few digits")
    };
    match *distribution {
        Distribution::Constant | Distribution::Exponential | Distribution::Cdf(_) => String::new(),
        Distribution::Pareto { shape } => format!(", shape = {}", number(shape)),
        Distribution::Lognormal { sigma } => format!(", sigma = {}", number(sigma)),
    }
}

/// Returns the distribution of this kind. Reads `shape` for Pareto and `sigma` for log-normal; the
/// other kinds have no such parameter. `kind` must not be `Cdf` or `WebSearch` (sizes given by
/// points): this function panics for both.
pub(crate) fn read_distribution(
    reader: &mut Reader<'_>,
    keys: &mut Keys<'_>,
    kind: Kind,
) -> Option<Distribution> {
    Some(match kind {
        Kind::Cdf | Kind::WebSearch => {
            unreachable!("a caller reads `Cdf` and `WebSearch` itself, or does not offer them")
        }
        Kind::Constant => Distribution::Constant,
        Kind::Exponential => Distribution::Exponential,
        Kind::Pareto => Distribution::Pareto {
            shape: read_thousandths(reader, keys, "shape", SHAPE, SHAPE_DEFAULT)?,
        },
        Kind::Lognormal => Distribution::Lognormal {
            sigma: read_thousandths(reader, keys, "sigma", SIGMA, SIGMA_DEFAULT)?,
        },
    })
}

/// Reads the parameter `key`, which must be within the bounds of `form`, and returns it in
/// thousandths. Returns `default`, which is also in thousandths, if the key is missing.
fn read_thousandths(
    reader: &mut Reader<'_>,
    keys: &mut Keys<'_>,
    key: &'static str,
    form: Form,
    default: u32,
) -> Option<u32> {
    let Some(node) = keys.take(key) else { return Some(default) };
    let Form::Number(least, most) = form else { unreachable!("parameters are numbers") };
    let number = match &node.value {
        Value::Integer(Some(value)) => Some(Decimal::from_int(*value)),
        Value::Float(text) => Decimal::parse(text),
        _ => None,
    };
    let thousandths = number.and_then(|number| number.times(1000).ok());
    let read = thousandths.and_then(|value| u32::try_from(value).ok());
    let read = read.filter(|&value| f64::from(value) / 1000.0 >= least && value <= most * 1000);
    if read.is_none() {
        let expected = format!("a number from {least} to {most}, of at most three decimals");
        reader.wrong(node, &keys.name(key), &expected);
    }
    read
}
