//! The links on a run's routes, and the link-layer bytes that links add to a packet.

use bbrlab_link::Link;
use bbrlab_units::Bytes;

use crate::headers;
use crate::run::{FlowClass, Hop, Run};

impl Hop {
    /// Returns the link of this element of a route; `None` if the element is a delay without a
    /// link. `shared` contains the links of the run, and `private` the private links of the flow's
    /// class.
    ///
    /// # Panics
    /// Panics if `shared` or `private` does not contain the link.
    #[must_use]
    pub fn link<'l>(self, shared: &'l [Link], private: &'l [Link]) -> Option<&'l Link> {
        match self {
            Self::Delay(_) => None,
            Self::Link(number) => Some(&shared[number as usize]),
            Self::Private(number) => Some(&private[number as usize]),
        }
    }
}

/// Returns the link-layer bytes per packet at the start of a route over these links: the framing of
/// the first link that has a rate or a policer. On other links, the sizes of packets do not matter.
/// If no link has a rate or a policer, the function returns the framing of Ethernet.
pub fn framing<'l>(links: impl IntoIterator<Item = &'l Link>) -> Bytes {
    links.into_iter().find_map(Link::frames).unwrap_or(Link::ETHERNET)
}

/// Returns the wire bytes of a data packet with `mss` bytes of payload on `link`. If `link` is
/// `None`, returns the bytes of the IP packet.
#[must_use]
pub fn wire_bytes(link: Option<&Link>, mss: u32) -> u64 {
    u64::from(mss + headers::DATA) + link.map_or(0, |link| link.framing.0)
}

impl Run {
    /// Returns the link at an element of a route of this class.
    ///
    /// # Panics
    /// Panics if neither the run nor the class has the link of the element.
    #[must_use]
    pub fn link_at<'r>(&'r self, class: &'r FlowClass, hop: Hop) -> Option<&'r Link> {
        hop.link(&self.links, &class.private_links)
    }

    /// Returns the links on a route of this class, in order.
    ///
    /// # Panics
    /// The iterator panics if the route contains a link that neither the run nor the class has.
    pub fn links_on<'r>(
        &'r self,
        class: &'r FlowClass,
        route: &'r [Hop],
    ) -> impl Iterator<Item = &'r Link> {
        route.iter().filter_map(|&hop| self.link_at(class, hop))
    }

    /// Returns the link whose departing data packets are counted as `data_packets`.
    #[must_use]
    pub fn bottleneck_link(&self) -> Option<&Link> {
        self.bottleneck.and_then(|link| self.links.get(link as usize))
    }

    /// Returns the link-layer bytes per packet at the start of a route of this class.
    ///
    /// # Panics
    /// Panics if the route contains a link that neither the run nor the class has, or if the
    /// framing is 4 GiB or more.
    #[must_use]
    pub fn framing(&self, class: &FlowClass, route: &[Hop]) -> u32 {
        let framing = framing(route.iter().filter_map(|&hop| self.link_at(class, hop)));
        u32::try_from(framing.0).expect("a scenario's framing is a handful of bytes")
    }

    /// Returns the number of bytes that headers and framing add to a data packet of this class at
    /// the start of the forward route.
    ///
    /// # Panics
    /// Panics like [`Self::framing`].
    #[must_use]
    pub fn data_overhead(&self, class: &FlowClass) -> u32 {
        headers::DATA + self.framing(class, &class.forward)
    }
}
