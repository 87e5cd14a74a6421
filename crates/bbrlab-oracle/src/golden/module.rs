//! Replays the trace of a congestion control through the [`CongestionControl`] trait.
//!
//! The input columns become a [`Conn`] and the arguments of the row's call. The replay compares the
//! return value (`ret`), the fields that the call wrote (`o_*`), the random numbers that it drew
//! (`rnd*`) and the private state after the call (`s_*`). The private state of our algorithm is set
//! only at the start; after that, each call continues with the state that the previous call left.

mod call;
mod draws;

use bbrlab_cc::fields::Field;
use bbrlab_cc::{Algorithm, CongestionControl, Control, ParamValue, Params};

pub(super) use self::call::ca_state;

use self::call::Call;
use self::draws::RecordedDraws;
use super::compare::Counter;
use super::csv::{Rows, Table};
use super::report::Tally;
use super::{GoldenError, GoldenTrace};

/// Replays `trace`. Returns `None` if the trace's algorithm is not implemented.
pub(super) fn replay(trace: &GoldenTrace, table: &Table) -> Result<Option<Tally>, GoldenError> {
    let Some((algorithm, params)) = recipe(trace)? else {
        return Ok(None);
    };
    let fresh = algorithm
        .build(&params)
        .map_err(|reason| GoldenError::BadParams { file: trace.file.clone(), reason })?;
    Ok(Some(replay_with(trace, table, &fresh)?))
}

/// Replays `trace` with clones of `fresh`, an instance whose private state is all zero.
pub(super) fn replay_with<C: CongestionControl + Clone>(
    trace: &GoldenTrace,
    table: &Table,
    fresh: &C,
) -> Result<Tally, GoldenError> {
    let plan = Plan::new(trace, table)?;
    let mut replay = Replay {
        plan: &plan,
        counter: Counter::new(&trace.file, table, &plan.compared()),
        cc: fresh.clone(),
        fresh,
        call: Call::new(trace.hz),
        state_order: Vec::new(),
    };
    let bad_row = |row, reason| GoldenError::BadRow { file: trace.file.clone(), row, reason };
    let mut rows = table.rows();
    while rows.advance().map_err(|reason| bad_row(rows.row(), reason))? {
        replay.row(&rows).map_err(|reason| bad_row(rows.row(), reason))?;
    }
    if let Some(&(at, _)) = plan.states.iter().find(|(at, _)| !replay.gives_state(*at)) {
        return Err(GoldenError::BadColumn {
            file: trace.file.clone(),
            column: table.columns()[at].name.clone(),
            reason: "our algorithm has no such field".to_owned(),
        });
    }
    Ok(replay.counter.finish())
}

/// Returns the algorithm and the parameters of a trace, or `None` if the algorithm is not
/// implemented.
fn recipe(trace: &GoldenTrace) -> Result<Option<(Algorithm, Params)>, GoldenError> {
    let mut params = Params::new();
    let name = match trace.algorithm.as_str() {
        "bbr2exp" => "bbr2_exp",
        "bbr2_2020" => {
            params.push(("form".to_owned(), ParamValue::Text("2020".to_owned())));
            "bbr2"
        }
        name => name,
    };
    let Some(algorithm) = Algorithm::from_name(name) else {
        return Ok(None);
    };
    for setting in trace.params.split(';').filter(|setting| !setting.is_empty()) {
        let parsed = setting.split_once('=').and_then(|(name, value)| {
            Some((name.to_owned(), ParamValue::Int(value.parse().ok()?)))
        });
        let Some(param) = parsed else {
            return Err(GoldenError::BadColumn {
                file: trace.file.clone(),
                column: "params".to_owned(),
                reason: format!("found `{setting}`, expected `name=integer`"),
            });
        };
        params.push(param);
    }
    Ok(Some((algorithm, params)))
}

