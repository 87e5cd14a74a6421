//! What goes into a run and what comes out of it, as plain data: no reading of files, no engine.
//!
//! A [`Run`] has every quantity in integers and every short form (the dumbbell, access links, `rtt`) turned
//! into links and routes. `scenario` makes runs of scenario files, `sim` runs a `Run` and answers with a
//! [`RunResult`]; whatever made it, our simulator, ns-3 or a kernel, the same records are judged and printed.

mod column;
mod figure;
mod record;
mod run;
mod statistics;

pub use bbrlab_cc::{Algorithm, ParamSpec, ParamValue};

pub use column::{Column, Kind, Told, Values};
pub use figure::{Cell, Field, Figure, Leaf, Role, leaves};
pub use record::{
    Cwnd, Fct, FlowSummary, Group, GroupMetric, LimitedBy, LinkSummary, OVER_FLOWS, OverFlows,
    QueueDelay, QueuePackets, QueueRow, QueueSeries, Rtt, RunResult, RunSummary, RunsDocument,
    Series, SeriesRow, Srtt, TransferRow, Transfers,
};
pub use run::{Flow, FlowClass, Hop, Profile, Run, Sample, Source, SweepPoint};
pub use statistics::{jain, mean, percentile, squares, variance};
