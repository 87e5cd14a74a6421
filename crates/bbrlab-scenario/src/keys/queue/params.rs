//! The parameters of the queue disciplines, with their names in `tc`.

use bbrlab_link::{
    CakeParams, CodelParams, DualPi2Params, FqParams, PieParams, PrioParams, Queue, SfqParams,
};

use super::access::Access;

/// A parameter of one or more queue disciplines.
pub(super) struct Param {
    pub(super) name: &'static str,
    /// The parameter's meaning, in Markdown.
    pub(super) meaning: &'static str,
    pub(super) access: Access,
}

const fn param(name: &'static str, meaning: &'static str, access: Access) -> Param {
    Param { name, meaning, access }
}

/// The largest quantum, in bytes, that `tc` and the kernel accept.
const QUANTUM_MAX: u64 = 1 << 20;

/// All parameters. A parameter of several disciplines has one row.
pub(super) const PARAMS: &[Param] = &[
    param(
        "target",
        "the acceptable wait",
        Access::Time(|queue| match queue {
            Queue::Codel(_) | Queue::FqCodel(_) => Some(&mut codel(queue)?.target),
            Queue::DualPi2(params) => Some(&mut params.target),
            _ => Some(&mut pie(queue)?.target),
        }),
    ),
    param(
        "interval",
        "how long packets may wait longer than `target` before the first is dropped or marked",
        Access::Time(|queue| Some(&mut codel(queue)?.interval)),
    ),
    param(
        "tupdate",
        "how often the probability is computed; for `pie` and `fq_pie`, Linux's timer adds 1 ms or more",
        Access::Time(|queue| match queue {
            Queue::DualPi2(params) => Some(&mut params.tupdate),
            _ => Some(&mut pie(queue)?.tupdate),
        }),
    ),
    param(
        "alpha",
        "weight of the distance from `target`: for `pie` and `fq_pie` in 1/16 per second, at most 32; for \
         `dualpi2` in 1/256 per second, at most 65280",
        Access::Weight(|queue| match queue {
            Queue::DualPi2(params) => Some(&mut params.alpha),
            _ => Some(&mut pie(queue)?.alpha),
        }),
    ),
    param(
        "beta",
        "weight of the change of the wait, in the unit of `alpha`",
        Access::Weight(|queue| match queue {
            Queue::DualPi2(params) => Some(&mut params.beta),
            _ => Some(&mut pie(queue)?.beta),
        }),
    ),
    param(
        "ecn",
        "whether ECN-capable packets are marked where others are dropped; `pie` marks only up to a drop probability of \
         10 %",
        Access::Bool(|queue| match queue {
            Queue::Codel(_) | Queue::FqCodel(_) => Some(&mut codel(queue)?.ecn),
            Queue::Red(red) => Some(&mut red.ecn),
            _ => Some(&mut pie(queue)?.ecn),
        }),
    ),
    param(
        "ecn_prob",
        "with `ecn`: packets are marked up to this drop probability (in percent), and dropped above it",
        Access::Whole(0, 100, |queue| match queue {
            Queue::FqPie(params) => Some(&mut params.ecn_prob),
            _ => None,
        }),
    ),
    param(
        "bytemode",
        "whether small packets are dropped with smaller probability",
        Access::Bool(|queue| Some(&mut pie(queue)?.bytemode)),
    ),
    param(
        "dq_rate_estimator",
        "whether the wait is computed from the backlog and a measured rate",
        Access::Bool(|queue| Some(&mut pie(queue)?.dq_rate_estimator)),
    ),
    param(
        "ce_threshold",
        "ECN-capable packets that waited longer than this are marked when they leave, even without `ecn`; `fq` does \
         not mark packets on its fast path (see its page)",
        Access::OptionalTime(|queue| match queue {
            Queue::Fq(params) => Some(&mut params.ce_threshold),
            _ => Some(&mut codel(queue)?.ce_threshold),
        }),
    ),
    param(
        "flows",
        "number of queues into which flows are hashed; for `sfq`, the most queues that have packets at one time",
        Access::Whole(1, 65_408, |queue| match queue {
            Queue::FqCodel(params) => Some(&mut params.flows),
            Queue::FqPie(params) => Some(&mut params.flows),
            Queue::Sfq(params) => Some(&mut params.flows),
            _ => None,
        }),
    ),
    param(
        "quantum",
        "bytes that a queue may send in a turn",
        Access::Bytes(256, QUANTUM_MAX, |queue| match queue {
            Queue::FqCodel(params) => Some(&mut params.quantum),
            Queue::FqPie(params) => Some(&mut params.quantum),
            Queue::Fq(params) => Some(&mut params.quantum),
            Queue::Sfq(params) => Some(&mut params.quantum),
            _ => None,
        }),
    ),
    param(
        "drop_batch",
        "when the limit is exceeded, the queue with the most bytes loses half of its bytes, but at most this number of \
         packets",
        Access::Whole(1, u32::MAX, |queue| match queue {
            Queue::FqCodel(params) => Some(&mut params.drop_batch),
            _ => None,
        }),
    ),
    param(
        "min",
        "below this average backlog, no packet is dropped or marked, unless the buffer is full; the default is a third \
         of `max`",
        Access::OptionalBytes(1, u32::MAX as u64, |queue| match queue {
            Queue::Red(red) => Some(&mut red.min),
            _ => None,
        }),
    ),
    param(
        "max",
        "from this average backlog on, all packets are dropped or, with `ecn`, marked if they are ECN-capable; the \
         default is three times `min`, or a quarter of the limit if `min` is not set",
        Access::OptionalBytes(1, u32::MAX as u64, |queue| match queue {
            Queue::Red(red) => Some(&mut red.max),
            _ => None,
        }),
    ),
    param(
        "avpkt",
        "the mean size of packets",
        Access::Bytes(1, 65_536, |queue| match queue {
            Queue::Red(red) => Some(&mut red.avpkt),
            _ => None,
        }),
    ),
    param(
        "burst",
        "packets that may arrive at once at an empty queue without a drop; the default is `(2 min + max) / (3 avpkt)`",
        Access::OptionalWhole(1, 1 << 20, |queue| match queue {
            Queue::Red(red) => Some(&mut red.burst),
            _ => None,
        }),
    ),
    param(
        "probability",
        "the probability of a drop or a mark when the average is just below `max`",
        Access::Ratio(|queue| match queue {
            Queue::Red(red) => Some(&mut red.probability),
            _ => None,
        }),
    ),
    param(
        "bandwidth",
        "for `red` the rate that determines, with `avpkt`, how fast the average decays while the link is idle, by \
         default the link's rate; for `cake` the rate of its shaper, which replaces the link's `rate`",
        Access::OptionalRate(|queue| match queue {
            Queue::Red(red) => Some(&mut red.bandwidth),
            Queue::Cake(cake) => Some(&mut cake.bandwidth),
            _ => None,
        }),
    ),
    param(
        "harddrop",
        "with `ecn`: whether packets are dropped, not marked, when the average is at least `max`",
        Access::Bool(|queue| match queue {
            Queue::Red(red) => Some(&mut red.harddrop),
            _ => None,
        }),
    ),
    param(
        "nodrop",
        "with `ecn`: whether packets that would be marked, but are not ECN-capable, are let through",
        Access::Bool(|queue| match queue {
            Queue::Red(red) => Some(&mut red.nodrop),
            _ => None,
        }),
    ),
    param(
        "adaptive",
        "whether `probability` is adapted so that the average stays in the middle between `min` and `max`",
        Access::Bool(|queue| match queue {
            Queue::Red(red) => Some(&mut red.adaptive),
            _ => None,
        }),
    ),
    param(
        "coupling_factor",
        "the probability of a mark in the L queue is the base probability times this factor",
        Access::Small(1, 255, |queue| Some(&mut dualpi2(queue)?.coupling_factor)),
    ),
    param(
        "step_thresh",
        "above this wait (`ms`) or this number of packets (`pkt`), all packets of the L queue are marked",
        Access::Step(|queue| Some(&mut dualpi2(queue)?.step_thresh)),
    ),
    param(
        "min_qlen_step",
        "`step_thresh` marks only packets that found at least this many packets in the L queue",
        Access::Whole(0, u32::MAX, |queue| Some(&mut dualpi2(queue)?.min_qlen_step)),
    ),
    param(
        "classic_protection",
        "the smallest share of the link, in percent, that the classic queue gets while packets wait in it",
        Access::Small(0, 100, |queue| Some(&mut dualpi2(queue)?.classic_protection)),
    ),
    param(
        "drop_on_overload",
        "whether packets of the L queue are dropped with the classic queue's probability when the probability of a \
         mark would exceed 1",
        Access::Bool(|queue| Some(&mut dualpi2(queue)?.drop_on_overload)),
    ),
    param(
        "drop_enqueue",
        "whether packets are dropped and marked at random on arrival, not when they leave",
        Access::Bool(|queue| Some(&mut dualpi2(queue)?.drop_enqueue)),
    ),
    param(
        "any_ect",
        "whether ECT(0) belongs to the L queue, too",
        Access::Bool(|queue| Some(&mut dualpi2(queue)?.any_ect)),
    ),
    param(
        "flow_limit",
        "packets of one flow that may wait",
        Access::Whole(1, u32::MAX, |queue| Some(&mut fq(queue)?.flow_limit)),
    ),
    param(
        "initial_quantum",
        "bytes that a flow may send in its first turn",
        Access::Bytes(256, QUANTUM_MAX, |queue| Some(&mut fq(queue)?.initial_quantum)),
    ),
    param(
        "depth",
        "the most packets that one queue holds",
        Access::Whole(1, 127, |queue| Some(&mut sfq(queue)?.depth)),
    ),
    param(
        "divisor",
        "number of values of the hash, a power of two",
        Access::PowerOfTwo(65_536, |queue| Some(&mut sfq(queue)?.divisor)),
    ),
    param(
        "perturb",
        "how often the hash changes",
        Access::OptionalTime(|queue| Some(&mut sfq(queue)?.perturb)),
    ),
    param(
        "tins",
        "into which classes packets are sorted",
        Access::Tins(|queue| Some(&mut cake(queue)?.tins)),
    ),
    param(
        "isolation",
        "the flows or hosts among which the rate of a class is shared",
        Access::Isolation(|queue| Some(&mut cake(queue)?.flows)),
    ),
    param(
        "rtt",
        "the RTT for which CoDel is tuned; CoDel's target is a twentieth of this RTT, but at least the transmission \
         time of 1.5 full packets",
        Access::Time(|queue| Some(&mut cake(queue)?.rtt)),
    ),
    param(
        "memlimit",
        "memory that packets may take; the default is computed from `bandwidth` and `rtt`, and is 15.5 MB without \
         `bandwidth`",
        Access::OptionalBytes(1, u32::MAX as u64, |queue| Some(&mut cake(queue)?.memlimit)),
    ),
    param(
        "ack_filter",
        "whether an ACK is dropped if newer ACKs of its flow, which wait behind it, make it redundant. `true`: two \
         ACKs stay. `\"aggressive\"`: one stays",
        Access::AckFilter(|queue| Some(&mut cake(queue)?.ack_filter)),
    ),
    param(
        "bands",
        "number of bands; the first is served first",
        Access::Small(2, 16, |queue| Some(&mut prio(queue)?.bands)),
    ),
    param(
        "priomap",
        "the bands of the 16 priorities; bands count from 0",
        Access::Bands(|queue| Some(&mut prio(queue)?.priomap)),
    ),
];

