//! Links that share a medium take turns.
//!
//! A turn begins when a packet reaches a link while nobody sends, or with the end of another turn,
//! if packets wait then. Of several links with packets the one after the last sender is next, so
//! two that always have some alternate. A turn sends what waits at its link when it begins, as far
//! as its bounds let it; what comes later waits for another turn, although the link may have the
//! next one.

use bbrlab_link::Airtime;
use bbrlab_units::Time;

use super::Network;
use crate::link::Line;
use crate::packet::{LinkId, Load};

/// A half-duplex medium.
#[derive(Debug)]
pub(super) struct Medium {
    airtime: Airtime,
    /// The links that share it, in the order of their turns.
    links: Vec<LinkId>,
    /// How many turns each has had.
    turns: Vec<u64>,
    turn: Option<Turn>,
    /// When the last packet has departed.
    free_at: Time,
}

/// A turn, while one of its packets is in service.
#[derive(Clone, Copy, Debug)]
struct Turn {
    link: LinkId,
    /// Packets that may still follow.
    left: u64,
    /// From here on no packet begins.
    ends: Time,
}

impl Medium {
    /// Whether a packet that comes now is sent at once.
    pub(super) fn is_free(&self) -> bool {
        self.turn.is_none()
    }
}

impl<P: Load> Network<P> {
    /// The turns that a link has had on the medium that it shares; `None` if it shares none.
    pub fn turns(&self, id: LinkId) -> Option<u64> {
        let medium = &self.media[self.links[id.0 as usize].medium? as usize];
        let own = medium.links.iter().position(|&link| link == id)?;
        Some(medium.turns[own])
    }

    /// Adds a link to the medium of that number.
    pub(super) fn share_medium(&mut self, id: LinkId, airtime: Airtime) {
        let known = self.media.iter().position(|medium| medium.airtime.medium == airtime.medium);
        let place = known.unwrap_or(self.media.len());
        if known.is_none() {
            let (links, turns, turn, free_at) = (Vec::new(), Vec::new(), None, Time::ZERO);
            self.media.push(Medium { airtime, links, turns, turn, free_at });
        }
        assert_eq!(self.media[place].airtime, airtime, "who shares a medium has the same turns");
        self.media[place].links.push(id);
        self.media[place].turns.push(0);
        let place = u32::try_from(place).expect("not more media than links");
        self.links[id.0 as usize].medium = Some(place);
    }

    /// The next packet of a turn goes into service, or the first one of the next turn. `id` has a
    /// packet and none in service.
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

    /// The turn of the next link with a packet, of so many others behind `id` and of `id` as the
    /// last one.
    fn next_turn(&mut self, id: LinkId, place: u32, others: usize, start: Time) {
        let Medium { airtime, links, .. } = &self.media[place as usize];
        let Airtime { overhead, packets, time, .. } = *airtime;
        let count = links.len();
        let own = links.iter().position(|&link| link == id).expect("it shares the medium");
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

    /// Whether a packet goes into service, which then occupies the medium. Otherwise the queue has
    /// none.
    fn occupies(&mut self, id: LinkId, place: u32, from: Time) -> bool {
        self.serve_next(id, from);
        let Line::Events { in_service, .. } = &self.links[id.0 as usize].line else {
            unreachable!("links that share a medium have departure events")
        };
        let Some(served) = in_service else { return false };
        self.media[place as usize].free_at = served.departs;
        true
    }
}
