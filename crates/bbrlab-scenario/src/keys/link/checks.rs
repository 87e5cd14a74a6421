//! Checks for keys of a link that cannot be combined.

use bbrlab_link::{Queue, Rate, RateChange};
use bbrlab_units::BitRate;

use super::LinkSpec;
use super::rate::Reverse;
use crate::keys::queue::QueueSpec;
use crate::language::quantity::show_rate;
use crate::language::reader::{Keys, Reader};

impl LinkSpec {
    /// If `queue` has a shaper (`bandwidth`), sets the link's rate to the shaper's rate. If
    /// `reverse_queue` has one, sets the rate of the reverse direction. Rejects the combination of
    /// a shaper with another key that sets the same rate, or with a token bucket.
    pub(super) fn take_shapers(&mut self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let mut refuse = |key: &str, besides: &'static str, found: &str| {
            let title = format!("`{}.bandwidth`: expected no `{besides}` as well", keys.name(key));
            let at = keys.key_at(besides).unwrap_or(keys.at);
            reader.problem(at, title, found.to_owned(), Vec::new());
        };
        let both = "found both, but the shaper determines the link's rate";
        if let Some(rate) = self.queue.shaper() {
            if keys.has("rate") {
                refuse("queue", "rate", both);
            } else if self.link.rate.is_limited() {
                refuse("queue", "trace", both);
            }
            if self.burst.is_some() {
                refuse("queue", "burst", "found a token bucket behind a shaper of the same rate");
            }
            self.link.rate = Rate::Constant(rate);
        }
        if let Some(rate) = self.reverse_queue.and_then(|queue| queue.shaper()) {
            if keys.has("reverse_rate") {
                refuse("reverse_queue", "reverse_rate", both);
            }
            self.reverse_rate = Reverse::Own(Rate::Constant(rate));
        } else if self.queue.shaper().is_some()
            && self.reverse_queue.is_none()
            && matches!(&self.reverse_rate, Reverse::Own(rate) if rate.is_limited())
        {
            let found = "found two rates in the reverse direction, because `reverse_queue` defaults to `queue`";
            refuse("queue", "reverse_rate", found);
        }
    }

    /// Rejects a token bucket on a link whose rate is neither constant nor a schedule, because
    /// nothing would fill the bucket.
    pub(super) fn check_burst(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let found = match self.link.rate {
            Rate::Constant(_) | Rate::Schedule(_) => return,
            Rate::Unlimited => "found a link without a rate",
            Rate::Trace(_) => "found a Mahimahi trace, which does not fill a bucket",
        };
        if let Some(at) = keys.key_at("burst") {
            let title =
                format!("`{}`: expected a `rate` or a schedule of rates", keys.name("burst"));
            reader.problem(at, title, found, Vec::new());
        }
    }

    /// Rejects a peak rate without effect, as `tbf_change` in Linux does: without a token bucket,
    /// or not above the rate of the link. A link with a peak rate must have a constant rate, a
    /// schedule of rates or a path model.
    pub(super) fn check_peak_rate(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let (Some(peak), Some(at)) = (self.peak_rate, keys.key_at("peak_rate")) else { return };
        let name = keys.name("peak_rate");
        if self.burst.is_none() {
            let title = format!("`{name}`: expected a `burst` as well");
            reader.problem(at, title, "found no bucket", Vec::new());
            return;
        }
        let rate = match (&self.model, &self.link.rate) {
            (Some(model), _) => Some(model.highest_rate()),
            (None, Rate::Constant(rate)) => Some(*rate),
            (None, Rate::Schedule(steps)) => steps.iter().map(|step| step.1).max(),
            (None, Rate::Unlimited | Rate::Trace(_)) => None,
        };
        let Some(rate) = rate else {
            let title = format!("`{name}`: expected a `rate` or a schedule of rates");
            reader.problem(at, title, "found no rate that could fill the bucket", Vec::new());
            return;
        };
        if peak.rate <= rate {
            let title = format!("`{name}`: expected more than the `rate` of the link");
            let [peak, rate] = [peak.rate, rate].map(show_rate);
            reader.problem(at, title, format!("found {peak}, and {rate}"), Vec::new());
        }
    }

    /// Rejects `keep_order = false` on a link whose delay does not change. On a link whose rate can
    /// be 0, rejects `rate_change = "keep"`.
    pub(super) fn check_changes(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let is_still = self.link.delay_steps.is_none() && self.model.is_none();
        if is_still
            && !self.keep_order
            && let Some(at) = keys.key_at("keep_order")
        {
            let title = format!("`{}`: expected a `delay` that changes", keys.name("keep_order"));
            reader.problem(at, title, "found a constant delay", Vec::new());
        }
        let stops = match &self.link.rate {
            Rate::Schedule(steps) => steps.iter().any(|step| step.1 == BitRate(0)),
            _ => self.model.is_some_and(|model| model.has_outages()),
        };
        if stops && self.link.rate_change == RateChange::Keep {
            let title = format!("`{}`: expected \"follow\"", keys.name("rate_change"));
            let found =
                "found \"keep\", with which a packet that arrives while the rate is 0 never leaves";
            let at = keys.key_at("rate_change").unwrap_or(keys.at);
            reader.problem(at, title, found, Vec::new());
        }
    }

    /// Rejects three mistakes: a queue discipline for a direction without a rate, a discipline's
    /// `limit` together with a buffer, and a device queue together with a discipline other than
    /// drop-tail.
    pub(super) fn check_queues(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let reverse = self.reverse_queue.as_ref();
        let directions = [
            (Some(&self.queue), ["queue", "rate", "buffer"], self.link.rate.is_limited()),
            (
                reverse,
                ["reverse_queue", "reverse_rate", "reverse_buffer"],
                self.reverse_rate.rate(&self.link.rate).is_limited(),
            ),
        ];
        for (queue, [key, rate, buffer], is_limited) in directions {
            let (Some(queue), Some(at)) = (queue, keys.key_at(key)) else { continue };
            if !is_limited {
                let title = format!("`{}`: expected a `{rate}` as well", keys.name(key));
                let found =
                    "found the discipline of a link without a rate, which never has a queue";
                reader.problem(at, title, found, Vec::new());
            }
            if let (Some(limit), Some(_)) = (queue.limit, keys.get(buffer)) {
                let title = format!("`{}.limit`: expected no `{buffer}` as well", keys.name(key));
                let found = "found both, which set the same limit";
                reader.problem(limit.at, title, found, Vec::new());
            }
        }
        self.check_device_queue(reader, keys);
    }

    /// Rejects a queue discipline other than drop-tail above a device queue. The message is about
    /// the key `device_queue` or, if the profile sets the device queue, about the queue discipline.
    fn check_device_queue(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let is_droptail = |queue: &QueueSpec| queue.queue == Queue::DropTail;
        let is_forward = !is_droptail(&self.queue);
        let is_reverse = self.reverse_queue.as_ref().is_some_and(|queue| !is_droptail(queue));
        let Some(device) = self.device_queue.filter(|_| is_forward || is_reverse) else { return };
        let found = "found a queue discipline, which would not see packets in the device queue";
        let key = if is_forward { "queue" } else { "reverse_queue" };
        match keys.key_at(key) {
            Some(at) if !keys.has("device_queue") => {
                let title = format!(
                    "`{}`: expected `\"droptail\"`, or this queue with `device_queue = \"none\"`",
                    keys.name(key)
                );
                reader.problem(at, title, format!("{found} of the `profile`"), Vec::new());
            }
            _ => {
                let title = format!(
                    "`{}`: expected `{key} = \"droptail\"` or `device_queue = \"none\"`",
                    keys.name("device_queue")
                );
                reader.problem(device.at, title, found, Vec::new());
            }
        }
    }
}

/// Rejects a buffer for a direction of the link if that direction has no rate, because no packet
/// would wait in the buffer.
pub(super) fn check_buffer(
    reader: &mut Reader<'_>,
    keys: &Keys<'_>,
    [buffer, rate_key]: [&str; 2],
    rate: &Rate,
) {
    let Some(node) = keys.get(buffer) else { return };
    if !rate.is_limited() {
        let title = format!("`{}`: expected a `{rate_key}` as well", keys.name(buffer));
        let found = "found a buffer of a link without a rate, which never has a queue";
        reader.problem(node.at, title, found, Vec::new());
    }
}
