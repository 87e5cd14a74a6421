//! Lanigan 2020. The thesis draws the running mean of throughput, over the time since a flow's start, and the RTT of the flow
//! that it does not report (lanigan2020.a04, a16).

use super::declared::Is::{Number, Word};
use super::declared::Quantity::{Lost, Rtt, RunningMean};
use super::declared::Who::{First, Flows};
use super::declared::{At, Body, Draws, Figure, Grid, METRIC, OverTime, Panel, Shows, WHOLE};

/// Which figure shows what is known of some; of others it follows from the order of the sections.
const ASSIGNED: &str =
    "Which of the thesis's figures shows which rate and delay is known of some only.";

const OF_TWO: &[&str] = &["throughput_mbps", "ratio", "goodput_mbps", "loss_packets", "jain"];

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        experiment: "lanigan2020.single-flow",
        number: "Table 4.3",
        title: "One uncontested flow: throughput and goodput",
        note: "In each cell ours and, in brackets, the thesis's.",
        body: Body::Table(Grid {
            at: &[],
            lines: &["algorithm", "delay_ms"],
            across: &["bandwidth_mbps", METRIC],
            metrics: &["throughput_mbps", "goodput_mbps"],
            foot: &[],
            is_shaded: false,
        }),
    },
    single(
        "Figures 4.1 and 4.2",
        "BBR: throughput over time",
        &[throughput(&[("algorithm", Word("bbr1"))])],
    ),
    single("Figures 4.3 and 4.4", "BBR: RTT over time", &[rtt(&[("algorithm", Word("bbr1"))])]),
    single("Figure 4.5", "BBR+ with a lambda of 0.5: RTT over time", &[rtt(BBR_PLUS_LAMBDA)]),
    single(
        "Figures 4.6 and 4.7",
        "BBR+ with a lambda of 0.5: throughput over time",
        &[throughput(BBR_PLUS_LAMBDA)],
    ),
    single(
        "Figures 4.8 and 4.9",
        "BBRPlus: throughput and RTT over time",
        &[throughput(&[("algorithm", Word("bbrplus"))]), rtt(&[("algorithm", Word("bbrplus"))])],
    ),
    single(
        "Figure 4.10",
        "Delay-BBR: throughput over time",
        &[throughput(&[("algorithm", Word("delay_bbr"))])],
    ),
    single("Figure 4.11", "Delay-BBR: RTT over time", &[rtt(&[("algorithm", Word("delay_bbr"))])]),
    single(
        "Figures 4.12 and 4.13",
        "BBRv2: throughput over time",
        &[throughput(&[("algorithm", Word("bbr2"))])],
    ),
    single("Figure 4.14", "BBRv2: RTT over time", &[rtt(&[("algorithm", Word("bbr2"))])]),
    Figure {
        experiment: "lanigan2020.bandwidth-step",
        number: "Figure 4.15",
        title: "The bottleneck doubles at 50 s: throughput of all variants",
        note: "A running mean rises to 15 of 20 Mbit/s fifty seconds after a step that was filled at once.",
        body: Body::Panels(
            1,
            &[Panel {
                title: "",
                at: &[("delay_ms", Number(10.0))],
                each: &[],
                draws: Draws::OverTime(OverTime {
                    shows: &[(RunningMean, Flows)],
                    by: &["algorithm"],
                    printed: Some("plotted_throughput_mbps"),
                    ..WHOLE
                }),
            }],
        ),
    },
    Figure {
        experiment: "lanigan2020.bandwidth-step",
        number: "Figures 4.16, 4.17 and A3.1 to A3.6",
        title: "The bottleneck doubles at 50 s: RTT of each variant",
        note: "",
        body: Body::Panels(
            2,
            &[Panel {
                title: "",
                at: &[("delay_ms", Number(10.0))],
                each: &["algorithm"],
                draws: Draws::OverTime(OverTime { shows: &[(Rtt, First)], ..WHOLE }),
            }],
        ),
    },
    Figure {
        experiment: "lanigan2020.intra-protocol",
        number: "Table 4.6",
        title: "Four flows of one algorithm",
        note: "In each cell ours and, in brackets, the thesis's.",
        body: Body::Table(Grid {
            at: &[],
            lines: &["algorithm", "delay_ms"],
            across: &["buffer_bdp", METRIC],
            metrics: &["throughput_mbps", "goodput_mbps", "loss_packets", "jain"],
            foot: &[],
            is_shaded: false,
        }),
    },
    Figure {
        experiment: "lanigan2020.intra-protocol",
        number: "Figures 4.18 to 4.32 (throughput)",
        title: "Four flows of one algorithm: throughput of each, buffer of half a BDP",
        note: "The thesis shows a selection; Figures 4.31 and 4.32 are of BBRv2 in this buffer.",
        body: Body::Panels(3, &[of_several(MEANS, &[("buffer_bdp", Number(0.5))])]),
    },
    Figure {
        experiment: "lanigan2020.intra-protocol",
        number: "Figures 4.18 to 4.32 (loss)",
        title: "Four flows of one algorithm: packets lost so far, buffer of half a BDP",
        note: "Packets that the sender marks lost; the thesis counts what the network dropped.",
        body: Body::Panels(3, &[of_several(LOSSES, &[("buffer_bdp", Number(0.5))])]),
    },
    Figure {
        experiment: "lanigan2020.vs-vegas",
        number: "Table 4.7",
        title: "One flow against one of Vegas",
        note: "In each cell ours and, in brackets, the thesis's. The ratio is that of the flow under test to Vegas.",
        body: Body::Table(of_two()),
    },
    Figure {
        experiment: "lanigan2020.vs-vegas",
        number: "Figures 4.33, 4.34, 4.37, 4.38, 4.41, 4.43 and 4.45",
        title: "One flow against one of Vegas: throughput of both",
        note: "",
        body: Body::Panels(3, &[of_several(MEANS, &[])]),
    },
    Figure {
        experiment: "lanigan2020.vs-cubic",
        number: "Table 4.8",
        title: "One flow against one of CUBIC",
        note: "In each cell ours and, in brackets, the thesis's. The ratio is that of the flow under test to CUBIC.",
        body: Body::Table(of_two()),
    },
    Figure {
        experiment: "lanigan2020.vs-cubic",
        number: "Figures 4.35, 4.36, 4.39, 4.40, 4.42, 4.44 and 4.46",
        title: "One flow against one of CUBIC: throughput of both",
        note: "",
        body: Body::Panels(3, &[of_several(MEANS, &[])]),
    },
];

