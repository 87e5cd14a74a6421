//! The list of queue disciplines.
//!
//! The engine calls a discipline through a `match` on this list, not through a table of functions.

use bbrlab_link::{Buffer, Queue};
use bbrlab_units::{Span, Time};

use crate::cake::Cake;
use crate::codel::Codel;
use crate::drop_tail::DropTail;
use crate::dualpi2::DualPi2;
use crate::entropy::Entropy;
use crate::fq::Fq;
use crate::fq_codel::FqCodel;
use crate::fq_pie::FqPie;
use crate::grants::Grants;
use crate::info::DisciplineInfo;
use crate::packet::Queued;
use crate::pie::Pie;
use crate::prio::Prio;
use crate::red::Red;
use crate::rule::{DropCause, Rule};
use crate::sfq::Sfq;
use crate::slots::Slots;
use crate::tcp_header::TcpHeader;

/// Defines the enum of all rules. Each of its methods calls the rule's method through a `match`.
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
                drop: &mut impl FnMut(Queued, DropCause),
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
                drop: &mut impl FnMut(Queued, DropCause),
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

            fn on_timer(&mut self, now: Time, drop: &mut impl FnMut(Queued, DropCause)) {
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
    Pie(Pie),
    FqPie(FqPie),
    Red(Red),
    DualPi2(Box<DualPi2>),
    Sfq(Box<Sfq>),
    Fq(Box<Fq>),
    Cake(Box<Cake>),
    Prio(Prio),
    Slots(Slots),
    Grants(Grants),
    #[cfg(debug_assertions)]
    Ticking(crate::ticking::Ticking),
}

impl Discipline {
    /// Makes an empty queue with the given limit.
    #[must_use]
    pub fn new(queue: &Queue, limit: Buffer) -> Self {
        match queue {
            Queue::DropTail => Self::DropTail(DropTail::new(limit)),
            Queue::Codel(params) => Self::Codel(Codel::new(params, limit)),
            Queue::FqCodel(params) => Self::FqCodel(FqCodel::new(params, limit)),
            Queue::Pie(params) => Self::Pie(Pie::new(params, limit)),
            Queue::FqPie(params) => Self::FqPie(FqPie::new(params, limit)),
            Queue::Red(params) => Self::Red(Red::new(params, limit)),
            Queue::DualPi2(params) => Self::DualPi2(Box::new(DualPi2::new(params, limit))),
            Queue::Sfq(params) => Self::Sfq(Box::new(Sfq::new(params, limit))),
            Queue::Fq(params) => Self::Fq(Box::new(Fq::new(params, limit))),
            Queue::Cake(params) => Self::Cake(Box::new(Cake::new(params, limit))),
            Queue::Prio(params) => Self::Prio(Prio::new(params, limit)),
            Queue::Slots(params) => Self::Slots(Slots::new(params, limit)),
            Queue::Grants(params) => Self::Grants(Grants::new(params, limit)),
        }
    }

    /// Returns the time for which the discipline delays every packet and which does not count as
    /// waiting time. Slots have a fixed delay; for other disciplines the time is 0.
    #[inline]
    #[must_use]
    pub fn delay(&self) -> Span {
        match self {
            Self::Slots(slots) => slots.delay(),
            _ => Span::ZERO,
        }
    }

    /// Whether the caller must call [`Self::read`] before each [`Rule::enqueue`].
    #[inline]
    #[must_use]
    pub fn filters_acks(&self) -> bool {
        matches!(self, Self::Cake(cake) if cake.filters_acks())
    }

    /// Stores the TCP header of the packet that is enqueued next; `None` if the packet has none.
    pub fn read(&mut self, header: Option<TcpHeader>) {
        if let Self::Cake(cake) = self {
            cake.read(header);
        }
    }

    /// Whether [`Rule::timer`] can ever return a time other than `NEVER`.
    #[inline]
    #[must_use]
    pub fn has_timer(&self) -> bool {
        match self {
            Self::DropTail(_) | Self::Codel(_) | Self::FqCodel(_) | Self::Fq(_) | Self::Prio(_) => {
                false
            }
            Self::Pie(_)
            | Self::FqPie(_)
            | Self::Red(_)
            | Self::DualPi2(_)
            | Self::Sfq(_)
            | Self::Cake(_)
            | Self::Slots(_)
            | Self::Grants(_) => true,
            #[cfg(debug_assertions)]
            Self::Ticking(_) => true,
        }
    }

    /// Returns the internal state of the discipline; `None` if the kernel's logs do not contain the
    /// state of such a discipline.
    #[must_use]
    pub fn info(&self) -> Option<DisciplineInfo> {
        match self {
            Self::DropTail(_)
            | Self::FqPie(_)
            | Self::DualPi2(_)
            | Self::Sfq(_)
            | Self::Fq(_)
            | Self::Cake(_)
            | Self::Prio(_)
            | Self::Slots(_)
            | Self::Grants(_) => None,
            Self::Codel(rule) => Some(rule.info()),
            Self::FqCodel(rule) => rule.info(),
            Self::Pie(rule) => Some(rule.info()),
            Self::Red(rule) => Some(rule.info()),
            #[cfg(debug_assertions)]
            Self::Ticking(_) => None,
        }
    }
}
