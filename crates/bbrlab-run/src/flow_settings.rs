//! Settings of flows. The back end receives these settings unchanged from the scenario.

use bbrlab_stack::{Device, EcnMode, settings};
use bbrlab_units::{BitRate, Span};

use crate::traffic::Reading;

settings! {
    /// The settings of the flows of one `[[flows]]` table that do not depend on the network.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FlowSettings {
        /// The use of explicit congestion notification.
        pub ecn: EcnMode = EcnMode::Off, "ecn";
        /// The six-bit DSCP of the flow's data packets and ACKs.
        pub dscp: u8 = 0, "dscp";
        /// Upper bound of the pacing rate, in bits of payload per second. If the bound is set,
        /// every congestion control paces.
        pub max_pacing_rate: Option<BitRate> = None, "max_pacing_rate";
        pub device: Option<Device> = None, "device", "0.2.0",
            "the first link of the path is the network device of the sender's host. TCP Small Queues limit the data \
             that waits there: to about 1 ms at the pacing rate with `\"ethernet\"`, to 8 ms with `\"wifi\"` (mac80211); \
             see [Sockets](sockets.md#small-queues)",
            without: "data leaves the host at once";
        pub rate_samples: bool = true, "rate_samples", "0.1.0",
            "whether the delivery rate is sampled. `false`: no sample is valid, so an algorithm that models the path does \
             not learn the path's rate, as in the first flow of each run of [lanigan] (see [the `ns3` \
             profile](ns3-profile.md))";
        pub latency: bool = false, "latency", "0.2.0",
            "`true`: the one-way delay of each message (a write or a transfer) and the queueing delay of each data \
             packet over its whole path are measured. The delay of datagrams is always measured. See [Delays of messages and \
             packets](traffic.md#delays-of-messages-and-packets)",
            needs_connection: false;
        pub late: Option<Span> = None, "late", "0.2.0",
            "messages whose one-way delay is longer than this time count as late. With this key, the delay of each message is \
             measured, even without `latency`",
            needs_connection: false;
        /// How the receiving application reads; `None` if it reads data as soon as the data
        /// arrives.
        pub reading: Option<Reading> = None, "read";
    }
}
