//! Mahmud 2020. Packets a second and packets lost a second, per sender, on the testbed; windows, RTT, queue and rates in the
//! simulation.

use super::declared::Is::Word;
use super::declared::Quantity::{Cwnd, LostPerSecond, Queue, Rtt, Sent, SentRate, Throughput};
use super::declared::Who::{Flows, Link, Senders, Together};
use super::declared::{At, Body, Figure, Grid, METRIC, Panel, Shows};

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

const SENT: Shows = &[(Sent(BIN_S), Senders)];
const LOST: Shows = &[(LostPerSecond(BIN_S), Senders)];

const TRAFFIC_OF_BBR: &[Panel] = &traffic([S1_BBR, S2_BBR, S3_BBR, S4_BBR]);
const TRAFFIC_OF_ACD: &[Panel] = &traffic([S1_ACD, S2_ACD, S3_ACD, S4_ACD]);

const S1_BBR: At = &[("algorithm", Word("bbr1")), ("scenario", Word("S1"))];
const S2_BBR: At = &[("algorithm", Word("bbr1")), ("scenario", Word("S2"))];
const S3_BBR: At = &[("algorithm", Word("bbr1")), ("scenario", Word("S3"))];
const S4_BBR: At = &[("algorithm", Word("bbr1")), ("scenario", Word("S4"))];
const S1_ACD: At = &[("algorithm", Word("bbr_acd")), ("scenario", Word("S1"))];
const S2_ACD: At = &[("algorithm", Word("bbr_acd")), ("scenario", Word("S2"))];
const S3_ACD: At = &[("algorithm", Word("bbr_acd")), ("scenario", Word("S3"))];
const S4_ACD: At = &[("algorithm", Word("bbr_acd")), ("scenario", Word("S4"))];

/// What is sent and what is lost in each scenario, side by side.
const fn traffic([s1, s2, s3, s4]: [At; 4]) -> [Panel; 8] {
    [
        Panel::over_time("(a) S1", s1, SENT),
        Panel::over_time("(b) S1", s1, LOST),
        Panel::over_time("(c) S2", s2, SENT),
        Panel::over_time("(d) S2", s2, LOST),
        Panel::over_time("(e) S3", s3, SENT),
        Panel::over_time("(f) S3", s3, LOST),
        Panel::over_time("(g) S4", s4, SENT),
        Panel::over_time("(h) S4", s4, LOST),
    ]
}

const CWND: Shows = &[(Cwnd, Flows)];
const RTT: Shows = &[(Rtt, Flows)];
const QUEUE: Shows = &[(Queue, Link)];
const RATES: Shows = &[(SentRate(WIDE_S), Together), (Throughput(WIDE_S), Together)];

const SIMULATION_OF_BBR: &[Panel] = &simulation(BBR);
const SIMULATION_OF_ACD: &[Panel] = &simulation(ACD);

const fn simulation(at: At) -> [Panel; 4] {
    [
        Panel::over_time("(a) cwnd", at, CWND),
        Panel::over_time("RTT", at, RTT),
        Panel::over_time("the buffer", at, QUEUE),
        Panel::over_time("(d) throughput and goodput", at, RATES),
    ]
}