/// BBR+ with the first of its two lambdas; the other one gives the same packets as the thesis ran it.
const BBR_PLUS_LAMBDA: At = &[("algorithm", Word("bbr_hsr")), ("hsr_lambda", Number(0.5))];

const fn single(number: &'static str, title: &'static str, panels: &'static [Panel]) -> Figure {
    Figure {
        experiment: "lanigan2020.single-flow",
        number,
        title,
        note: ASSIGNED,
        body: Body::Panels(2, panels),
    }
}

const fn throughput(at: At) -> Panel {
    of_delays(at, MEANS)
}

const fn rtt(at: At) -> Panel {
    of_delays(at, &[(Rtt, First)])
}

/// A panel for each rate, a line for each delay.
const fn of_delays(at: At, shows: Shows) -> Panel {
    Panel {
        title: "",
        at,
        each: &["bandwidth_mbps"],
        draws: Draws::OverTime(OverTime { shows, by: &["delay_ms"], ..WHOLE }),
    }
}

/// A panel for each algorithm and delay.
const fn of_several(shows: Shows, at: At) -> Panel {
    Panel { each: &["algorithm", "delay_ms"], ..Panel::over_time("", at, shows) }
}

const MEANS: Shows = &[(RunningMean, Flows)];
const LOSSES: Shows = &[(Lost, Flows)];

const fn of_two() -> Grid {
    Grid {
        at: &[],
        lines: &["algorithm", "delay_ms"],
        across: &[METRIC],
        metrics: OF_TWO,
        foot: &[],
        is_shaded: false,
    }
}
