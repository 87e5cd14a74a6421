//! The hosts of a run: dispatches each event of the network to its flow.

use bbrlab_net::{Arrival, FlowId, Handler, Port, Side};
use bbrlab_run::FlowClass;
use bbrlab_run::Series;

use crate::app::Token;
use crate::flow::{ClassSetup, Flow};
use crate::series;
use crate::wire::{self, Payload};

/// All flows, and the data that they share.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) flows: Vec<Flow>,
    pub(crate) classes: Vec<FlowClass>,
    pub(crate) setups: Vec<ClassSetup>,
    /// The rows of every ACK, if the scenario asks for them.
    pub(crate) per_ack: Option<Series>,
}

impl Handler<Payload> for World {
    #[inline]
    fn at_receiver(&mut self, port: &mut Port<'_, Payload>, packet: Arrival<Payload>) {
        let flow = &mut self.flows[packet.flow.0 as usize];
        flow.at_receiver(port, packet.flow, &packet, &self.classes[flow.class as usize]);
    }

    #[inline]
    fn at_sender(&mut self, port: &mut Port<'_, Payload>, packet: Arrival<Payload>) {
        let flow = &mut self.flows[packet.flow.0 as usize];
        let was_over = flow.is_over();
        flow.at_sender(port, packet.flow, &packet, &self.classes[flow.class as usize]);
        if let Some(rows) = &mut self.per_ack
            && !was_over
        {
            rows.push(series::row(port.now(), packet.flow.0, flow));
        }
    }

    fn on_timer(&mut self, port: &mut Port<'_, Payload>, id: FlowId, side: Side, timer: u8) {
        let flow = &mut self.flows[id.0 as usize];
        let class = &self.classes[flow.class as usize];
        flow.on_timer(port, id, side, wire::timer(timer), class);
    }

    fn on_application(&mut self, port: &mut Port<'_, Payload>, id: FlowId, token: u32) {
        let flow = &mut self.flows[id.0 as usize];
        let class = flow.class as usize;
        let token = Token::from_number(token);
        flow.on_application(port, id, token, &self.classes[class], &self.setups[class]);
    }
}
