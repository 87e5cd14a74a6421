//! Tests of imports and exports with complete files. The captures are exported from simulated runs.
//! The values that the import of such a capture gives must agree with the run's summary.

mod exports;
mod folder;
mod imports;
