//! The structs that a C program (the host) passes to the functions of `bbrlab-ffi` to drive our
//! algorithms.

use std::ffi::c_char;

use crate::Param;
use crate::layout::c_struct;

c_struct!(Setup = "bbrlab_setup", "A new connection" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    mss: u32, "uint32_t mss", "bytes; payload of a full segment";
    seed: u64, "uint64_t seed", "The source of all random numbers of this connection";
    max_pacing_rate: u64, "uint64_t max_pacing_rate", "bytes per second; 0 for no bound";
    params: *const Param, "const bbrlab_param *params", "The algorithm's parameters that are not at their defaults. All elements must have the same value in their own field `size`";
    params_count: u32, "uint32_t params_count", "How many";
    initial_cwnd: u32, "uint32_t initial_cwnd", "packets; Linux: 10";
    cwnd_clamp: u32, "uint32_t cwnd_clamp", "packets; upper bound of cwnd, 0 for none";
    hz: u32, "uint32_t hz", "jiffies per second; 0 means 1000";
    ecn_flags: u32, "uint32_t ecn_flags", "BBRLAB_ECN_* bits: BBRLAB_ECN_OK if ECN was negotiated";
    isn: u32, "uint32_t isn", "First sequence number of the data";
});

c_struct!(Socket = "bbrlab_socket", "The connection at the time of a call" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    inflight: u32, "uint32_t inflight", "packets; in flight: packets_out without packets that are SACKed or marked lost, plus retransmissions in flight. Linux: tcp_packets_in_flight";
    now_ns: u64, "uint64_t now_ns", "nanoseconds; the calling program's clock, which may begin with 0 and never goes back";
    departure_ns: u64, "uint64_t departure_ns", "nanoseconds; earliest departure of the next packet, by pacing; 0 for now";
    packets_out: u32, "uint32_t packets_out", "packets; sent and not acknowledged cumulatively";
    snd_una: u32, "uint32_t snd_una", "sequence number; first unacknowledged byte";
    snd_nxt: u32, "uint32_t snd_nxt", "sequence number; next byte to send";
    srtt_us: u32, "uint32_t srtt_us", "microseconds times 8; smoothed RTT, 0 for none";
    min_rtt_us: u32, "uint32_t min_rtt_us", "microseconds; minimum RTT of the last 5 minutes, 0 for none";
    rcv_nxt: u32, "uint32_t rcv_nxt", "sequence number; next byte expected from the peer, 0 if unknown";
});

c_struct!(Packet = "bbrlab_packet", "A packet that is sent" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    segments: u32, "uint32_t segments", "Segments in the packet; 1 without TSO";
    seq: u32, "uint32_t seq", "Sequence number of the packet's first byte";
    end_seq: u32, "uint32_t end_seq", "Sequence number one past the packet's last byte";
    flags: u32, "uint32_t flags", "BBRLAB_PACKET_* bits";
    reserved: u32, "uint32_t reserved", "0";
});

c_struct!(Note = "bbrlab_note", "A note that the calling program keeps with a packet, and returns when the packet is acknowledged or lost. Only the library reads the content of a note; the program may copy and move a note" {
    bytes: [u64; 8], "uint64_t bytes[8]", "64 bytes";
});

c_struct!(Ack = "bbrlab_ack", "An ACK that arrives" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    flags: u32, "uint32_t flags", "BBRLAB_ACK_* bits; BBRLAB_ACK_ECE if the ACK echoes a CE mark";
    rtt_us: i64, "int64_t rtt_us", "microseconds; the RTT that the ACK measures, -1 for none";
    ack_seq: u32, "uint32_t ack_seq", "The acknowledgement number";
    prior_in_flight: u32, "uint32_t prior_in_flight", "packets; in flight before the ACK";
    pkts_acked: u32, "uint32_t pkts_acked", "packets; acknowledged cumulatively by the ACK, also those that were SACKed before";
    ce_count: u32, "uint32_t ce_count", "packets; acknowledged by the ACK and delivered with a CE mark";
    is_delayed: u32, "uint32_t is_delayed", "1 if the receiver may have delayed the ACK, else 0";
    reserved: u32, "uint32_t reserved", "0";
});

c_struct!(Answer = "bbrlab_answer", "The values that the calling program must use until its next call" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    cwnd: u32, "uint32_t cwnd", "packets";
    ssthresh: u32, "uint32_t ssthresh", "packets; 2147483647 at first";
    quantum: u32, "uint32_t quantum", "packets; the largest burst";
    pacing_rate: u64, "uint64_t pacing_rate", "bytes of payload per second; UINT64_MAX if the algorithm sets none";
    is_paced: u32, "uint32_t is_paced", "1 if packets must be paced, else 0";
    has_cong_control: u32, "uint32_t has_cong_control", "1 if the algorithm sets cwnd also in recovery; 0 if the calling program must reduce cwnd in recovery (PRR)";
    state: [c_char; 24], "char state[24]", "Name of the algorithm's state, empty if it has none";
});

c_struct!(Parameter = "bbrlab_parameter", "A parameter that an algorithm has" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    kind: u32, "uint32_t kind", "BBRLAB_PARAM_*";
    name: [c_char; 40], "char name[40]", "Its name";
    default_value: [c_char; 40], "char default_value[40]", "Its default, as text";
    summary: [c_char; 256], "char summary[256]", "The parameter's meaning, with its unit; cut at 255 bytes";
});
