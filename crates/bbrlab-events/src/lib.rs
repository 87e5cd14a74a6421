//! The event queue of a discrete-event network simulator. The event queue returns events in an
//! order that does not depend on how the queue stores them.
//!
//! # Interface
//!
//! | call | effect |
//! | --- | --- |
//! | [`EventQueue::next`] | returns when the next event is due, and its [`Source`] |
//! | [`EventQueue::take`] | removes and returns that event |
//! | [`EventQueue::insert`] | adds an event |
//! | [`EventQueue::arm`] | arms a timer of a flow, or moves its deadline |
//! | [`EventQueue::disarm`] | cancels a timer of a flow |
//! | [`EventQueue::arm_link`] | arms the timer of a link |
//! | [`EventQueue::head_arrived`] | sets the head of a lane when a packet has become its first |
//! | [`EventQueue::first_head_mut`] | replaces the first packet of lane 0 or 1, which has left |
//! | [`EventQueue::head_left`] | replaces the first packet of another lane, which has left |
//!
//! A *lane* is a delay line: its packets all have the same constant delay, so they leave in the
//! order in which they entered. Among the packets of a lane, only the lane's first packet, its
//! *head*, must be compared with other events. The caller stores the packets; the queue stores the
//! key of each head.
//!
//! # Order
//!
//! Each event has a [`Key`]: its time, its [`Kind`], its flow or link, and a sequence number. The
//! event with the least key is next, regardless of the order of insertion and of where the queue
//! stores it. [`Key`] documents the order of events at the same time, which is part of the
//! interface.
//!
//! # Structures
//!
//! A simulated TCP has few kinds of events, and each kind recurs in its own pattern. The queue
//! therefore combines four standard structures. The next event is the one with the least key among
//! six: the first event of each structure, and the heads of lanes 0 and 1, which are in no
//! structure.
//!
//! | file | structure | events |
//! | --- | --- | --- |
//! | `heap.rs` | 4-ary heap with a lazy hole | inserted events, and most timers |
//! | `lazy_timers.rs` | lazy deletion: a timer moved later keeps its entry | timers in the heap |
//! | `lane_tournament.rs` | tournament tree of keys | heads of lanes, except the first two |
//! | `timer_tournament.rs` | tournament tree of words | one timer per flow, armed for every packet |
//! | `calendar.rs` | calendar queue with a bitmap of its buckets | one timer per flow, armed often |
//! | `queue.rs` | the comparison of the four structures, and the interface | |
//! | `key.rs` | the order of events | |
//!
//! The heads of lanes 0 and 1 are in no tournament, because `queue.rs` compares them directly. If
//! all flows share one path, there are only two lanes: one for data and one for ACKs.
//!
//! A binary heap alone would return the events in the same order as this queue. `tests/order.rs`
//! compares both on random events, `examples/queue_speed.rs` measures both, and
//! `docs/decisions/0008-event-queue.md` has the measurements that justify each structure.
//!
//! Sources: R. Brown, "Calendar queues: a fast O(1) priority queue implementation for the
//! simulation event set problem", Communications of the ACM 31(10), 1988; D. Knuth, "The Art of
//! Computer Programming", volume 3, section 5.2.3 (selection by a tournament, and heaps).
//! Deviations: `calendar.rs` lists the deviations of the calendar queue.

mod calendar;
mod heap;
mod key;
mod lane_tournament;
mod lazy_timers;
mod queue;
mod timer_tournament;

pub use key::{ID_TIE, IDS_MAX, Key, Kind, KindNumber, id_of, id_tie, sent_by, sequence_of, tie};
pub use lazy_timers::TimerId;
pub use queue::{Event, EventQueue, Source};
