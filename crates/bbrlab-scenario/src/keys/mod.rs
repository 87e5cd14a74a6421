//! Definitions of a scenario's keys, in tables. Each row of a table has the reader, the writer and
//! the description of one key.

pub(crate) mod controls;
mod distribution;
mod dscp;
mod ecn;
mod family;
pub(crate) mod flow;
pub(crate) mod idle;
pub(crate) mod link;
pub(crate) mod model;
mod not_built;
mod params;
pub(crate) mod profile;
pub(crate) mod queue;
pub(crate) mod reference;
pub(crate) mod repeat;
pub(crate) mod size_distribution;
pub(crate) mod spec;
pub(crate) mod stack;
mod steps;
pub(crate) mod traffic;
pub(crate) mod until_metric;
