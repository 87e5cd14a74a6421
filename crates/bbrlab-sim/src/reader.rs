//! A receiving application that reads at scheduled times instead of whenever data arrives.
//!
//! Data that the application has not read fills the socket's buffer, so the advertised window
//! closes. The sockets (`bbrlab-tcp`) handle window updates, zero windows and probes.

use bbrlab_run::{Pace, Reading};
use bbrlab_units::{BitRate, Span, Time};

use crate::pieces::Pieces;
use crate::schedule::Schedule;

/// The schedule of an application's reads.
#[derive(Debug)]
pub(crate) struct Reader {
    pieces: Pieces,
    plan: Plan,
    /// The largest number of bytes per read.
    piece_bytes: u32,
    has_begun: bool,
}

#[derive(Debug)]
enum Plan {
    Paced(Schedule),
    Periodic(Span),
}

impl Reader {
    /// Creates the reader of a flow whose segments have `mss` bytes of payload.
    pub(crate) fn new(reading: &Reading, mss: u32) -> Self {
        let (plan, piece_bytes) = match reading {
            Reading::Paced(paces) => (Plan::Paced(Schedule::new(paces)), mss),
            Reading::Periodic { bytes, every } => {
                (Plan::Periodic(*every), u32::try_from(bytes.0).unwrap_or(u32::MAX))
            }
        };
        Self { pieces: Pieces::default(), plan, piece_bytes, has_begun: false }
    }

    /// Begins to read at `now`, unless reading began with an earlier connection of the flow.
    /// Returns whether this call began to read.
    pub(crate) fn begin(&mut self, now: Time) -> bool {
        if self.has_begun {
            return false;
        }
        self.has_begun = true;
        match &mut self.plan {
            Plan::Paced(schedule) => schedule.begin(now, &mut self.pieces),
            Plan::Periodic(_) => self.pieces.begin_periods(now, None),
        }
        true
    }

    /// Begins the next step of the schedule at `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        if let Plan::Paced(schedule) = &mut self.plan {
            schedule.advance(now, &mut self.pieces);
        }
    }

    /// Returns when the next step of the schedule begins; `None` if there are no more steps.
    pub(crate) fn next_step(&self) -> Option<Time> {
        match &self.plan {
            Plan::Paced(schedule) => schedule.next_step(),
            Plan::Periodic(_) => None,
        }
    }

    /// Whether data is currently read as soon as it arrives.
    pub(crate) fn is_unlimited(&self) -> bool {
        matches!(&self.plan, Plan::Paced(schedule) if schedule.pace() == Pace::Unlimited)
    }

    /// If a read is due at `now`, counts it as done and returns the largest number of bytes that it
    /// reads.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<u32> {
        if !self.pieces.is_due(now) {
            return None;
        }
        match &self.plan {
            Plan::Periodic(every) => self.pieces.next_periodic(*every),
            Plan::Paced(schedule) => {
                let Pace::At(BitRate(rate)) = schedule.pace() else { return None };
                self.pieces.next_at_rate(self.piece_bytes, rate)
            }
        };
        Some(self.piece_bytes)
    }

    /// Returns when the next read is due; `None` in a step without scheduled reads.
    pub(crate) fn due(&self) -> Option<Time> {
        self.pieces.due_in_period()
    }
}
