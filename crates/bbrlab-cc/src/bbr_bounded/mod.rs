//! What BBRv2 and BBRv3 share: BBR whose model also has bounds.
//!
//! BBR v1 models a path by two numbers, its bandwidth and its minimum RTT. Versions 2 and 3 add a range
//! in which the flow operates, learnt from loss and from ECN marks:
//!
//! ```text
//! upper, long-term    inflight_hi          what the path tolerated when it was last probed
//! lower, short-term   bw_lo, inflight_lo   what it tolerates now, since loss or marks were seen
//! ```
//!
//! [`Model`] is the state that both versions keep, with the steps in which they agree; the lists of
//! steps, and the steps in which they differ, are in [`crate::bbr2`] and [`crate::bbr3`]. One file here is
//! one idea:
//!
//! | file | idea |
//! |---|---|
//! | `model.rs` | the state of a connection, and the quantities derived from it |
//! | `params.rs` | the numbers that are module parameters in v2 and constants in v3 |
//! | `rate.rs` | bandwidth samples, pacing rates, BDP: the fixed-point arithmetic |
//! | `round.rs` | packet-timed round trips |
//! | `max_bw.rs` | the maximum of the bandwidth over one to two probing cycles |
//! | `ack_aggregation.rs` | how much more than expected is acknowledged at once |
//! | `ecn.rs` | the share of marked packets, and the echo of marks |
//! | `congestion.rs` | what this round trip delivered and lost; the lower bounds |
//! | `excess.rs` | was there too much in flight, and how much would have been right? |
//! | `probing.rs` | the clock and the bookkeeping of bandwidth probes; entering the phases |
//! | `drain.rs` | leaving STARTUP, leaving DRAIN |
//! | `min_rtt.rs` | two minimum filters; entering, holding and leaving PROBE_RTT |
//! | `control.rs` | model → gains → pacing rate and cwnd |
//! | `recovery.rs` | what is saved before a loss episode, and restored after it |
//! | `state.rs` | the states, and the transitions between them |
//! | `snapshot.rs` | the state under the kernel's names |
//!
//! Sources: [linux-v2] `tcp_bbr2.c`; [linux-v3] `tcp_bbr.c`. Units are theirs: packets,
//! microseconds, jiffies, bandwidth in packets per microsecond `<< 24`, gains and ratios in 1/256.
//! Deviations: none. `bbrlab-oracle` replays the kernel's traces of all forms (its `tests/golden.rs`):
//! 505,030 rows of `bbr2`, 52,383 of its form of 2020, 104,000 of `bbr2_exp` and 452,856 of `bbr3`, without
//! any difference.

mod ack_aggregation;
mod congestion;
mod control;
mod drain;
mod ecn;
mod excess;
mod max_bw;
mod min_rtt;
mod model;
mod params;
mod probing;
mod rate;
mod recovery;
mod round;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use excess::{EcnExcess, Flight};
pub(crate) use min_rtt::EqualRtt;
pub use model::Model;
pub(crate) use model::Sock;
pub(crate) use params::Params;
pub(crate) use rate::{BBR_UNIT, sample_bw, scaled};
use state::{AckPhase, State};
pub(crate) use state::{Mode, Phase};

/// A bound that is not set. The kernel's `~0U`.
pub(crate) const UNSET: u32 = u32::MAX;
