//! Mahmud 2020. Packets a second and packets lost a second, per sender, on the testbed; windows, RTT, queue and rates in the
//! simulation.

use super::declared::Is::Word;
use super::declared::Quantity::{Cwnd, LostPerSecond, Queue, Rtt, Sent, SentRate, Throughput};
use super::declared::Who::{Flows, Link, Senders, Together};
use super::declared::{
    At, Body, Draws, Figure, Grid, METRIC, OverTime, Panel, Quantity, WHOLE, Who,
};

/// Seconds of a bin of rates.
const BIN_S: f64 = 1.0;

/// Seconds of a bin where packets are few.
const WIDE_S: f64 = 2.0;

const BBR: At = &[("algorithm", Word("bbr1"))];
const ACD: At = &[("algorithm", Word("bbr_acd"))];

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        experiment: "mahmud2020.testbed",
        number: "Figure 3",
        title: "BBR on the testbed: packets sent and lost a second, per sender",
        note: "Scenarios: S1 large buffer, S2 with random loss, S3 small buffer, S4 with random loss. Lost is what the senders \
               mark lost.",
        body: Body::Panels(2, TRAFFIC_OF_BBR),
    },
    Figure {
        experiment: "mahmud2020.testbed",
        number: "Table 2",
        title: "The testbed: equilibrium, packets, throughput and goodput",
        note: "In each cell ours and, in brackets, the paper's.",
        body: Body::Table(Grid {
            at: &[],
            lines: &["scenario", METRIC],
            across: &["algorithm"],
            metrics: &[
                "equilibrium_time_s",
                "transmitted_packets",
                "retransmitted_packets",
                "throughput_mbps",
                "goodput_mbps",
            ],
            foot: &[],
            is_shaded: false,
        }),
    },
    Figure {
        experiment: "mahmud2020.testbed",
        number: "Figure 9",
        title: "BBR-ACD on the testbed: packets sent and lost a second, per sender",
        note: "The panels of Figure 3.",
        body: Body::Panels(2, TRAFFIC_OF_ACD),
    },
    Figure {
        experiment: "mahmud2020.sim-congested",
        number: "Figure 5",
        title: "Seven BBR flows in the simulation",
        note: OF_SIMULATION,
        body: Body::Panels(2, SIMULATION_OF_BBR),
    },
    Figure {
        experiment: "mahmud2020.sim-congested",
        number: "Figure 10",
        title: "Seven BBR-ACD flows in the simulation",
        note: OF_SIMULATION,
        body: Body::Panels(2, SIMULATION_OF_ACD),
    },
    Figure {
        experiment: "mahmud2020.sim-congested",
        number: "Prose of 3.4 and 5.2",
        title: "The simulation: packets, loss, throughput, goodput and RTT",
        note: "In each cell ours and, in brackets, the paper's, which are of one of thirty runs.",
        body: Body::Table(Grid {
            at: &[],
            lines: &[METRIC],
            across: &["algorithm"],
            metrics: &[
                "transmitted_packets",
                "received_packets",
                "lost_packets",
                "loss_pct_published",
                "true_loss_pct",
                "duplicate_pct",
                "throughput_mbps",
                "goodput_mbps",
                "rtt_peak_startup_ms",
                "rtt_min_ms",
            ],
            foot: &[],
            is_shaded: false,
        }),
    },
    Figure {
        experiment: "mahmud2020.alpha-sweep",
        number: "Table 3",
        title: "BBR-ACD with three values of α",
        note: "In each cell ours and, in brackets, the paper's.",
        body: Body::Table(Grid {
            at: &[],
            lines: &[METRIC],
            across: &["alpha_us"],
            metrics: &[
                "transmitted_packets",
                "retransmitted_packets",
                "throughput_mbps",
                "goodput_mbps",
            ],
            foot: &[],
            is_shaded: false,
        }),
    },
];

const OF_SIMULATION: &str = "Panels (a) and (d) are the paper's; between them it shows RTT and what the buffer holds. Throughput is \
                             what is sent, goodput what is received as new.";

type Shows = &'static [(Quantity, Who)];

const SENT: Shows = &[(Sent(BIN_S), Senders)];
const LOST: Shows = &[(LostPerSecond(BIN_S), Senders)];

const TRAFFIC_OF_BBR: &[Panel] = &[
    traffic("(a) S1", S1_BBR, SENT),
    traffic("(b) S1", S1_BBR, LOST),
    traffic("(c) S2", S2_BBR, SENT),
    traffic("(d) S2", S2_BBR, LOST),
    traffic("(e) S3", S3_BBR, SENT),
    traffic("(f) S3", S3_BBR, LOST),
    traffic("(g) S4", S4_BBR, SENT),
    traffic("(h) S4", S4_BBR, LOST),
];

const TRAFFIC_OF_ACD: &[Panel] = &[
    traffic("(a) S1", S1_ACD, SENT),
    traffic("(b) S1", S1_ACD, LOST),
    traffic("(c) S2", S2_ACD, SENT),
    traffic("(d) S2", S2_ACD, LOST),
    traffic("(e) S3", S3_ACD, SENT),
    traffic("(f) S3", S3_ACD, LOST),
    traffic("(g) S4", S4_ACD, SENT),
    traffic("(h) S4", S4_ACD, LOST),
];

const S1_BBR: At = &[("algorithm", Word("bbr1")), ("scenario", Word("S1"))];
const S2_BBR: At = &[("algorithm", Word("bbr1")), ("scenario", Word("S2"))];
const S3_BBR: At = &[("algorithm", Word("bbr1")), ("scenario", Word("S3"))];
const S4_BBR: At = &[("algorithm", Word("bbr1")), ("scenario", Word("S4"))];
const S1_ACD: At = &[("algorithm", Word("bbr_acd")), ("scenario", Word("S1"))];
const S2_ACD: At = &[("algorithm", Word("bbr_acd")), ("scenario", Word("S2"))];
const S3_ACD: At = &[("algorithm", Word("bbr_acd")), ("scenario", Word("S3"))];
const S4_ACD: At = &[("algorithm", Word("bbr_acd")), ("scenario", Word("S4"))];

const fn traffic(title: &'static str, at: At, shows: Shows) -> Panel {
    Panel { title, at, each: &[], draws: Draws::OverTime(OverTime { shows, ..WHOLE }) }
}

const CWND: Shows = &[(Cwnd, Flows)];
const RTT: Shows = &[(Rtt, Flows)];
const QUEUE: Shows = &[(Queue, Link)];
const RATES: Shows = &[(SentRate(WIDE_S), Together), (Throughput(WIDE_S), Together)];

const SIMULATION_OF_BBR: &[Panel] = &[
    traffic("(a) cwnd", BBR, CWND),
    traffic("RTT", BBR, RTT),
    traffic("the buffer", BBR, QUEUE),
    traffic("(d) throughput and goodput", BBR, RATES),
];

const SIMULATION_OF_ACD: &[Panel] = &[
    traffic("(a) cwnd", ACD, CWND),
    traffic("RTT", ACD, RTT),
    traffic("the buffer", ACD, QUEUE),
    traffic("(d) throughput and goodput", ACD, RATES),
];
