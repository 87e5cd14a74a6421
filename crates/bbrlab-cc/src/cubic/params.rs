//! CUBIC's module parameters, and the values that are computed from them once.
//!
//! Sources: [linux] `net/ipv4/tcp_cubic.c`: module parameters, `cubictcp_register`.
//! Deviations: none.

use crate::params::ParamTable;
use crate::{ParamError, ParamSpec, Params};

/// CUBIC's parameters that a scenario can set.
pub const PARAMS: &[ParamSpec] = &[
    ParamSpec { name: "beta", default: "717", summary: "cwnd after a loss, in 1/1024 of cwnd" },
    ParamSpec {
        name: "bic_scale",
        default: "41",
        summary: "C of the cubic function, in 10/1024 packets per s^3",
    },
    ParamSpec {
        name: "fast_convergence",
        default: "true",
        summary: "when Wmax decreases, lower it further, to leave bandwidth to other flows",
    },
    ParamSpec {
        name: "tcp_friendliness",
        default: "true",
        summary: "grow at least as fast as Reno would",
    },
    ParamSpec {
        name: "initial_ssthresh",
        default: "0",
        summary: "initial slow start threshold in packets, used if HyStart is off; 0 for none",
    },
    ParamSpec {
        name: "hystart",
        default: "true",
        summary: "leave slow start before the first loss. \"ns3\": with ns-3's thresholds. An RTT then ends slow start if it exceeds the lowest RTT by more than a threshold: the lowest RTT itself, but at least 4 ms and at most 1 s. An ACK train ends slow start if it is longer than the lowest RTT",
    },
    ParamSpec {
        name: "growth",
        default: "\"linux\"",
        summary: "\"ns2\": as in ns-2. In slow start, each ACK adds a segment to cwnd; later, cwnd grows by one segment after several ACKs. After the plateau of the curve, cwnd grows by at most 16 segments per 100 ms. HyStart is off. Only a second timeout in a row resets the curve",
    },
    ParamSpec {
        name: "wmax_on_rto",
        default: "false",
        summary: "whether Wmax survives a timeout (ns-3 since 3.42)",
    },
    ParamSpec {
        name: "hystart_detect",
        default: "3",
        summary: "the tests that HyStart makes; 1: ACK trains, 2: delay, 3: both",
    },
    ParamSpec {
        name: "hystart_low_window",
        default: "16",
        summary: "HyStart starts at this cwnd in packets",
    },
    ParamSpec {
        name: "hystart_ack_delta_us",
        default: "2000",
        summary: "largest gap in an ACK train in microseconds",
    },
];

/// The value of `beta` that means 1. Linux: `BICTCP_BETA_SCALE`.
pub(super) const BETA_SCALE: u32 = 1024;

/// CUBIC's parameters after validation, and the values computed from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the kernel's Boolean parameters, independent of each other"
)]
pub struct CubicParams {
    /// Factor by which a loss multiplies cwnd, in 1/1024.
    pub beta: u32,
    /// Whether Wmax is set below cwnd if cwnd at a loss has not reached the previous Wmax.
    pub fast_convergence: bool,
    /// Whether cwnd grows at least as fast as Reno's.
    pub tcp_friendliness: bool,
    /// Whether HyStart is on.
    pub hystart: bool,
    /// Whether HyStart uses ns-3's thresholds instead of Linux's.
    pub is_hystart_of_ns3: bool,
    /// Whether cwnd grows as in ns-2. [`super::CubicNs2`] is used for `growth = "ns2"` instead of
    /// [`super::Cubic`].
    pub is_of_ns2: bool,
    /// Whether Wmax keeps its value at a timeout.
    pub keeps_wmax_on_rto: bool,
    /// Whether HyStart tests ACK trains.
    pub hystart_ack_train: bool,
    /// Whether HyStart tests delays.
    pub hystart_delay: bool,
    /// Smallest cwnd at which HyStart runs, in packets.
    pub hystart_low_window: u32,
    /// Largest time between two ACKs of an ACK train, in microseconds.
    pub hystart_ack_delta_us: i32,
    /// Initial slow start threshold in packets, used if HyStart is off; 0 means no threshold.
    pub initial_ssthresh: u32,
    /// Eight times the number of acknowledged windows of data after which the estimated cwnd of a
    /// Reno flow grows by one packet. The estimate assumes reductions as large as CUBIC's, which
    /// are smaller than Reno's. To have Reno's mean cwnd nevertheless, the estimate grows more
    /// slowly than Reno. Linux: `beta_scale`.
    pub(super) beta_scale: u32,
    /// 1024 times C, with C in packets per s^3: 410 for C = 0.4. (The kernel's comment says
    /// `1024*c/rtt`, with an RTT of 0.1 s; its c is C / 10.) Linux: `cube_rtt_scale`.
    pub(super) cube_rtt_scale: u64,
    /// Factor that converts a difference in packets to the cube of a time in 1/1024 s. Linux:
    /// `cube_factor`.
    pub(super) cube_factor: u64,
}

impl Default for CubicParams {
    fn default() -> Self {
        Self::from_params(&Params::new()).expect("the defaults are in range")
    }
}

impl CubicParams {
    /// Makes the parameters from the values that a scenario sets, and from defaults for all others.
    ///
    /// # Errors
    /// Fails if a value has the wrong type or is out of range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let params = ParamTable::new(PARAMS, params);
        let positive = 0..=i32::MAX.cast_unsigned();
        // `BETA_SCALE` itself is not allowed: cwnd would never decrease at a loss, and the
        // computation of `beta_scale`, with which Reno's cwnd is estimated, would divide by 0.
        let beta = params.integer("beta", 1..=BETA_SCALE - 1)?;
        let bic_scale = params.integer("bic_scale", 1..=1 << 20)?;
        let detect = params.integer("hystart_detect", 0..=3)?;
        let is_hystart_of_ns3 = params.is_text("hystart", "ns3");
        let cube_rtt_scale = u64::from(bic_scale * 10);
        Ok(Self {
            beta,
            fast_convergence: params.switch("fast_convergence")?,
            tcp_friendliness: params.switch("tcp_friendliness")?,
            hystart: is_hystart_of_ns3 || params.switch("hystart")?,
            is_hystart_of_ns3,
            is_of_ns2: params.choice("growth", &[("linux", false), ("ns2", true)])?,
            keeps_wmax_on_rto: params.switch("wmax_on_rto")?,
            hystart_ack_train: detect & 1 != 0,
            hystart_delay: detect & 2 != 0,
            hystart_low_window: params.integer("hystart_low_window", positive.clone())?,
            hystart_ack_delta_us: params
                .integer("hystart_ack_delta_us", positive.clone())?
                .cast_signed(),
            initial_ssthresh: params.integer("initial_ssthresh", positive)?,
            beta_scale: 8 * (BETA_SCALE + beta) / 3 / (BETA_SCALE - beta),
            cube_rtt_scale,
            cube_factor: (1 << 40) / cube_rtt_scale,
        })
    }
}
