//! The parameters of a link that must request a grant before it sends.

use bbrlab_units::{Bytes, Span};

/// A link on which packets wait for grants, like the upstream of DOCSIS and of cellular networks.
///
/// At most one request for a grant is outstanding. A request reports the bytes that wait when it is
/// sent; the grant for these bytes arrives `delay` later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantParams {
    /// Time from a request to its grant.
    pub delay: Span,
    /// While no request is outstanding, requests are sent at multiples of this time; if it is 0,
    /// requests are sent immediately.
    pub every: Span,
    /// Maximum number of bytes per grant; a packet larger than this gets a separate grant. `None`:
    /// each grant covers all bytes that its request reported.
    pub bytes: Option<Bytes>,
}
