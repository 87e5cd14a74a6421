//! Parameters of traffic: the distributions from which `sim` draws times and sizes, and the
//! schedules of rates that applications follow.

use std::sync::Arc;

use bbrlab_units::{BitRate, Bytes, Span, Time};

use crate::cdf::Cdf;

/// A random whole number of bytes or nanoseconds. Every draw is at least 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    /// The distribution of the draws.
    pub distribution: Distribution,
    /// The mean of the distribution.
    pub mean: u64,
    /// The largest value. A larger draw is replaced by this value.
    pub max: u64,
}

/// The rate of an application in one step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Payload at this rate. At the rate 0, the application pauses.
    At(BitRate),
    /// The application writes as fast as the socket allows.
    Unlimited,
}

/// Paces, each with the time at which it begins. Times are relative to the flow's start; the first
/// time is 0, and the times are in ascending order.
pub type Paces = Arc<[(Time, Pace)]>;

/// How an application reads if it does not read data as soon as the data arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Reads at most one segment at a time, at the pace of the current step of the schedule. A read
    /// that finds no data is not repeated later.
    Paced(Paces),
    /// Reads at most `bytes` bytes at the flow's start, and again after each interval `every`,
    /// counted from the flow's start.
    Periodic {
        /// The largest number of bytes per read.
        bytes: Bytes,
        /// Time from one read to the next.
        every: Span,
    },
}

/// The frames of a video call, a cloud game or a live stream. The application writes the first
/// frame at the flow's start, and one frame after each interval `every`. TCP sends each frame as
/// one write, UDP as datagrams of at most the segment size, one directly after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames {
    /// Time from one frame to the next.
    pub every: Span,
    /// Bytes of a frame that is not a key frame.
    pub bytes: Bytes,
    /// Key frames, which do not depend on other frames and are larger.
    pub keys: Option<KeyFrames>,
}

/// The key frames of a flow: the first frame, and every `each`-th frame after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFrames {
    /// Bytes of a key frame.
    pub bytes: Bytes,
    /// Frames from one key frame to the next.
    pub each: u32,
}

impl Frames {
    /// Returns the bytes of the frame with this number, counted from 0.
    #[must_use]
    pub fn bytes_of(&self, number: u64) -> u64 {
        match self.keys {
            Some(keys) if number.is_multiple_of(keys.each.into()) => keys.bytes.0,
            _ => self.bytes.0,
        }
    }
}

/// A probability distribution. The distribution's parameters are in thousandths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Always the mean.
    Constant,
    /// The exponential distribution.
    Exponential,
    /// The Pareto distribution, a power law: above the smallest value, P(X > x) is proportional to
    /// x to the power of minus `shape`. The smallest value is chosen so that draws limited to `max`
    /// have the given mean.
    Pareto {
        /// The shape, above 1.0. A smaller shape gives a heavier tail. Up to a shape of 2.0, the
        /// variance would be infinite without `max`.
        shape: u32,
    },
    /// The lognormal distribution: the logarithm of a draw has a normal distribution.
    Lognormal {
        /// Standard deviation of the draw's natural logarithm.
        sigma: u32,
    },
    /// A distribution given by points of its cumulative distribution. `mean` and `max` are computed
    /// from the points.
    Cdf(Arc<Cdf>),
}

/// Flows that arrive at random times, each on its own connection, and leave when their bytes are
/// delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// Time from one arrival to the next, in nanoseconds.
    pub gap: Random,
    /// Payload bytes of a flow.
    pub size: Random,
    /// Maximum number of concurrent flows. A flow that arrives while this many flows are active is
    /// rejected.
    pub at_most: u32,
}

/// A client that sends a request, reads the response and sends the next request, all on one
/// connection.
///
/// A request has 100 bytes of payload and crosses the reverse path like any other packet. The bytes
/// of requests are not counted in the flow's results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requests {
    /// Payload bytes per response.
    pub size: Random,
    /// The time until the client's next request.
    pub pause: Pause,
    /// The number of responses after which the flow ends; `None` if only the end of the run limits
    /// the number.
    pub count: Option<u32>,
}

/// The time from a client's read of a response to its next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The client makes no pause: its next request is sent immediately.
    None,
    /// A time drawn from this distribution, in nanoseconds.
    Think(Random),
    /// The flows of the class are the connections of a browser, which loads pages and decides when
    /// each connection sends its next request.
    Page(PageLoad),
    /// The time until the buffer of a video player has room for the next chunk.
    Player {
        /// Playing time of a chunk.
        piece: Span,
        /// Playing time that fits into the player's buffer, including chunks that are being read.
        buffer: Span,
    },
}

/// A browser that loads pages, one after the other. The size of an object is [`Requests::size`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLoad {
    /// The number of connections.
    pub connections: u32,
    /// The number of objects of each round. The objects of a round are requested when all objects
    /// of the round before have been read.
    pub rounds: Arc<[u32]>,
    /// The time from the end of a page to the start of the next, in nanoseconds. With `None`, 0.
    pub think: Option<Random>,
    /// The number of pages. With `None`, only the end of the run limits the number of pages.
    pub count: Option<u32>,
}

/// Random on and off periods, beginning with an on period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Lengths of on periods in nanoseconds.
    pub on: Random,
    /// Lengths of off periods in nanoseconds.
    pub off: Random,
    /// Rate in on periods; `None` if the application writes as fast as the socket accepts data.
    pub rate: Option<BitRate>,
}
