//! The interface between hosts and network, in both directions.

use bbrlab_units::{Span, Time};

use crate::engine::Network;
use crate::packet::{Arrival, FlowId, Outgoing, PacketData, Side};

/// The hosts. Each call of a method is one event. Packets that a host sends during the call leave
/// at the time of the event, in the order in which the host sends them.
pub trait Handler<P: PacketData> {
    /// Called when a packet has reached the receiver of its flow.
    fn at_receiver(&mut self, port: &mut Port<'_, P>, packet: &Arrival<'_, P>);

    /// Called when a packet (usually an ACK) has reached the sender of its flow.
    fn at_sender(&mut self, port: &mut Port<'_, P>, packet: &Arrival<'_, P>);

    /// Called when a timer expires, at the time for which the timer was armed. During the call, the
    /// timer is no longer armed; the handler can arm the timer again.
    fn on_timer(&mut self, port: &mut Port<'_, P>, flow: FlowId, side: Side, timer: u8);

    /// Called instead of [`Self::on_timer`] when the swift timer has expired: the timer that
    /// [`Network::set_swift_timer`] has selected. If the swift timer was armed for a time far
    /// ahead, the network may still call `on_timer` when it expires. A handler that knows which
    /// timer was selected can override this method, and need not look at `side` and `timer`.
    #[inline]
    fn on_swift_timer(&mut self, port: &mut Port<'_, P>, flow: FlowId, side: Side, timer: u8) {
        self.on_timer(port, flow, side, timer);
    }

    /// Called instead of [`Self::on_timer`] when the even timer has expired. The even timer is the
    /// one that [`Network::set_even_timer`] has selected, because every flow arms it often and
    /// about equally far ahead. If the even timer was armed for a time much further ahead, the
    /// network may still call `on_timer` when it expires. A handler that knows which timer was
    /// selected can override this method, and need not look at `side` and `timer`.
    #[inline]
    fn on_even_timer(&mut self, port: &mut Port<'_, P>, flow: FlowId, side: Side, timer: u8) {
        self.on_timer(port, flow, side, timer);
    }

    /// Called at the time that was given to [`Port::schedule`].
    fn on_application(&mut self, port: &mut Port<'_, P>, flow: FlowId, token: u32);
}

/// The network's interface for hosts.
#[derive(Debug)]
pub struct Port<'a, P: PacketData> {
    pub(crate) net: &'a mut Network<P>,
}

impl<P: PacketData> Port<'_, P> {
    /// Reborrows the port, to pass it to a function.
    #[must_use]
    #[inline]
    pub fn lend(&mut self) -> Port<'_, P> {
        Port { net: self.net }
    }

    /// Returns the current time.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Time {
        self.net.now
    }

    /// Sends a packet now from one end of a flow. `payload` returns the data for the other host.
    /// `payload` is called when the network stores the packet, but not if the packet is dropped
    /// before that.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all packets are sent with `send`")]
    pub fn send(
        &mut self,
        flow: FlowId,
        from: Side,
        packet: Outgoing<'_, P>,
        payload: impl FnOnce() -> P,
    ) {
        self.net.send(flow, from, &packet, payload);
    }

    /// Sends data packets now from one end of a flow, in order.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "has only one caller, which sends bursts")]
    pub fn send_burst<'p>(
        &mut self,
        flow: FlowId,
        from: Side,
        packets: impl Iterator<Item = (Outgoing<'p, P>, P)>,
    ) where
        P: 'p,
    {
        self.net.send_burst(flow, from, packets);
    }

    /// Arms a timer for `at`, or for now if `at` has passed. The new deadline replaces any previous
    /// one. The timer never fires if `at` is [`Time::NEVER`].
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "for the pacing timer, `side` and `timer` are constants, and so is the `TimerId`"
    )]
    pub fn arm(&mut self, flow: FlowId, side: Side, timer: u8, at: Time) {
        self.net.arm(flow, side, timer, at);
    }

    /// Does the same as [`Self::arm`], but faster if the timer is the even timer: the timer that
    /// [`Network::set_even_timer`] has selected.
    #[inline]
    pub fn arm_even(&mut self, flow: FlowId, side: Side, timer: u8, at: Time) {
        self.net.arm_even(flow, side, timer, at);
    }

    /// Returns the payload bytes of a flow that have left the device of the sender's host, or were
    /// dropped there, since the last call: see [`Network::set_device`].
    pub fn take_left(&mut self, flow: FlowId) -> u64 {
        self.net.take_left(flow)
    }

    /// Counts an event that the host handled without the network: one of its own timers.
    #[inline]
    pub fn count_event(&mut self) {
        self.net.count_events(1);
    }

    /// Excludes the current event from the count of events. A host calls this function if it
    /// scheduled the event only to complete another event of the same time.
    pub fn uncount_event(&mut self) {
        self.net.uncount_event();
    }

    /// Disarms a timer.
    #[inline]
    pub fn disarm(&mut self, flow: FlowId, side: Side, timer: u8) {
        self.net.disarm(flow, side, timer);
    }

    /// Returns the time for which a timer is armed; `None` if it is not armed.
    #[must_use]
    pub fn deadline(&self, flow: FlowId, side: Side, timer: u8) -> Option<Time> {
        self.net.deadline(flow, side, timer)
    }

    /// Schedules a call of [`Handler::on_application`] with `token` at `at`, or now if `at` has
    /// passed.
    pub fn schedule(&mut self, flow: FlowId, at: Time, token: u32) {
        self.net.schedule(flow, at, token);
    }

    /// Moves a flow to the routes of the flow `like`. No packet of `flow` may be in the network.
    pub fn set_routes_like(&mut self, flow: FlowId, like: FlowId) {
        self.net.set_routes_like(flow, like);
    }

    /// Returns how many packets a flow has sent in both directions, modulo 2^32.
    #[must_use]
    pub fn packets_sent(&self, flow: FlowId) -> u32 {
        self.net.packets_sent(flow)
    }

    /// Returns how long a data packet that has just arrived waited in the queues of its route. The
    /// waits on the route must be measured ([`Network::measure_waits`]). Call this function while
    /// the arrival is handled, before the host sends a packet: the sent packet may reuse the memory
    /// in which the wait is stored.
    #[must_use]
    pub fn waited(&self, packet: &Arrival<'_, P>) -> Span {
        self.net.waited(packet)
    }

    /// Returns how many wire bytes of a flow have departed so far from the last link with a rate on
    /// the flow's forward route.
    #[must_use]
    pub fn flow_wire_bytes(&mut self, flow: FlowId) -> u64 {
        self.net.flow_wire_bytes(flow)
    }
}
