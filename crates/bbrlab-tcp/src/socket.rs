//! A whole socket: a sending half and a receiving half.
//!
//! Most simulated connections carry data in one direction: one end is a [`Sender`], the other a
//! [`Receiver`]. If both ends write, each end is a [`Socket`]. The receiving half fills in its
//! fields (ACK number, window, timestamp echo, SACK blocks, ECE) in every segment of the sending
//! half, so that the segment also serves as an ACK. Both halves of a socket process the segments
//! that arrive.
//!
//! ```text
//!            on_segment                      transmit
//!   peer ───► Receiver: acceptable? data ─► queue          ┌─► wire
//!        └──► Sender: ACK, window, SACK  ─► new data ──► stamp (Receiver)
//!             Receiver: is an ACK still due? ──────────────┘
//! ```
//!
//! Sources: [linux] `tcp_input.c` (`tcp_rcv_established`, `tcp_rcv_state_process`,
//! `tcp_rcv_synsent_state_process`, `tcp_ack`), `tcp_output.c` (`__tcp_transmit_skb`,
//! `tcp_event_data_sent`).
//! Deviations:
//! 1. Data is queued before the segment's ACK is processed, as on the kernel's fast path. On the
//!    kernel's slow path, the ACK is processed first, so a retransmission that the ACK triggers
//!    still carries the old ACK number.
//! 2. The handshake has no simultaneous open: a SYN without ACK that answers our SYN is ignored.

use bbrlab_cc::{Draw, Lent};
use bbrlab_units::Time;

use crate::receiver::{Peer, Read, SendSide};
use crate::segment::flag;
use crate::sender::AckPlace;
use crate::{Host, Receiver, Segment, Sender, TimerId, Transmission};

/// A socket that sends and receives.
#[derive(Debug)]
pub struct Socket {
    sender: Sender,
    receiver: Receiver,
    /// Whether this end listens for the peer's SYN.
    is_passive: bool,
}

/// References to the two halves of a socket, which need not be stored in one [`Socket`].
#[derive(Debug)]
pub struct Halves<'s> {
    sender: &'s mut Sender,
    receiver: &'s mut Receiver,
    /// Whether this end listens for the peer's SYN.
    is_passive: bool,
}

/// The [`Host`] of the sending half. The receiving half first writes its fields, such as the ACK
/// number and the window, into each segment; then the segment is passed to the host of the socket.
struct Wire<'a, H> {
    receiver: &'a mut Receiver,
    host: &'a mut H,
    now: Time,
}

impl<H: Host> Draw for Wire<'_, H> {
    fn below(&mut self, bound: u32) -> u32 {
        self.host.below(bound)
    }

    fn lend(&mut self) -> Lent {
        self.host.lend()
    }

    fn take_back(&mut self, lent: Lent) {
        self.host.take_back(lent);
    }
}

impl<H: Host> Host for Wire<'_, H> {
    fn transmit(&mut self, what: Transmission<'_>) {
        what.for_each(|mut segment| {
            if segment.has(flag::SYN) {
                segment.wnd = self.receiver.syn_window();
            } else {
                self.receiver.piggyback(self.now, &mut segment);
            }
            self.host.transmit(Transmission::Segment(&segment));
        });
    }

    fn arm(&mut self, timer: TimerId, at: Time) {
        self.host.arm(timer, at);
    }

    fn disarm(&mut self, timer: TimerId) {
        self.host.disarm(timer);
    }
}

impl Socket {
    /// Creates a socket that actively opens: [`Halves::connect`] must be called.
    #[must_use]
    pub fn active(sender: Sender, receiver: Receiver) -> Self {
        Self { sender, receiver, is_passive: false }
    }

    /// Creates a socket that listens.
    #[must_use]
    pub fn passive(sender: Sender, receiver: Receiver) -> Self {
        Self { sender, receiver, is_passive: true }
    }

    /// Returns references to both halves, for the processing of an event.
    #[must_use]
    pub fn halves(&mut self) -> Halves<'_> {
        let Self { sender, receiver, is_passive } = self;
        Halves { sender, receiver, is_passive: *is_passive }
    }

    /// Returns the sending half.
    #[must_use]
    pub const fn sender(&self) -> &Sender {
        &self.sender
    }

    /// Returns the receiving half.
    #[must_use]
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }
}

impl<'s> Halves<'s> {
    /// Creates the halves of a socket that actively opens: [`Self::connect`] must be called.
    #[must_use]
    pub fn active(sender: &'s mut Sender, receiver: &'s mut Receiver) -> Self {
        Self { sender, receiver, is_passive: false }
    }

    /// Creates the halves of a socket that listens.
    #[must_use]
    pub fn passive(sender: &'s mut Sender, receiver: &'s mut Receiver) -> Self {
        Self { sender, receiver, is_passive: true }
    }

    /// Sends the SYN.
    pub fn connect(&mut self, now: Time, host: &mut impl Host) {
        self.receiver.connect(now);
        self.with_sender(now, host, |sender, wire| sender.connect(now, wire));
    }

