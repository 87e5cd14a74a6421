//! The hosts of a run: dispatches each event of the network to its flow.

use bbrlab_net::{Arrival, FlowId, Handler, Port, Side};
use bbrlab_run::{Flow as FlowSpec, FlowClass, Series};
use bbrlab_tcp::TimerId;
use bbrlab_units::{Span, Time};

use crate::app::Token;
use crate::arrivals::{self, Place, Population};
use crate::flow::Flow;
use crate::packet_event::PacketEvent;
use crate::pages::Browser;
use crate::series::{self, Before};
use crate::setup::ClassSetup;
use crate::windows::Windows;
use crate::wire::{self, Payload};

/// All flows, and the data that they share.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) flows: Vec<Flow>,
    pub(crate) classes: Vec<FlowClass>,
    pub(crate) setups: Vec<ClassSetup>,
    /// Observes every packet that arrives at a sender; `None` unless the scenario requests a series
    /// with one row per ACK, or packets are recorded.
    pub(crate) observer: Option<Observer>,
    pub(crate) windows: Windows,
    /// For each class of flows: the state of its random arrivals; `None` for a class without
    /// arrivals.
    pub(crate) populations: Vec<Option<Population>>,
    /// The browser of each class of flows that loads web pages; `None` for other classes.
    pub(crate) browsers: Vec<Option<Browser>>,
    pub(crate) seed: u64,
    /// The period at which smoothed RTTs are sampled.
    pub(crate) period: Span,
}

/// The observer of packets that arrive at senders.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    /// The series with one row per ACK, if the scenario requests it.
    pub(crate) per_ack: Option<PerAck>,
    /// The packets that have arrived at senders since this list was last taken; `None` unless
    /// packets are recorded.
    pub(crate) arrivals: Option<Vec<PacketEvent>>,
}

/// The time series with one row per ACK.
#[derive(Debug)]
pub(crate) struct PerAck {
    pub(crate) rows: Series,
    /// The counts of each flow at its last row.
    before: Vec<Before>,
}

impl PerAck {
    pub(crate) fn new(flows: usize) -> Self {
        Self { rows: Series::default(), before: vec![Before::default(); flows] }
    }
}

impl Observer {
    /// Observes a packet that the sender of `flow` has just processed. If `has_row` is true, adds a
    /// row to the series with one row per ACK. If packets are recorded, records the packet.
    #[cold]
    #[inline(never)]
    fn observe(&mut self, now: Time, packet: Arrival<'_, Payload>, flow: &Flow, has_row: bool) {
        let id = packet.flow().0;
        if let Some(PerAck { rows, before }) = self.per_ack.as_mut().filter(|_| has_row) {
            rows.push(series::row(now, id, flow, &mut before[id as usize]));
        }
        if let Some(arrivals) = &mut self.arrivals {
            let segment = wire::arrived(&packet, 0);
            let class = flow.class;
            arrivals.push(PacketEvent { at: now, flow: id, class, is_sent: false, segment });
        }
    }
}

impl World {
    /// Returns the population of the class of `flow`, if the class has arrivals.
    pub(crate) fn population(&self, flow: &Flow) -> Option<&Population> {
        self.populations[flow.class as usize].as_ref()
    }

    /// Records that the active time of a flow has ended or, in a class with arrivals, that the flow
    /// is over.
    #[cold]
    #[inline(never)]
    fn flow_ended(&mut self, now: Time, id: FlowId) {
        let flow = &mut self.flows[id.0 as usize];
        match &mut self.populations[flow.class as usize] {
            Some(population) => {
                let transfer = flow
                    .application
                    .transfers
                    .pop()
                    .expect("a flow of a class with arrivals has one transfer");
                if population.leave(now, id.0, &transfer) {
                    self.windows.population_ended(now, &mut self.flows);
                }
            }
            None => self.windows.flow_ended(now, id.0, &mut self.flows),
        }
    }

