//! The order of events at the same time: by the kind of event, then flow, then sequence number;
//! never by lane or by the order of insertion.

use bbrlab_link::{Buffer, Link, Rate};
use bbrlab_net::{Arrival, FlowId, Handler, LinkMode, Network, Outgoing, Port, RouteStep, Side};
use bbrlab_units::{BitRate, Ecn, Span, Time};
use expect_test::{Expect, expect};
use std::fmt::Write as _;

/// Hosts that log their events. The token of an application's event selects the action: send a
/// packet, or arm timers.
#[derive(Default)]
struct Scripted {
    log: String,
}

type Net = Network<u32>;

fn packet(payload: u32) -> Outgoing<'static, u32> {
    Outgoing {
        wire_bytes: 1500,
        ecn: Ecn::NotEct,
        is_data: true,
        seq: u64::from(payload),
        retransmission: 0,
        extra: None,
    }
}

/// A token arms a timer if it is at least this value; a smaller token sends a packet.
const ARM: u32 = 1000;

impl Handler<u32> for Scripted {
    fn at_receiver(&mut self, port: &mut Port<'_, u32>, p: &Arrival<'_, u32>) {
        writeln!(self.log, "{} data {} of {}", port.now().0, p.payload(), p.flow().0).unwrap();
        port.send(p.flow(), Side::Receiver, packet(*p.payload()), || *p.payload());
    }

    fn at_sender(&mut self, port: &mut Port<'_, u32>, p: &Arrival<'_, u32>) {
        writeln!(self.log, "{} ack {} of {}", port.now().0, p.payload(), p.flow().0).unwrap();
    }

    fn on_timer(&mut self, port: &mut Port<'_, u32>, flow: FlowId, side: Side, id: u8) {
        writeln!(self.log, "{} timer {id} of {} {side:?}", port.now().0, flow.0).unwrap();
        port.send(flow, Side::Sender, packet(100 + u32::from(id)), || 100 + u32::from(id));
    }

    fn on_application(&mut self, port: &mut Port<'_, u32>, flow: FlowId, token: u32) {
        writeln!(self.log, "{} application {token} of {}", port.now().0, flow.0).unwrap();
        if token >= ARM {
            for (side, id) in [(Side::Receiver, 0), (Side::Sender, 1), (Side::Sender, 0)] {
                port.arm(flow, side, id, Time(u64::from(token)));
            }
        } else {
            port.send(flow, Side::Sender, packet(token), || token);
        }
    }
}

fn check(net: &mut Net, expected: &Expect) {
    let mut hosts = Scripted::default();
    net.advance(Time(1_000_000_000), &mut hosts);
    net.check_conservation();
    expected.assert_eq(&hosts.log);
}

/// Makes a network of two flows without links. `delays` has each flow's delays in nanoseconds on
/// the forward and the reverse route.
fn two_flows(delays: [(u64, u64); 2]) -> Net {
    let mut net = Net::new(1, 2);
    for (there, back) in delays {
        let forward = net.add_forward_route(&[RouteStep::Delay(Span(there))]);
        let reverse = net.add_reverse_route(&[RouteStep::Delay(Span(back))]);
        net.add_flow(forward, reverse);
    }
    net
}

