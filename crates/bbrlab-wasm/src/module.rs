//! Executes the calls of the lab's web worker to this module, and holds the run in progress.

use bbrlab_cost::Estimate;
use bbrlab_run::{Run, RunSummary, RunsDocument};
use bbrlab_sim::{Sim, Status};
use bbrlab_units::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::catalogue::{COMMIT, VERSION, catalogue};
use crate::columns::Columns;
use crate::estimate::{Checked, check};
#[cfg(feature = "packets")]
use crate::packets;
use crate::started::Started;
use crate::text::{Mistake, ScenarioText};

/// A call of the worker to this module. The input of [`Self::Check`] and [`Self::Begin`] is JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Returns the texts that do not depend on a scenario.
    Catalogue = 0,
    /// Checks a scenario and estimates its cost.
    Check = 1,
    /// Begins a run. The previous run is discarded.
    Begin = 2,
    /// Executes all events up to a time in nanoseconds, but at most to the end of the run.
    Advance = 3,
    /// Moves the rows recorded since the last call `Rows` into the columns.
    Rows = 4,
    /// Ends the run and returns its results.
    Finish = 5,
    /// Discards the run in progress.
    Forget = 6,
    /// Begins to record the events of packets, up to a maximum number of events.
    Tap = 7,
    /// Ends the recording, and moves the recorded events into the columns.
    Packets = 8,
}

impl Call {
    /// Returns the call with this number; `None` if there is none.
    #[must_use]
    pub fn of(number: u32) -> Option<Self> {
        const ALL: [Call; 9] = [
            Call::Catalogue,
            Call::Check,
            Call::Begin,
            Call::Advance,
            Call::Rows,
            Call::Finish,
            Call::Forget,
            Call::Tap,
            Call::Packets,
        ];
        ALL.get(number as usize).copied()
    }
}

/// The result of a call. The output of the call is always a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The call was executed; the output is its answer.
    Done = 0,
    /// The scenario has mistakes: `{ "mistakes": [...] }`.
    Mistakes = 1,
    /// The module refuses the call: `{ "message": "..." }`.
    Refused = 2,
}

/// The reason why a call has no answer.
enum Unanswered {
    Mistakes(Vec<Mistake>),
    Refused(String),
}

impl From<String> for Unanswered {
    fn from(message: String) -> Self {
        Self::Refused(message)
    }
}

/// The input of [`Call::Begin`].
#[derive(Deserialize)]
struct Begin {
    scenario: ScenarioText,
    run: u64,
    /// Whether the run records the rows of the time series.
    rows: bool,
    /// Whether the events of packets will be recorded. If so, each departure from a link is a
    /// simulator event.
    #[serde(default)]
    packets: bool,
}

/// The simulator in a worker, with the input and the output of the worker's calls. At most one run
/// is in progress.
#[derive(Debug, Default)]
pub struct Module {
    /// The input of the next call. A worker writes the input before the call.
    pub input: Vec<u8>,
    output: Vec<u8>,
    columns: Columns,
    session: Option<Session>,
}

/// A run in progress.
#[derive(Debug)]
struct Session {
    run: Run,
    sim: Sim,
    has_rows: bool,
    scenario_toml: String,
}

impl Module {
    /// Executes a call. `number` is the time in nanoseconds for [`Call::Advance`], or the largest
    /// number of events for [`Call::Tap`].
    ///
    /// # Panics
    /// Panics if an assertion in the simulator fails, which is a bug.
    pub fn call(&mut self, call: Call, number: f64) -> Outcome {
        let answer = match call {
            Call::Catalogue => Ok(catalogue()),
            Call::Check => self.check(),
            Call::Begin => self.begin(),
            Call::Advance => self.advance(whole(number)),
            Call::Rows => self.rows(),
            Call::Finish => self.finish(),
            Call::Forget => {
                self.session = None;
                Ok(json!({}))
            }
            #[cfg(feature = "packets")]
            Call::Tap => self.tap(whole(number)),
            #[cfg(feature = "packets")]
            Call::Packets => self.packets(),
            #[cfg(not(feature = "packets"))]
            Call::Tap | Call::Packets => {
                Err("this module was built without the feature `packets`".to_owned().into())
            }
        };
        self.input = Vec::new();
        let (outcome, value) = match answer {
            Ok(value) => (Outcome::Done, value),
            Err(Unanswered::Mistakes(mistakes)) => {
                (Outcome::Mistakes, json!({ "mistakes": mistakes }))
            }
            Err(Unanswered::Refused(message)) => (Outcome::Refused, json!({ "message": message })),
        };
        self.output = value.to_string().into_bytes();
        outcome
    }

