//! The differences between the sockets of ns-3 and Linux in buffers, windows, headers, handshake
//! and RTT samples. Each difference is one field of [`SocketSwitches`].
//!
//! Each field's default is Linux's behaviour. All combinations of the fields' values are valid.

crate::settings! {
    /// Switches (keys that each change one mechanism) for a socket's buffers, its headers and its
    /// RTT samples.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SocketSwitches {
        pub sockbuf: Sockbuf = Sockbuf::Memory, "sockbuf", "0.1.0",
            "what `sndbuf` and `rcvbuf` count. `\"memory\"`: bytes of memory; a buffer has twice the given size, and \
             the receiver's window begins small and grows. `\"payload\"`: bytes of payload; a send buffer holds \
             unacknowledged and unsent bytes. From the start, the receiver's window is the whole receive buffer; with \
             `auto`, the maximum of `tcp_rmem`, 64 MiB by default";
        /// Linux delays short segments, except with `TCP_NODELAY`.
        pub nagle: bool = true, "nagle", "0.1.0",
            "Nagle's algorithm may hold a short segment back";
        /// DSACK blocks, RFC 2883.
        pub dsack: bool = true, "dsack", "0.1.0",
            "the receiver reports duplicates";
        /// RFC 7323. `None`: true with Linux's handshake, false with ns-3's: see
        /// [`Self::has_paws`].
        pub paws: Option<bool> = None, "paws", "0.1.0",
            "both ends ignore segments whose timestamp is more than 1 ms older than the newest (PAWS)",
            without: "`true`; `false` with `handshake = \"ns3\"`";
        pub tcp_options: TcpOptions = TcpOptions::Aligned, "tcp_options", "0.1.0",
            "padding of TCP options. `\"aligned\"`: each option is padded, and a SYN has an MSS option. A SYN's \
             options take 20 bytes, and n SACK blocks add 4 + 8 n bytes. `\"packed\"`: only the sum is padded, and \
             there is no MSS option. A SYN's options take 16 bytes, and n SACK blocks add 8 n bytes";
        /// The timeouts of SYN and SYN-ACK.
        pub handshake: Handshake = Handshake::Linux, "handshake";
        pub rtt_clock: RttClock = RttClock::Exact, "rtt_clock", "0.1.0",
            "source of RTT samples. `\"exact\"`: the transmission times that the sender records. `\"1ms\"` and \
             `\"1ms-positive\"`: a sample is the time of an ACK of new data minus the timestamp that the ACK echoes, \
             in whole milliseconds. If the sample is 0, `\"1ms\"` takes 1 us, and `\"1ms-positive\"` (ns-3 up to 3.28) \
             takes no sample";
        pub rtt_retrans: bool = true, "rtt_retrans", "0.1.0",
            "whether an ACK gives an RTT sample, computed from its timestamp, even if the first segment that it \
             acknowledges was retransmitted";
        /// The RTT that the congestion control receives in `pkts_acked`.
        pub cc_rtt: CcRtt = CcRtt::Sample, "cc_rtt", "0.1.0",
            "the RTT that algorithms without a rate model, such as Vegas and CUBIC, use: each sample, or the smoothed RTT";
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
    /// Bytes of payload, as in ns-3. In a send buffer, all bytes that are not acknowledged count,
    /// sent or unsent; in a receive buffer, the unread bytes count. From the start, the receiver
    /// advertises the free part of its buffer; out-of-order data does not reduce the free part.
    Payload,
}

crate::choices!(Sockbuf: Memory = "memory", Payload = "payload");

/// The layout of options in the TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TcpOptions {
    /// As in Linux, each option is padded to a multiple of four bytes, and a SYN announces the MSS.
    /// A SYN has 20 bytes of options. Packets without SYN have 12 bytes of timestamps, and 4 + 8 n
    /// bytes for n SACK blocks.
    #[default]
    Aligned,
    /// As in ns-3, options follow each other without padding, and only their total length is
    /// padded. A SYN has 16 bytes of options. n SACK blocks add 8 n bytes to a header with
    /// timestamps: the two bytes before the blocks take the place of the padding after the
    /// timestamps.
    Packed,
}

crate::choices!(TcpOptions: Aligned = "aligned", Packed = "packed");

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

crate::choices!(Handshake: Linux = "linux", Ns3 = "ns3");

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

crate::choices!(RttClock: Exact = "exact", Milliseconds = "1ms", PositiveMilliseconds = "1ms-positive");

/// The RTT that the congestion control receives in `pkts_acked`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CcRtt {
    /// The sample of the newest segment that the ACK acknowledges.
    #[default]
    Sample,
    /// The smoothed RTT (ns-3).
    Srtt,
}

crate::choices!(CcRtt: Sample = "sample", Srtt = "srtt");
