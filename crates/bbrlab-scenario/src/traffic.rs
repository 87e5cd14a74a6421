//! `arrivals` and `sizes`: flows that come and go.

use bbrlab_run::{Arrivals, Law, Random};
use bbrlab_units::{BitRate, Bytes, NS_PER_S};

use crate::decimal::Decimal;
use crate::document::{Node, Value};
use crate::key::{Form, Part, name_of, names, needed, optional};
use crate::link::HEADERS;
use crate::quantity::parse_frequency;
use crate::reader::{Keys, Reader, found};

/// Flows that may be under way at once if the scenario says nothing: with what a flow needs, some 60 MB.
const AT_MOST: u32 = 10_000;

/// The highest rate of arrivals, in flows per second.
const ARRIVALS_MAX: u64 = 1_000_000;

/// If no largest value is given, it is this times the mean.
const LARGEST_OVER_MEAN: u64 = 1000;

/// The largest mean and the largest draw: in bytes 4.5 PB, in nanoseconds 52 days.
const DRAWN_MAX: u64 = 1 << 52;

/// How often flows come.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    /// Per second.
    Rate(Decimal),
    /// Share of the smallest rate on the way.
    Load(Decimal),
}

/// `arrivals` as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrivalsSpec {
    law: Law,
    pace: Pace,
    at_most: u32,
}

const PROCESSES: [(&str, Kind); 3] =
    [("poisson", Kind::Exponential), ("pareto", Kind::Pareto), ("constant", Kind::Constant)];

const DISTRIBUTIONS: [(&str, Kind); 4] = [
    ("constant", Kind::Constant),
    ("exponential", Kind::Exponential),
    ("pareto", Kind::Pareto),
    ("lognormal", Kind::Lognormal),
];

/// A law without its parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Constant,
    Exponential,
    Pareto,
    Lognormal,
}

/// Bounds of the parameters of laws, and what holds without one: tails of web traffic have shapes from 1.1 to 1.5.
const SHAPE: Form = Form::Number(1.001, 100);
const SIGMA: Form = Form::Number(0.001, 5);
const SHAPE_DEFAULT: u32 = 1200;
const SIGMA_DEFAULT: u32 = 1500;

pub(crate) const ARRIVALS_FORM: Form = Form::Table(&[
    optional("process", Form::Choice(|| names(&PROCESSES))),
    optional("rate", Form::Frequency),
    optional("load", Form::Ratio),
    optional("shape", SHAPE),
    optional("at_most", Form::Whole(1, AT_MOST_MAX)),
]);

pub(crate) const SIZES_FORM: Form = Form::Table(SIZES_PARTS);

const SIZES_PARTS: &[Part] = &[
    needed("distribution", Form::Choice(|| names(&DISTRIBUTIONS))),
    needed("mean", Form::Bytes),
    optional("shape", SHAPE),
    optional("sigma", SIGMA),
    optional("max", Form::Bytes),
];

/// The most flows that may be under way at once.
const AT_MOST_MAX: u64 = 1_000_000;

const ARRIVALS: &str = "a table such as { rate = \"50/s\" } or { load = \"30%\" }";
const SIZES: &str = "a table such as { distribution = \"pareto\", mean = \"30KB\" }";

impl ArrivalsSpec {
    pub(crate) fn read(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let table = reader.table(node, name, ARRIVALS)?;
        let mut keys = Keys::new(table, name, node.at);
        let kind = match keys.take("process") {
            Some(node) => reader.choice(node, &keys.name("process"), &PROCESSES, ""),
            None => Some(Kind::Exponential),
        };
        let (rate, load) = (keys.take("rate"), keys.take("load"));
        let pace = match (rate, load) {
            (Some(node), None) => read_frequency(reader, node, &keys.name("rate")).map(Pace::Rate),
            (None, Some(node)) => read_load(reader, node, &keys.name("load")).map(Pace::Load),
            (Some(_), Some(node)) => {
                let title = format!("`{name}`: expected either `rate` or `load`");
                reader.problem(node.at, title, "found `load` as well", Vec::new());
                None
            }
            (None, None) => {
                let expected = "how many flows come, such as \"50/s\", or `load`";
                reader.missing(&keys, "rate", expected);
                None
            }
        };
        let law = kind.and_then(|kind| read_law(reader, &mut keys, kind));
        let at_most = match keys.take("at_most") {
            Some(node) => reader.integer(node, &keys.name("at_most"), 1, AT_MOST_MAX),
            None => Some(u64::from(AT_MOST)),
        };
        keys.finish(reader);
        let at_most = u32::try_from(at_most?).expect("at most a million");
        Some(Self { law: law?, pace: pace?, at_most })
    }

    /// How many flows may be under way at once.
    pub(crate) const fn at_most(&self) -> u32 {
        self.at_most
    }

    /// Whether the link's rate decides how often flows come.
    pub(crate) const fn needs_rate(&self) -> bool {
        matches!(self.pace, Pace::Load(_))
    }

