//! Keeps the instances of congestion controls in Python after a run, and the values that they
//! reported for the time series under keys that bbrlab does not define.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Float64Array};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The instances and reported values of one run. For a sweep, `is_on` is false and nothing is kept.
#[derive(Debug)]
pub(crate) struct Kept {
    is_on: bool,
    flows: Mutex<BTreeMap<u32, OfFlow>>,
}

/// The instance and the reported values of a flow's congestion control.
#[derive(Debug, Default)]
struct OfFlow {
    /// The instance of the flow's last connection; `None` before the first.
    instance: Option<Py<PyAny>>,
    connections: usize,
    /// The number of reports so far. Each report of a congestion control belongs to one row of the
    /// series.
    reports: usize,
    /// The reported values by key, for keys that bbrlab does not define. Each value has the index
    /// of its report.
    values: BTreeMap<String, Vec<(usize, f64)>>,
}

impl Kept {
    pub(crate) fn new(is_on: bool) -> Self {
        Self { is_on, flows: Mutex::default() }
    }

    fn with(&self, flow: u32, change: impl FnOnce(&mut OfFlow)) {
        if self.is_on {
            let mut flows = self.flows.lock().expect("no thread panics while holding the lock");
            change(flows.entry(flow).or_default());
        }
    }

    /// Keeps the instance that controls a new connection of the flow.
    pub(crate) fn instance(&self, flow: u32, instance: Py<PyAny>) {
        self.with(flow, |of| {
            of.instance = Some(instance);
            of.connections += 1;
        });
    }

    /// Keeps the values that a flow's congestion control reported with keys that bbrlab does not
    /// define.
    pub(crate) fn report(&self, flow: u32, own: Vec<(String, f64)>) {
        self.with(flow, |of| {
            for (name, value) in own {
                of.values.entry(name).or_default().push((of.reports, value));
            }
            of.reports += 1;
        });
    }

    /// Returns a dict from the number of each flow to the instance of its last connection.
    pub(crate) fn instances(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let instances = PyDict::new(py);
        for (flow, of) in &*self.flows.lock().expect("no thread panics while holding the lock") {
            if let Some(instance) = &of.instance {
                instances.set_item(flow, instance)?;
            }
        }
        Ok(instances.unbind())
    }

    /// Returns columns for a series: one for each reported key that bbrlab does not define.
    /// `flow_of_row` has, for each row of the series, the number of the row's flow.
    ///
    /// A flow's congestion control reports once per row recorded after the handshake; earlier rows
    /// have no report. If the flow has several connections, the rows between two connections have
    /// no report either. Which rows these are is unknown, so a flow with several connections gets
    /// no values.
    pub(crate) fn columns(&self, flow_of_row: &[u32]) -> Vec<(String, ArrayRef)> {
        let mut rows_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut columns: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
        let flows = self.flows.lock().expect("no thread panics while holding the lock");
        if flows.values().all(|of| of.values.is_empty()) {
            return Vec::new();
        }
        for (row, flow) in flow_of_row.iter().enumerate() {
            rows_of.entry(*flow).or_default().push(row);
        }
        for (flow, of) in &*flows {
            let rows = rows_of.get(flow).map_or(&[][..], Vec::as_slice);
            let before = rows.len().checked_sub(of.reports).filter(|_| of.connections == 1);
            for (name, values) in &of.values {
                let column =
                    columns.entry(name.clone()).or_insert_with(|| vec![None; flow_of_row.len()]);
                for &(report, value) in before.map_or(&[][..], |_| values.as_slice()) {
                    column[rows[before.unwrap_or_default() + report]] = Some(value);
                }
            }
        }
        let array = |values: Vec<Option<f64>>| Arc::new(Float64Array::from(values)) as ArrayRef;
        columns.into_iter().map(|(name, values)| (name, array(values))).collect()
    }
}
