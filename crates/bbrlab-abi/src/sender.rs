//! The structs with which a C program drives a complete TCP sender of bbrlab: segments, actions and
//! the sender's status.

use std::ffi::c_char;

use crate::Param;
use crate::layout::c_struct;

/// Properties of a new sender: bits of the field `flags` of `bbrlab_sender_setup`.
pub mod sender_flags {
    /// Segments carry timestamps.
    pub const TIMESTAMPS: u32 = 1;
    /// The peer sends SACK blocks.
    pub const SACK: u32 = 2;
    /// The sender asks for ECN.
    pub const ECN: u32 = 4;
    /// Nagle's algorithm is off. Linux: `TCP_NODELAY`.
    pub const NODELAY: u32 = 8;
    /// All of these bits.
    pub const ALL: u32 = TIMESTAMPS | SACK | ECN | NODELAY;
}

/// Kinds of actions that the C program carries out after an event.
pub mod actions {
    /// No action is left to do.
    pub const NONE: u32 = 0;
    /// Send `segment` now.
    pub const TRANSMIT: u32 = 1;
    /// Call `bbrlab_sender_timer` with `timer` at `at_ns`. This deadline replaces the previous
    /// deadline of this timer.
    pub const ARM: u32 = 2;
    /// Forget the deadline of `timer`.
    pub const DISARM: u32 = 3;
}

/// The number of timers of a sender. The timers are numbered from 0.
pub const SENDER_TIMERS: u32 = 5;

c_struct!(SenderSetup = "bbrlab_sender_setup", "A new sender" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    mss: u32, "uint32_t mss", "bytes; payload of a full segment";
    seed: u64, "uint64_t seed", "The source of all random numbers of this sender";
    max_pacing_rate: u64, "uint64_t max_pacing_rate", "bytes per second; 0 for no bound";
    params: *const Param, "const bbrlab_param *params", "The algorithm's parameters that are not at their defaults. All elements must have the same value in their own field `size`";
    params_count: u32, "uint32_t params_count", "How many";
    initial_cwnd: u32, "uint32_t initial_cwnd", "packets; Linux: 10";
    hz: u32, "uint32_t hz", "jiffies per second, a divisor of 1000; 0 means 1000";
    isn: u32, "uint32_t isn", "Sequence number of the SYN";
    sndbuf: u32, "uint32_t sndbuf", "bytes; SO_SNDBUF, 0 for a buffer that grows up to 64 MiB";
    flags: u32, "uint32_t flags", "BBRLAB_SENDER_* bits";
});

c_struct!(Segment = "bbrlab_segment", "A TCP segment without its payload" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    seq: u32, "uint32_t seq", "Sequence number of the first byte, or of the SYN or FIN";
    len: u32, "uint32_t len", "bytes; payload";
    ack: u32, "uint32_t ack", "Sequence number of the next byte expected; valid with the flag ACK";
    wnd: u32, "uint32_t wnd", "bytes; the window, after scaling";
    tsval: u32, "uint32_t tsval", "milliseconds; timestamp";
    tsecr: u32, "uint32_t tsecr", "milliseconds; echoed timestamp";
    has_ts: u32, "uint32_t has_ts", "1 if the segment has a timestamp option, else 0";
    flags: u32, "uint32_t flags", "The flags of the TCP header: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, ECE 64, CWR 128";
    ecn: u32, "uint32_t ecn", "The ECN field of the IP header, 0 to 3";
    sack_count: u32, "uint32_t sack_count", "Number of SACK blocks, at most 4";
    retransmission: u32, "uint32_t retransmission", "How many times the bytes were sent before; only in segments that the sender sends";
    sack: [[u32; 2]; 4], "uint32_t sack[4][2]", "Each block's first byte, and one past its last byte";
});

c_struct!(Action = "bbrlab_action", "An action that the calling program must carry out" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    kind: u32, "uint32_t kind", "BBRLAB_ACTION_*";
    timer: u32, "uint32_t timer", "Number of the timer, from 0 to 4; only for ARM and DISARM";
    reserved: u32, "uint32_t reserved", "0";
    at_ns: u64, "uint64_t at_ns", "nanoseconds; the deadline of ARM on the calling program's clock";
    segment: Segment, "bbrlab_segment segment", "The segment of TRANSMIT";
});

c_struct!(SenderStatus = "bbrlab_status", "The state of a sender" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    cwnd: u32, "uint32_t cwnd", "packets";
    ssthresh: u32, "uint32_t ssthresh", "packets; 2147483647 at first";
    in_flight: u32, "uint32_t in_flight", "packets; Linux: tcp_packets_in_flight";
    pacing_rate: u64, "uint64_t pacing_rate", "bytes of payload per second; UINT64_MAX if the algorithm sets none";
    acked_bytes: u64, "uint64_t acked_bytes", "bytes that were acknowledged cumulatively; a FIN counts as one byte, the SYN does not";
    sent: u64, "uint64_t sent", "packets; data packets sent, retransmissions included";
    retransmitted: u64, "uint64_t retransmitted", "packets; retransmissions of data";
    bw: u64, "uint64_t bw", "bytes of payload per second; the algorithm's estimate of the bandwidth, 0 for none";
    min_rtt_us: u32, "uint32_t min_rtt_us", "microseconds; the algorithm's minimum RTT, 0 for none";
    srtt_us: u32, "uint32_t srtt_us", "microseconds times 8; smoothed RTT, 0 for none";
    snd_una: u32, "uint32_t snd_una", "sequence number; first unacknowledged byte";
    snd_nxt: u32, "uint32_t snd_nxt", "sequence number; next byte to send";
    ca_state: u32, "uint32_t ca_state", "BBRLAB_CA_*";
    delivered: u32, "uint32_t delivered", "packets; delivered so far, the SYN included";
    lost: u32, "uint32_t lost", "packets; data packets that were marked lost so far";
    rto_count: u32, "uint32_t rto_count", "Retransmission timeouts";
    tlp_count: u32, "uint32_t tlp_count", "Tail loss probes";
    undo_count: u32, "uint32_t undo_count", "Reductions of cwnd that were undone";
    is_established: u32, "uint32_t is_established", "1 if the handshake is complete, else 0";
    is_all_acked: u32, "uint32_t is_all_acked", "1 if all written data and, after bbrlab_sender_close, the FIN are acknowledged, else 0";
    state: [c_char; 24], "char state[24]", "Name of the algorithm's state, empty if it has none";
});
