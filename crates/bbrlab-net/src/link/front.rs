//! The elements in front of a link's queue: random loss, a policer, ACK thinning.

use bbrlab_link::Link;
use bbrlab_queue::Police;

use super::thinning::Thinning;
use crate::loss::LossProcess;

/// The elements that a packet passes before it reaches the queue, in this order.
#[derive(Debug)]
pub(crate) struct Front {
    pub(crate) loss: Option<LossProcess>,
    pub(crate) police: Option<Police>,
    pub(crate) thinning: Option<Thinning>,
}

impl Front {
    /// Makes the front of a link; `None` if packets go straight to its queue, as on most links.
    pub(crate) fn of(link: &Link, loss: Option<LossProcess>) -> Option<Box<Self>> {
        let front = Self {
            loss,
            police: link.police.as_ref().map(Police::new),
            thinning: link.ack_thinning.map(Thinning::new),
        };
        let is_open = front.loss.is_none() && front.police.is_none() && front.thinning.is_none();
        (!is_open).then(|| Box::new(front))
    }
}
