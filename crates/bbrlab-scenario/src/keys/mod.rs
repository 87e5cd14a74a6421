//! The keys of a scenario, in tables whose rows say how a value is read, written and described.

pub(crate) mod controls;
mod dscp;
mod ecn;
mod family;
pub(crate) mod flow;
pub(crate) mod idle;
mod law;
pub(crate) mod link;
pub(crate) mod model;
mod not_built;
mod params;
pub(crate) mod profile;
pub(crate) mod queue;
pub(crate) mod reference;
pub(crate) mod repeat;
pub(crate) mod size_law;
pub(crate) mod spec;
pub(crate) mod stack;
mod steps;
pub(crate) mod traffic;
