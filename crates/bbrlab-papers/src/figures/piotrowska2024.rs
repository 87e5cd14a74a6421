//! Piotrowska 2024. Tables 2, 3, 5 and 9 are images in the source, without a number here but what the text says.

use bbrlab_report::Scale;

use super::declared::Is::{Number, Word};
use super::declared::Quantity::{Inflight, Queue, Throughput};
use super::declared::Who::{First, Flows, Link};
use super::declared::{Along, At, Body, Draws, Figure, Grid, Is, METRIC, OverTime, Panel, WHOLE};

/// The bin in which the dips of PROBE_RTT are seen.
const FINE_S: f64 = 0.1;

/// Seconds of a bin of rates.
const BIN_S: f64 = 1.0;

const AN_IMAGE: &str = "An image in the source: no printed numbers are known here.";

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        experiment: "piotrowska2024.single-flow",
        number: "Figure 5",
        title: "One flow: throughput over time",
        note: "Means of 100 ms, in which the visits to PROBE_RTT are seen.",
        body: Body::Panels(
            1,
            &[Panel {
                title: "",
                at: &[],
                each: &["algorithm"],
                draws: Draws::OverTime(OverTime { shows: &[(Throughput(FINE_S), Flows)], ..WHOLE }),
            }],
        ),
    },
    Figure {
        experiment: "piotrowska2024.bandwidth-step",
        number: "Figure 6",
        title: "The bottleneck halves at 80 s and doubles at 120 s: inflight of each version",
        note: "",
        body: Body::Panels(
            1,
            &[Panel {
                title: "",
                at: &[],
                each: &["algorithm"],
                draws: Draws::OverTime(OverTime {
                    shows: &[(Inflight, First)],
                    window_s: Some((75.0, 130.0)),
                    ..WHOLE
                }),
            }],
        ),
    },
    index_table(
        "Table 2",
        "Jain's index of two flows, bottleneck delay of 2 ms",
        &[("bottleneck_delay_ms", Number(2.0))],
    ),
    index_table(
        "Table 3",
        "Jain's index of two flows, bottleneck delay of 10 ms",
        &[("bottleneck_delay_ms", Number(10.0))],
    ),
    two_rtts("Figure 7", "Two BBRv1 flows of different RTTs: throughputs, stacked", OF_V1),
    two_rtts("Figure 8", "Two BBRv2 flows of different RTTs: throughputs, stacked", OF_V2),
    two_rtts("Figure 9", "Two BBRv3 flows of different RTTs: throughputs, stacked", OF_V3),
    Figure {
        experiment: "piotrowska2024.access-link",
        number: "Table 5",
        title: "Nine flows: overall throughput, index, drop ratio and queue",
        note: "An image in the source; the indices are printed at the foot of Tables 6 to 8.",
        body: Body::Table(Grid {
            at: &[],
            lines: &["buffer_bdp", "algorithm"],
            across: &[METRIC],
            metrics: &[
                "overall_mbps",
                "jain",
                "drop_pct",
                "queue_mean_packets",
                "queue_std_packets",
            ],
            foot: &[],
            is_shaded: false,
        }),
    },
    nine_rtts(
        "Table 6",
        "Nine BBRv1 flows: throughput of each by RTT and buffer",
        &[("algorithm", Word("bbr1"))],
    ),
    nine_rtts(
        "Table 7",
        "Nine BBRv2 flows: throughput of each by RTT and buffer",
        &[("algorithm", Word("bbr2"))],
    ),
    nine_rtts(
        "Table 8",
        "Nine BBRv3 flows: throughput of each by RTT and buffer",
        &[("algorithm", Word("bbr3"))],
    ),
    queue_over_time("Figure 10", "Nine flows: the queue at 2 BDP", QUEUES_AT_2),
    queue_over_time("Figure 11", "Nine flows: the queue at 10 BDP", QUEUES_AT_10),
    Figure {
        experiment: "piotrowska2024.vs-cubic",
        number: "Table 9",
        title: "Two flows against two of CUBIC: overall throughput, index, drop ratio and share",
        note: "An image in the source; the text prints two shares of BBRv1. Drops are those of all four flows.",
        body: Body::Table(Grid {
            at: &[("opponent", Word("cubic"))],
            lines: &["rtt_case", "buffer_bdp", "algorithm"],
            across: &[METRIC],
            metrics: &["overall_mbps", "jain", "drop_pct", "share_pct", "within_group_jain"],
            foot: &[],
            is_shaded: false,
        }),
    },
    against_cubic(
        "Figure 12",
        "Two flows against two of CUBIC: same RTT, shallow buffer",
        SAME_SHALLOW,
    ),
    against_cubic("Figure 13", "Two flows against two of CUBIC: same RTT, deep buffer", SAME_DEEP),
    against_cubic(
        "Figure 14",
        "Two flows against two of CUBIC: double RTT, shallow buffer",
        DOUBLE_SHALLOW,
    ),
    against_cubic(
        "Figure 15",
        "Two flows against two of CUBIC: double RTT, deep buffer",
        DOUBLE_DEEP,
    ),
    Figure {
        experiment: "piotrowska2024.summary-figures",
        number: "Conclusions (section 6)",
        title: "Improvements that the conclusions state",
        note: "In each cell ours and, in brackets, the paper's, which gives no table for them.",
        body: Body::Table(Grid {
            at: &[],
            lines: &["algorithm", "phase"],
            across: &[METRIC],
            metrics: &["improvement_pct"],
            foot: &[],
            is_shaded: false,
        }),
    },
];

