//! The short way of a plain link: what `engine/path.rs` does at any link, without the questions that a plain link answers
//! with no. `Link::is_plain` says which links these are.

use bbrlab_units::Time;

use super::server::Server;
use super::{Line, Link, Shadow, has_room};
use crate::accounts::Accounts;
use crate::digest::Record;
use crate::packet::{FlowId, LinkId};

/// What a plain link asks of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    pub(crate) identity: u64,
    pub(crate) flow: FlowId,
    pub(crate) wire_bytes: u32,
    pub(crate) is_data: bool,
    pub(crate) counts_for_flow: bool,
}

impl Link {
    /// Admits a packet to a plain link. Returns when the packet departs; `None` if the buffer is full.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once where hosts send, once for other arrivals")]
    pub(crate) fn admit_plainly(
        &mut self,
        id: LinkId,
        (due, now): (Time, Time),
        packet: &Admission,
        accounts: &mut Accounts,
    ) -> Option<Time> {
        self.settle_as::<true>(due, id, accounts);
        let (Line::Virtual { buffer, shadows }, Server::Constant(serialiser)) =
            (&mut self.line, &mut self.server)
        else {
            unreachable!("the link is plain")
        };
        self.stats.arrivals += 1;
        if packet.is_data {
            accounts.digest.add(Record::LinkArrival, id, packet.identity, due);
        }
        if !has_room(buffer, shadows, self.stats.backlog_bytes, packet.wire_bytes) {
            self.stats.drops_full += 1;
            if packet.is_data {
                accounts.losses(packet.flow).drops += 1;
                accounts.digest.add(Record::DropFull, id, packet.identity, due);
            }
            return None;
        }
        let waited = serialiser.free_at().since(now);
        let departs = serialiser.begin_and_serve(now, packet.wire_bytes);
        self.stats.enters(due, packet.wire_bytes);
        shadows.push_back(Shadow {
            departs,
            waited,
            identity: packet.identity,
            flow: packet.flow.0,
            wire_bytes: packet.wire_bytes,
            is_data: packet.is_data,
            lost: false,
            marked: false,
            counts_for_flow: packet.counts_for_flow,
        });
        Some(departs)
    }
}
