//! The parameters of a link whose sender asks before it sends.

use bbrlab_units::{Bytes, Span};

/// A link on which packets wait for grants, as the upstream of DOCSIS and of cellular networks.
///
/// One request at a time is under way. It tells the backlog of the moment at which it is sent; a
/// grant for that comes `delay` later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantParams {
    /// From a request to its grant.
    pub delay: Span,
    /// When nothing was under way, requests are sent at multiples of this; zero: at once.
    pub every: Span,
    /// The most that a grant covers; a larger packet has a grant of its own. `None`: all that the
    /// request told.
    pub bytes: Option<Bytes>,
}
