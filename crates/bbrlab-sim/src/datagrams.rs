//! UDP flows: datagrams at a rate that does not respond to loss, without a connection, ACKs or
//! retransmissions.
//!
//! The receiver treats a datagram like a late packet of an earlier connection, so that the code for
//! TCP segments needs no additional check.

use bbrlab_net::{Outgoing, Port, Side};
use bbrlab_run::{Bursts, FlowClass, Frames, Pace, Source, headers};
use bbrlab_units::{BitRate, Ecn};

use crate::app::Token;
use crate::flow::Flow;
use crate::wire::Payload;

/// When a UDP flow sends a datagram, the receiver's `first_packet` becomes the datagram's number
/// plus this amount. In a TCP flow, `first_packet` is the number of the current connection's first
/// packet. Every datagram therefore has a smaller number than `first_packet`, like a packet of an
/// earlier TCP connection.
pub(crate) const AHEAD: u32 = 1 << 30;

impl Flow {
    /// Handles an event of an application that sends datagrams. Returns whether the event has ended
    /// the flow's active time.
    pub(crate) fn act_with_datagrams(
        &mut self,
        port: &mut Port<'_, Payload>,
        token: Token,
        class: &FlowClass,
    ) -> bool {
        let now = port.now();
        if token == Token::Stop {
            // The flow sends no more datagrams, and there are no ACKs to wait for.
            self.application.end();
            return self.freeze(now, port.flow_wire_bytes(self.id()));
        }
        if self.is_over() {
            return false;
        }
        if token == Token::Connect {
            self.connection.meter.start(now);
            self.accounts.begin_datagrams();
        }
        if token != Token::Write {
            if matches!(class.source, Source::Rates(_)) {
                self.application.begin_step(port, self.id(), token);
            } else {
                self.application.begin_period(port, self.id(), token, &class.source);
            }
        }
        if let Source::Frames(frames) = &class.source {
            self.send_frame(port, frames, class.mss);
            return false;
        }
        let rate = match (&class.source, self.application.pace()) {
            (
                Source::Cbr(rate)
                | Source::OnOff { rate: Some(rate), .. }
                | Source::Bursts(Bursts { rate: Some(rate), .. }),
                _,
            ) => *rate,
            (Source::Rates(_), Some(Pace::At(rate))) => rate,
            _ => unreachable!("datagrams have a rate"),
        };
        if self.application.is_on && rate != BitRate(0) {
            if self.application.pieces.is_due(now) {
                self.send_datagram(port, class.mss);
                self.application.pieces.next_at_rate(class.mss, rate.0);
            }
            if let Some(at) = self.application.pieces.due_in_period() {
                port.schedule(self.id(), at, Token::Write as u32);
            }
        }
        false
    }

    /// Sends a frame, and schedules the next one.
    fn send_frame(&mut self, port: &mut Port<'_, Payload>, frames: &Frames, mss: u32) {
        let application = &mut self.application;
        let bytes = frames.bytes_of(application.pieces.written());
        let next = application.pieces.next_periodic(frames.every);
        port.schedule(self.id(), next, Token::Write as u32);
        let count = u32::try_from(bytes.div_ceil(mss.into()))
            .expect("a checked scenario limits the size of frames");
        if let Some(latency) = &mut self.application.latency {
            latency.frames.send(port.now(), port.packets_sent(self.connection.flow()), count);
        }
        let last = bytes - u64::from(mss) * u64::from(count - 1);
        for number in 1..=count {
            let bytes =
                if number == count { u32::try_from(last).expect("at most mss") } else { mss };
            self.send_datagram(port, bytes);
        }
    }

    fn send_datagram(&mut self, port: &mut Port<'_, Payload>, bytes: u32) {
        let (flow, now) = (self.id(), port.now());
        let number = port.packets_sent(flow);
        self.connection.receiver_end.first_packet = number.wrapping_add(AHEAD);
        let packet = Outgoing {
            wire_bytes: bytes + headers::UDP + self.connection.sender_end.endpoint.framing,
            ecn: Ecn::NotEct,
            is_data: true,
            seq: u64::from(number),
            retransmission: 0,
            extra: None,
        };
        port.send(flow, Side::Sender, packet, || Payload::datagram(bytes, now));
        self.accounts.count_sent_datagram(bytes);
    }
}