    /// The process of flows with these sizes, whose packets have `mss` bytes of payload and cross a link of this rate.
    pub(crate) fn arrivals(
        &self,
        size: Random,
        mss: u32,
        (rate, framing): (BitRate, Bytes),
    ) -> Arrivals {
        let per_second = u128::from(NS_PER_S);
        let gap = match self.pace {
            Pace::Rate(rate) => {
                let micro =
                    rate.times_over_rounded(1_000_000, 1).expect("bounded when it was read");
                (1_000_000 * per_second + u128::from(micro) / 2) / u128::from(micro)
            }
            Pace::Load(load) => {
                let packets = u128::from(size.mean.div_ceil(u64::from(mss)));
                let bytes = u128::from(size.mean) + packets * u128::from(HEADERS + framing.0);
                let load = load.times_over_rounded(1 << 20, 1).expect("a ratio");
                let full = u128::from(rate.0) * u128::from(load.max(1));
                ((bytes * 8 * per_second) << 20) / full
            }
        };
        let fastest = per_second / u128::from(ARRIVALS_MAX);
        let mean = u64::try_from(gap.max(fastest)).unwrap_or(DRAWN_MAX).min(DRAWN_MAX);
        let max = mean.saturating_mul(LARGEST_OVER_MEAN).min(DRAWN_MAX);
        Arrivals { gap: Random { law: self.law, mean, max }, size, at_most: self.at_most }
    }

    /// As a scenario would write it.
    pub(crate) fn show(&self) -> String {
        let process = name_of(&PROCESSES, kind(self.law));
        let pace = match self.pace {
            Pace::Rate(rate) => format!("rate = \"{rate}/s\""),
            Pace::Load(load) => format!("load = {load}"),
        };
        let at_most = if self.at_most == AT_MOST {
            String::new()
        } else {
            format!(", at_most = {}", self.at_most)
        };
        format!("{{ process = \"{process}\", {pace}{}{at_most} }}", show_parameter(self.law))
    }
}

/// Reads `sizes`.
pub(crate) fn read_sizes(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Random> {
    let table = reader.table(node, name, SIZES)?;
    let mut keys = Keys::new(table, name, node.at);
    let kind = reader.needed(
        &mut keys,
        "distribution",
        "the name of a distribution such as \"pareto\"",
        |reader, node, name| reader.choice(node, name, &DISTRIBUTIONS, ""),
    );
    let mean = reader.needed(&mut keys, "mean", "the mean, such as \"30KB\"", read_drawn);
    let law = kind.and_then(|kind| read_law(reader, &mut keys, kind));
    let max = match keys.take("max") {
        None => mean.map(|mean| mean.saturating_mul(LARGEST_OVER_MEAN).min(DRAWN_MAX)),
        Some(node) => {
            let max = read_drawn(reader, node, &keys.name("max"));
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
    Some(Random { law: law?, mean: mean?, max: max? })
}

/// As a scenario would write it.
pub(crate) fn show_sizes(sizes: Random) -> String {
    let distribution = name_of(&DISTRIBUTIONS, kind(sizes.law));
    let Random { mean, max, law } = sizes;
    let parameter = show_parameter(law);
    format!(
        "{{ distribution = \"{distribution}\", mean = \"{mean}B\"{parameter}, max = \"{max}B\" }}"
    )
}

/// Sizes that do not differ.
pub(crate) const fn constant(bytes: Bytes) -> Random {
    Random { law: Law::Constant, mean: bytes.0, max: bytes.0 }
}

const fn kind(law: Law) -> Kind {
    match law {
        Law::Constant => Kind::Constant,
        Law::Exponential => Kind::Exponential,
        Law::Pareto { .. } => Kind::Pareto,
        Law::Lognormal { .. } => Kind::Lognormal,
    }
}

fn show_parameter(law: Law) -> String {
    let number = |thousandths: u32| {
        Decimal::parse(&format!("{thousandths}e-3")).expect("a number of few digits")
    };
    match law {
        Law::Constant | Law::Exponential => String::new(),
        Law::Pareto { shape } => format!(", shape = {}", number(shape)),
        Law::Lognormal { sigma } => format!(", sigma = {}", number(sigma)),
    }
}

/// Reads the parameter of a law.
fn read_law(reader: &mut Reader<'_>, keys: &mut Keys<'_>, kind: Kind) -> Option<Law> {
    Some(match kind {
        Kind::Constant => Law::Constant,
        Kind::Exponential => Law::Exponential,
        Kind::Pareto => {
            Law::Pareto { shape: read_thousandths(reader, keys, "shape", SHAPE, SHAPE_DEFAULT)? }
        }
        Kind::Lognormal => {
            Law::Lognormal { sigma: read_thousandths(reader, keys, "sigma", SIGMA, SIGMA_DEFAULT)? }
        }
    })
}

/// Reads a parameter within bounds, in thousandths.
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

fn read_frequency(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Decimal> {
    const EXPECTED: &str = "a number of flows per second";
    let rate = reader.quantity(node, name, EXPECTED, "\"50/s\"", parse_frequency)?;
    let micro = rate.times(1_000_000);
    if micro.is_ok_and(|micro| (1..=ARRIVALS_MAX * 1_000_000).contains(&micro)) {
        return Some(rate);
    }
    reader.wrong(node, name, "from \"0.000001/s\" to \"1000000/s\"");
    None
}

fn read_load(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Decimal> {
    let load = reader.ratio(node, name)?;
    if load.times_over_rounded(1 << 20, 1) == Some(0) {
        reader.wrong(node, name, "a share above one millionth such as \"30%\"");
        return None;
    }
    Some(load)
}

/// Reads a number of bytes that a law can have as its mean.
fn read_drawn(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<u64> {
    let bytes = reader.positive_bytes(node, name)?.0;
    if bytes > DRAWN_MAX {
        reader.wrong(node, name, &format!("at most \"{DRAWN_MAX}B\""));
        return None;
    }
    Some(bytes)
}