    /// Returns the JSON output of the last call.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Returns the columns that the last [`Call::Rows`] or [`Call::Packets`] has filled.
    #[must_use]
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    fn read<T: for<'a> Deserialize<'a>>(&self) -> Result<T, Unanswered> {
        serde_json::from_slice(&self.input).map_err(|error| format!("The request: {error}").into())
    }

    fn check(&self) -> Result<Value, Unanswered> {
        let text: ScenarioText = self.read()?;
        let scenario = text.parse().map_err(Unanswered::Mistakes)?;
        Ok(value(&Checked::of(&scenario)))
    }

    fn begin(&mut self) -> Result<Value, Unanswered> {
        self.session = None;
        let begin: Begin = self.read()?;
        let scenario = begin.scenario.parse().map_err(Unanswered::Mistakes)?;
        if begin.run >= scenario.runs() {
            let message = format!(
                "There is no run {}: the runs are 0 to {}.",
                begin.run,
                scenario.runs() - 1
            );
            return Err(message.into());
        }
        let mut estimate = Estimate::of_run(&scenario, begin.run);
        if !begin.rows {
            estimate.series_rows = 0;
        }
        check(&estimate)?;
        let run = scenario.run(begin.run);
        let mode = if begin.packets {
            bbrlab_sim::LinkMode::DepartureEvents
        } else {
            bbrlab_sim::LinkMode::VirtualClock
        };
        let sim = Sim::with_links(&run, mode)?;
        let started = value(&Started::of(&run, &sim));
        let scenario_toml = scenario.run_toml(begin.run);
        self.columns = Columns::default();
        self.session = Some(Session { run, sim, has_rows: begin.rows, scenario_toml });
        Ok(started)
    }

    fn advance(&mut self, until: u64) -> Result<Value, Unanswered> {
        let session = self.session.as_mut().ok_or_else(no_run)?;
        let end = Time(session.run.duration.0);
        let until = Time(until).min(end);
        let status = session.sim.advance(until);
        if !session.has_rows {
            drop(session.sim.take_rows());
        }
        Ok(json!({ "time_s": until.as_secs_f64(), "done": status == Status::Done }))
    }

    fn rows(&mut self) -> Result<Value, Unanswered> {
        let session = self.session.as_mut().ok_or_else(no_run)?;
        self.columns.fill(&session.sim.take_rows());
        Ok(value(&self.columns.words()))
    }

    fn finish(&mut self) -> Result<Value, Unanswered> {
        let Session { sim, scenario_toml, .. } = self.session.take().ok_or_else(no_run)?;
        let record = Record::of(sim.finish().summary, scenario_toml);
        Ok(value(&record))
    }

    #[cfg(feature = "packets")]
    fn tap(&mut self, events_max: u64) -> Result<Value, Unanswered> {
        let session = self.session.as_mut().ok_or_else(no_run)?;
        session
            .sim
            .open_tap(usize::try_from(events_max).unwrap_or(usize::MAX).min(packets::EVENTS_MAX));
        Ok(json!({}))
    }

    #[cfg(feature = "packets")]
    fn packets(&mut self) -> Result<Value, Unanswered> {
        let session = self.session.as_mut().ok_or_else(no_run)?;
        let (columns, full_at) = packets::columns(&mut session.sim);
        self.columns.replace(columns);
        Ok(json!({ "full_at_s": full_at.map(Time::as_secs_f64) }))
    }
}

fn no_run() -> Unanswered {
    "There is no run in progress.".to_owned().into()
}

/// The answer to [`Call::Finish`]: the results of a run.
#[derive(Serialize)]
struct Record {
    json: String,
    digest: String,
    events: u64,
    data_packets: u64,
    scenario_toml: String,
}

impl Record {
    fn of(summary: RunSummary, scenario_toml: String) -> Self {
        let digest = summary.digest.clone().unwrap_or_default();
        let (events, data_packets) =
            (summary.events.unwrap_or_default(), summary.data_packets.unwrap_or_default());
        let document = RunsDocument {
            version: VERSION.to_owned(),
            commit: COMMIT.to_owned(),
            runs: vec![summary],
            groups: None,
        };
        let json = serde_json::to_string_pretty(&document).expect("a record is JSON");
        Self { json, digest, events, data_packets, scenario_toml }
    }
}

fn value(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).expect("an answer is JSON")
}

/// Converts a number from JavaScript to an integer. A negative number and NaN become 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` converts numbers out of range to the nearest integer in range"
)]
fn whole(number: f64) -> u64 {
    number as u64
}