/// The role of each column of a trace in the replay.
struct Plan {
    /// For each column, the argument of the algorithm's call that the column sets; `None` if it
    /// sets no argument.
    inputs: Vec<Option<call::Input>>,
    ret: usize,
    /// The columns `o_*`, which have the fields that the call wrote: each column's position, with
    /// the field.
    outputs: Vec<(usize, &'static Field<Control>)>,
    /// The positions of the columns `rnd*`, which have the random draws of the call, in order.
    draws: Vec<usize>,
    /// The positions of the columns with private state that is compared, each with the name of the
    /// state's field.
    states: Vec<(usize, String)>,
}

impl Plan {
    fn new(trace: &GoldenTrace, table: &Table) -> Result<Self, GoldenError> {
        let bad = |column: &str, reason: &str| GoldenError::BadColumn {
            file: trace.file.clone(),
            column: column.to_owned(),
            reason: reason.to_owned(),
        };
        let mut plan = Self {
            inputs: Vec::new(),
            ret: 0,
            outputs: Vec::new(),
            draws: Vec::new(),
            states: Vec::new(),
        };
        plan.ret = table.position("ret").ok_or_else(|| bad("ret", "is missing"))?;
        for needed in ["event", "arg"] {
            table.position(needed).ok_or_else(|| bad(needed, "is missing"))?;
        }
        for (at, column) in table.columns().iter().enumerate() {
            let name = column.name.as_str();
            plan.inputs.push(None);
            if let Some(state) = name.strip_prefix("s_") {
                if !is_exempt(&trace.algorithm, state) {
                    plan.states.push((at, state.to_owned()));
                }
            } else if let Some(output) = name.strip_prefix("o_") {
                let output = call::output(output).ok_or_else(|| bad(name, "unknown output"))?;
                plan.outputs.push((at, output));
            } else if let Some(index) = name.strip_prefix("rnd") {
                if index.parse() != Ok(plan.draws.len()) {
                    return Err(bad(name, "draws must be numbered from 0, in order"));
                }
                plan.draws.push(at);
            } else if name != "ret" && name != "warn" {
                let input = call::Input::of(name).ok_or_else(|| bad(name, "unknown input"))?;
                plan.inputs[at] = Some(input);
            }
        }
        Ok(plan)
    }

    /// Returns the positions of all columns that are compared.
    fn compared(&self) -> Vec<usize> {
        let outputs = self.outputs.iter().map(|&(at, _)| at);
        let states = self.states.iter().map(|&(at, _)| at);
        outputs.chain(states).chain(self.draws.iter().copied()).chain([self.ret]).collect()
    }
}

/// Whether the private field `state` is not compared: a debugging field of BBRv2, or a field that
/// BBRv2 never uses. The README of the reference data permits replays to leave out these fields.
fn is_exempt(algorithm: &str, state: &str) -> bool {
    algorithm.starts_with("bbr2") && (state.starts_with("dbg_") || state == "packet_conservation")
}

/// A replay in progress.
struct Replay<'t, C> {
    plan: &'t Plan,
    counter: Counter<'t>,
    /// An instance whose private state is all zero.
    fresh: &'t C,
    cc: C,
    call: Call,
    /// The fields of a snapshot of the private state, in order, each with the position of its
    /// column. The position is `None` if the field is not compared. The positions are stored so
    /// that names are looked up only once per trace.
    state_order: Vec<(&'static str, Option<usize>)>,
}

impl<C: CongestionControl + Clone> Replay<'_, C> {
    /// Whether the snapshot contains the field of column `at`.
    fn gives_state(&self, at: usize) -> bool {
        self.state_order.iter().any(|&(_, column)| column == Some(at))
    }

    fn row(&mut self, rows: &Rows<'_>) -> Result<(), String> {
        let values = rows.values();
        self.counter.begin(rows.row());
        for &at in rows.changed() {
            if let Some(input) = self.plan.inputs[at] {
                input.put(&mut self.call, values[at])?;
            }
        }
        let mut draws = RecordedDraws::new(self.plan.draws.iter().map(|&at| values[at]));
        let (ret, ctl) = self.call.perform(&mut self.cc, self.fresh, &mut draws)?;
        if let Some(wrong) = draws.first_wrong() {
            self.counter.wrong(&format!("rnd{}", wrong.index), wrong.expected, wrong.got);
        }
        self.counter.check(self.plan.ret, values[self.plan.ret], ret);
        for &(at, output) in &self.plan.outputs {
            self.counter.check(at, values[at], (output.get)(&ctl));
        }
        self.compare_state(values);
        Ok(())
    }

    /// Compares the private state after the call with the trace.
    fn compare_state(&mut self, values: &[i64]) {
        let Self { plan, counter, cc, state_order, .. } = self;
        let mut index = 0;
        cc.snapshot(&mut |name, value| {
            if index == state_order.len() {
                let column = plan.states.iter().find(|(_, state)| state == name).map(|&(at, _)| at);
                state_order.push((name, column));
            }
            let (known, column) = state_order[index];
            assert!(known == name, "all snapshots have the same fields in the same order");
            index += 1;
            if let Some(at) = column {
                counter.check(at, values[at], value);
            }
        });
    }
}