/// Returns the parameters of `fq`; `None` for other disciplines.
fn fq(queue: &mut Queue) -> Option<&mut FqParams> {
    match queue {
        Queue::Fq(params) => Some(params),
        _ => None,
    }
}

/// Returns the parameters of `sfq`; `None` for other disciplines.
fn sfq(queue: &mut Queue) -> Option<&mut SfqParams> {
    match queue {
        Queue::Sfq(params) => Some(params),
        _ => None,
    }
}

/// Returns the parameters of `cake`; `None` for other disciplines.
fn cake(queue: &mut Queue) -> Option<&mut CakeParams> {
    match queue {
        Queue::Cake(params) => Some(params),
        _ => None,
    }
}

/// Returns the parameters of `prio`; `None` for other disciplines.
fn prio(queue: &mut Queue) -> Option<&mut PrioParams> {
    match queue {
        Queue::Prio(params) => Some(params),
        _ => None,
    }
}

/// Returns the parameters of `dualpi2`; `None` for other disciplines.
fn dualpi2(queue: &mut Queue) -> Option<&mut DualPi2Params> {
    match queue {
        Queue::DualPi2(params) => Some(params),
        _ => None,
    }
}

/// Returns the parameters of CoDel; `None` for disciplines that do not use CoDel.
fn codel(queue: &mut Queue) -> Option<&mut CodelParams> {
    match queue {
        Queue::Codel(params) => Some(params),
        Queue::FqCodel(params) => Some(&mut params.codel),
        _ => None,
    }
}

/// Returns the parameters of PIE; `None` for disciplines that do not use PIE.
fn pie(queue: &mut Queue) -> Option<&mut PieParams> {
    match queue {
        Queue::Pie(params) => Some(params),
        Queue::FqPie(params) => Some(&mut params.pie),
        _ => None,
    }
}
