//! Links that share a medium take turns: a turn is one transmission opportunity.
//!
//! A turn begins when a packet reaches a link while the medium is idle, or at the end of another
//! turn if packets wait then. If several links have packets, the next link after the link that sent
//! last gets the turn, so two links that always have packets alternate.
//!
//! In a turn, the link sends the packets that wait when the turn begins, up to a limit on their
//! number and a limit on the time. Packets that arrive later wait for another turn, even if the
//! same link has the next turn.

use bbrlab_link::Airtime;
use bbrlab_units::Time;

use super::Network;
use crate::link::Backlog;
use crate::packet::{LinkId, PacketData};

/// A half-duplex medium.
#[derive(Debug)]
pub(super) struct Medium {
    airtime: Airtime,
    /// The links that share the medium, in the order of their turns.
    links: Vec<LinkId>,
    /// Number of turns of each link so far.
    turns: Vec<u64>,
    turn: Option<Turn>,
    /// The departure time of the packet that was put into service last, at any link of the medium.
    free_at: Time,
}

/// The current transmission opportunity of a link. A transmission opportunity ends when no packet
/// of the opportunity is in service any more.
#[derive(Clone, Copy, Debug)]
struct Turn {
    link: LinkId,
    /// Number of packets that this turn may still send.
    left: u64,
    /// The service of each packet of this turn, except the first, must begin before this time.
    ends: Time,
}

impl Medium {
    /// Whether no link has the turn. While no link has it, a packet that arrives at one of the
    /// medium's links starts a turn.
    pub(super) fn is_free(&self) -> bool {
        self.turn.is_none()
    }
}

impl<P: PacketData> Network<P> {
    /// Returns the number of turns that a link has had on its medium; `None` if it shares no
    /// medium.
    pub fn turns(&self, id: LinkId) -> Option<u64> {
        let medium = &self.media[self.links[id.0 as usize].medium? as usize];
        let own = medium.links.iter().position(|&link| link == id)?;
        Some(medium.turns[own])
    }

    /// Adds a link to the medium with the number `airtime.medium`. Creates this medium if no link
    /// shares it yet.
    pub(super) fn share_medium(&mut self, id: LinkId, airtime: Airtime) {
        let known = self.media.iter().position(|medium| medium.airtime.medium == airtime.medium);
        let place = known.unwrap_or(self.media.len());
        if known.is_none() {
            let (links, turns, turn, free_at) = (Vec::new(), Vec::new(), None, Time::ZERO);
            self.media.push(Medium { airtime, links, turns, turn, free_at });
        }
        assert_eq!(
            self.media[place].airtime, airtime,
            "links that share a medium have equal airtime parameters"
        );
        self.media[place].links.push(id);
        self.media[place].turns.push(0);
        let place = u32::try_from(place).expect("there are no more media than links");
        self.links[id.0 as usize].medium = Some(place);
    }

    /// Puts the next packet of the current turn into service or, if the turn is over, the first
    /// packet of the next turn. Link `id` must have a packet waiting and none in service. Does
    /// nothing if another link has the turn.
    #[inline(never)]
    pub(super) fn serve_in_turn(&mut self, id: LinkId, place: u32, from: Time) {
        let due = self.due;
        let medium = &mut self.media[place as usize];
        let mut start = from.max(medium.free_at);
        let others = match &mut medium.turn {
            Some(turn) if turn.link != id => return,
            Some(turn) => {
                if turn.left > 0 && due < turn.ends {
                    turn.left -= 1;
                    if self.occupies(id, place, from) {
                        return;
                    }
                }
                start = self.media[place as usize].free_at;
                self.media[place as usize].links.len() - 1
            }
            None => 0,
        };
        self.media[place as usize].turn = None;
        self.next_turn(id, place, others, start);
    }

    /// Starts the turn of the first link that has a packet. The search tries `others` links,
    /// beginning after `id` in the order of turns, and then `id` itself. `others` is the number of
    /// all other links, or 0.
    fn next_turn(&mut self, id: LinkId, place: u32, others: usize, start: Time) {
        let Medium { airtime, links, .. } = &self.media[place as usize];
        let Airtime { overhead, packets, time, .. } = *airtime;
        let count = links.len();
        let own = links.iter().position(|&link| link == id).expect("the link shares the medium");
        let first = start + overhead;
        for step in count - others..=count {
            let next = (own + step) % count;
            let link = self.media[place as usize].links[next];
            let waiting = self.links[link.0 as usize].stats.backlog_packets();
            let served = waiting > 0 && self.occupies(link, place, first);
            if served {
                let ends = time.map_or(Time::NEVER, |time| first + time);
                let left = waiting.min(packets.0) - 1;
                let medium = &mut self.media[place as usize];
                medium.turn = Some(Turn { link, left, ends });
                medium.turns[next] += 1;
            }
            if waiting > 0 && link != id {
                self.arm_link_timer(link);
            }
            if served {
                return;
            }
        }
    }

    /// Puts the next packet of a link into service, so that the packet occupies the medium. Returns
    /// false if the queue releases no packet.
    fn occupies(&mut self, id: LinkId, place: u32, from: Time) -> bool {
        self.serve_next(id, from);
        let Backlog::Events { in_service, .. } = &self.links[id.0 as usize].backlog else {
            unreachable!("links that share a medium have departure events")
        };
        let Some(served) = in_service else { return false };
        self.media[place as usize].free_at = served.departs;
        true
    }
}
