//! The network: a deterministic discrete-event engine in integer nanoseconds and bytes. It carries
//! packets and knows nothing of TCP.
//!
//! A caller builds a [`Network`] of links (described by [`bbrlab_link::Link`]), routes and flows,
//! and calls [`Network::advance`] with a [`Handler`] (the hosts). Hosts act through a [`Port`]:
//! send, arm, disarm, schedule. [`bbrlab_events::EventQueue`] decides which event is next.
//!
//! | file | content |
//! | --- | --- |
//! | `engine/mod.rs` | the network, its clock, the loop |
//! | `engine/build.rs` | links, routes, flows |
//! | `engine/path.rs` | the path of a packet: lanes and links |
//! | `engine/burst.rs` | the same for the packets of a burst |
//! | `engine/conservation.rs` | the check that every packet sent is accounted for |
//! | `port.rs` | the interface between hosts and network |
//! | `packet.rs` | packets as the engine sees them; the stores of packets that are in no lane, and of what few carry |
//! | `chunks.rs` | the queues of lanes and links, in memory that they share |
//! | `lane.rs` | packets on one constant delay; only the first is in the event queue |
//! | `route.rs` | hops compiled into legs |
//! | `link/mod.rs` | a link, by virtual clock or by departure events |
//! | `link/plain.rs` | a link that only queues and serves: its ledger, settled many packets at a time |
//! | `link/server.rs` | when a packet departs |
//! | `link/serialiser.rs` | the exact serialiser, at one rate or on a schedule of rates |
//! | `link/token_bucket.rs`, `link/trace_clock.rs` | the other two servers |
//! | `link/front.rs` | what stands in front of the queue: loss, policer, thinning |
//! | `link/thinning.rs` | ACKs of which one of several passes |
//! | `link/delay_clock.rs` | propagation delays that change |
//! | `link/chance.rs` | hashes and draws of a link's queue discipline, which is one of `bbrlab_queue` |
//! | `link/stats.rs`, `link/queue_length.rs`, `link/delay_histogram.rs` | the statistics of a link |
//! | `loss.rs` | the random loss process |
//! | `steps.rs` | where a schedule stands |
//! | `rng.rs` | random numbers, one generator per consumer |
//! | `digest.rs` | the digest of a run |
//! | `accounts.rs` | what is counted across links: the digest, and of each flow what left and what was lost |
//!
//! Invariants: nothing depends on the order of insertion or on lanes; no floating point, allocation
//! (beyond the growth of buffers), hashing or dynamic dispatch in the path of a packet; the engine
//! never reads a payload, which tells filters of ACKs itself what they ask for.

mod accounts;
mod chunks;
mod digest;
mod engine;
mod lane;
mod link;
mod loss;
mod packet;
mod port;
mod rng;
mod route;
mod steps;

pub use accounts::{BurstSize, FlowLosses};
pub use bbrlab_queue::{Hosts, TcpHeader};
pub use digest::Digest;
pub use engine::{Activity, Conservation, Network, TIMERS_MAX};
pub use link::LinkMode;
pub use link::delay_histogram::DelayHistogram;
pub use link::queue_length::QueueLength;
pub use link::stats::{LinkStats, TinStats};
pub use packet::{Arrival, FlowId, LinkId, Load, Outgoing, Side};
pub use port::{Handler, Port};
pub use rng::Rng;
pub use route::{RouteId, RouteStep};
