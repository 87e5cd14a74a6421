//! What ns-3's sockets do differently from Linux's in buffers, windows, headers, handshake and RTT
//! samples: one field a difference.
//!
//! Each default is what Linux does, and each value is valid beside any other.

/// How a socket counts, what its headers hold, and what it measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketSwitches {
    /// What the buffers of a socket count.
    pub sockbuf: Sockbuf,
    /// Whether Nagle's algorithm may hold a short segment back. Linux: without `TCP_NODELAY`.
    pub nagle: bool,
    /// Whether the receiver reports duplicates (RFC 2883).
    pub dsack: bool,
    /// Whether both ends ignore segments whose timestamp is older than that of an earlier one
    /// (PAWS, RFC 7323). If it is not given, they do with Linux's handshake: see
    /// [`Self::has_paws`].
    pub paws: Option<bool>,
    /// How options fill the TCP header.
    pub tcp_options: TcpOptions,
    /// The timeouts of SYN and SYN-ACK.
    pub handshake: Handshake,
    /// With which clock RTT samples are taken.
    pub rtt_clock: RttClock,
    /// Whether an ACK of a head that was retransmitted gives an RTT sample, by its timestamp.
    pub rtt_retrans: bool,
    /// Which RTT the congestion control's `pkts_acked` gets.
    pub cc_rtt: CcRtt,
}

impl SocketSwitches {
    /// Whether both ends ignore segments with old timestamps. ns-3's sockets do not.
    #[must_use]
    pub fn has_paws(&self) -> bool {
        self.paws.unwrap_or(self.handshake == Handshake::Linux)
    }
}

impl Default for SocketSwitches {
    fn default() -> Self {
        Self {
            sockbuf: Sockbuf::Memory,
            nagle: true,
            dsack: true,
            paws: None,
            tcp_options: TcpOptions::Aligned,
            handshake: Handshake::Linux,
            rtt_clock: RttClock::Exact,
            rtt_retrans: true,
            cc_rtt: CcRtt::Sample,
        }
    }
}

/// What the buffers of a socket count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sockbuf {
    /// Memory: twice what the application asks for, overhead of the skbs included. The window that
    /// a receiver advertises grows.
    #[default]
    Memory,
    /// Bytes of payload: of what was sent and not acknowledged and what waits, or of what was not
    /// read. The receiver advertises the rest of its buffer from the start, out-of-order data not
    /// subtracted (ns-3).
    Payload,
}

/// How options fill the TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TcpOptions {
    /// Each is padded to a multiple of four bytes, and a SYN announces the MSS: 20 bytes on a SYN,
    /// 4 + 8 n for n SACK blocks beside 12 of timestamps (Linux).
    #[default]
    Aligned,
    /// They follow each other, and only their sum is padded: 16 bytes on a SYN, 8 n for n SACK
    /// blocks (ns-3).
    Packed,
}

/// The timeouts of SYN and SYN-ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handshake {
    /// 1 s; that of the SYN doubles after the fifth.
    #[default]
    Linux,
    /// 3 s, doubled each time, six tries (ns-3).
    Ns3,
}

/// With which clock RTT samples are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RttClock {
    /// The sender's records in microseconds; timestamps only where those are ambiguous.
    #[default]
    Exact,
    /// Timestamps in whole milliseconds, on ACKs of new data: the difference of two truncated
    /// clocks. Zero counts as 1 us (ns-3 since 3.37).
    Milliseconds,
    /// The same, but zero is no sample (ns-3 3.27 and 3.28).
    PositiveMilliseconds,
}

/// Which RTT the congestion control's `pkts_acked` gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CcRtt {
    /// The sample of the newest segment that the ACK acknowledges.
    #[default]
    Sample,
    /// The smoothed RTT (ns-3).
    Srtt,
}