    /// Handles the arrival of a new flow in class number `class`. `hub` is the first of the slots
    /// that the class has for its flows.
    fn arrive(&mut self, port: &mut Port<'_, Payload>, hub: FlowId, class: usize) {
        let population = self.populations[class]
            .as_mut()
            .expect("`Token::Arrive` is scheduled only for classes with arrivals");
        if let Some(next) = population.next_after(port.now()) {
            port.schedule(hub, next, Token::Arrive as u32);
        }
        let bytes = population.next_size();
        let place = match population.take_place() {
            Place::None => return,
            Place::Of(place) => place,
            Place::New => {
                let place = u32::try_from(self.flows.len()).expect("flows are numbered in 24 bits");
                population.add_place(place);
                port.set_routes_like(FlowId(place), hub);
                let class = self.flows[hub.0 as usize].class;
                let spec = FlowSpec { class, start: port.now(), stop: None };
                let (setup, meter) = (&self.setups[class as usize], arrivals::meter(self.period));
                self.flows.push(Flow::new((self.seed, place), &spec, setup, meter));
                place
            }
        };
        self.flows[place as usize].come(port, bytes, &self.setups[class]);
    }
}

impl Handler<Payload> for World {
    #[inline]
    fn at_receiver(&mut self, port: &mut Port<'_, Payload>, packet: &Arrival<'_, Payload>) {
        let flow = &mut self.flows[packet.flow().0 as usize];
        let until = flow.at_receiver(port, *packet);
        if flow.is_transfer_read() {
            flow.check_transfer(&mut port.lend(), &self.classes, until);
        }
    }

    #[inline]
    fn at_sender(&mut self, port: &mut Port<'_, Payload>, packet: &Arrival<'_, Payload>) {
        let flow = &mut self.flows[packet.flow().0 as usize];
        let has_row = self.observer.is_some()
            && !flow.is_over()
            && self.populations[flow.class as usize].is_none();
        let has_ended = flow.at_sender(port, *packet, &self.classes);
        if let Some(observer) = &mut self.observer {
            observer.observe(port.now(), *packet, flow, has_row);
        }
        if has_ended {
            self.flow_ended(port.now(), packet.flow());
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "only the event loop calls this function")]
    fn on_timer(&mut self, port: &mut Port<'_, Payload>, id: FlowId, side: Side, timer: u8) {
        let flow = &mut self.flows[id.0 as usize];
        match side {
            Side::Sender if timer == TimerId::Pacing as u8 => flow.on_pacing_timer(port),
            Side::Sender => flow.on_sender_timer(port, wire::timer(timer)),
            Side::Receiver => flow.on_receiver_timer(port, wire::timer(timer), &self.classes),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "only the event loop calls this function")]
    fn on_swift_timer(&mut self, port: &mut Port<'_, Payload>, id: FlowId, side: Side, timer: u8) {
        debug_assert!(side == Side::Sender && timer == TimerId::Pacing as u8);
        self.flows[id.0 as usize].on_pacing_timer(port);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "only the event loop calls this function")]
    fn on_even_timer(&mut self, port: &mut Port<'_, Payload>, id: FlowId, side: Side, timer: u8) {
        debug_assert!(side == Side::Receiver && timer == TimerId::CompressedAck as u8);
        self.flows[id.0 as usize].on_compressed_ack_timer(port, &self.classes);
    }

    fn on_application(&mut self, port: &mut Port<'_, Payload>, id: FlowId, token: u32) {
        let flow = &mut self.flows[id.0 as usize];
        let class = flow.class as usize;
        let token = Token::from_number(token);
        if token == Token::Arrive {
            self.arrive(port, id, class);
            return;
        }
        if let (Token::Page, Some(browser)) = (token, &mut self.browsers[class]) {
            browser.step(port, id, &mut self.flows);
            return;
        }
        let has_ended = flow.on_application(port, token, &self.classes[class], &self.setups[class]);
        if has_ended {
            self.windows.flow_ended(port.now(), id.0, &mut self.flows);
        }
    }
}
