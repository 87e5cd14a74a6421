//! Compares the internal state of a queue discipline with the kernel's, call by call. If the states
//! are equal too, equal fates of packets are not a coincidence.

use std::collections::VecDeque;
use std::path::Path;

use bbrlab_queue::{Discipline, DisciplineInfo, Rule};

use super::replay::Moment;
use super::report::FirstMismatch;
use super::row::number;
use crate::error::LogError;
use crate::table::Table;

const COLUMNS: &str = "time_ns,point,ev,n,during,v1,v2,v3,v4,v5,v6,v7";

/// A kind of logged state of the kernel's discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Codel,
    FqCodel,
    FqFlow,
    PieEnqueue,
    PieTimer,
    Red,
}

impl Kind {
    /// Returns the name of the event in the log, and the names of its columns. `-` stands for a
    /// value that our discipline does not have.
    fn columns(self) -> (&'static str, &'static [&'static str]) {
        const CODEL: &[&str] = &[
            "count",
            "lastcount",
            "drop_next",
            "first_above_time",
            "-",
            "dropping",
            "rec_inv_sqrt",
        ];
        const PIE: &[&str] = &["qdelay", "burst_time", "prob", "accu_prob"];
        match self {
            Self::Codel => ("codel", CODEL),
            Self::FqCodel => ("fqc_codel", CODEL),
            Self::FqFlow => ("fqc_flow", &["bucket", "deficit", "is_new"]),
            Self::PieEnqueue => ("pie", PIE),
            Self::PieTimer => ("pie_timer", PIE),
            Self::Red => ("red", &["qcount", "qR", "qavg"]),
        }
    }

    const ALL: [Self; 6] =
        [Self::Codel, Self::FqCodel, Self::FqFlow, Self::PieEnqueue, Self::PieTimer, Self::Red];
}

/// A logged state of the kernel's discipline.
#[derive(Debug)]
struct Logged {
    kind: Kind,
    time_ns: u64,
    values: Vec<i64>,
}

/// The logged queue states at one point of the network that are still to be compared, and the
/// counts of compared and of differing states.
#[derive(Debug)]
pub(super) struct States {
    logged: VecDeque<Logged>,
    /// `red`'s `qcount` and `qR` before the arriving packet is enqueued.
    red_before: [i64; 2],
    pub(super) compared: u64,
    pub(super) mismatches: u64,
    pub(super) first: Option<FirstMismatch>,
}

impl States {
    /// Loads the logged states of `point`.
    pub(super) fn load(path: &Path, point: &str) -> Result<Self, LogError> {
        let table = Table::load(path, COLUMNS)?;
        let mut logged = VecDeque::new();
        for (at, cells) in table.rows().iter().enumerate() {
            let bad = |reason| LogError::BadRow { path: path.to_owned(), row: at + 1, reason };
            let kind = Kind::ALL.into_iter().find(|kind| kind.columns().0 == cells[2]);
            let Some(kind) = kind.filter(|_| cells[1] == point && !cells[0].starts_with('-'))
            else {
                continue;
            };
            let mut values = Vec::new();
            for (name, cell) in kind.columns().1.iter().zip(&cells[5..]) {
                values.push(number(name, cell).map_err(bad)?);
            }
            logged.push_back(Logged {
                kind,
                time_ns: number("time_ns", &cells[0]).map_err(bad)?,
                values,
            });
        }
        Ok(Self { logged, red_before: [0; 2], compared: 0, mismatches: 0, first: None })
    }

    /// Returns the number of states logged up to `end_ns` that are still to be compared.
    pub(super) fn left(&self, end_ns: u64) -> u64 {
        self.logged.iter().filter(|state| state.time_ns <= end_ns).count() as u64
    }

    /// Compares the state of `discipline` with the next logged state, if the kernel logs a state at
    /// this kind of call.
    pub(super) fn watch(&mut self, moment: Moment, now_ns: u64, discipline: &Discipline) {
        let Some(info) = discipline.info() else { return };
        match (moment, info) {
            (Moment::Dequeued { .. }, DisciplineInfo::Codel(codel)) => {
                self.compare(Kind::Codel, now_ns, &codel_values(codel));
            }
            (
                Moment::Dequeued { is_some: true },
                DisciplineInfo::FqCodel { codel, bucket, deficit, is_new },
            ) => {
                self.compare(Kind::FqCodel, now_ns, &codel_values(codel));
                let flow = [i64::from(bucket), i64::from(deficit), i64::from(is_new)];
                self.compare(Kind::FqFlow, now_ns, &flow);
            }
            (Moment::BeforeEnqueue, DisciplineInfo::Pie(pie)) => {
                self.compare(Kind::PieEnqueue, now_ns, &pie_values(pie));
            }
            // The kernel logs `red`'s average after the packet has changed it, but `qcount` and
            // `qR` before the packet changes them.
            (Moment::BeforeEnqueue, DisciplineInfo::Red { qcount, qr, .. }) => {
                self.red_before = [i64::from(qcount), i64::from(qr)];
            }
            (Moment::AfterEnqueue, DisciplineInfo::Red { qavg, .. }) => {
                let [qcount, qr] = self.red_before;
                self.compare(Kind::Red, now_ns, &[qcount, qr, qavg.cast_signed()]);
            }
            (Moment::Timer, DisciplineInfo::Pie(pie)) => {
                self.compare(Kind::PieTimer, now_ns, &pie_values(pie));
            }
            _ => {}
        }
    }

    fn compare(&mut self, kind: Kind, now_ns: u64, ours: &[i64]) {
        // The replay may run out of logged states, because the log ends before the last packets
        // have departed.
        let Some(logged) = self.logged.pop_front() else { return };
        self.compared += 1;
        let (event, names) = kind.columns();
        let logged_event = logged.kind.columns().0;
        let differs = if logged.kind != kind || logged.time_ns != now_ns {
            let at = |event: &str, ns: u64| format!("{event} at {ns} ns");
            Some(("", at(logged_event, logged.time_ns), at(event, now_ns)))
        } else {
            let values = names.iter().zip(logged.values.iter().zip(ours));
            let mut compared = values.filter(|&(&name, _)| name != "-");
            let found = compared.find(|(_, (linux, ours))| linux != ours);
            found.map(|(&name, (linux, ours))| (name, linux.to_string(), ours.to_string()))
        };
        let Some((name, expected, got)) = differs else { return };
        self.mismatches += 1;
        if self.first.is_none() {
            let field = format!("{event}.{name} at {now_ns} ns");
            self.first = Some(FirstMismatch { n: self.compared, field, expected, got });
        }
    }
}

fn codel_values(codel: bbrlab_queue::CodelInfo) -> [i64; 7] {
    [
        i64::from(codel.count),
        i64::from(codel.lastcount),
        i64::from(codel.drop_next),
        i64::from(codel.first_above_time),
        0,
        i64::from(codel.dropping),
        i64::from(codel.rec_inv_sqrt),
    ]
}

fn pie_values(pie: bbrlab_queue::PieInfo) -> [i64; 4] {
    [pie.qdelay, pie.burst_time, pie.prob, pie.accu_prob].map(u64::cast_signed)
}
