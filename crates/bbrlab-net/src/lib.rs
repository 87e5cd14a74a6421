//! The network: a deterministic discrete-event engine in integer nanoseconds and bytes. The network
//! carries packets and does not depend on TCP.
//!
//! A caller builds a [`Network`] of links (described by [`bbrlab_link::Link`]), routes and flows,
//! and calls [`Network::advance`] with a [`Handler`] (the hosts). Hosts act through a [`Port`]:
//! they send packets, arm and disarm timers, and schedule calls of their applications.
//! [`bbrlab_events::EventQueue`] decides which event is next.
//!
//! | file | content |
//! | --- | --- |
//! | `engine/mod.rs` | the network, its clock, the event loop |
//! | `engine/build.rs` | links, routes, flows |
//! | `engine/path.rs` | the path of a packet: lanes and links |
//! | `engine/burst.rs` | the path of the packets of a burst |
//! | `engine/recording.rs` | recording of sent packets |
//! | `engine/conservation.rs` | the check that no packet is lost from the counts |
//! | `port.rs` | the interface between hosts and network |
//! | `packet.rs` | packets in the engine; stores of packets outside lanes and of extra data |
//! | `chunks.rs` | the queues of lanes and links, in shared memory |
//! | `lane.rs` | packets on one constant delay; only the first is in the event queue |
//! | `route.rs` | hops compiled into legs |
//! | `link/mod.rs` | a link, by virtual clock or by departure events |
//! | `link/plain.rs` | a link that only queues and serves: its ledger, settled in batches |
//! | `link/server.rs` | the departure time of a packet |
//! | `link/serialiser.rs` | the exact serialiser, at one rate or on a schedule of rates |
//! | `link/token_bucket.rs`, `link/trace_clock.rs` | servers with a token bucket, or with a trace of opportunities to send |
//! | `link/front.rs` | the elements in front of the queue: loss, policer, thinning |
//! | `link/thinning.rs` | ACK thinning |
//! | `link/delay_clock.rs` | propagation delays that change |
//! | `link/chance.rs` | hashes and random numbers for a queue discipline (`bbrlab_queue`) |
//! | `link/{stats,queue_length,delay_histogram}.rs` | the statistics of a link |
//! | `loss.rs` | the random loss process |
//! | `steps.rs` | the current position in a schedule |
//! | `rng.rs` | random numbers, one generator per consumer |
//! | `digest.rs` | the digest of a run |
//! | `tap.rs` | the events of single packets, for a page that draws them |
//! | `accounts.rs` | counts across links: the digest, and each flow's departed bytes and losses |
//! | `burst_size.rs` | the number of packets in a burst that crosses the network as one packet |
//!
//! Invariants: no result depends on the order in which events are scheduled or on the lanes that
//! packets use. The path of a packet has no floating point, hashing, dynamic dispatch or allocation
//! (except when buffers grow). The engine never reads a payload; for ACK filters, the payload
//! itself returns its TCP header.

mod accounts;
mod burst_size;
mod chunks;
mod device;
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
mod tap;

pub use accounts::FlowLosses;
pub use bbrlab_queue::{Hosts, TcpHeader};
pub use burst_size::BurstSize;
pub use digest::Digest;
pub use engine::{Activity, Conservation, Network, Sent, TIMERS_MAX};
pub use link::LinkMode;
pub use link::delay_histogram::DelayHistogram;
pub use link::queue_length::QueueLength;
pub use link::stats::{LinkStats, TinStats};
pub use packet::{Arrival, FlowId, LinkId, Outgoing, PacketData, Side};
pub use port::{Handler, Port};
pub use rng::Rng;
pub use route::{RouteId, RouteStep};
pub use tap::{TapEvent, TapKind};
