//! The input and the results of a run, as plain data. `bbrlab-run` reads no files and imports no
//! engine.
//!
//! In a [`Run`], every quantity is an integer, and every abbreviation (the dumbbell, access links,
//! `rtt`) has been replaced by links and routes. `scenario` makes runs from scenario files; `sim`
//! executes a `Run` and returns a [`RunResult`]. Results of our simulator, of ns-3 and of a kernel
//! are stored in the same structs, so the same code evaluates and prints them.

mod cdf;
mod column;
mod figure;
mod flow_settings;
pub mod headers;
mod measured;
mod metrics;
mod ns3;
mod place;
mod profile;
mod record;
mod route;
mod run;
mod runs;
mod statistics;
mod tables;
mod traffic;

pub use bbrlab_cc::{Algorithm, Controls, ParamSpec, ParamValue};

pub use cdf::Cdf;
pub use column::{Cell, Column, Kind, MaybeKnown, Values};
pub use figure::{Field, Figure, Leaf, Role, leaves};
pub use flow_settings::FlowSettings;
pub use metrics::{GroupMetric, Metrics};
pub use ns3::{NS3, is_ns3_attribute, ns3_type_of};
pub use place::{KEYS_WITH_REVERSE, Place};
pub use profile::Profile;
pub use record::{
    ControlFromOutside, Cwnd, Delay, DelayRow, Delays, Fct, FlowGroup, FlowSummary, Group,
    GroupFct, GroupRtt, HOST, KindOfTime, LatenessUs, LimitedBy, LinkSummary, MEASURED, QueueDelay,
    QueuePackets, QueueRow, QueueSeries, Rtt, RunResult, RunSummary, RunsDocument, SIMULATOR,
    Series, SeriesRow, Slowdown, Sojourn, Srtt, TinSummary, TransferRow, Transfers, Wait,
    WaitSummary,
};
pub use route::{framing, wire_bytes};
pub use run::{Flow, FlowClass, Hop, Outside, Run, Sample, Source, SweepPoint};
pub use runs::Runs;
pub use statistics::{jain, mean, percentile, squares, variance};
pub use tables::{TABLES, runs_of, tables_of};
pub use traffic::{
    Arrivals, Bursts, Distribution, Frames, KeyFrames, Pace, Paces, PageLoad, Pause, Random,
    Reading, Requests,
};
