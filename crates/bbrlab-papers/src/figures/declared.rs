//! Declarations of a paper's figures and tables, from its file in `papers/study/`. A declaration
//! selects measured rows or runs, and describes how they are drawn.

use std::collections::BTreeMap;

use bbrlab_report::Scale;
use serde::{Deserialize, Deserializer};

use crate::id::Id;

/// A figure or a table of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "FigureText")]
pub(crate) struct Figure {
    /// The experiment whose results the figure shows. The figure is drawn for each form of the
    /// experiment (see [`crate::FORMS`]).
    pub(crate) experiment: Id,
    /// The figure's number in the paper.
    pub(crate) number: String,
    /// The figure's title.
    pub(crate) title: String,
    /// A note for a reader who compares the figure with the paper's; may be empty.
    pub(crate) note: String,
    /// The content: a table or panels.
    pub(crate) body: Body,
}

/// The content of a figure: a table, or panels.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// A table.
    Table(Grid),
    /// The number of panels side by side, and the panels.
    Panels(usize, Vec<Panel>),
}

/// Keys, each with the value that a row or run must have. Rows and runs with other values are not
/// shown.
pub(crate) type At = BTreeMap<String, Is>;

/// The required value of a key.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a name, a number or a list of names")]
pub(crate) enum Is {
    /// A name.
    Word(String),
    /// A number, in the unit at the end of the key's name, such as ms for `delay_ms`.
    Number(f64),
    /// Any of these names.
    OneOf(Vec<String>),
}

/// The entry of `lines` or `across` that represents the table's metrics.
pub(crate) const METRIC: &str = "metric";

/// A table: a row for each combination of values of the keys in `lines`, and a column for each
/// combination of values of the keys in `across`. One of the two lists contains [`METRIC`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    #[serde(default)]
    pub(crate) at: At,
    pub(crate) lines: Vec<String>,
    pub(crate) across: Vec<String>,
    pub(crate) metrics: Vec<String>,
    /// Metrics with one value per column. Each metric is a row at the foot of the table.
    #[serde(default)]
    pub(crate) foot: Vec<String>,
    /// Whether cells are shaded by their values, which must be from 0 to 1, like Jain's index.
    #[serde(default)]
    pub(crate) is_shaded: bool,
}

/// A panel, or one panel for each combination of values of the keys in `each`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "PanelText")]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) at: At,
    /// Each combination of values of these keys has its own panel.
    pub(crate) each: Vec<String>,
    pub(crate) draws: Draws,
}

/// The content of a panel.
#[derive(Clone, Debug)]
pub(crate) enum Draws {
    /// A metric against a key, with one curve for each combination of values of the keys in `by`.
    Curves(Along),
    /// A metric as bars, one for each value of a key. Each bar has one part for each combination of
    /// values of the keys in `by`; the parts are stacked.
    Stacked(Along),
    /// The distribution of a metric over the flows and seeds, as one box for each value of a key.
    Boxes(Along),
    /// Quantities of runs, drawn against time.
    OverTime(OverTime),
}

/// A metric against a key, which is the x axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Along {
    pub(crate) metric: String,
    pub(crate) key: String,
    #[serde(default)]
    pub(crate) by: Vec<String>,
    #[serde(default = "from_zero", deserialize_with = "scale")]
    pub(crate) scale: Scale,
}

/// A panel that draws quantities of runs against time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverTime {
    /// The quantities drawn, each with its flows.
    pub(crate) shows: Shows,
    /// Keys whose values label the runs, if the panel shows several runs.
    #[serde(default)]
    pub(crate) by: Vec<String>,
    /// The start and the end of the time axis in seconds; if absent, the axis covers the whole run.
    pub(crate) window_s: Option<(f64, f64)>,
    /// A metric for which the paper prints values at certain times of the run (key `time_s`). The
    /// printed values are drawn on the lines.
    pub(crate) printed: Option<String>,
    /// Values that the paper prints, drawn as horizontal lines.
    #[serde(default)]
    pub(crate) levels: Vec<Named>,
    /// Times that the paper prints, drawn as vertical lines.
    #[serde(default)]
    pub(crate) moments: Vec<Named>,
}

/// A value that the paper prints, with its label.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    pub(crate) metric: String,
    pub(crate) at: At,
    pub(crate) words: String,
}

/// A quantity drawn over time. A variant's number is the length in seconds of the bins in which the
/// quantity is averaged.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quantity {
    /// IP bytes received since the flow's start, divided by the time since the start, in Mibit/s.
    /// The thesis (`lanigan2020`) plots this mean.
    RunningMean,
    /// Rate of the payload that the application reads, in Mbit/s.
    Throughput(f64),
    /// Packets that the sender sends per second.
    Sent(f64),
    /// Packets that the sender marks lost per second.
    LostPerSecond(f64),
    /// Rate of the payload of all packets sent, including retransmissions, in Mbit/s.
    SentRate(f64),
    /// Retransmissions per second.
    Retransmitted(f64),
    /// Packets that the sender has marked lost since the start.
    Lost,
    Rtt,
    MinRtt,
    Cwnd,
    Inflight,
    InflightHi,
    PacingRate,
    /// Packets in the bottleneck's queue.
    Queue,
}

