//! The type of all queue disciplines.
//!
//! The engine calls a discipline through a `match` on the list in `lib.rs`, not through a table of
//! functions.

use bbrlab_units::Span;

use crate::Discipline;
use crate::tcp_header::TcpHeader;

/// The content of a variant of `Discipline`: a type that implements `Rule` or, if the type is
/// large, a box of it.
macro_rules! held {
    ($rule:ty) => { $rule };
    ($rule:ty, boxed) => { Box<$rule> };
}

/// Defines the enum `Discipline`, with one variant per type that implements `Rule`. Each method of
/// the enum calls the type's method through a `match`. An entry of `rules` has the name of a
/// variant of [`bbrlab_link::Queue`]; the type's `new` takes the parameters of this variant.
macro_rules! disciplines {
    (
        rules { $($name:ident$(($params:ident))? => $rule:ty $(, $boxed:ident)?;)* }
        only_in_tests { $test_name:ident => $test_rule:ty; }
    ) => {
        /// The queue discipline of a link, with its state.
        #[derive(Debug)]
        #[expect(missing_docs, reason = "a list of names")]
        pub enum Discipline {
            $($name(discipline::held!($rule $(, $boxed)?)),)*
            #[cfg(debug_assertions)]
            $test_name($test_rule),
        }

        impl Discipline {
            /// Makes an empty queue with the given limit.
            #[must_use]
            pub fn new(queue: &Queue, limit: Buffer) -> Self {
                match queue {
                    $(Queue::$name$(($params))? => {
                        Self::$name(<$rule>::new($($params,)? limit).into())
                    })*
                }
            }

            /// Whether [`Rule::timer`] can ever return a time other than `NEVER`.
            #[inline]
            #[must_use]
            pub fn has_timer(&self) -> bool {
                match self {
                    $(Self::$name(_) => <$rule>::HAS_TIMER,)*
                    #[cfg(debug_assertions)]
                    Self::$test_name(_) => <$test_rule>::HAS_TIMER,
                }
            }
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
                    $(Self::$name(rule) => rule.enqueue(now, packet, idle, entropy, drop),)*
                    #[cfg(debug_assertions)]
                    Self::$test_name(rule) => rule.enqueue(now, packet, idle, entropy, drop),
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
                    $(Self::$name(rule) => rule.dequeue(now, entropy, drop),)*
                    #[cfg(debug_assertions)]
                    Self::$test_name(rule) => rule.dequeue(now, entropy, drop),
                }
            }

            #[inline]
            fn timer(&self) -> Time {
                match self {
                    $(Self::$name(rule) => rule.timer(),)*
                    #[cfg(debug_assertions)]
                    Self::$test_name(rule) => rule.timer(),
                }
            }

            fn on_timer(&mut self, now: Time, drop: &mut impl FnMut(Queued, DropCause)) {
                match self {
                    $(Self::$name(rule) => rule.on_timer(now, drop),)*
                    #[cfg(debug_assertions)]
                    Self::$test_name(rule) => rule.on_timer(now, drop),
                }
            }

            fn walk(&self, each: &mut impl FnMut(&Queued)) {
                match self {
                    $(Self::$name(rule) => rule.walk(each),)*
                    #[cfg(debug_assertions)]
                    Self::$test_name(rule) => rule.walk(each),
                }
            }

            fn info(&self) -> Option<DisciplineInfo> {
                match self {
                    $(Self::$name(rule) => rule.info(),)*
                    #[cfg(debug_assertions)]
                    Self::$test_name(rule) => rule.info(),
                }
            }
        }
    };
}

pub(crate) use {disciplines, held};

impl Discipline {
    /// Returns the constant delay that the discipline adds to every packet. This delay does not
    /// count as waiting time. Only the discipline `slots` has such a delay; for all other
    /// disciplines, the result is 0.
    #[inline]
    #[must_use]
    pub fn delay(&self) -> Span {
        match self {
            Self::Slots(slots) => slots.delay(),
            _ => Span::ZERO,
        }
    }

    /// Whether the caller must call [`Self::read`] before each call of
    /// [`enqueue`](crate::Rule::enqueue).
    #[inline]
    #[must_use]
    pub fn filters_acks(&self) -> bool {
        matches!(self, Self::Cake(cake) if cake.filters_acks())
    }

    /// Stores the TCP header of the packet that is enqueued next; `None` for a packet without a TCP
    /// header.
    pub fn read(&mut self, header: Option<TcpHeader>) {
        if let Self::Cake(cake) = self {
            cake.read(header);
        }
    }
}
