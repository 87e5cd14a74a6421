//! Song 2021: figures only. What their panels show is known from the captions' letters in the text.

use bbrlab_report::Scale;

use super::declared::Is::{Number, OneOf, Word};
use super::declared::Quantity::{
    Cwnd, Inflight, InflightHi, MinRtt, Queue, Retransmitted, Throughput,
};
use super::declared::Who::{First, Flows, Link, Of, Second};
use super::declared::{Along, At, Body, Draws, Figure, Named, OverTime, Panel, Shows, WHOLE};

/// Seconds of a bin of rates.
const BIN_S: f64 = 1.0;

const V1_50: At = &[("algorithm", Word("bbr1")), ("bandwidth_mbps", Number(50.0))];
const V2_50: At = &[("algorithm", Word("bbr2")), ("bandwidth_mbps", Number(50.0))];
const V1_1000: At = &[("algorithm", Word("bbr1")), ("bandwidth_mbps", Number(1000.0))];
const V2_1000: At = &[("algorithm", Word("bbr2")), ("bandwidth_mbps", Number(1000.0))];

/// The runs of a version at a buffer, at 50 Mbit/s.
macro_rules! at_buffer {
    ($version:literal, $bdp:literal) => {
        [
            ("algorithm", Word($version)),
            ("bandwidth_mbps", Number(50.0)),
            ("buffer_bdp", Number($bdp)),
        ]
    };
}

/// The runs of a version at a rate, by the flow that starts first.
macro_rules! with_start {
    ($version:literal, $mbps:literal, $first:literal) => {
        [
            ("algorithm", Word($version)),
            ("bandwidth_mbps", Number($mbps)),
            ("start_first", Word($first)),
        ]
    };
}

/// The rows of a version and of CUBIC in runs of both.
macro_rules! with_cubic {
    ($version:literal) => {
        [("algorithm", OneOf(&[$version, "cubic"])), ("opponent", OneOf(&[$version, "cubic"]))]
    };
    ($version:literal, $mbps:literal) => {
        [
            ("bandwidth_mbps", Number($mbps)),
            ("algorithm", OneOf(&[$version, "cubic"])),
            ("opponent", OneOf(&[$version, "cubic"])),
        ]
    };
}

