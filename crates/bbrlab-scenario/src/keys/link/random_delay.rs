//! Two kinds of random delay that the key `jitter` can select: delays as netem draws them, and
//! delays as on Wi-Fi.
//!
//! The module `jitter.rs` reads the third kind: uniform delays between 0 and `up_to`.

use bbrlab_link::{Distribution, Probability, RandomDelay};
use bbrlab_units::Span;

use super::loss::toml_number;
use crate::language::canonical::toml_string;
use crate::language::decimal::Decimal;
use crate::language::document::{Node, Value};
use crate::language::quantity::show_span;
use crate::language::reader::{Keys, Reader};

/// The largest spread: netem stores it in nanoseconds, in 31 bits.
const SPREAD_MAX: Span = Span(i32::MAX as u64);

/// The largest number of entries of a table that defines a distribution. Linux: `NETEM_DIST_MAX`.
const TABLE_MAX: usize = 16_384;

/// The bounds of the mean of Wi-Fi delays. The mean determines the share of packets that have an
/// additional, longer delay: no packet at the lower bound, every packet at the upper bound.
const WIFI_MEANS: [Span; 2] = [Span::from_millis(1), Span::from_millis(85)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Uniform,
    Normal,
    Pareto,
    ParetoNormal,
}

const DISTRIBUTIONS: [(&str, Named); 4] = [
    ("uniform", Named::Uniform),
    ("normal", Named::Normal),
    ("pareto", Named::Pareto),
    ("paretonormal", Named::ParetoNormal),
];

/// Returns the names of the distributions.
pub(super) fn distributions() -> Vec<&'static str> {
    crate::language::key::names(&DISTRIBUTIONS)
}

/// A random delay as in netem, with a distribution, or as on Wi-Fi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RandomDelaySpec {
    Netem { spread: Span, distribution: Distribution, correlation: Decimal, keep_order: bool },
    Wifi { mean: Span },
}

impl RandomDelaySpec {
    /// The keys that only a delay as in netem or as on Wi-Fi has. A `jitter` table with none of
    /// these keys is uniform jitter from 0 to `up_to`.
    pub(super) const KEYS: [&str; 4] = ["model", "spread", "distribution", "correlation"];

    /// Reads the value of `jitter`, a table with at least one of [`Self::KEYS`]. Returns `None` if
    /// a value is missing or cannot be read.
    pub(super) fn read(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> Option<Self> {
        if let Some(model) = keys.take("model") {
            reader.choice(model, &keys.name("model"), &[("wifi", ())], "")?;
            let expected = "the approximate mean of the delay, such as \"7ms\"";
            return reader
                .needed(keys, "mean", expected, read_mean)
                .map(|mean| Self::Wifi { mean });
        }
        let expected = "the standard deviation of the delay, such as \"5ms\"";
        let spread = reader.needed(keys, "spread", expected, read_spread);
        let name = keys.name("distribution");
        let distribution = keys
            .take("distribution")
            .map_or(Some(Distribution::Normal), |node| read_distribution(reader, node, &name));
        let name = keys.name("correlation");
        let correlation =
            keys.take("correlation").map_or(Some(Decimal::ZERO), |node| reader.ratio(node, &name));
        let keep_order = read_keep_order(reader, keys);
        Some(Self::Netem {
            spread: spread?,
            distribution: distribution?,
            correlation: correlation?,
            keep_order: keep_order?,
        })
    }

    pub(super) fn show(&self) -> String {
        match self {
            Self::Wifi { mean } => {
                format!("{{ model = \"wifi\", mean = {} }}", toml_string(&show_span(*mean)))
            }
            Self::Netem { spread, distribution, correlation, keep_order } => {
                let distribution = match distribution {
                    Distribution::Uniform => toml_string("uniform"),
                    Distribution::Normal => toml_string("normal"),
                    Distribution::Pareto => toml_string("pareto"),
                    Distribution::ParetoNormal => toml_string("paretonormal"),
                    Distribution::Table(table) => {
                        let entries: Vec<String> = table.iter().map(i16::to_string).collect();
                        format!("[{}]", entries.join(", "))
                    }
                };
                format!(
                    "{{ spread = {}, distribution = {distribution}, correlation = {}, keep_order = {keep_order} }}",
                    toml_string(&show_span(*spread)),
                    toml_number(*correlation)
                )
            }
        }
    }

    pub(super) fn lower(&self) -> RandomDelay {
        match self {
            Self::Wifi { mean } => {
                let [least, most] = WIFI_MEANS;
                let above = u128::from(mean.0 - least.0) << 32;
                let share = above / u128::from(most.0 - least.0);
                RandomDelay::Wifi { share: Probability(u64::try_from(share).expect("at most one")) }
            }
            Self::Netem { spread, distribution, correlation, keep_order } => {
                // `tc` converts 100 % to 2^32 - 1.
                let correlation = correlation.times_over_rounded(u128::from(u32::MAX), 1);
                let correlation = correlation.expect("a ratio is at most one");
                RandomDelay::Netem {
                    spread: *spread,
                    correlation: u32::try_from(correlation).expect("at most 2^32 - 1"),
                    distribution: distribution.clone(),
                    keep_order: *keep_order,
                }
            }
        }
    }
}

fn read_mean(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Span> {
    let mean = reader.positive_span(node, name)?;
    let [least, most] = WIFI_MEANS;
    if !(least..=most).contains(&mean) {
        reader.wrong(node, name, "from \"1ms\" to \"85ms\"");
        return None;
    }
    Some(mean)
}

fn read_spread(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Span> {
    let spread = reader.positive_span(node, name)?;
    if spread > SPREAD_MAX {
        reader.wrong(node, name, "at most \"2147483647ns\", about two seconds");
        return None;
    }
    Some(spread)
}

/// Reads the name of a distribution, or a table as in the `.dist` files of iproute2: a list of
/// whole numbers, in units of `spread` / 8192.
fn read_distribution(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Distribution> {
    let Value::Array(entries) = &node.value else {
        let or = " or a list of whole numbers, in 1/8192 of `spread`";
        return reader.choice(node, name, &DISTRIBUTIONS, or).map(|named| match named {
            Named::Uniform => Distribution::Uniform,
            Named::Normal => Distribution::Normal,
            Named::Pareto => Distribution::Pareto,
            Named::ParetoNormal => Distribution::ParetoNormal,
        });
    };
    let entry = |value: &Value| match value {
        Value::Integer(value) => value.and_then(|value| i16::try_from(value).ok()),
        _ => None,
    };
    let table: Option<Vec<i16>> = entries.iter().map(|node| entry(&node.value)).collect();
    match table {
        Some(table) if (1..=TABLE_MAX).contains(&table.len()) => {
            Some(Distribution::Table(table.into()))
        }
        _ => {
            let expected = "1 to 16384 whole numbers from -32768 to 32767, in 1/8192 of `spread`";
            reader.wrong(node, name, expected);
            None
        }
    }
}

/// Reads `keep_order`, which is true by default.
pub(super) fn read_keep_order(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> Option<bool> {
    let name = keys.name("keep_order");
    keys.take("keep_order").map_or(Some(true), |node| reader.boolean(node, &name))
}
