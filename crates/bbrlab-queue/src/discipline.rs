//! The list of queue disciplines, and the trait that each implements.
//!
//! The engine calls a discipline through a `match` on the list.

use bbrlab_link::{Buffer, Queue};
use bbrlab_units::Time;

use crate::codel::Codel;
use crate::drop_tail::DropTail;
use crate::entropy::Entropy;
use crate::fq_codel::FqCodel;
use crate::packet::Queued;

/// Why a discipline drops a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The buffer is full.
    Full,
    /// To signal congestion to the sender before the buffer is full.
    Early,
}

/// A rule by which packets of a link are dropped, marked and sent.
///
/// A rule drops a packet by passing it to `drop`, and marks it by [`Queued::set_ce`].
pub trait Rule {
    /// Queues a packet, or drops it or others. With `idle` the server is free, and the packet goes into service at once
    /// (if `dequeue` does not drop it), so it needs no space in the buffer.
    fn enqueue(
        &mut self,
        now: Time,
        packet: Queued,
        idle: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, Cause),
    );

    /// The next packet to serve; `None` if there is none, or if the waiting packets must wait for the timer.
    fn dequeue(
        &mut self,
        now: Time,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, Cause),
    ) -> Option<Queued>;

    /// When [`Self::on_timer`] is to be called; read after every other call. `NEVER` does not change the timer.
    fn timer(&self) -> Time {
        Time::NEVER
    }

    /// The time of [`Self::timer`] has come. If the server is free, the engine calls [`Self::dequeue`] next.
    fn on_timer(&mut self, _now: Time, _drop: &mut impl FnMut(Queued, Cause)) {}

    /// Calls `each` with every packet that waits.
    fn walk(&self, each: &mut impl FnMut(&Queued));
}

/// Defines the enum of all rules, whose methods are a `match` on the rule.
macro_rules! disciplines {
    ($($(#[$attribute:meta])* $name:ident($rule:ty),)*) => {
        /// The queue discipline of a link, with its state.
        #[derive(Debug)]
        #[expect(missing_docs, reason = "a list of names")]
        pub enum Discipline {
            $($(#[$attribute])* $name($rule),)*
        }

        impl Rule for Discipline {
            #[inline]
            fn enqueue(
                &mut self,
                now: Time,
                packet: Queued,
                idle: bool,
                entropy: &mut impl Entropy,
                drop: &mut impl FnMut(Queued, Cause),
            ) {
                match self {
                    $($(#[$attribute])* Self::$name(rule) => {
                        rule.enqueue(now, packet, idle, entropy, drop);
                    })*
                }
            }

            #[inline]
            fn dequeue(
                &mut self,
                now: Time,
                entropy: &mut impl Entropy,
                drop: &mut impl FnMut(Queued, Cause),
            ) -> Option<Queued> {
                match self {
                    $($(#[$attribute])* Self::$name(rule) => rule.dequeue(now, entropy, drop),)*
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
    DropTail(DropTail),
    Codel(Codel),
    FqCodel(FqCodel),
}

impl Discipline {
    /// An empty queue with the given limit.
    #[must_use]
    pub fn new(queue: &Queue, limit: Buffer) -> Self {
        match queue {
            Queue::DropTail => Self::DropTail(DropTail::new(limit)),
            Queue::CoDelRfc8289(_) => unreachable!("to go"),
            Queue::Codel(params) => Self::Codel(Codel::new(params, limit)),
            Queue::FqCodel(params) => Self::FqCodel(FqCodel::new(params, limit)),
        }
    }
}
