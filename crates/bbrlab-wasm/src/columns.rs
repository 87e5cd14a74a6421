//! Converts rows of the time series to columns of plain numbers, in the units of the lab's charts.
//!
//! Most numbers for the lab's page are 32-bit floats, which are more precise than a screen can
//! show. A missing value is NaN. Strings are replaced by codes. The columns are in buffers of the
//! module. The module's next call may overwrite these buffers, so the page must copy values that it
//! needs later.

use std::borrow::Cow;

use bbrlab_run::{MaybeKnown, QueueSeries, Series};
use bbrlab_sim::Rows;
use serde::Serialize;

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Simulated times in seconds.
    F64(Vec<f64>),
    /// The numbers (ids) of flows or links.
    U32(Vec<u32>),
    /// Numbers; NaN if a value is missing.
    F32(Vec<f32>),
    /// Codes that stand for strings.
    U8(Vec<u8>),
}

impl Values {
    /// Returns the kind of `TypedArray` in JavaScript: the part of the name before `Array`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::F64(_) => "Float64",
            Self::U32(_) => "Uint32",
            Self::F32(_) => "Float32",
            Self::U8(_) => "Uint8",
        }
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::U8(values) => values.len(),
        }
    }

    /// Returns whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A function that appends the values of a column, one per row, to a buffer.
type Fill<T, V> = fn(&T, &mut Vec<V>);

const MBPS: f32 = 1e-6;
const MS: f32 = 1e-3;

/// The numeric columns of flows, without time and flow number.
const FLOW: &[(&str, Fill<Series, f32>)] = &[
    ("throughput_mbps", |rows, to| scaled(&rows.throughput_bps, MBPS, to)),
    ("rtt_ms", |rows, to| scaled(&rows.rtt_us, MS, to)),
    ("srtt_ms", |rows, to| scaled(&rows.srtt_us, MS, to)),
    ("min_rtt_ms", |rows, to| scaled(&rows.min_rtt_us, MS, to)),
    ("cwnd", |rows, to| scaled(&rows.cwnd_packets, 1.0, to)),
    ("inflight", |rows, to| scaled(&rows.inflight_packets, 1.0, to)),
    ("ssthresh", |rows, to| scaled(&rows.ssthresh_packets, 1.0, to)),
    ("pacing_mbps", |rows, to| scaled(&rows.pacing_rate_bps, MBPS, to)),
    ("bw_mbps", |rows, to| scaled(&rows.bw_bps, MBPS, to)),
    ("delay_ms", |rows, to| scaled(&rows.delay_us, MS, to)),
    ("lost", |rows, to| scaled(&rows.lost_packets, 1.0, to)),
    ("retransmitted", |rows, to| scaled(&rows.retransmitted_packets, 1.0, to)),
    ("sent", |rows, to| scaled(&rows.sent_packets, 1.0, to)),
    ("delivered", |rows, to| scaled(&rows.delivered_packets, 1.0, to)),
    ("inflight_hi", |rows, to| scaled(&rows.inflight_hi_packets, 1.0, to)),
    ("inflight_lo", |rows, to| scaled(&rows.inflight_lo_packets, 1.0, to)),
];

/// The numeric columns of links, without time and link number.
const LINK: &[(&str, Fill<QueueSeries, f32>)] = &[
    ("packets", |rows, to| scaled(&rows.packets, 1.0, to)),
    ("bytes", |rows, to| scaled(&rows.bytes, 1.0, to)),
    ("arrivals", |rows, to| scaled(&rows.arrivals, 1.0, to)),
    ("drops", |rows, to| scaled(&rows.drops, 1.0, to)),
    ("random_losses", |rows, to| scaled(&rows.random_losses, 1.0, to)),
    ("policer_drops", |rows, to| scaled(&rows.policer_drops, 1.0, to)),
    ("marks", |rows, to| scaled(&rows.marks, 1.0, to)),
];

/// The columns of flows whose values are strings, stored as codes.
const WORDS: [&str; 3] = ["state", "ca_state", "limited_by"];

/// Returns the names of all columns of flows, in order.
pub fn flow_columns() -> impl Iterator<Item = &'static str> {
    ["time_s", "flow"].into_iter().chain(FLOW.iter().map(|&(name, _)| name)).chain(WORDS)
}

/// Returns the names of all columns of links, in order.
pub fn link_columns() -> impl Iterator<Item = &'static str> {
    ["time_s", "link"].into_iter().chain(LINK.iter().map(|&(name, _)| name))
}

/// The strings of a column. The code of a string is its index.
#[derive(Debug, Default)]
struct Codes(Vec<String>);

impl Codes {
    /// Returns the code of a string, and adds the string if it is new. Only 255 strings of a column
    /// get codes of their own, and all later strings share the last of these codes. 255 codes are
    /// enough, because an algorithm has about ten states.
    fn of(&mut self, word: &str) -> u8 {
        let known = self.0.iter().position(|known| known == word);
        let place = known.unwrap_or_else(|| {
            if self.0.len() < usize::from(u8::MAX) {
                self.0.push(word.to_owned());
            }
            self.0.len() - 1
        });
        u8::try_from(place).unwrap_or(u8::MAX)
    }

