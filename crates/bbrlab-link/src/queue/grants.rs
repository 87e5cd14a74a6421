//! The parameters of a link whose sender requests grants before it sends.

use bbrlab_units::{Bytes, Span};

/// A link on which packets wait for grants, like the upstream of DOCSIS and of cellular networks.
///
/// At most one request is outstanding. The request reports the backlog at the time at which it is
/// sent; the grant for this backlog arrives `delay` later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantParams {
    /// Time from a request to its grant.
    pub delay: Span,
    /// If no request is outstanding, requests are sent at multiples of this time; if it is 0, at
    /// once.
    pub every: Span,
    /// Maximum number of bytes per grant; a larger packet has its own grant. `None`: the whole
    /// reported backlog.
    pub bytes: Option<Bytes>,
}
