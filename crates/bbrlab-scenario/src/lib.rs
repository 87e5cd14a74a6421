//! Scenarios and result records: what goes into a run and what comes out of it. No engine.
//!
//! A scenario file is read, checked and resolved into [`Run`]s: one per point of its sweep and seed, with
//! every quantity in integers and every short form (the dumbbell, access links, `rtt`) turned into links and
//! routes. `sim` runs a `Run` and answers with a [`RunResult`]; whatever made it, our simulator, ns-3 or a
//! kernel, the same records are judged and printed.

mod buffer;
mod builtin;
mod canonical;
mod decimal;
mod document;
mod error;
mod estimate;
mod flow;
mod link;
mod lower;
mod nearest;
mod not_built;
mod quantity;
mod reader;
mod record;
mod route;
mod run;
mod scenario;
mod spec;
mod stack;
mod sweep;
mod traces;

pub use bbrlab_cc::{Algorithm, ParamSpec, ParamValue};
pub use builtin::{BUILTINS, Builtin};
pub use error::{ScenarioError, ScenarioErrors};
pub use estimate::Estimate;
pub use scenario::Scenario;

pub use record::{
    Cwnd, Fct, FlowSummary, Group, GroupMetric, LimitedBy, LinkSummary, QueueDelay, QueuePackets,
    QueueRow, QueueSeries, Rtt, RunResult, RunSummary, RunsDocument, Series, SeriesRow, Srtt,
    TransferRow, Transfers,
};
pub use run::{
    Buffer, Burst, DelAck, Ecn, EcnThreshold, Flow, FlowClass, Hop, Jitter, Link, Loss, LossAt,
    Point, Probability, Profile, Queue, Rate, RateChange, Recovery, Reorder, Run, Sample,
    SenderQdisc, SocketBuffer, Source, Stack, TRACE_OPPORTUNITY_BYTES, Trace, Tso,
};
