//! The network devices of senders' hosts. For each flow with a device, the data that has left the
//! device is counted.
//!
//! The network notifies a host when its data leaves the device, so that the host knows how much
//! data waits there. Only hosts with a device are notified, so packets of other flows cost no more
//! than without devices.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_wfree`.
//! Deviations: none.

use bbrlab_events::{EventQueue, Key, Kind, id_tie, tie};
use bbrlab_units::Time;

use crate::burst_size::BurstSize;
use crate::packet::{FlowId, LinkId};

/// Whether a link is part of a device, and whether it is the device's last link. A device is one
/// link, or two successive links if packets wait at the second link for `netem` slots or grants to
/// send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// The link is not part of a device.
    #[default]
    Outside,
    /// A link of the device before the last one: packets go on to the device's last link.
    Within,
    /// The device's last link.
    Last,
}

/// A flow with a device: how much data has left the device, or was dropped there, since the last
/// notification, and how to notify the host.
#[derive(Clone, Copy, Debug)]
struct FlowData {
    size: BurstSize,
    /// The token of the call that notifies the host.
    token: u32,
    /// Payload bytes that left the device, or were dropped there, since the last notification.
    left_bytes: u64,
    /// Whether a notification is scheduled.
    is_scheduled: bool,
}

/// The devices of a network.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    /// For each link: whether it is outside of all devices, within a device, or the last link of a
    /// device. Links beyond the end of the list are outside of all devices.
    links: Vec<Place>,
    /// For each flow: the bytes that have left its device since the last notification of its host,
    /// and how to notify the host; `None` for a flow without a device. Flows beyond the end of the
    /// list have no device.
    flows: Vec<Option<FlowData>>,
    /// The flows whose data was dropped since the last notification was scheduled.
    pending: Vec<FlowId>,
}

impl Devices {
    /// Makes `links` the device of a flow. The links must be in the order in which packets cross
    /// them. After data has left the device or was dropped there, the network notifies the host by
    /// a call of [`crate::Handler::on_application`] with `token`. `size` has the header bytes and
    /// the payload bytes of each of the flow's packets.
    pub(crate) fn add(&mut self, flow: FlowId, links: &[LinkId], size: BurstSize, token: u32) {
        let Some((last, within)) = links.split_last() else { return };
        for link in within {
            self.set_place(*link, Place::Within);
        }
        self.set_place(*last, Place::Last);
        let data = FlowData { size, token, left_bytes: 0, is_scheduled: false };
        self.set_flow(flow, Some(data));
    }

    /// Gives `flow` the same device as the flow `like`. The count of bytes that have left the
    /// device begins at 0.
    pub(crate) fn add_like(&mut self, flow: FlowId, like: FlowId) {
        let like = self.flows.get(like.0 as usize).copied().flatten();
        let data = like.map(|data| FlowData { left_bytes: 0, is_scheduled: false, ..data });
        self.set_flow(flow, data);
    }

    fn set_place(&mut self, link: LinkId, place: Place) {
        let at = link.0 as usize;
        self.links.resize(self.links.len().max(at + 1), Place::Outside);
        self.links[at] = place;
    }

    fn set_flow(&mut self, flow: FlowId, data: Option<FlowData>) {
        let at = flow.0 as usize;
        self.flows.resize(self.flows.len().max(at + 1), None);
        self.flows[at] = data;
    }

    /// Records that a data packet was dropped at `link`. The next notification reports the drop.
    pub(crate) fn drop_at(&mut self, link: LinkId, flow: FlowId, wire_bytes: u32) {
        if self.links.get(link.0 as usize).is_some_and(|&place| place != Place::Outside)
            && self.count(flow, wire_bytes)
        {
            self.pending.push(flow);
        }
    }

    /// Records that a data packet left the last link of its flow's device, and schedules the
    /// notification of each pending flow's host.
    pub(crate) fn leave(
        &mut self,
        flow: FlowId,
        wire_bytes: u32,
        (now, queue): (Time, &mut EventQueue),
    ) {
        if self.count(flow, wire_bytes) {
            self.pending.push(flow);
        }
        self.notify(now, queue);
    }

    /// Schedules, at `now`, a notification of the host of each pending flow.
    pub(crate) fn notify(&mut self, now: Time, queue: &mut EventQueue) {
        while let Some(flow) = self.pending.pop() {
            if let Some(Some(data)) = self.flows.get_mut(flow.0 as usize) {
                data.is_scheduled = true;
                let tie = tie(Kind::Application, id_tie(flow.0, data.token));
                queue.insert(Key::new(now, tie), 0);
            }
        }
    }

    /// Counts a packet that left the device or was dropped there. Returns whether a notification
    /// must be scheduled.
    fn count(&mut self, flow: FlowId, wire_bytes: u32) -> bool {
        let Some(Some(data)) = self.flows.get_mut(flow.0 as usize) else { return false };
        let is_first = data.left_bytes == 0 && !data.is_scheduled;
        data.left_bytes += data.size.payload_of(wire_bytes);
        is_first
    }

    /// Returns the payload bytes of a flow that have left its device, or were dropped there, since
    /// the last call of this method.
    pub(crate) fn take_left(&mut self, flow: FlowId) -> u64 {
        let Some(Some(data)) = self.flows.get_mut(flow.0 as usize) else { return 0 };
        data.is_scheduled = false;
        std::mem::take(&mut data.left_bytes)
    }
}
