//! Tests of imports and exports with whole files. Captures come from simulated runs, whose records
//! say what an import of the capture must find.

mod exports;
mod folder;
mod imports;
