//! The choice of panels, time and size for the picture of a run.

use crate::picture::labels::Labels;
use crate::picture::shape::Shape;

/// A kind of panel in a run's picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPanel {
    /// The states of congestion controls, as coloured bands.
    State,
    /// The throughput of each flow after the last link with a rate on the flow's path.
    Throughput,
    /// Smoothed RTT; for a single flow also its RTT samples.
    Rtt,
    /// Congestion window and packets in flight.
    Cwnd,
    /// The congestion control's estimate of the bandwidth.
    Bandwidth,
    /// The pacing rate.
    Pacing,
    /// The queues, with a panel for each link.
    Queue,
}

impl RunPanel {
    /// The kinds of panels with the names by which users choose them.
    pub const NAMED: &[(&str, Self)] = &[
        ("state", Self::State),
        ("throughput", Self::Throughput),
        ("rtt", Self::Rtt),
        ("cwnd", Self::Cwnd),
        ("queue", Self::Queue),
        ("bw", Self::Bandwidth),
        ("pacing", Self::Pacing),
    ];

    /// The panels drawn by default, if the flows have the data.
    pub const USUAL: &[Self] = &[Self::State, Self::Throughput, Self::Rtt, Self::Cwnd, Self::Queue];

    /// Returns the name by which users choose this kind of panel.
    pub(super) fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, of)| *of == self).map_or("", |(name, _)| name)
    }

    /// Whether only connections have the panel's quantity.
    pub(super) fn is_of_connections(self) -> bool {
        matches!(self, Self::Rtt | Self::Cwnd | Self::Bandwidth | Self::Pacing)
    }
}

/// The user's choice for the picture of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunChoice {
    /// The panels, from top to bottom. The panel of states is always at the top.
    pub panels: Vec<RunPanel>,
    /// The start of the time axis in seconds; `None` is the start of the run.
    pub from_s: Option<f64>,
    /// The end of the time axis in seconds; `None` is the end of the run.
    pub to_s: Option<f64>,
    /// The groups of flows that are drawn; all if empty.
    pub groups: Vec<String>,
    /// The picture's size.
    pub shape: Shape,
    /// The texts that replace the default title, axis names and legends.
    pub labels: Labels,
}

impl Default for RunChoice {
    fn default() -> Self {
        Self {
            panels: RunPanel::USUAL.to_vec(),
            from_s: None,
            to_s: None,
            groups: Vec::new(),
            shape: Shape::SCREEN,
            labels: Labels::default(),
        }
    }
}
