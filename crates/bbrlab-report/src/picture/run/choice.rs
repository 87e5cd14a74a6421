//! What is drawn of a run.

use crate::picture::shape::Shape;

/// A part of a run's picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPanel {
    /// The states of congestion controls, as coloured bands.
    State,
    /// What left the last link with a rate.
    Throughput,
    /// Smoothed RTT; of a single flow its samples too.
    Rtt,
    /// Congestion window and packets in flight.
    Cwnd,
    /// The congestion control's estimate of the bandwidth.
    Bandwidth,
    /// The pacing rate.
    Pacing,
    /// The queues, a panel for each link.
    Queue,
}

impl RunPanel {
    /// The parts with their names.
    pub const NAMED: &[(&str, Self)] = &[
        ("state", Self::State),
        ("throughput", Self::Throughput),
        ("rtt", Self::Rtt),
        ("cwnd", Self::Cwnd),
        ("queue", Self::Queue),
        ("bw", Self::Bandwidth),
        ("pacing", Self::Pacing),
    ];

    /// The parts that are drawn unless somebody chooses, as far as the flows have what they show.
    pub const USUAL: &[Self] = &[Self::State, Self::Throughput, Self::Rtt, Self::Cwnd, Self::Queue];

    /// Whether it shows what only a connection has.
    pub(super) fn is_of_connections(self) -> bool {
        matches!(self, Self::Rtt | Self::Cwnd | Self::Bandwidth | Self::Pacing)
    }
}

/// What somebody wants to see of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunChoice {
    /// The panels, from top to bottom; the states are always at the top.
    pub panels: Vec<RunPanel>,
    /// Where the time axis begins, in seconds; at the start if `None`.
    pub from_s: Option<f64>,
    /// Where the time axis ends, in seconds; at the end if `None`.
    pub to_s: Option<f64>,
    /// The size.
    pub shape: Shape,
}

impl Default for RunChoice {
    fn default() -> Self {
        Self { panels: RunPanel::USUAL.to_vec(), from_s: None, to_s: None, shape: Shape::SCREEN }
    }
}
