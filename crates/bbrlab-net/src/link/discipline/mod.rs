//! Queue disciplines with departure events: the list of them, and what each of them answers.
//!
//! A discipline is a file of this folder, a line of the list, and the arm of [`Discipline::new`] that makes it
//! of its parameters, which stand in `bbrlab_link::Queue`. The engine asks through a `match` on the list.

mod codel;
mod drop_tail;
#[cfg(test)]
pub(crate) mod ticking;

use bbrlab_link::{Buffer, Queue};
use bbrlab_units::Time;

use crate::packet::Queued;
use crate::rng::Rng;

/// Why a discipline drops a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The buffer is full.
    Full,
    /// To tell the sender that the queue is too long.
    Early,
}

/// A rule by which packets of a link are dropped, marked and sent.
///
/// Packets given to `drop` are gone. A rule marks by writing the packet's `ecn`. `rng` is the link's own stream for
/// it, which nobody else draws from.
pub(crate) trait Rule {
    /// Takes a packet, or drops it or others. With `idle` the server is free and the packet (if it survives `dequeue`)
    /// goes into service at once, so it needs no room.
    fn enqueue(
        &mut self,
        now: Time,
        packet: Queued,
        idle: bool,
        rng: &mut Rng,
        drop: &mut impl FnMut(Queued, Cause),
    );

    /// The next packet to serve; none if there is none, or if those that wait must wait for the timer.
    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        drop: &mut impl FnMut(Queued, Cause),
    ) -> Option<Queued>;

    /// When [`Self::on_timer`] is to be called; asked after every other call. `NEVER` leaves the timer as it is.
    fn timer(&self) -> Time {
        Time::NEVER
    }

    /// The moment of [`Self::timer`] has come. If the server is free, it asks for a packet next.
    fn on_timer(&mut self, _now: Time, _drop: &mut impl FnMut(Queued, Cause)) {}

    /// Shows each packet that waits.
    fn walk(&self, each: &mut impl FnMut(&Queued));
}

/// Makes the enum of all rules, and of each question a `match`.
macro_rules! disciplines {
    ($($(#[$attribute:meta])* $name:ident($rule:ty),)*) => {
        /// The queue discipline of a link, with its state.
        #[derive(Debug)]
        pub(crate) enum Discipline {
            $($(#[$attribute])* $name($rule),)*
        }

        impl Rule for Discipline {
            #[inline]
            fn enqueue(
                &mut self,
                now: Time,
                packet: Queued,
                idle: bool,
                rng: &mut Rng,
                drop: &mut impl FnMut(Queued, Cause),
            ) {
                match self {
                    $($(#[$attribute])* Self::$name(rule) => {
                        rule.enqueue(now, packet, idle, rng, drop);
                    })*
                }
            }

            #[inline]
            fn dequeue(
                &mut self,
                now: Time,
                rng: &mut Rng,
                drop: &mut impl FnMut(Queued, Cause),
            ) -> Option<Queued> {
                match self {
                    $($(#[$attribute])* Self::$name(rule) => rule.dequeue(now, rng, drop),)*
                }
            }

            #[inline]
            fn timer(&self) -> Time {
                match self {
                    $($(#[$attribute])* Self::$name(rule) => rule.timer(),)*
                }
            }

            fn on_timer(&mut self, now: Time, drop: &mut impl FnMut(Queued, Cause)) {
                match self {
                    $($(#[$attribute])* Self::$name(rule) => rule.on_timer(now, drop),)*
                }
            }

            fn walk(&self, each: &mut impl FnMut(&Queued)) {
                match self {
                    $($(#[$attribute])* Self::$name(rule) => rule.walk(each),)*
                }
            }
        }
    };
}

disciplines! {
    DropTail(drop_tail::DropTail),
    CoDel(codel::CoDel),
    #[cfg(test)]
    Ticking(ticking::Ticking),
}

impl Discipline {
    /// An empty queue with room for what `buffer` says.
    pub(crate) fn new(queue: Queue, buffer: Buffer) -> Self {
        match queue {
            Queue::DropTail => Self::DropTail(drop_tail::DropTail::new(buffer)),
            Queue::CoDelRfc8289(parameters) => Self::CoDel(codel::CoDel::new(parameters, buffer)),
        }
    }
}
