//! PIE, "proportional integral controller enhanced": one queue that drops arriving packets at
//! random. PIE controls the drop probability so that the waiting time is near a target.
//!
//! Sources: [linux] `net/sched/sch_pie.c`; [rfc8033].
//! Deviations:
//! 1. A packet that goes into service at once does not count against the limit.
//! 2. A real host can set up the discipline at any time; here it is set up two seconds before the
//!    run, as in the recorded Linux runs.

mod law;

use bbrlab_link::{Buffer, PieParams};
use bbrlab_units::Time;

pub(crate) use law::{Law, MAX_PROB, Settings};

use crate::drop_tail::DropTail;
use crate::entropy::Entropy;
use crate::info::DisciplineInfo;
use crate::packet::Queued;
use crate::rule::{DropCause, Rule};

/// The highest drop probability at which packets are marked instead of dropped.
const MARK_PROB_MAX: u64 = MAX_PROB / 10;

/// A queue with a limit, and the control law that drops or marks arriving packets.
#[derive(Debug)]
pub struct Pie {
    settings: Settings,
    law: Law,
    queue: DropTail,
    timer: Time,
}

impl Pie {
    pub(crate) fn new(params: &PieParams, limit: Buffer) -> Self {
        let settings = Settings::new(params);
        Self {
            settings,
            law: Law::default(),
            queue: DropTail::new(limit),
            timer: settings.first_update(),
        }
    }
}

impl Rule for Pie {
    fn enqueue(
        &mut self,
        _: Time,
        mut packet: Queued,
        idle: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        let cause = if !idle && !self.queue.fits(&packet) {
            DropCause::Full
        } else if !self.law.drops_early(&self.settings, self.queue.bytes(), &packet, entropy)
            || self.law.marks(&self.settings, MARK_PROB_MAX, &mut packet)
        {
            self.queue.push(packet);
            return;
        } else {
            DropCause::Early
        };
        self.law.dropped();
        drop(packet, cause);
    }

    fn dequeue(
        &mut self,
        now: Time,
        _: &mut impl Entropy,
        _: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        let packet = self.queue.pop()?;
        self.law.dequeued(&self.settings, now, &packet, self.queue.bytes());
        Some(packet)
    }

    fn timer(&self) -> Time {
        self.timer
    }

    fn on_timer(&mut self, now: Time, _: &mut impl FnMut(Queued, DropCause)) {
        self.law.update(&self.settings, self.queue.bytes());
        self.timer = self.settings.next_update(now, false);
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.queue.walk(each);
    }

    fn info(&self) -> Option<DisciplineInfo> {
        Some(DisciplineInfo::Pie(self.law.info()))
    }
}

#[cfg(test)]
mod tests {
    use super::Pie;
    use bbrlab_link::{Buffer, PieParams};
    use bbrlab_units::{NS_PER_MS, Span, Time};

    use crate::rule::Rule as _;

    fn check(tupdate: Span, expected_ms: &[u64]) {
        let params = PieParams { tupdate, ..PieParams::DEFAULT };
        let mut pie = Pie::new(&params, Buffer::Unlimited);
        for &at_ms in expected_ms {
            assert_eq!(pie.timer(), Time(at_ms * NS_PER_MS));
            pie.on_timer(pie.timer(), &mut |_, _| {});
        }
    }

    #[test]
    fn updates_come_every_16_ms_in_the_phase_of_the_kernels_log() {
        check(Span::from_millis(15), &[8, 24, 40, 56]);
    }

    #[test]
    fn without_tupdate_there_is_no_update() {
        let params = PieParams { tupdate: Span::ZERO, ..PieParams::DEFAULT };
        assert_eq!(Pie::new(&params, Buffer::Unlimited).timer(), Time::NEVER);
    }
}