/// The quantities that a panel draws over time, each with its flows.
pub(crate) type Shows = Vec<(Quantity, Who)>;

/// The flows for which a panel draws lines, or the link.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Who {
    /// Each flow that the paper reports.
    Flows,
    /// The first flow, even if the paper does not report it.
    First,
    /// The second flow of the run, including flows that the paper does not report.
    Second,
    /// The first flow that uses this algorithm.
    Cc(String),
    /// The flow with the highest goodput and the flow with the lowest.
    HighAndLow,
    /// Each sender: all flows of a `[[flows]]` table together.
    Senders,
    /// The sum over all flows.
    Together,
    /// The bottleneck.
    Link,
}

/// A figure as a file in `papers/study/` declares it: with `table`, with `side_by_side` and
/// `panels`, or with `side_by_side` and `stacks`. Each stack has one panel for each entry of
/// `shows`, from top to bottom.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureText {
    experiment: Id,
    number: String,
    title: String,
    #[serde(default)]
    note: String,
    table: Option<Grid>,
    side_by_side: Option<usize>,
    #[serde(default)]
    panels: Vec<Panel>,
    #[serde(default)]
    stacks: Vec<Stack>,
    #[serde(default)]
    shows: Vec<Shows>,
}

/// A stack: panels that are drawn one below the other, one panel for each entry of `shows` in
/// [`FigureText`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stack {
    /// The title of the top panel.
    title: String,
    at: At,
}

impl TryFrom<FigureText> for Figure {
    type Error = &'static str;

    fn try_from(text: FigureText) -> Result<Self, Self::Error> {
        let FigureText { experiment, number, title, note, .. } = text;
        let body = match (text.table, text.side_by_side) {
            (Some(table), None) if text.panels.is_empty() && text.stacks.is_empty() => {
                Body::Table(table)
            }
            (None, Some(columns)) if columns > 0 && text.stacks.is_empty() => {
                Body::Panels(columns, text.panels)
            }
            (None, Some(columns)) if columns > 0 && text.panels.is_empty() => {
                Body::Panels(columns, panels_of(&text.stacks, columns, &text.shows))
            }
            _ => {
                return Err("expected either `table`, or `side_by_side` with `panels` or `stacks`");
            }
        };
        Ok(Self { experiment, number, title, note, body })
    }
}

/// Returns the panels of stacks in drawing order. `columns` stacks are side by side; their panels
/// come row by row, followed by the panels of the next `columns` stacks.
fn panels_of(stacks: &[Stack], columns: usize, shows: &[Shows]) -> Vec<Panel> {
    let mut panels = Vec::new();
    for beside in stacks.chunks(columns) {
        for (row, shows) in shows.iter().enumerate() {
            panels.extend(beside.iter().map(|stack| Panel {
                title: if row == 0 { stack.title.clone() } else { String::new() },
                at: stack.at.clone(),
                each: Vec::new(),
                draws: Draws::OverTime(OverTime {
                    shows: shows.clone(),
                    by: Vec::new(),
                    window_s: None,
                    printed: None,
                    levels: Vec::new(),
                    moments: Vec::new(),
                }),
            }));
        }
    }
    panels
}

/// A panel as a file in `papers/study/` declares it, with exactly one of `curves`, `stacked`,
/// `boxes` and `over_time`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PanelText {
    #[serde(default)]
    title: String,
    #[serde(default)]
    at: At,
    #[serde(default)]
    each: Vec<String>,
    curves: Option<Along>,
    stacked: Option<Along>,
    boxes: Option<Along>,
    over_time: Option<OverTime>,
}

impl TryFrom<PanelText> for Panel {
    type Error = &'static str;

    fn try_from(text: PanelText) -> Result<Self, Self::Error> {
        let PanelText { title, at, each, .. } = text;
        let draws = match (text.curves, text.stacked, text.boxes, text.over_time) {
            (Some(along), None, None, None) => Draws::Curves(along),
            (None, Some(along), None, None) => Draws::Stacked(along),
            (None, None, Some(along), None) => Draws::Boxes(along),
            (None, None, None, Some(of)) if !of.shows.is_empty() => Draws::OverTime(of),
            _ => return Err("expected one of `curves`, `stacked`, `boxes` and `over_time`"),
        };
        Ok(Self { title, at, each, draws })
    }
}

fn from_zero() -> Scale {
    Scale::FromZero
}

fn scale<'de, D: Deserializer<'de>>(text: D) -> Result<Scale, D::Error> {
    /// The scales of an axis, under the names that files in `papers/study/` use.
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Name {
        FromZero,
        Around,
        Logarithmic,
    }
    Ok(match Name::deserialize(text)? {
        Name::FromZero => Scale::FromZero,
        Name::Around => Scale::Around,
        Name::Logarithmic => Scale::Logarithmic,
    })
}
