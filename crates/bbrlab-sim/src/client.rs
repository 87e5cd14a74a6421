//! The state of sources that send random bursts, follow a schedule of rates, or send requests on
//! one connection, such as video players.

use bbrlab_run::{Bursts, Pause, Random, Requests, Source};
use bbrlab_units::{Span, Time};

use crate::draw::Draws;
use crate::schedule::Schedule;

/// The state of an application that sends requests, alternates between random on and off periods,
/// or follows a schedule of rates.
#[derive(Debug)]
pub(crate) enum Client {
    Requester(Requester),
    Bursts { on: Draws, off: Draws },
    Schedule(Schedule),
}

/// A client that sends requests one at a time: it sends the next request only after it has read the
/// answer to the previous one.
#[derive(Debug)]
pub(crate) struct Requester {
    sizes: Draws,
    pause: Wait,
    /// Bytes of the answer to the latest request.
    wanted: u64,
    /// The size of the next answer in bytes, if a browser has already chosen it. For other flows,
    /// the size is drawn from `sizes`.
    assigned: Option<u64>,
    /// The total number of requests; after the last answer, the client sends no more.
    count: u32,
}

/// How a client waits before its next request.
#[derive(Debug)]
enum Wait {
    None,
    Think(Draws),
    Player(Player),
}

/// A video player. The video player plays the data in its buffer, and stalls while the buffer is
/// empty.
#[derive(Debug)]
struct Player {
    piece: Span,
    buffer: Span,
    /// The time at which the buffer will be empty; `None` before the first chunk has been read.
    plays_until: Option<Time>,
    stalled: Span,
}

impl Client {
    /// Creates the client of flow `id` in the run with `seed`; `None` if the flow's source draws no
    /// random numbers and has no schedule.
    pub(crate) fn new(source: &Source, (seed, id): (u64, u32)) -> Option<Self> {
        let draws = |random: &Random, what| Draws::new(random, seed, &format!("{what} {id}"));
        match *source {
            Source::Requests(Requests { ref size, ref pause, count }) => {
                Some(Self::Requester(Requester {
                    sizes: draws(size, "answers"),
                    pause: match *pause {
                        // A browser decides when its connections send requests.
                        Pause::None | Pause::Page(_) => Wait::None,
                        Pause::Think(ref think) => Wait::Think(draws(think, "think")),
                        Pause::Player { piece, buffer } => {
                            let plays_until = None;
                            Wait::Player(Player { piece, buffer, plays_until, stalled: Span::ZERO })
                        }
                    },
                    wanted: 0,
                    assigned: None,
                    count: count.unwrap_or(u32::MAX),
                }))
            }
            Source::Bursts(Bursts { ref on, ref off, .. }) => {
                Some(Self::Bursts { on: draws(on, "on"), off: draws(off, "off") })
            }
            Source::Rates(ref paces) => Some(Self::Schedule(Schedule::new(paces))),
            _ => None,
        }
    }

    /// Draws the length of the on or off period that begins now.
    pub(crate) fn period(&mut self, is_on: bool) -> Span {
        match self {
            Self::Bursts { on, off } => Span(if is_on { on.next() } else { off.next() }),
            Self::Requester(_) | Self::Schedule(_) => unreachable!("only bursts have periods"),
        }
    }

    /// Returns how long a player has stalled in total, from its first chunk until `now`; `None`
    /// before the first chunk has been read, and for other applications.
    pub(crate) fn stalled(&self, now: Time) -> Option<Span> {
        let Self::Requester(Requester { pause: Wait::Player(player), .. }) = self else {
            return None;
        };
        let until = player.plays_until?;
        Some(player.stalled + now.since(until))
    }
}

impl Requester {
    /// Sets the size of the answer to the next request.
    pub(crate) fn assign(&mut self, bytes: u64) {
        self.assigned = Some(bytes);
    }

    /// Returns the size of the answer to the next request in bytes: the size passed to
    /// [`Self::assign`] since the last request, otherwise a size drawn at random.
    pub(crate) fn request(&mut self) -> u64 {
        self.wanted = self.assigned.take().unwrap_or_else(|| self.sizes.next());
        self.wanted
    }

    /// Returns the number of bytes of the answer to the latest request.
    pub(crate) fn wanted(&self) -> u64 {
        self.wanted
    }

    /// Returns when the client sends its next request, after it has read the answer number `n`
    /// (counted from 1) at `now`; `None` if there are no more requests.
    pub(crate) fn after(&mut self, n: usize, now: Time) -> Option<Time> {
        let at = match &mut self.pause {
            Wait::None => now,
            Wait::Think(think) => now + Span(think.next()),
            Wait::Player(player) => player.after_piece(now),
        };
        (n < self.count as usize).then_some(at)
    }
}

impl Player {
    /// Records that a chunk has been read at `now`. Returns the time at which the player requests
    /// the next chunk.
    fn after_piece(&mut self, now: Time) -> Time {
        let until = self.plays_until.unwrap_or(now);
        self.stalled = self.stalled + now.since(until);
        let until = until.max(now) + self.piece;
        self.plays_until = Some(until);
        // A chunk fits into the buffer when at most `full` of playing time is buffered.
        let full = self.buffer.0.saturating_sub(self.piece.0);
        now.max(Time(until.0.saturating_sub(full)))
    }
}

#[cfg(test)]
mod tests {
    use super::Player;
    use bbrlab_units::{Span, Time};

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_player_fills_its_buffer_then_asks_once_a_piece() {
        let (piece, buffer) = (Span::from_secs(4), Span::from_secs(12));
        let mut player = Player { piece, buffer, plays_until: None, stalled: Span::ZERO };
        let mut asked = |at: u64| player.after_piece(Time(at * S)).0 / S;
        // The buffer has 4 s of playing time at 1 s, 7 s at 2 s and 10 s at 3 s. At 5 s there is
        // space for another chunk of 4 s.
        assert_eq!([asked(1), asked(2), asked(3)], [1, 2, 5]);
        assert_eq!([asked(6), asked(10)], [9, 13]);
        // The buffer is empty at 21 s. The player stalls until the next chunk arrives at 30 s.
        assert_eq!(asked(30), 30);
        assert_eq!(player.stalled, Span::from_secs(9));
    }
}
