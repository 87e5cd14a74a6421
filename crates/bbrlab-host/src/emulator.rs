//! Simulates the network of a run for real packets. The emulator reads no clock and no device: the
//! caller passes packets and times as arguments.

use std::collections::VecDeque;

use bbrlab_net::{Arrival, FlowId, Handler, Outgoing, Port, Side};
use bbrlab_run::Run;
use bbrlab_sim::{NetworkResult, RunNetwork};
use bbrlab_units::{Ecn, Time};

use crate::frame::{Fields, Frame, Real};

/// A packet that leaves the network.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The time at which the packet leaves.
    pub at: Time,
    /// The side whose host receives the packet.
    pub to: Side,
    /// The packet.
    pub frame: Frame,
}

/// The network of a run, with real packets.
#[derive(Debug)]
pub struct Emulator {
    net: RunNetwork<Real>,
    hosts: Hosts,
    /// For each flow, the bytes of framing around one of its packets: first from the sender, then
    /// from the receiver.
    framing: Vec<[u32; 2]>,
}

/// The packet that is entering the network, and the packets that have left it. Packets that have
/// left stay here until the user of [`Emulator`] removes them with [`Emulator::leave`].
#[derive(Debug, Default)]
struct Hosts {
    entering: Option<(Side, Fields, u32, Frame)>,
    leaving: VecDeque<Departure>,
}

impl Emulator {
    /// Builds the network of a run, at time zero.
    #[must_use]
    pub fn new(run: &Run) -> Self {
        let framing = run.flows.iter().map(|flow| {
            let class = &run.classes[flow.class as usize];
            [&class.forward, &class.reverse].map(|route| run.framing(class, route))
        });
        let framing = framing.collect();
        Self { net: RunNetwork::new(run), hosts: Hosts::default(), framing }
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.net.now()
    }

    /// Returns the time of the network's next event, or the end of the run if the end is earlier.
    #[must_use]
    pub fn next_due(&self) -> Time {
        self.net.next_due()
    }

    /// Advances the network to `now`, or to the end of the run if the end is earlier.
    pub fn advance(&mut self, now: Time) {
        self.net.advance(now, &mut self.hosts);
    }

    /// Accepts a packet that a host on the side `from` has sent at `now`. No earlier call may have
    /// had a later `now`. Returns whether the network accepted the packet: false for a packet that
    /// belongs to no flow, for a packet too large for a [`Frame`], and after the end of the run.
    pub fn enter(&mut self, from: Side, packet: &[u8], now: Time) -> bool {
        let Some(frame) = Frame::of(packet) else { return false };
        let Some(fields) = frame.fields(from) else { return false };
        let Some(framing) = self.framing.get(fields.flow as usize) else { return false };
        self.hosts.entering = Some((from, fields, framing[from as usize], frame));
        self.net.enter(FlowId(fields.flow), now, &mut self.hosts);
        // After the end of the run, the network takes no packets.
        self.hosts.entering.take().is_none()
    }

    /// Removes the next packet that has left the network.
    pub fn leave(&mut self) -> Option<Departure> {
        self.hosts.leaving.pop_front()
    }

    /// Ends the emulation at the current time, and returns the results about the network.
    #[must_use]
    pub fn finish(self, run: &Run) -> NetworkResult {
        self.net.finish(run)
    }
}

impl Hosts {
    fn arrives(&mut self, at: Time, to: Side, packet: &Arrival<'_, Real>) {
        let Some(mut frame) = packet.extra().copied() else { return };
        if packet.ecn() == Ecn::Ce {
            frame.mark();
        }
        self.leaving.push_back(Departure { at, to, frame });
    }
}

impl Handler<Real> for Hosts {
    fn at_receiver(&mut self, port: &mut Port<'_, Real>, packet: &Arrival<'_, Real>) {
        self.arrives(port.now(), Side::Receiver, packet);
    }

    fn at_sender(&mut self, port: &mut Port<'_, Real>, packet: &Arrival<'_, Real>) {
        self.arrives(port.now(), Side::Sender, packet);
    }

