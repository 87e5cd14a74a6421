//! Tests of imports and exports with complete files. The captures are exported from simulated runs.
//! An import of such a capture must find the values in the run's summary.

mod exports;
mod folder;
mod imports;
