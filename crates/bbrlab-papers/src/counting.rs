//! Who counts the packets that a paper's metrics are computed from.

use serde::Deserialize;

/// By which rule packets count as sent, received and lost.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// By the definitions in the paper's data file.
    #[default]
    Definitions,
    /// By that of the authors' program, where it differs.
    ///
    /// [acd-ns3]: `TcpSocketBase::ReceivedData` adds each data segment that arrives to what is called transmitted, and to
    /// what is called received only one that itself advances the next expected byte, and then no
    /// more than this one. So a packet that arrives above a hole, and is new, never counts as
    /// received: the difference, which the paper calls lost, is what arrived above a hole or twice.
    /// One that ends below the next expected byte does not come to that function; here it counts as
    /// arrived all the same, since no record tells how many these are. They are some of the
    /// repeated ones, at most 1.5 % of what is sent with the authors' stack.
    Program,
}

impl Counting {
    /// As documents spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Definitions => "definitions",
            Self::Program => "program",
        }
    }

    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Definitions => "counted as defined",
            Self::Program => "counted as the authors' program counts",
        }
    }
}
