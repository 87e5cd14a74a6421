//! The interface between hosts and network: the calls of each to the other.

use bbrlab_units::Time;

use crate::engine::Network;
use crate::packet::{Arrival, FlowId, Load, Outgoing, Side};

/// The hosts. Each call is one event; packets sent during it are sent at its time, in the order of
/// the calls.
pub trait Handler<P: Load> {
    /// A packet has reached the receiver of its flow.
    fn at_receiver(&mut self, port: &mut Port<'_, P>, packet: &Arrival<'_, P>);

    /// A packet (usually an ACK) has reached the sender of its flow.
    fn at_sender(&mut self, port: &mut Port<'_, P>, packet: &Arrival<'_, P>);

    /// A timer that was armed for now has expired; it is now disarmed.
    fn on_timer(&mut self, port: &mut Port<'_, P>, flow: FlowId, side: Side, timer: u8);

    /// [`Self::on_timer`] of the swift timer. A handler that knows which one that is need not ask.
    #[inline]
    fn on_swift_timer(&mut self, port: &mut Port<'_, P>, flow: FlowId, side: Side, timer: u8) {
        self.on_timer(port, flow, side, timer);
    }

    /// [`Self::on_timer`] of the even timer, likewise.
    #[inline]
    fn on_even_timer(&mut self, port: &mut Port<'_, P>, flow: FlowId, side: Side, timer: u8) {
        self.on_timer(port, flow, side, timer);
    }

    /// The time given to [`Port::schedule`] has come.
    fn on_application(&mut self, port: &mut Port<'_, P>, flow: FlowId, token: u32);
}

/// The network as hosts can use it.
#[derive(Debug)]
pub struct Port<'a, P: Load> {
    pub(crate) net: &'a mut Network<P>,
}

impl<P: Load> Port<'_, P> {
    /// The same port in the hands of another, for as long as that has it.
    #[must_use]
    #[inline]
    pub fn lend(&mut self) -> Port<'_, P> {
        Port { net: self.net }
    }

    /// The current time.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Time {
        self.net.now
    }

    /// Sends a packet now from one end of a flow. `payload` gives the data for the other host; it
    /// is asked when the packet has a place in the network, and not at all if it is dropped before.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "hosts send data and ACKs from one place each")]
    pub fn send(
        &mut self,
        flow: FlowId,
        from: Side,
        packet: Outgoing<'_, P>,
        payload: impl FnOnce() -> P,
    ) {
        self.net.send(flow, from, &packet, payload);
    }

    /// Sends data packets now from one end of a flow, one after the other.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a host sends bursts from one place")]
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

    /// Arms a timer for `at` (for now if that has passed), and replaces an earlier deadline. It
    /// never fires if `at` is [`Time::NEVER`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "which timer it is, is known where it is armed")]
    pub fn arm(&mut self, flow: FlowId, side: Side, timer: u8, at: Time) {
        self.net.arm(flow, side, timer, at);
    }

    /// [`Self::arm`] of what is mostly the even timer: see [`Network::set_even_timer`].
    #[inline]
    pub fn arm_even(&mut self, flow: FlowId, side: Side, timer: u8, at: Time) {
        self.net.arm_even(flow, side, timer, at);
    }

    /// Counts an event that the host has handled without the network's help: a timer of its own.
    #[inline]
    pub fn count_event(&mut self) {
        self.net.count_events(1);
    }

    /// Does not count this event, which a host has scheduled for the time of another to end that
    /// one: the two are one.
    pub fn uncount_event(&mut self) {
        self.net.uncount_event();
    }

    /// Disarms a timer.
    #[inline]
    pub fn disarm(&mut self, flow: FlowId, side: Side, timer: u8) {
        self.net.disarm(flow, side, timer);
    }

    /// The time for which a timer is armed.
    #[must_use]
    pub fn deadline(&self, flow: FlowId, side: Side, timer: u8) -> Option<Time> {
        self.net.deadline(flow, side, timer)
    }

    /// Schedules a call of [`Handler::on_application`] with `token` at `at` (now if that has
    /// passed).
    pub fn schedule(&mut self, flow: FlowId, at: Time, token: u32) {
        self.net.schedule(flow, at, token);
    }

    /// Puts a flow, no packet of which is in the network, on the routes of another.
    pub fn set_way(&mut self, flow: FlowId, like: FlowId) {
        self.net.set_way(flow, like);
    }

    /// How many packets a flow has sent, in both directions; counted modulo 2^32.
    #[must_use]
    pub fn packets_sent(&self, flow: FlowId) -> u32 {
        self.net.packets_sent(flow)
    }

    /// Wire bytes of a flow that have departed from the last link with a rate on its forward route
    /// so far.
    #[must_use]
    pub fn flow_wire_bytes(&mut self, flow: FlowId) -> u64 {
        self.net.flow_wire_bytes(flow)
    }
}