const BEFORE_AND_AFTER: &str =
    "The bottleneck falls to 40 Mbit/s at 40 and 120 s and rises to 80 at 80 s.";

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        experiment: "song2021.single-buffer",
        number: "Figure 5",
        title: "One flow: throughput, retransmissions and mean cwnd against the buffer",
        note: "",
        body: Body::Panels(
            3,
            &[
                against_buffer("Throughput", &[], "throughput_mbps", &["algorithm"]),
                Panel {
                    title: "Retransmissions",
                    at: &[],
                    each: &[],
                    draws: Draws::Curves(Along {
                        metric: "retransmissions",
                        key: "buffer_bdp",
                        by: &["algorithm"],
                        scale: Scale::Logarithmic,
                    }),
                },
                against_buffer("Mean cwnd", &[], "cwnd_mean_packets", &["algorithm"]),
            ],
        ),
    },
    Figure {
        experiment: "song2021.bandwidth-step",
        number: "Figure 6",
        title: "The bottleneck alternates between 40 and 80 Mbit/s: throughput",
        note: BEFORE_AND_AFTER,
        body: Body::Panels(
            1,
            &[
                Panel::over_time("(a) BBRv1", &[("algorithm", Word("bbr1"))], THROUGHPUT),
                Panel::over_time("(b) BBRv2", &[("algorithm", Word("bbr2"))], THROUGHPUT),
            ],
        ),
    },
    Figure {
        experiment: "song2021.bandwidth-step",
        number: "Figure 7",
        title: "BBRv2 at the steps: cwnd, inflight_hi and inflight",
        note: BEFORE_AND_AFTER,
        body: Body::Panels(
            1,
            &[
                within("(a) up at 80 s", &[("algorithm", Word("bbr2"))], OF_CEILING, (76.0, 100.0)),
                within(
                    "(b) down at 120 s",
                    &[("algorithm", Word("bbr2"))],
                    OF_CEILING,
                    (116.0, 140.0),
                ),
            ],
        ),
    },
    Figure {
        experiment: "song2021.random-loss",
        number: "Figure 8",
        title: "One flow: throughput against random loss",
        note: "",
        body: Body::Panels(
            1,
            &[Panel {
                title: "",
                at: &[],
                each: &[],
                draws: Draws::Curves(Along {
                    metric: "throughput_mbps",
                    key: "loss_pct",
                    by: &["algorithm"],
                    scale: Scale::FromZero,
                }),
            }],
        ),
    },
    Figure {
        experiment: "song2021.two-flows",
        number: "Figure 9",
        title: "Two flows of one version, 2 s apart: throughput of each against the buffer",
        note: "",
        body: Body::Panels(
            2,
            &[
                against_buffer("(a) BBRv1, 50 Mbit/s", V1_50, "throughput_mbps", &["flow"]),
                against_buffer("(b) BBRv1, 1 Gbit/s", V1_1000, "throughput_mbps", &["flow"]),
                against_buffer("(c) BBRv2, 50 Mbit/s", V2_50, "throughput_mbps", &["flow"]),
                against_buffer("(d) BBRv2, 1 Gbit/s", V2_1000, "throughput_mbps", &["flow"]),
            ],
        ),
    },
    Figure {
        experiment: "song2021.two-flows",
        number: "Figure 10",
        title: "Two flows of one version at 50 Mbit/s over time",
        note: "In each column throughput, inflight, the queue and retransmissions, for a buffer.",
        body: Body::Panels(
            3,
            &columns(
                [
                    ("(a) BBRv1, 0.2 BDP", &at_buffer!("bbr1", 0.2)),
                    ("(b) BBRv1, 2 BDP", &at_buffer!("bbr1", 2.0)),
                    ("(c) BBRv1, 4 BDP", &at_buffer!("bbr1", 4.0)),
                    ("(d) BBRv2, 0.2 BDP", &at_buffer!("bbr2", 0.2)),
                    ("(e) BBRv2, 2 BDP", &at_buffer!("bbr2", 2.0)),
                    ("(f) BBRv2, 4 BDP", &at_buffer!("bbr2", 4.0)),
                ],
                [THROUGHPUT, INFLIGHT, QUEUE, RETRANSMITTED],
            ),
        ),
    },
    Figure {
        experiment: "song2021.two-flows",
        number: "Figure 11",
        title: "The second of two BBRv2 flows in start-up: cwnd, inflight_hi and inflight",
        note: "",
        body: Body::Panels(
            2,
            &[
                within("2 BDP", &at_buffer!("bbr2", 2.0), OF_SECOND, (2.0, 6.0)),
                within("4 BDP", &at_buffer!("bbr2", 4.0), OF_SECOND, (2.0, 6.0)),
            ],
        ),
    },
    Figure {
        experiment: "song2021.five-flows",
        number: "Figure 12",
        title: "Five flows of one version, 3 s apart",
        note: "In each column throughput, the estimate of the minimum RTT, the queue and retransmissions, for a buffer.",
        body: Body::Panels(
            3,
            &columns(
                [
                    ("(a) BBRv1, 0.2 BDP", &at_buffer!("bbr1", 0.2)),
                    ("(b) BBRv1, 2 BDP", &at_buffer!("bbr1", 2.0)),
                    ("(c) BBRv1, 8 BDP", &at_buffer!("bbr1", 8.0)),
                    ("(d) BBRv2, 0.2 BDP", &at_buffer!("bbr2", 0.2)),
                    ("(e) BBRv2, 2 BDP", &at_buffer!("bbr2", 2.0)),
                    ("(f) BBRv2, 8 BDP", &at_buffer!("bbr2", 8.0)),
                ],
                [THROUGHPUT, MIN_RTT, QUEUE, RETRANSMITTED],
            ),
        ),
    },
    Figure {
        experiment: "song2021.v1-vs-v2",
        number: "Figure 13",
        title: "One BBRv1 flow against one BBRv2 flow: throughput against the buffer",
        note: "",
        body: Body::Panels(1, &[against_buffer("", &[], "throughput_mbps", &["algorithm"])]),
    },
    Figure {
        experiment: "song2021.rtt-sweep",
        number: "Figure 14",
        title: "Two flows of one version, one with 30 ms and one of 30 to 90 ms: throughput of each",
        note: "Text and caption disagree on which flow starts first in panels (a) to (d); ours are the paper's letters with \
               the caption's order.",
        body: Body::Panels(
            2,
            &[
                against_rtt("(a) BBRv1, 50 Mbit/s", &with_start!("bbr1", 50.0, "long")),
                against_rtt("(b) BBRv1, 1 Gbit/s", &with_start!("bbr1", 1000.0, "long")),
                against_rtt("(c) BBRv2, 50 Mbit/s, long first", &with_start!("bbr2", 50.0, "long")),
                against_rtt(
                    "(d) BBRv2, 1 Gbit/s, long first",
                    &with_start!("bbr2", 1000.0, "long"),
                ),
                against_rtt(
                    "(e) BBRv2, 50 Mbit/s, short first",
                    &with_start!("bbr2", 50.0, "short"),
                ),
                against_rtt(
                    "(f) BBRv2, 1 Gbit/s, short first",
                    &with_start!("bbr2", 1000.0, "short"),
                ),
            ],
        ),
    },
    Figure {
        experiment: "song2021.rtt-buffer",
        number: "Figure 15",
        title: "Two flows of one version with 60 ms (flow 1) and 30 ms: throughput of each against the buffer",
        note: "",
        body: Body::Panels(
            2,
            &[
                against_buffer("(a) BBRv1, 50 Mbit/s", V1_50, "throughput_mbps", &["flow"]),
                against_buffer("(b) BBRv1, 1 Gbit/s", V1_1000, "throughput_mbps", &["flow"]),
                against_buffer("(c) BBRv2, 50 Mbit/s", V2_50, "throughput_mbps", &["flow"]),
                against_buffer("(d) BBRv2, 1 Gbit/s", V2_1000, "throughput_mbps", &["flow"]),
            ],
        ),
    },
    Figure {
        experiment: "song2021.vs-cubic",
        number: "Figure 16",
        title: "One flow against one of CUBIC: throughput of each against the buffer",
        note: "",
        body: Body::Panels(
            2,
            &[
                against_buffer(
                    "(a) BBRv1, 50 Mbit/s",
                    &with_cubic!("bbr1", 50.0),
                    "throughput_mbps",
                    &["algorithm"],
                ),
                against_buffer(
                    "(b) BBRv1, 1 Gbit/s",
                    &with_cubic!("bbr1", 1000.0),
                    "throughput_mbps",
                    &["algorithm"],
                ),
                against_buffer(
                    "(c) BBRv2, 50 Mbit/s",
                    &with_cubic!("bbr2", 50.0),
                    "throughput_mbps",
                    &["algorithm"],
                ),
                against_buffer(
                    "(d) BBRv2, 1 Gbit/s",
                    &with_cubic!("bbr2", 1000.0),
                    "throughput_mbps",
                    &["algorithm"],
                ),
            ],
        ),
    },
    Figure {
        experiment: "song2021.vs-cubic",
        number: "Figure 17",
        title: "One flow against one of CUBIC at 50 Mbit/s: throughput and the queue over time",
        note: "",
        body: Body::Panels(
            3,
            &[
                Panel::over_time("(a) BBRv1, 0.2 BDP", &at_buffer!("bbr1", 0.2), THROUGHPUT),
                Panel::over_time("(b) BBRv1, 2 BDP", &at_buffer!("bbr1", 2.0), THROUGHPUT),
                Panel::over_time("(c) BBRv1, 8 BDP", &at_buffer!("bbr1", 8.0), THROUGHPUT),
                Panel::over_time("(d) BBRv2, 0.2 BDP", &at_buffer!("bbr2", 0.2), THROUGHPUT),
                Panel::over_time("(e) BBRv2, 2 BDP", &at_buffer!("bbr2", 2.0), THROUGHPUT),
                Panel::over_time("(f) BBRv2, 8 BDP", &at_buffer!("bbr2", 8.0), THROUGHPUT),
            ],
        ),
    },
    Figure {
        experiment: "song2021.vs-cubic",
        number: "Figure 18",
        title: "BBRv2 against CUBIC with 2 BDP: cwnd, inflight_hi and inflight of BBRv2",
        note: "Dashed: what the text reads off the figure.",
        body: Body::Panels(
            1,
            &[Panel {
                title: "",
                at: &at_buffer!("bbr2", 2.0),
                each: &[],
                draws: Draws::OverTime(OverTime {
                    shows: &[(Cwnd, Of("bbr2")), (InflightHi, Of("bbr2")), (Inflight, Of("bbr2"))],
                    levels: &[Named {
                        metric: "inflight_hi_mss",
                        at: &[("phase", Word("first ceiling"))],
                        words: "first ceiling",
                    }],
                    moments: &[
                        Named {
                            metric: "event_at_s",
                            at: &[("phase", Word("ceiling lowered, first example"))],
                            words: "lowered",
                        },
                        Named {
                            metric: "event_at_s",
                            at: &[("phase", Word("ceiling lowered, second example"))],
                            words: "lowered",
                        },
                    ],
                    ..WHOLE
                }),
            }],
        ),
    },
    Figure {
        experiment: "song2021.two-vs-two-cubic",
        number: "Figure 19",
        title: "Two flows against two of CUBIC: throughput of each against the buffer",
        note: "",
        body: Body::Panels(
            2,
            &[
                against_buffer(
                    "(a) BBRv1",
                    &with_cubic!("bbr1"),
                    "throughput_mbps",
                    &["algorithm", "flow"],
                ),
                against_buffer(
                    "(b) BBRv2",
                    &with_cubic!("bbr2"),
                    "throughput_mbps",
                    &["algorithm", "flow"],
                ),
            ],
        ),
    },
];

