//! Rules for counting the packets from which a paper's metrics are computed.

use serde::Deserialize;

/// A rule that defines which packets count as sent, received and lost.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// The definitions in the paper's data file.
    #[default]
    Definitions,
    /// The counting rule of the authors' program, if it differs from the definitions.
    ///
    /// [acd-ns3]: `TcpSocketBase::ReceivedData` counts each arriving data segment as transmitted.
    /// `ReceivedData` counts a segment as received only if the segment itself advances the next
    /// expected byte. When this segment fills a gap, the segments after the gap, which arrived
    /// earlier, are not counted. Therefore, a new packet that arrives out of order never counts as
    /// received. The paper's number of lost packets is the number of transmitted packets minus the
    /// number of received packets. The lost packets are therefore the packets that arrived out of
    /// order or as duplicates.
    ///
    /// A segment that ends below the next expected byte does not reach `ReceivedData`. In this
    /// project's counts, a segment below the next expected byte still counts as transmitted,
    /// because a run's results do not have the number of such segments. Such segments are needless
    /// retransmissions. With the authors' stack, they are at most 1.5 % of the packets sent.
    Program,
}

impl Counting {
    /// Returns the name of the counting rule in the document of `bbrlab reproduce --json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Definitions => "definitions",
            Self::Program => "program",
        }
    }

    /// Describes the rule.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Definitions => "counted as defined",
            Self::Program => "counted as the authors' program counts",
        }
    }
}
