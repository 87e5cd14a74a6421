//! How a figure or a table of a paper is declared: which of the experiment's measured rows and runs it shows, and in which
//! shape.

use bbrlab_report::Scale;

/// A figure or a table of a paper.
#[derive(Debug)]
pub(super) struct Figure {
    /// The experiment, whatever its form.
    pub(super) experiment: &'static str,
    /// As the paper numbers it.
    pub(super) number: &'static str,
    /// What it shows.
    pub(super) title: &'static str,
    /// What a reader who has the paper beside it should know; or nothing.
    pub(super) note: &'static str,
    /// Its shape.
    pub(super) body: Body,
}

/// The shape.
#[derive(Debug)]
pub(super) enum Body {
    /// A table.
    Table(Grid),
    /// So many panels side by side.
    Panels(usize, &'static [Panel]),
}

/// Keys with the values that rows or runs must have.
pub(super) type At = &'static [(&'static str, Is)];

/// The value of a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Is {
    /// A name.
    Word(&'static str),
    /// A quantity, in the unit that ends the key's name.
    Number(f64),
    /// One of these names.
    OneOf(&'static [&'static str]),
}

/// Stands among the keys of a table for its metrics.
pub(super) const METRIC: &str = "metric";

/// A table: a line for each combination of some keys, a column for each of others. [`METRIC`] is among either.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) at: At,
    pub(super) lines: &'static [&'static str],
    pub(super) across: &'static [&'static str],
    pub(super) metrics: &'static [&'static str],
    /// Metrics of a column as a whole, each a line at the foot.
    pub(super) foot: &'static [&'static str],
    /// Whether cells are shaded by their values, which are indices from 0 to 1.
    pub(super) is_shaded: bool,
}

/// A panel, or several.
#[derive(Clone, Copy, Debug)]
pub(super) struct Panel {
    pub(super) title: &'static str,
    pub(super) at: At,
    /// A panel for each combination of these keys.
    pub(super) each: &'static [&'static str],
    pub(super) draws: Draws,
}

impl Panel {
    /// All of some runs over time.
    pub(super) const fn over_time(title: &'static str, at: At, shows: Shows) -> Self {
        Self { title, at, each: &[], draws: Draws::OverTime(OverTime { shows, ..WHOLE }) }
    }
}

/// What a panel shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Draws {
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Along {
    pub(super) metric: &'static str,
    pub(super) key: &'static str,
    pub(super) by: &'static [&'static str],
    pub(super) scale: Scale,
}

/// Runs over time.
#[derive(Clone, Copy, Debug)]
pub(super) struct OverTime {
    /// What is drawn, and of which flows.
    pub(super) shows: Shows,
    /// Keys that name the runs, if the panel has several.
    pub(super) by: &'static [&'static str],
    /// From when to when, in seconds; otherwise the whole run.
    pub(super) window_s: Option<(f64, f64)>,
    /// The metric of printed rows with `time_s` that stand on the lines.
    pub(super) printed: Option<&'static str>,
    /// Printed heights.
    pub(super) levels: &'static [Named],
    /// Printed moments.
    pub(super) moments: &'static [Named],
}

/// All of a run, without anything printed.
pub(super) const WHOLE: OverTime =
    OverTime { shows: &[], by: &[], window_s: None, printed: None, levels: &[], moments: &[] };

/// A printed figure, with words.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) metric: &'static str,
    pub(super) at: At,
    pub(super) words: &'static str,
}

/// What is drawn over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Quantity {
    /// IP bytes received since the flow's start over the time since then, in Mibit/s: what the thesis plots.
    RunningMean,
    /// Payload that the application reads, in bins of so many seconds.
    Throughput(f64),
    /// Packets that the sender sends, in bins; in packets a second.
    Sent(f64),
    /// Packets that the sender marks lost, in bins; in packets a second.
    LostPerSecond(f64),
    /// Payload of all packets that are sent, in bins.
    SentRate(f64),
    /// Retransmissions, in bins; in packets a second.
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
pub(super) type Shows = &'static [(Quantity, Who)];

/// Whose lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Each flow that the paper reports.
    Flows,
    /// The first flow, reported or not.
    First,
    /// The second flow.
    Second,
    /// The first flow of an algorithm.
    Of(&'static str),
    /// The flows with the most and the least goodput.
    HighAndLow,
    /// All flows of a sender together.
    Senders,
    /// All flows together.
    Together,
    /// The bottleneck.
    Link,
}
