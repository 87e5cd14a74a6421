//! `CoDel`, "controlled delay": one queue that drops or marks packets at its head while waiting
//! times are above a target.
//!
//! Sources: [linux] `net/sched/sch_codel.c`; [rfc8289].
//! Deviations: none.

mod control;

use bbrlab_link::{Buffer, CodelParams};
use bbrlab_units::Time;

pub(crate) use control::{Control, Settings, Source};

use crate::drop_tail::DropTail;
use crate::entropy::Entropy;
use crate::info::DisciplineInfo;
use crate::packet::Queued;
use crate::rule::{DropCause, Rule};

/// A first-in, first-out queue with a limit, and the control law that drops or marks packets at its
/// head.
#[derive(Debug)]
pub struct Codel {
    settings: Settings,
    control: Control,
    queue: DropTail,
}

impl Codel {
    pub(crate) fn new(params: &CodelParams, limit: Buffer) -> Self {
        Self {
            settings: Settings::new(params),
            control: Control::default(),
            queue: DropTail::new(limit),
        }
    }
}

impl Source for DropTail {
    fn take(&mut self) -> Option<Queued> {
        self.pop()
    }

    fn backlog_bytes(&self) -> u64 {
        self.bytes()
    }
}

impl Rule for Codel {
    const HAS_TIMER: bool = false;

    fn enqueue(
        &mut self,
        now: Time,
        packet: Queued,
        idle: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        self.queue.enqueue(now, packet, idle, entropy, drop);
    }

    fn dequeue(
        &mut self,
        now: Time,
        _: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        self.control.dequeue(&self.settings, now, &mut self.queue, drop)
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.queue.walk(each);
    }

    fn info(&self) -> Option<DisciplineInfo> {
        Some(DisciplineInfo::Codel(self.control.info()))
    }
}