#[test]
fn at_one_instant_data_come_before_acks_before_timers_before_applications() {
    let mut net = two_flows([(1000, 0), (500, 500)]);
    // Flow 1's ACK arrives at 1000 ns, when flow 0's data arrive and the timers of both flows fire.
    net.schedule(FlowId(1), Time(1000), 7);
    net.schedule(FlowId(0), Time(1000), 9);
    net.schedule(FlowId(0), Time(1000), 8);
    net.schedule(FlowId(1), Time(0), ARM);
    net.schedule(FlowId(0), Time(0), ARM);
    net.schedule(FlowId(1), Time(0), 1);
    net.schedule(FlowId(0), Time(0), 2);
    check(
        &mut net,
        &expect![[r#"
        0 application 2 of 0
        0 application 1000 of 0
        0 application 1 of 1
        0 application 1000 of 1
        500 data 1 of 1
        1000 data 2 of 0
        1000 ack 2 of 0
        1000 ack 1 of 1
        1000 timer 0 of 0 Sender
        1000 timer 1 of 0 Sender
        1000 timer 0 of 0 Receiver
        1000 timer 0 of 1 Sender
        1000 timer 1 of 1 Sender
        1000 timer 0 of 1 Receiver
        1000 application 8 of 0
        1000 application 9 of 0
        1000 application 7 of 1
        1500 data 100 of 1
        1500 data 101 of 1
        1500 data 100 of 1
        1500 data 7 of 1
        2000 data 100 of 0
        2000 data 101 of 0
        2000 data 100 of 0
        2000 data 8 of 0
        2000 data 9 of 0
        2000 ack 100 of 0
        2000 ack 101 of 0
        2000 ack 100 of 0
        2000 ack 8 of 0
        2000 ack 9 of 0
        2000 ack 100 of 1
        2000 ack 101 of 1
        2000 ack 100 of 1
        2000 ack 7 of 1
    "#]],
    );
}

#[test]
fn packets_that_reach_a_link_together_are_taken_by_kind_of_sender_then_flow_then_sequence() {
    let mut net = Net::new(1, 2);
    let link = net.add_link(
        &Link::new("l", Rate::Constant(BitRate(12_000_000)), Buffer::Unlimited),
        LinkMode::VirtualClock,
    );
    // Flow 0 sends at 0 ns with a delay of 1001 ns, flow 1 at 500 ns with 501 ns, flow 2 at 1000 ns
    // with 1 ns. With these start times and delays, all packets reach the link at 1001 ns.
    for delay in [1001, 501, 1] {
        let forward =
            net.add_forward_route(&[RouteStep::Delay(Span(delay)), RouteStep::Link(link)]);
        let reverse = net.add_reverse_route(&[RouteStep::Delay(Span(u64::from(u32::MAX)))]);
        net.add_flow(forward, reverse);
    }
    net.schedule(FlowId(2), Time(1000), 1);
    net.schedule(FlowId(1), Time(500), 2);
    net.schedule(FlowId(1), Time(500), 1);
    // At the link, packets sent by timers precede packets sent by applications, whatever their
    // flows.
    net.schedule(FlowId(2), Time(0), ARM);
    net.schedule(FlowId(0), Time(0), 5);
    check(
        &mut net,
        &expect![[r#"
            0 application 5 of 0
            0 application 1000 of 2
            500 application 1 of 1
            500 application 2 of 1
            1000 timer 0 of 2 Sender
            1000 timer 1 of 2 Sender
            1000 timer 0 of 2 Receiver
            1000 application 1 of 2
            1001001 data 100 of 2
            2001001 data 101 of 2
            3001001 data 100 of 2
            4001001 data 5 of 0
            5001001 data 1 of 1
            6001001 data 2 of 1
            7001001 data 1 of 2
        "#]],
    );
}

#[test]
fn a_path_without_delay_does_not_let_insertion_decide() {
    // Without any delay, the ACK arrives at the time of sending, before the application's next
    // call.
    let mut net = two_flows([(0, 0), (0, 0)]);
    net.schedule(FlowId(1), Time(10), 1);
    net.schedule(FlowId(0), Time(10), 2);
    net.schedule(FlowId(0), Time(10), 1);
    check(
        &mut net,
        &expect![[r#"
        10 application 1 of 0
        10 data 1 of 0
        10 ack 1 of 0
        10 application 2 of 0
        10 data 2 of 0
        10 ack 2 of 0
        10 application 1 of 1
        10 data 1 of 1
        10 ack 1 of 1
    "#]],
    );
}

#[test]
fn a_timer_fires_once_at_its_last_deadline_however_often_it_was_moved() {
    struct Mover(Vec<u64>);
    impl Handler<u32> for Mover {
        fn at_receiver(&mut self, _: &mut Port<'_, u32>, _: &Arrival<'_, u32>) {}
        fn at_sender(&mut self, _: &mut Port<'_, u32>, _: &Arrival<'_, u32>) {}
        fn on_timer(&mut self, port: &mut Port<'_, u32>, _: FlowId, _: Side, _: u8) {
            self.0.push(port.now().0);
        }
        fn on_application(&mut self, port: &mut Port<'_, u32>, flow: FlowId, token: u32) {
            match token {
                0 => port.disarm(flow, Side::Sender, 0),
                at => port.arm(flow, Side::Sender, 0, Time(u64::from(at))),
            }
        }
    }
    let moves: [(u64, u32); 9] = [
        (0, 100),
        (10, 200),
        (20, 50),
        (30, 300),
        (60, 0),
        (400, 500),
        (410, 450),
        (460, 460),
        (470, 9999),
    ];
    let mut net = two_flows([(0, 0), (0, 0)]);
    for (at, token) in moves {
        net.schedule(FlowId(0), Time(at), token);
    }
    let mut hosts = Mover(Vec::new());
    net.advance(Time(5000), &mut hosts);
    assert_eq!(hosts.0, [450, 460]);
    net.advance(Time(10_000), &mut hosts);
    assert_eq!(hosts.0, [450, 460, 9999]);
}