const THROUGHPUT: Shows = &[(Throughput(BIN_S), Flows)];
const INFLIGHT: Shows = &[(Inflight, Flows)];
const MIN_RTT: Shows = &[(MinRtt, Flows)];
const QUEUE: Shows = &[(Queue, Link)];
const RETRANSMITTED: Shows = &[(Retransmitted(BIN_S), Flows)];
const OF_CEILING: Shows = &[(Cwnd, First), (InflightHi, First), (Inflight, First)];
const OF_SECOND: Shows = &[(Cwnd, Second), (InflightHi, Second), (Inflight, Second)];

/// Columns of panels, three beside each other and then three more; each has a panel for each quantity, from top to bottom.
const fn columns(columns: [(&'static str, At); 6], shows: [Shows; 4]) -> [Panel; 24] {
    let mut panels = [Panel::over_time("", &[], &[]); 24];
    let mut place = 0;
    while place < panels.len() {
        let (row, column) = (place / 3 % 4, place / 12 * 3 + place % 3);
        let (title, at) = columns[column];
        panels[place] = Panel::over_time(if row == 0 { title } else { "" }, at, shows[row]);
        place += 1;
    }
    panels
}

const fn within(title: &'static str, at: At, shows: Shows, window_s: (f64, f64)) -> Panel {
    let window_s = Some(window_s);
    Panel { title, at, each: &[], draws: Draws::OverTime(OverTime { shows, window_s, ..WHOLE }) }
}

const fn against_buffer(
    title: &'static str,
    at: At,
    metric: &'static str,
    by: &'static [&'static str],
) -> Panel {
    let scale = Scale::FromZero;
    Panel {
        title,
        at,
        each: &[],
        draws: Draws::Curves(Along { metric, key: "buffer_bdp", by, scale }),
    }
}

const fn against_rtt(title: &'static str, at: At) -> Panel {
    let along =
        Along { metric: "throughput_mbps", key: "rtt2_ms", by: &["flow"], scale: Scale::FromZero };
    Panel { title, at, each: &[], draws: Draws::Curves(along) }
}
