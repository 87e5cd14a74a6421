//! `repeat`: the number of runs per sweep point. The number is fixed, or runs are added until the
//! 95 % confidence interval of a metric's mean is narrow enough.

use bbrlab_run::{Field, FlowGroup, Kind, LinkSummary, Role, RunSummary, leaves};

use crate::language::canonical::toml_string;
use crate::language::decimal::Decimal;
use crate::language::document::{Node, Value};
use crate::language::key::{Form, needed};
use crate::language::nearest::nearest;
use crate::language::reader::{Keys, Reader};

/// The largest number of runs per sweep point.
const REPEAT_MAX: u64 = 1_000_000;

pub(crate) const REPEAT_FORM: Form = Form::Any(&[
    Form::Whole(1, REPEAT_MAX),
    Form::Table(&[
        needed("until", Form::Ratio),
        needed("of", Form::Text),
        needed("at_most", Form::Whole(Until::LEAST, REPEAT_MAX)),
    ]),
]);

const EXPECTED: &str = "a whole number from 1 to 1000000, or a table such as { until = \"2%\", of = \"goodput_mbps\", \
                        at_most = 200 }";

/// The number of runs per sweep point.
#[derive(Clone, Debug)]
pub(crate) enum Repeat {
    Fixed(u64),
    Until(Until),
}

/// The rule that decides when a sweep point has enough runs. Half the width of the 95 % interval of
/// a metric's mean must be at most a given share of the mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    /// The largest accepted half width of the interval, as a share of the mean; above 0 and at most
    /// 1.
    share: Decimal,
    of: UntilOf,
    at_most: u64,
}

/// The metric whose mean must have a narrow enough interval: one metric of the run or of a link, or
/// a metric of each group of flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UntilOf {
    /// The metric with this full name, of the run or of one link.
    One(String),
    /// The metric with this name of each group of flows.
    EachGroup(String),
}

impl Until {
    /// The smallest number of seeds of a sweep point, one seed per run. With fewer seeds, the
    /// variance is too uncertain for a decision.
    pub const LEAST: u64 = 10;

    /// The number of seeds that a sweep point gets between two decisions.
    pub const BATCH: u64 = 5;

    /// Returns the accepted imprecision of the mean, as a share of the mean. A sweep point has
    /// enough runs if half the width of the mean's 95 % interval is at most this share of the
    /// mean.
    ///
    /// # Panics
    /// Never in practice: the text of a decimal number can always be parsed as a floating-point
    /// number.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share.to_string().parse().expect("a decimal number")
    }

    /// Returns the share as text, such as `2 %`.
    #[must_use]
    pub fn percentage(&self) -> String {
        let percent = format!("{:.6}", self.share() * 100.0);
        format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
    }

    /// Returns the metric whose mean must have a narrow enough interval.
    #[must_use]
    pub fn of(&self) -> &UntilOf {
        &self.of
    }

    /// Returns the largest number of seeds of a sweep point.
    #[must_use]
    pub fn at_most(&self) -> u64 {
        self.at_most
    }

    fn read(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let table = reader.table(node, name, EXPECTED)?;
        let mut keys = Keys::new(table, name, node.at);
        let share =
            reader.needed(&mut keys, "until", "a share of the mean such as \"2%\"", read_share);
        let metric = "the name of a metric such as \"goodput_mbps\"";
        let of = reader.needed(&mut keys, "of", metric, UntilOf::read);
        let most = "the largest number of seeds such as 200";
        let at_most = reader.needed(&mut keys, "at_most", most, |reader, node, name| {
            reader.integer(node, name, Self::LEAST, REPEAT_MAX)
        });
        keys.finish(reader);
        Some(Self { share: share?, of: of?, at_most: at_most? })
    }
}

fn read_share(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Decimal> {
    let share = reader.ratio(node, name)?;
    if share.is_zero() {
        reader.wrong(node, name, "a share above zero such as \"2%\"");
        return None;
    }
    Some(share)
}

impl UntilOf {
    fn read(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let metric = reader.text(node, name)?;
        let (run, group, link) =
            (metrics::<RunSummary>(), metrics::<FlowGroup>(), metrics::<LinkSummary>());
        let of_group = metric.strip_prefix("flow_groups.").unwrap_or(metric);
        let of_link = metric.strip_prefix("links.").and_then(|rest| rest.split_once('.'));
        if run.iter().any(|known| known == metric)
            || of_link.is_some_and(|(_, own)| link.iter().any(|known| known == own))
        {
            return Some(Self::One(metric.to_owned()));
        }
        if group.iter().any(|known| known == of_group) {
            return Some(Self::EachGroup(of_group.to_owned()));
        }
        let links = link.iter().map(|own| format!("links.bottleneck.{own}"));
        let known: Vec<String> = run.into_iter().chain(group).chain(links).collect();
        let of_bottleneck = format!("links.bottleneck.{metric}");
        let near = known.iter().find(|known| **known == of_bottleneck).map(String::as_str);
        let near = near.or_else(|| nearest(metric, known.iter().map(String::as_str)));
        let help = near.map(|near| format!("did you mean `{near}`?"));
        let title = format!(
            "`{name}`: expected a metric of runs, of groups of flows or, with `links.NAME.` before it, of a link"
        );
        let found = format!("found \"{metric}\"; `bbrlab list metrics` lists all");
        reader.problem(node.at, title, found, help.into_iter().collect());
        None
    }

    /// Returns whether `repeat.of` selects this metric. `metric` is the full name, such as
    /// `flow_groups.bbr1.goodput_mbps`.
    #[must_use]
    pub fn is(&self, metric: &str) -> bool {
        match self {
            Self::One(name) => metric == name,
            Self::EachGroup(name) => metric
                .strip_prefix("flow_groups.")
                .and_then(|rest| rest.strip_suffix(name.as_str()))
                .is_some_and(|group| group.len() > 1 && group.ends_with('.')),
        }
    }

    /// Returns the name of the metric, as a scenario would write it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::One(name) => name.clone(),
            Self::EachGroup(name) => format!("flow_groups.{name}"),
        }
    }
}

/// Returns the names of the numeric results in `R`, the struct of metrics of a run, a group of
/// flows or a link.
fn metrics<R: Field>() -> Vec<String> {
    let all = leaves(R::PARTS, "", ".").into_iter();
    let numbers =
        all.filter(|leaf| leaf.figure.role == Role::Result && leaf.figure.kind != Kind::Word);
    numbers.map(|leaf| leaf.name).collect()
}

impl Repeat {
    pub(crate) fn read(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        match node.value {
            Value::Integer(_) => reader.integer(node, name, 1, REPEAT_MAX).map(Self::Fixed),
            Value::Table(_) => Until::read(reader, node, name).map(Self::Until),
            _ => {
                reader.wrong(node, name, EXPECTED);
                None
            }
        }
    }

    /// Returns the number of runs per sweep point; with `until`, the upper bound of this number.
    pub(crate) fn most(&self) -> u64 {
        match self {
            Self::Fixed(runs) => *runs,
            Self::Until(until) => until.at_most,
        }
    }

    /// Returns the value of `repeat` as a scenario would write it.
    pub(crate) fn show(&self) -> String {
        match self {
            Self::Fixed(runs) => runs.to_string(),
            Self::Until(Until { share, of, at_most }) => {
                let of = toml_string(&of.name());
                format!("{{ until = {share}, of = {of}, at_most = {at_most} }}")
            }
        }
    }
}
