//! How a figure or a table of a paper is declared in its study file: which of the experiment's
//! measured rows and runs it shows, and in which shape.

use std::collections::BTreeMap;

use bbrlab_report::Scale;
use serde::{Deserialize, Deserializer};

use crate::id::Id;

/// A figure or a table of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "FigureText")]
pub(crate) struct Figure {
    /// The experiment, whatever its form.
    pub(crate) experiment: Id,
    /// As the paper numbers it.
    pub(crate) number: String,
    /// What it shows.
    pub(crate) title: String,
    /// What a reader who has the paper beside it should know; or nothing.
    pub(crate) note: String,
    /// Its shape.
    pub(crate) body: Body,
}

/// The shape.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// A table.
    Table(Grid),
    /// So many panels side by side.
    Panels(usize, Vec<Panel>),
}

/// Keys with the values that rows or runs must have.
pub(crate) type At = BTreeMap<String, Is>;

/// The value of a key.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a name, a number or a list of names")]
pub(crate) enum Is {
    /// A name.
    Word(String),
    /// A quantity, in the unit that ends the key's name.
    Number(f64),
    /// One of these names.
    OneOf(Vec<String>),
}

/// Stands among the keys of a table for its metrics.
pub(crate) const METRIC: &str = "metric";

/// A table: a line for each combination of some keys, a column for each of others. [`METRIC`] is
/// among either.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    #[serde(default)]
    pub(crate) at: At,
    pub(crate) lines: Vec<String>,
    pub(crate) across: Vec<String>,
    pub(crate) metrics: Vec<String>,
    /// Metrics of a column as a whole, each a line at the foot.
    #[serde(default)]
    pub(crate) foot: Vec<String>,
    /// Whether cells are shaded by their values, which are indices from 0 to 1.
    #[serde(default)]
    pub(crate) is_shaded: bool,
}

/// A panel, or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "PanelText")]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) at: At,
    /// A panel for each combination of these keys.
    pub(crate) each: Vec<String>,
    pub(crate) draws: Draws,
}

/// What a panel shows.
#[derive(Clone, Debug)]
pub(crate) enum Draws {
    /// A metric along a key, a curve for each combination of others.
    Curves(Along),
    /// The same as bars on top of each other.
    Stacked(Along),
    /// The distribution of a metric over the flows, along a key.
    Boxes(Along),
    /// Runs over time.
    OverTime(OverTime),
}

/// A metric along a key.
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

/// Runs over time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverTime {
    /// What is drawn, and of which flows.
    pub(crate) shows: Shows,
    /// Keys that name the runs, if the panel has several.
    #[serde(default)]
    pub(crate) by: Vec<String>,
    /// From when to when, in seconds; otherwise the whole run.
    pub(crate) window_s: Option<(f64, f64)>,
    /// The metric of printed rows with `time_s` that stand on the lines.
    pub(crate) printed: Option<String>,
    /// Printed heights.
    #[serde(default)]
    pub(crate) levels: Vec<Named>,
    /// Printed moments.
    #[serde(default)]
    pub(crate) moments: Vec<Named>,
}

/// A printed figure, with words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    pub(crate) metric: String,
    pub(crate) at: At,
    pub(crate) words: String,
}

/// What is drawn over time. Those with a number are in bins of so many seconds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quantity {
    /// IP bytes received since the flow's start over the time since then, in Mibit/s: what the
    /// thesis plots.
    RunningMean,
    /// Payload that the application reads.
    Throughput(f64),
    /// Packets that the sender sends, in packets a second.
    Sent(f64),
    /// Packets that the sender marks lost, in packets a second.
    LostPerSecond(f64),
    /// Payload of all packets that are sent.
    SentRate(f64),
    /// Retransmissions, in packets a second.
    Retransmitted(f64),
    /// Packets that the sender has marked lost.
    Lost,
    Rtt,
    MinRtt,
    Cwnd,
    Inflight,
    InflightHi,
    PacingRate,
    /// Packets at the bottleneck.
    Queue,
}

/// What a panel draws over time, and whose.
pub(crate) type Shows = Vec<(Quantity, Who)>;

/// Whose lines.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Who {
    /// Each flow that the paper reports.
    Flows,
    /// The first flow, reported or not.
    First,
    /// The second flow.
    Second,
    /// The first flow of an algorithm.
    Cc(String),
    /// The flows with the most and the least goodput.
    HighAndLow,
    /// All flows of a sender together.
    Senders,
    /// All flows together.
    Together,
    /// The bottleneck.
    Link,
}

/// A figure as a study file has it: `table`; or `panels`, so many `side_by_side`; or `stacks` of
/// panels, each with a panel for each of `shows` from top to bottom.
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

/// Some panels on top of each other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stack {
    /// The title of the topmost.
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

/// The panels of stacks in the order in which panels are drawn: so many stacks side by side, row by
/// row, then the next.
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

/// A panel as a study file has it, with exactly one of the last four.
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
    /// The scales by name.
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
