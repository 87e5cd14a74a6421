//! Where hosts and network meet: the calls of each to the other.

use bbrlab_units::Time;

use crate::engine::Network;
use crate::packet::{Arrival, FlowId, Outgoing, Side};

/// The hosts. Each call is one event; what it sends and arms leaves at that instant, in the order of the calls.
pub trait Handler<P> {
    /// A packet has reached the receiver of its flow.
    fn at_receiver(&mut self, port: &mut Port<'_, P>, packet: Arrival<P>);

    /// A packet (an ACK, mostly) has reached the sender of its flow.
    fn at_sender(&mut self, port: &mut Port<'_, P>, packet: Arrival<P>);

    /// A timer that was armed for now has expired; it is disarmed.
    fn on_timer(&mut self, port: &mut Port<'_, P>, flow: FlowId, side: Side, timer: u8);

    /// The moment that was scheduled has come.
    fn on_application(&mut self, port: &mut Port<'_, P>, flow: FlowId, token: u32);
}

/// What hosts may do with the network.
#[derive(Debug)]
pub struct Port<'a, P> {
    pub(crate) net: &'a mut Network<P>,
}

impl<P: Copy> Port<'_, P> {
    /// The present moment.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Time {
        self.net.now
    }

    /// The first step of everybody's clock at or after `at`: see [`Network::set_clock_step`].
    #[must_use]
    #[inline]
    pub fn step_at(&self, at: Time) -> Time {
        self.net.step_at(at)
    }

    /// Sends a packet from one end of a flow, now.
    #[inline]
    pub fn send(&mut self, flow: FlowId, from: Side, packet: Outgoing<P>) {
        self.net.send(flow, from, packet);
    }

    /// Arms a timer for `at` (now, if that has passed) in place of any earlier moment. Never, if `at` is [`Time::NEVER`].
    #[inline]
    pub fn arm(&mut self, flow: FlowId, side: Side, timer: u8, at: Time) {
        self.net.arm(flow, side, timer, at);
    }

    /// Disarms a timer.
    #[inline]
    pub fn disarm(&mut self, flow: FlowId, side: Side, timer: u8) {
        self.net.disarm(flow, side, timer);
    }

    /// The moment for which a timer is armed.
    #[must_use]
    pub fn deadline(&self, flow: FlowId, side: Side, timer: u8) -> Option<Time> {
        self.net.deadline(flow, side, timer)
    }

    /// Has [`Handler::on_application`] called at `at` (now, if that has passed) with `token`.
    pub fn schedule(&mut self, flow: FlowId, at: Time, token: u32) {
        self.net.schedule(flow, at, token);
    }

    /// Wire bytes of a flow that have left the last link with a rate on its forward route by now.
    #[must_use]
    pub fn flow_wire_bytes(&mut self, flow: FlowId) -> u64 {
        self.net.flow_wire_bytes(flow)
    }
}
