//! Declarations of a paper's figures and tables in its study file. A declaration has the measured
//! rows and runs that the figure shows, and its shape.

use std::collections::BTreeMap;

use bbrlab_report::Scale;
use serde::{Deserialize, Deserializer};

use crate::id::Id;

/// A figure or a table of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "FigureText")]
pub(crate) struct Figure {
    /// The experiment, without its form. The figure applies to all forms.
    pub(crate) experiment: Id,
    /// The figure's number in the paper, such as a figure or table number.
    pub(crate) number: String,
    /// The figure's title.
    pub(crate) title: String,
    /// A note for readers who compare the figure with the paper; may be empty.
    pub(crate) note: String,
    /// The figure's shape.
    pub(crate) body: Body,
}

/// The shape of a figure.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// A table.
    Table(Grid),
    /// Panels, with the number of panels side by side.
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
    /// Any of these names.
    OneOf(Vec<String>),
}

/// The pseudo-key of a table that stands for the metrics.
pub(crate) const METRIC: &str = "metric";

/// A table: a row for each combination of some keys, a column for each combination of others.
/// Either the rows or the columns include [`METRIC`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    #[serde(default)]
    pub(crate) at: At,
    pub(crate) lines: Vec<String>,
    pub(crate) across: Vec<String>,
    pub(crate) metrics: Vec<String>,
    /// Metrics of a whole column. Each is a row at the bottom of the table.
    #[serde(default)]
    pub(crate) foot: Vec<String>,
    /// Whether cells are shaded by their values, which are indices from 0 to 1.
    #[serde(default)]
    pub(crate) is_shaded: bool,
}

/// One panel, or several of one kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "PanelText")]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) at: At,
    /// Keys. There is a panel for each combination of their values.
    pub(crate) each: Vec<String>,
    pub(crate) draws: Draws,
}

/// The content of a panel.
#[derive(Clone, Debug)]
pub(crate) enum Draws {
    /// A metric along a key, with one curve for each combination of other keys.
    Curves(Along),
    /// Like `Curves`, but as stacked bars.
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
    /// The quantities drawn, each with its flows.
    pub(crate) shows: Shows,
    /// Keys that name the runs, if the panel has several.
    #[serde(default)]
    pub(crate) by: Vec<String>,
    /// Start and end of the time drawn, in seconds; the whole run if absent.
    pub(crate) window_s: Option<(f64, f64)>,
    /// A metric with printed values at `time_s`, which are drawn on the lines.
    pub(crate) printed: Option<String>,
    /// Printed values, drawn as horizontal lines.
    #[serde(default)]
    pub(crate) levels: Vec<Named>,
    /// Printed times, drawn as vertical lines.
    #[serde(default)]
    pub(crate) moments: Vec<Named>,
}

/// A printed figure, with its label.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    pub(crate) metric: String,
    pub(crate) at: At,
    pub(crate) words: String,
}

/// A quantity drawn over time. A number is the length of the bins in seconds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quantity {
    /// IP bytes received since the flow's start divided by the time since the start, in Mibit/s, as
    /// the thesis plots it.
    RunningMean,
    /// Rate of payload that the application reads.
    Throughput(f64),
    /// Packets that the sender sends per second.
    Sent(f64),
    /// Packets that the sender marks lost per second.
    LostPerSecond(f64),
    /// Rate of payload of all packets sent.
    SentRate(f64),
    /// Retransmissions per second.
    Retransmitted(f64),
    /// Total number of packets that the sender has marked lost.
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

/// The quantities that a panel draws over time, each with its flows.
pub(crate) type Shows = Vec<(Quantity, Who)>;

/// The flows or the link for which lines are drawn.
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
    /// The sum over the flows of each sender.
    Senders,
    /// The sum over all flows.
    Together,
    /// The bottleneck.
    Link,
}

/// A figure in a study file. It has `table`, or `panels` with the number of panels `side_by_side`,
/// or `stacks` of panels. Each stack has one panel for each of `shows`, from top to bottom.
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

/// A stack of panels, from top to bottom.
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

/// Returns the panels of stacks in drawing order: row by row through `columns` stacks side by side,
/// then through the next stacks.
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

/// A panel in a study file. Exactly one of the last four keys must be set.
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
