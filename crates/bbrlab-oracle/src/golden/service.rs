//! Replays the traces of the TCP stack's services, which the manifest lists with the kind `core`.
//!
//! A [`Service`] defines its input columns, the columns to compare, and a function for processing a
//! row.

mod cubicroot;
mod cwndval;
mod minmax;
mod pacing;
mod prr;
mod rate;
mod rtt;

use bbrlab_cc::linux_int::trunc_u32;

use super::compare::Counter;
use super::csv::Table;
use super::report::Tally;
use super::{GoldenError, GoldenTrace};

/// A service of the stack whose traces can be replayed.
trait Service {
    /// The columns that [`Self::step`] reads.
    const INPUTS: &'static [&'static str];
    /// The columns with the service's results, which are compared.
    const COMPARED: &'static [&'static str];

    /// Processes one row. `input` has the values of [`Self::INPUTS`], in order; `output` receives
    /// the values to compare, by name.
    fn step(
        &mut self,
        input: &[i64],
        output: &mut impl FnMut(&'static str, i64),
    ) -> Result<(), String>;
}

/// Replays `trace`. Returns `None` if the trace's service is not implemented.
pub(super) fn replay(trace: &GoldenTrace, table: &Table) -> Result<Option<Tally>, GoldenError> {
    Ok(Some(match trace.algorithm.as_str() {
        "cubicroot" => run(trace, table, cubicroot::CubicRoot)?,
        "cwndval" => run(trace, table, cwndval::CwndVal)?,
        "minmax" => run(trace, table, minmax::MinMax::default())?,
        "pacing" => run(trace, table, pacing::Pacing)?,
        "prr" => run(trace, table, prr::PrrTrace)?,
        "rate_v1" => run(trace, table, rate::Rate::v1())?,
        "rate_v3" => run(trace, table, rate::Rate::v3())?,
        "rtt" => run(trace, table, rtt::Rtt::new(trace.hz))?,
        _ => return Ok(None),
    }))
}

fn run<S: Service>(
    trace: &GoldenTrace,
    table: &Table,
    mut service: S,
) -> Result<Tally, GoldenError> {
    let inputs = positions(trace, table, S::INPUTS)?;
    let compared = positions(trace, table, S::COMPARED)?;
    let is_known = |name: &str| S::INPUTS.contains(&name) || S::COMPARED.contains(&name);
    if let Some(column) = table.columns().iter().find(|column| !is_known(&column.name)) {
        return Err(GoldenError::BadColumn {
            file: trace.file.clone(),
            column: column.name.clone(),
            reason: format!("`{}` has no such column", trace.algorithm),
        });
    }
    let bad_row = |row, reason| GoldenError::BadRow { file: trace.file.clone(), row, reason };
    let mut counter = Counter::new(&trace.file, table, &compared);
    let mut input = vec![0; inputs.len()];
    let mut rows = table.rows();
    while rows.advance().map_err(|reason| bad_row(rows.row(), reason))? {
        counter.begin(rows.row());
        let values = rows.values();
        for (slot, &at) in input.iter_mut().zip(&inputs) {
            *slot = values[at];
        }
        // A service usually writes its outputs in the order of `COMPARED`, so the search for a name
        // begins after the name that was found last.
        let mut next = 0;
        let mut output = |name: &'static str, got: i64| {
            let listed = S::COMPARED.iter().cycle().skip(next).take(S::COMPARED.len());
            let skipped = listed.take_while(|&&listed| listed != name).count();
            let index = (next + skipped) % S::COMPARED.len();
            assert!(
                S::COMPARED[index] == name,
                "the service computed `{name}`, which `COMPARED` does not list"
            );
            counter.check(compared[index], values[compared[index]], got);
            next = index + 1;
        };
        service.step(&input, &mut output).map_err(|reason| bad_row(rows.row(), reason))?;
    }
    Ok(counter.finish())
}

fn positions(
    trace: &GoldenTrace,
    table: &Table,
    names: &[&str],
) -> Result<Vec<usize>, GoldenError> {
    let position = |name: &&str| {
        table.position(name).ok_or_else(|| GoldenError::BadColumn {
            file: trace.file.clone(),
            column: (*name).to_owned(),
            reason: "is missing".to_owned(),
        })
    };
    names.iter().map(position).collect()
}

/// Returns the low 32 bits of a value. A `u32` field of the kernel stores only these bits.
fn u32_of(value: i64) -> u32 {
    trunc_u32(value.cast_unsigned())
}

fn i32_of(value: i64) -> i32 {
    u32_of(value).cast_signed()
}

/// Binds the inputs of a row to variables with the names of their columns.
macro_rules! named {
    ($input:expr; $($name:ident),* $(,)?) => {
        let &[$($name),*] = $input else { unreachable!("the replay passes one value per input") };
    };
}
use named;