    fn on_timer(&mut self, _: &mut Port<'_, Real>, _: FlowId, _: Side, _: u8) {}

    fn on_application(&mut self, port: &mut Port<'_, Real>, flow: FlowId, _: u32) {
        let Some((from, fields, framing, frame)) = self.entering.take() else { return };
        let packet = Outgoing {
            wire_bytes: fields.len + framing,
            ecn: fields.ecn,
            is_data: fields.is_data,
            seq: 0,
            retransmission: 0,
            extra: Some(&frame),
        };
        port.send(flow, from, packet, || Real);
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_net::Side;
    use bbrlab_run::Run;
    use bbrlab_scenario::Scenario;
    use bbrlab_units::Time;

    use super::Emulator;
    use crate::frame::tests::packet;

    const US: u64 = 1000;

    fn run(keys: &str) -> Run {
        let text = format!(
            "duration = \"2s\"\n[bottleneck]\nrate = \"10Mbit/s\"\n{keys}\n\
             [[flows]]\ncc = \"reno\"\nrtt = \"20ms\"\n"
        );
        Scenario::parse("x", "x", &text, None, &[]).unwrap().run(0)
    }

    /// Sends packets at times in microseconds, with payloads of given sizes in bytes. Returns the
    /// times at which the packets leave, in nanoseconds, each with the size of the payload.
    fn leave(emulator: &mut Emulator, from: Side, packets: &[(u64, usize)]) -> Vec<(u64, usize)> {
        for &(us, payload) in packets {
            assert!(emulator.enter(from, &packet(from, 0, payload), Time(us * US)));
        }
        emulator.advance(Time(1_000_000_000));
        let all = std::iter::from_fn(|| emulator.leave());
        all.map(|it| (it.at.0, it.frame.bytes().len() - 52)).collect()
    }

    /// The link of 10 Mbit/s needs 8 * (52 + payload + 14) / 10 us per packet: 52 B of headers and
    /// 14 B of framing. The delay is 10 ms in each direction.
    #[test]
    fn packets_leave_at_the_times_of_the_links_rules() {
        let mut emulator = Emulator::new(&run("buffer = \"2pkt\""));
        let times = [(0, 1448), (0, 1448), (100, 1000), (100, 500), (5000, 10)];
        let left = leave(&mut emulator, Side::Sender, &times);
        // 1514 B take 1211.2 us, 1066 B take 852.8 us, 76 B take 60.8 us. At 100 us, the first
        // packet is in service and the second waits. The third packet waits too, and the fourth is
        // dropped, because the buffer holds two packets.
        let expected =
            [(11_211_200, 1448), (12_422_400, 1448), (13_275_200, 1000), (15_060_800, 10)];
        assert_eq!(left, expected);
        let result = emulator.finish(&run("buffer = \"2pkt\""));
        let link = &result.links[0];
        assert_eq!((link.arrivals, link.departures, link.drops), (Some(5), Some(4), Some(1)));
        assert_eq!((result.losses[0].drops, result.data_packets), (1, Some(4)));
        assert_eq!(result.wire_bytes, [2 * 1514 + 1066 + 76]);
        // One row per 10 ms up to 1 s, the time at which the test reads the results.
        assert_eq!(result.queue.len(), 101);
    }

    #[test]
    fn a_buffer_in_bytes_counts_bytes_on_the_wire() {
        let mut emulator = Emulator::new(&run("buffer = \"3000B\""));
        let times = [(0, 1448), (0, 1448), (0, 1448), (0, 1400)];
        let left = leave(&mut emulator, Side::Sender, &times);
        // The first packet is in service, outside of the buffer. Two packets of 1514 B exceed 3000
        // B, so the third packet is dropped; a packet of 1514 B and a packet of 1466 B fit. A
        // packet of 1466 B takes 1172.8 us.
        assert_eq!(left, [(11_211_200, 1448), (12_422_400, 1448), (13_595_200, 1400)]);
    }

    #[test]
    fn acks_only_take_the_delay_of_the_return_path() {
        let mut emulator = Emulator::new(&run("buffer = \"2pkt\""));
        let left = leave(&mut emulator, Side::Receiver, &[(0, 0), (0, 0), (70, 0)]);
        assert_eq!(left, [(10_000_000, 0), (10_000_000, 0), (10_070_000, 0)]);
    }

    #[test]
    fn a_queue_discipline_marks_real_packets() {
        let text = "duration = \"2s\"\n[bottleneck]\nrate = \"10Mbit/s\"\nbuffer = \"100pkt\"\n\
                    ecn_threshold = \"1us\"\n\
                    [[flows]]\ncc = \"reno\"\necn = true\nrtt = \"20ms\"\n";
        let scenario = Scenario::parse("x", "x", text, None, &[]).unwrap();
        let mut emulator = Emulator::new(&scenario.run(0));
        let mut bytes = packet(Side::Sender, 0, 1000);
        bytes[1] = 2;
        for _ in 0..3 {
            assert!(emulator.enter(Side::Sender, &bytes, Time::ZERO));
        }
        emulator.advance(Time(1_000_000_000));
        let fields = std::iter::from_fn(|| emulator.leave()).map(|it| it.frame.bytes()[1] & 3);
        assert_eq!(fields.collect::<Vec<_>>(), [2, 3, 3]);
    }

    #[test]
    fn nothing_enters_after_the_end_or_without_a_flow() {
        let mut emulator = Emulator::new(&run("buffer = \"2pkt\""));
        assert!(!emulator.enter(Side::Sender, &packet(Side::Sender, 1, 10), Time::ZERO));
        assert!(!emulator.enter(Side::Sender, &[0; 40], Time::ZERO));
        assert_eq!(emulator.next_due(), Time::ZERO);
        emulator.advance(Time(5_000_000_000));
        assert_eq!(emulator.now(), Time(2_000_000_000));
        assert!(!emulator.enter(Side::Sender, &packet(Side::Sender, 0, 10), Time(5_000_000_000)));
    }
}