    /// Processes a segment from the peer; returns whether the segment's acknowledgement was
    /// processed. After processing a segment, the caller checks [`Self::wants_read`] and the
    /// sender's [`Sender::app_is_ready`].
    pub fn on_segment(&mut self, now: Time, segment: &Segment, host: &mut impl Host) -> bool {
        let was_established = self.receiver.is_established();
        if segment.has(flag::SYN) && !was_established && !self.is_passive {
            self.on_synack(now, segment, host);
            return true;
        }
        if !self.receiver.accept(now, segment, host) {
            return false;
        }
        if was_established {
            match self.sender.place_of(segment.ack) {
                AckPlace::Current => self.receiver.take_header(segment),
                // From a reordered ACK, only the timestamp and the data are processed.
                AckPlace::Old => self.receiver.replace_ts_recent(segment),
                place @ (AckPlace::TooOld | AckPlace::Unsent) => {
                    self.receiver.challenge(place == AckPlace::Unsent, host);
                    return false;
                }
            }
            self.receiver.take_echo(segment);
        } else {
            self.receiver.take_header(segment);
            let rtt_us = self.receiver.synack_rtt_us(now, segment);
            let has_ecn = self.receiver.has_ecn();
            self.with_sender(now, host, |sender, wire| {
                sender.accept(now, segment, rtt_us, has_ecn, wire);
            });
        }
        let is_bare_ack = segment.len == 0 && segment.flags == flag::ACK && segment.sack_count == 0;
        self.receiver.take_data(segment, host);
        if was_established {
            // Only the receiving half of a socket processes the FIN.
            let ack = Segment { flags: segment.flags & !flag::FIN, ..*segment };
            self.with_sender(now, host, |sender, wire| {
                sender.on_ack(now, &ack, wire);
                sender.send_pending(now, wire);
            });
        }
        // After a pure ACK, the kernel's fast path does not check whether an ACK is due.
        if !is_bare_ack {
            self.receiver.check_ack(host);
        }
        true
    }

    /// Passes the SYN-ACK to both halves, if it answers the SYN.
    #[cold]
    fn on_synack(&mut self, now: Time, segment: &Segment, host: &mut impl Host) {
        if segment.has(flag::ACK) && segment.ack == self.sender.conn().snd_nxt {
            self.receiver.on_synack(now, segment);
            self.with_sender(now, host, |sender, wire| {
                sender.on_segment(now, segment, wire);
            });
        }
    }

    /// Processes an expired timer.
    pub fn on_timer(&mut self, now: Time, timer: TimerId, host: &mut impl Host) {
        let is_receivers = match timer {
            TimerId::DelayedAck | TimerId::CompressedAck => true,
            TimerId::Retransmit => self.is_passive && !self.receiver.is_established(),
            TimerId::Pacing | TimerId::Control => false,
        };
        if is_receivers {
            self.receiver.on_timer(now, timer, host);
        } else {
            self.with_sender(now, host, |sender, wire| {
                sender.on_timer(now, timer, wire);
            });
        }
    }

    /// Records that data has left the host's device: see [`Sender::on_left`].
    pub fn on_left(&mut self, now: Time, bytes: u64, host: &mut impl Host) {
        self.with_sender(now, host, |sender, wire| sender.on_left(now, bytes, wire));
    }

    /// Whether the application is woken up to read.
    #[must_use]
    pub fn wants_read(&self) -> bool {
        self.receiver.wants_read()
    }

    /// Reads with one `recv()`.
    pub fn recv(&mut self, now: Time, host: &mut impl Host) -> Read {
        self.receiver.recv(now, host)
    }

    /// Writes `bytes` with one `send()`.
    pub fn write(&mut self, now: Time, bytes: u64, host: &mut impl Host) {
        self.with_sender(now, host, |sender, wire| sender.write(now, bytes, wire));
    }

    /// Runs the application, which writes the data that did not fit into the buffer before.
    pub fn run_app(&mut self, now: Time, host: &mut impl Host) {
        self.with_sender(now, host, |sender, wire| sender.run_app(now, wire));
    }

    /// Closes the sending side: a FIN follows the last byte written.
    pub fn close(&mut self, now: Time, host: &mut impl Host) {
        self.with_sender(now, host, |sender, wire| sender.close(now, wire));
    }

    /// Calls `act` with the sending half, and then passes the state of the sending half to the
    /// receiving half.
    fn with_sender<H: Host>(
        &mut self,
        now: Time,
        host: &mut H,
        act: impl FnOnce(&mut Sender, &mut Wire<'_, H>),
    ) {
        let mut wire = Wire { receiver: &mut *self.receiver, host, now };
        act(&mut *self.sender, &mut wire);
        let conn = self.sender.conn();
        let send_side = SendSide {
            snd_nxt: conn.snd_nxt,
            srtt_us: conn.srtt_us,
            rto: self.sender.rto(),
            wstamp: self.sender.next_departure(),
        };
        let peer = Peer { snd_una: conn.snd_una, window: self.sender.peer_window() };
        self.receiver.set_send_side(send_side, peer);
    }
}
