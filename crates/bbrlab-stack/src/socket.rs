//! The differences between the sockets of ns-3 and Linux in buffers, windows, headers, handshake
//! and RTT samples. Each difference is one field of [`SocketSwitches`].
//!
//! Each field's default is Linux's behaviour. All combinations of the switches' values are valid.

crate::settings! {
    /// Switches for a socket's buffers, its headers and its RTT samples.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SocketSwitches {
        /// Which bytes count towards the size of a socket buffer.
        pub sockbuf: Sockbuf = Sockbuf::Memory, "sockbuf";
        /// Whether Nagle's algorithm may delay a short segment. Linux delays short segments, except
        /// with `TCP_NODELAY`.
        pub nagle: bool = true, "nagle";
        /// Whether the receiver reports duplicate data in DSACK blocks (RFC 2883).
        pub dsack: bool = true, "dsack";
        /// Whether both ends ignore segments whose timestamp is older than the timestamp of an
        /// earlier segment (PAWS, RFC 7323). `None`: true with Linux's handshake, false with
        /// ns-3's: see [`Self::has_paws`].
        pub paws: Option<bool> = None, "paws";
        /// The layout of options in the TCP header.
        pub tcp_options: TcpOptions = TcpOptions::Aligned, "tcp_options";
        /// The timeouts of SYN and SYN-ACK.
        pub handshake: Handshake = Handshake::Linux, "handshake";
        /// The clock with which RTT samples are measured.
        pub rtt_clock: RttClock = RttClock::Exact, "rtt_clock";
        /// Whether an ACK gives an RTT sample from its timestamp echo even if the first segment
        /// that the ACK acknowledges was retransmitted.
        pub rtt_retrans: bool = true, "rtt_retrans";
        /// The RTT that the congestion control receives in `pkts_acked`.
        pub cc_rtt: CcRtt = CcRtt::Sample, "cc_rtt";
    }
}

impl SocketSwitches {
    /// Whether both ends ignore segments with old timestamps. The default is true, except with
    /// ns-3's handshake.
    #[must_use]
    pub fn has_paws(&self) -> bool {
        self.paws.unwrap_or(self.handshake == Handshake::Linux)
    }
}

/// Which bytes count towards the size of a socket buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sockbuf {
    /// Bytes of memory, including the overhead of skbs. A buffer has twice the size that the
    /// application sets. The window that a receiver advertises begins small and grows.
    #[default]
    Memory,
    /// Bytes of payload. In a send buffer, all bytes that are not acknowledged count, sent or
    /// unsent; in a receive buffer, the unread bytes count. From the start, the receiver advertises
    /// the free part of its buffer; out-of-order data does not reduce the free part (ns-3).
    Payload,
}

/// The layout of options in the TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TcpOptions {
    /// Each option is padded to a multiple of four bytes, and a SYN announces the MSS (Linux). A
    /// SYN has 20 bytes of options. Packets without SYN have 12 bytes of timestamps, and 4 + 8 n
    /// bytes for n SACK blocks.
    #[default]
    Aligned,
    /// Options follow each other without padding, and only their total length is padded: a SYN has
    /// 16 bytes of options, and n SACK blocks take 8 n bytes (ns-3).
    Packed,
}

/// The timeouts of SYN and SYN-ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handshake {
    /// The first timeout of a SYN or SYN-ACK is 1 s. The SYN-ACK's timeout doubles after each
    /// expiry, the SYN's only from its fifth expiry on.
    #[default]
    Linux,
    /// The first timeout of a SYN or SYN-ACK is 3 s. The timeout doubles after each expiry, for six
    /// transmissions in total (ns-3).
    Ns3,
}

/// The clock with which RTT samples are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RttClock {
    /// The transmission times in microseconds that the sender stores. Timestamps are used only if a
    /// retransmission makes it unclear which transmission an ACK is for.
    #[default]
    Exact,
    /// The timestamps in whole milliseconds that ACKs of new data echo: a sample is the difference
    /// of two truncated clock values. A difference of zero counts as 1 us (ns-3 since 3.37).
    Milliseconds,
    /// The timestamps in whole milliseconds, as with `Milliseconds`, but a difference of zero gives
    /// no sample (ns-3 3.27 and 3.28).
    PositiveMilliseconds,
}

/// The RTT that the congestion control receives in `pkts_acked`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CcRtt {
    /// The sample of the newest segment that the ACK acknowledges.
    #[default]
    Sample,
    /// The smoothed RTT (ns-3).
    Srtt,
}