const OF_V1: &[Panel] = &[stacked(&[("algorithm", Word("bbr1"))])];
const OF_V2: &[Panel] = &[stacked(&[("algorithm", Word("bbr2"))])];
const OF_V3: &[Panel] = &[stacked(&[("algorithm", Word("bbr3"))])];

/// The index by version and buffer, a column for each ratio of the RTTs.
const fn index_table(number: &'static str, title: &'static str, at: At) -> Figure {
    Figure {
        experiment: "piotrowska2024.rtt-ratio",
        number,
        title,
        note: AN_IMAGE,
        body: Body::Table(Grid {
            at,
            lines: &["buffer_bdp", "algorithm"],
            across: &["rtt_ratio"],
            metrics: &["jain"],
            foot: &[],
            is_shaded: true,
        }),
    }
}

const fn two_rtts(number: &'static str, title: &'static str, panels: &'static [Panel]) -> Figure {
    Figure {
        experiment: "piotrowska2024.rtt-ratio",
        number,
        title,
        note: "A panel for each bottleneck delay and ratio of the other flow's RTT to the 40 ms of the base flow.",
        body: Body::Panels(3, panels),
    }
}

const fn stacked(at: At) -> Panel {
    Panel {
        title: "",
        at,
        each: &["bottleneck_delay_ms", "rtt_ratio"],
        draws: Draws::Stacked(Along {
            metric: "throughput_mbps",
            key: "buffer_bdp",
            by: &["flow"],
            scale: Scale::FromZero,
        }),
    }
}

/// A line for each RTT, a column for each buffer, the indices at the foot.
const fn nine_rtts(number: &'static str, title: &'static str, at: At) -> Figure {
    Figure {
        experiment: "piotrowska2024.access-link",
        number,
        title,
        note: "Throughputs in Mbit/s; in each cell ours and, in brackets, the paper's. The paper ran each cell once.",
        body: Body::Table(Grid {
            at,
            lines: &["rtt_ms", "flow"],
            across: &["buffer_bdp"],
            metrics: &["throughput_mbps"],
            foot: &["jain"],
            is_shaded: false,
        }),
    }
}

const fn queue_over_time(
    number: &'static str,
    title: &'static str,
    panels: &'static [Panel],
) -> Figure {
    let body = Body::Panels(1, panels);
    Figure { experiment: "piotrowska2024.access-link", number, title, note: "", body }
}

const fn against_cubic(
    number: &'static str,
    title: &'static str,
    panels: &'static [Panel],
) -> Figure {
    Figure {
        experiment: "piotrowska2024.vs-cubic",
        number,
        title,
        note: "What BBRv1 gets differs much from seed to seed, and this is one of them; Table 9 has the medians.",
        body: Body::Panels(1, panels),
    }
}

const QUEUES_AT_2: &[Panel] = &[queues(&[("buffer_bdp", Number(2.0)), OF_BBR])];
const QUEUES_AT_10: &[Panel] = &[queues(&[("buffer_bdp", Number(10.0)), OF_BBR])];

/// The paper shows no queue of CUBIC.
const OF_BBR: (&str, Is) = ("algorithm", Is::OneOf(&["bbr1", "bbr2", "bbr3"]));

const fn queues(at: At) -> Panel {
    Panel { each: &["algorithm"], ..Panel::over_time("", at, &[(Queue, Link)]) }
}

const SAME_SHALLOW: &[Panel] =
    &[four_flows(&[("rtt_case", Word("same")), ("buffer_bdp", Number(0.5))])];
const SAME_DEEP: &[Panel] =
    &[four_flows(&[("rtt_case", Word("same")), ("buffer_bdp", Number(5.0))])];
const DOUBLE_SHALLOW: &[Panel] =
    &[four_flows(&[("rtt_case", Word("different")), ("buffer_bdp", Number(0.5))])];
const DOUBLE_DEEP: &[Panel] =
    &[four_flows(&[("rtt_case", Word("different")), ("buffer_bdp", Number(5.0))])];

/// The throughput of each flow, a panel for each version.
const fn four_flows(at: At) -> Panel {
    Panel { each: &["algorithm"], ..Panel::over_time("", at, &[(Throughput(BIN_S), Flows)]) }
}
