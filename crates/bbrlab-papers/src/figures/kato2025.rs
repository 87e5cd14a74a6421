//! Kato 2025: slides, whose figures have no numbers.

use bbrlab_report::Scale;

use super::declared::Is::Number;
use super::declared::Quantity::PacingRate;
use super::declared::Who::HighAndLow;
use super::declared::{Along, Body, Draws, Figure, Grid, METRIC, Panel, Shows};

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        experiment: "kato2025.sixteen-340",
        number: "Table of III.B",
        title: "Sixteen flows (ns-3.40 in the slides, Linux's stack here): mean, standard deviation and total of their throughputs",
        note: "In each cell ours and, in brackets, the slides'; what has = before it follows from figures in them.",
        body: Body::Table(of_buffers(&[
            "mean_mbps",
            "std_mbps",
            "total_mbps",
            "jain",
            "utilisation",
        ])),
    },
    Figure {
        experiment: "kato2025.sixteen-340",
        number: "Figures of III.B (throughputs)",
        title: "Sixteen flows (ns-3.40 in the slides, Linux's stack here): the throughput of each",
        note: "",
        body: THROUGHPUTS,
    },
    Figure {
        experiment: "kato2025.sixteen-340",
        number: "Figures of III.B (pacing rates)",
        title: "Sixteen flows (ns-3.40 in the slides, Linux's stack here): pacing rate of a high and a low flow",
        note: OF_PACING,
        body: PACING_RATES,
    },
    Figure {
        experiment: "kato2025.sixteen-344",
        number: "Figures of III.C (box plots)",
        title: "Sixteen flows (ns-3.44 in the slides, Linux's stack here): the throughput of each",
        note: "The slides' releases of ns-3 differ in the simulator only, so these runs on Linux's stack are those beside ns-3.40.",
        body: THROUGHPUTS,
    },
    Figure {
        experiment: "kato2025.sixteen-344",
        number: "Results of III.C",
        title: "Sixteen flows (ns-3.44 in the slides, Linux's stack here): mean and number of flows below half of the fair share",
        note: "",
        body: Body::Table(of_buffers(OF_ALL)),
    },
    Figure {
        experiment: "kato2025.sixteen-344",
        number: "Figures of III.C (pacing rates)",
        title: "Sixteen flows (ns-3.44 in the slides, Linux's stack here): pacing rate of a high and a low flow",
        note: OF_PACING,
        body: PACING_RATES,
    },
    Figure {
        experiment: "kato2025.ported",
        number: "Result line of IV",
        title: "TCP of ns-3.44 within ns-3.40 in the slides, Linux's stack here",
        note: "",
        body: Body::Table(of_buffers(OF_ALL)),
    },
];

const OF_PACING: &str = "The flows with the most and the least goodput; the slides do not say of which buffer theirs are.";

const OF_ALL: &[&str] = &["mean_mbps", "std_mbps", "low_flows", "jain", "utilisation"];

/// A line for each buffer.
const fn of_buffers(metrics: &'static [&'static str]) -> Grid {
    Grid {
        at: &[],
        lines: &["buffer_packets"],
        across: &[METRIC],
        metrics,
        foot: &[],
        is_shaded: false,
    }
}

const THROUGHPUTS: Body = Body::Panels(
    1,
    &[Panel {
        title: "",
        at: &[],
        each: &[],
        draws: Draws::Boxes(Along {
            metric: "flow_throughput_mbps",
            key: "buffer_packets",
            by: &[],
            scale: Scale::FromZero,
        }),
    }],
);

const PACING_RATES: Body = Body::Panels(
    1,
    &[
        Panel::over_time("100 packets", &[("buffer_packets", Number(100.0))], HIGH_AND_LOW),
        Panel::over_time("5000 packets", &[("buffer_packets", Number(5000.0))], HIGH_AND_LOW),
    ],
);

const HIGH_AND_LOW: Shows = &[(PacingRate, HighAndLow)];
