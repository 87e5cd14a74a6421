//! The settings of a flow that pass from the scenario to the back end unchanged.

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
        /// The network device of the sender's host. The first links of the path represent this
        /// device. `None` if the device is not modelled.
        pub device: Option<Device> = None, "device";
        /// Whether TCP takes samples of the delivery rate. Without samples, a congestion control
        /// such as BBR cannot estimate the path's bandwidth.
        pub rate_samples: bool = true, "rate_samples";
        /// Whether the delay of each message and the queueing delay of each data packet are
        /// measured.
        pub latency: bool = false, "latency";
        /// The delay above which a message counts as late. If this bound is set, the delay of each
        /// message is measured.
        pub late: Option<Span> = None, "late";
        /// How the receiving application reads; `None` if it reads data as soon as the data
        /// arrives.
        pub reading: Option<Reading> = None, "read";
    }
}
