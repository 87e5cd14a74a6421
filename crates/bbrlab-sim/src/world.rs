//! The hosts of a run: dispatches each event of the network to its flow.

use bbrlab_net::{Arrival, FlowId, Handler, Port, Side};
use bbrlab_run::FlowClass;
use bbrlab_run::Series;
use bbrlab_tcp::TimerId;

use crate::app::Token;
use crate::flow::{ClassSetup, Flow};
use crate::series::{self, Before};
use crate::windows::Windows;
use crate::wire::{self, Payload};

/// All flows, and the data that they share.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) flows: Vec<Flow>,
    pub(crate) classes: Vec<FlowClass>,
    pub(crate) setups: Vec<ClassSetup>,
    /// Where a row per ACK goes, if the scenario asks for one.
    pub(crate) per_ack: Option<PerAck>,
    pub(crate) windows: Windows,
}

/// The series with a row per ACK.
#[derive(Debug)]
pub(crate) struct PerAck {
    pub(crate) rows: Series,
    /// What each flow had counted at its last row.
    before: Vec<Before>,
}

impl PerAck {
    pub(crate) fn new(flows: usize) -> Self {
        Self { rows: Series::default(), before: vec![Before::default(); flows] }
    }
}

impl Handler<Payload> for World {
    #[inline]
    fn at_receiver(&mut self, port: &mut Port<'_, Payload>, packet: &Arrival<'_, Payload>) {
        let flow = &mut self.flows[packet.flow().0 as usize];
        flow.at_receiver(port, packet, &self.classes);
    }

    #[inline]
    fn at_sender(&mut self, port: &mut Port<'_, Payload>, packet: &Arrival<'_, Payload>) {
        let flow = &mut self.flows[packet.flow().0 as usize];
        let has_row = self.per_ack.is_some() && !flow.is_over();
        let has_ended = flow.at_sender(port, packet, &self.classes);
        if let Some(PerAck { rows, before }) = &mut self.per_ack
            && has_row
        {
            let id = packet.flow().0;
            rows.push(series::row(port.now(), id, flow, &mut before[id as usize]));
        }
        if has_ended {
            self.windows.flow_ended(port.now(), packet.flow().0, &mut self.flows);
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a choice of two, in the event loop only")]
    fn on_timer(&mut self, port: &mut Port<'_, Payload>, id: FlowId, side: Side, timer: u8) {
        let flow = &mut self.flows[id.0 as usize];
        match side {
            Side::Sender if timer == TimerId::Pacing as u8 => flow.on_pacing_timer(port),
            Side::Sender => flow.on_sender_timer(port, wire::timer(timer)),
            Side::Receiver => flow.on_receiver_timer(port, wire::timer(timer), &self.classes),
        }
    }

    fn on_application(&mut self, port: &mut Port<'_, Payload>, id: FlowId, token: u32) {
        let flow = &mut self.flows[id.0 as usize];
        let class = flow.class as usize;
        let token = Token::from_number(token);
        let has_ended = flow.on_application(port, token, &self.classes[class], &self.setups[class]);
        if has_ended {
            self.windows.flow_ended(port.now(), id.0, &mut self.flows);
        }
    }
}