    fn fill(&mut self, words: &[Cow<'static, str>], to: &mut Vec<u8>) {
        let mut last: (&str, u8) = match words.first() {
            Some(first) => (first, self.of(first)),
            None => return,
        };
        to.extend(words.iter().map(|word| {
            if *word != last.0 {
                last = (word, self.of(word));
            }
            last.1
        }));
    }
}

/// The strings of the three columns with codes, in the order of the codes.
#[derive(Debug, Serialize)]
pub(crate) struct Words<'a> {
    states: &'a [String],
    ca_states: &'a [String],
    limits: &'a [String],
}

/// The columns that the last `Call::Rows` or `Call::Packets` filled. `Call::Rows` fills them with
/// the rows that were recorded since the previous `Call::Rows`: first the columns of flows, then
/// the columns of links.
#[derive(Debug, Default)]
pub struct Columns {
    values: Vec<Values>,
    codes: [Codes; 3],
}

impl Columns {
    /// Replaces the values of all columns by the values in `rows`.
    pub(crate) fn fill(&mut self, rows: &Rows) {
        self.clear();
        let Self { values, codes } = self;
        let mut places = values.iter_mut();
        let mut next = || places.next().expect("there are buffers for all columns");
        let Rows { series, queue } = rows;
        next().set_f64(&series.time_s);
        next().set_u32(&series.flow);
        for (_, fill) in FLOW {
            fill(series, next().f32());
        }
        let words = [&series.state, &series.ca_state, &series.limited_by];
        for (codes, words) in codes.iter_mut().zip(words) {
            codes.fill(words, next().u8());
        }
        next().set_f64(&queue.time_s);
        next().set_u32(&queue.link);
        for (_, fill) in LINK {
            fill(queue, next().f32());
        }
    }

    /// Returns all columns: first the columns of flows, then the columns of links.
    #[must_use]
    pub fn values(&self) -> &[Values] {
        &self.values
    }

    pub(crate) fn words(&self) -> Words<'_> {
        let [states, ca_states, limits] = &self.codes;
        Words { states: &states.0, ca_states: &ca_states.0, limits: &limits.0 }
    }

    #[cfg(feature = "packets")]
    pub(crate) fn replace(&mut self, values: Vec<Values>) {
        self.values = values;
    }

    /// Creates the buffers of all columns, or empties them if they exist.
    fn clear(&mut self) {
        if self.values.is_empty() {
            let numbers = |count: usize| std::iter::repeat_n(Values::F32(Vec::new()), count);
            let keys = || [Values::F64(Vec::new()), Values::U32(Vec::new())];
            self.values.extend(keys());
            self.values.extend(numbers(FLOW.len()));
            self.values.extend(WORDS.map(|_| Values::U8(Vec::new())));
            self.values.extend(keys());
            self.values.extend(numbers(LINK.len()));
        }
        for values in &mut self.values {
            match values {
                Values::F64(values) => values.clear(),
                Values::U32(values) => values.clear(),
                Values::F32(values) => values.clear(),
                Values::U8(values) => values.clear(),
            }
        }
    }
}

impl Values {
    fn set_f64(&mut self, from: &[f64]) {
        let Self::F64(values) = self else { unreachable!("a column of times has the type F64") };
        values.extend_from_slice(from);
    }

    fn set_u32(&mut self, from: &[u32]) {
        let Self::U32(values) = self else {
            unreachable!("a column of flow or link numbers has the type U32")
        };
        values.extend_from_slice(from);
    }

    fn f32(&mut self) -> &mut Vec<f32> {
        let Self::F32(values) = self else {
            unreachable!("a column of measured values has the type F32")
        };
        values
    }

    fn u8(&mut self) -> &mut Vec<u8> {
        let Self::U8(values) = self else { unreachable!("a column of codes has the type U8") };
        values
    }
}

/// A value of a time series that becomes an element of an `F32` column. A missing value becomes
/// NaN.
trait Shown: Copy {
    fn shown(self) -> f32;
}

macro_rules! shown {
    ($($integer:ty),*) => {$(
        impl Shown for $integer {
            #[expect(clippy::cast_precision_loss, reason = "an f32 is more precise than a chart can show")]
            #[inline]
            fn shown(self) -> f32 {
                self as f32
            }
        }
    )*};
}

shown!(u32, u64);

impl<T: Shown> Shown for Option<T> {
    #[inline]
    fn shown(self) -> f32 {
        self.map_or(f32::NAN, T::shown)
    }
}

impl<T: Shown> Shown for MaybeKnown<T> {
    #[inline]
    fn shown(self) -> f32 {
        self.0.shown()
    }
}

fn scaled<T: Shown>(from: &[T], unit: f32, to: &mut Vec<f32>) {
    to.extend(from.iter().map(|value| value.shown() * unit));
}
