/* bbrlab.h: congestion controls across the border between C and bbrlab.
 *
 * This header has three uses, which share its structs:
 * - a C or C++ program drives bbrlab's algorithms: functions bbrlab_cc_*, library bbrlab_ffi;
 * - a C or C++ program drives a whole sender: functions bbrlab_sender_*, same library;
 * - a shared object with a control of your own runs in bbrlab: struct bbrlab_plugin, and the
 *   function bbrlab_plugin_entry, which the shared object exports.
 *
 * Generated from the tables of bbrlab by `cargo xtask bless`: do not edit. Every struct begins with
 * its size in bytes. Later versions append fields, so code must not read a field beyond this
 * size. All values are integers.
 */
#ifndef BBRLAB_H
#define BBRLAB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BBRLAB_ABI_VERSION 1u

/* States of loss recovery, as in Linux. */
#define BBRLAB_CA_OPEN 0
#define BBRLAB_CA_DISORDER 1
#define BBRLAB_CA_CWR 2
#define BBRLAB_CA_RECOVERY 3
#define BBRLAB_CA_LOSS 4

/* Events of `cwnd_event`. */
#define BBRLAB_CWND_TX_START 0
#define BBRLAB_CWND_RESTART 1
#define BBRLAB_CWND_COMPLETE_CWR 2
#define BBRLAB_CWND_LOSS 3
#define BBRLAB_CWND_ECN_NO_CE 4
#define BBRLAB_CWND_ECN_IS_CE 5
#define BBRLAB_CWND_TLP_RECOVERY 6

/* States of `pacing_status`. */
#define BBRLAB_PACING_NONE 0
#define BBRLAB_PACING_NEEDED 1
#define BBRLAB_PACING_FQ 2

/* Bits of the flags of `in_ack_event`. */
#define BBRLAB_ACK_SLOWPATH 1
#define BBRLAB_ACK_WIN_UPDATE 2
#define BBRLAB_ACK_ECE 4

/* Bits of `ecn_flags`. */
#define BBRLAB_ECN_OK 1
#define BBRLAB_ECN_QUEUE_CWR 2
#define BBRLAB_ECN_DEMAND_CWR 4
#define BBRLAB_ECN_SEEN 8
#define BBRLAB_ECN_LOW 16
#define BBRLAB_ECN_ECT_PERMANENT 32

/* Kinds of parameters. */
#define BBRLAB_PARAM_INTEGER 0
#define BBRLAB_PARAM_RATIO 1
#define BBRLAB_PARAM_SWITCH 2
#define BBRLAB_PARAM_TEXT 3

/* Bits of the flags of a plugin. */
#define BBRLAB_PLUGIN_NEEDS_ECN 1
#define BBRLAB_PLUGIN_NOTES_IN_FLIGHT 2
#define BBRLAB_PLUGIN_ANSWERS_SHARE_OF_MARKS 4

/* Bits of the flags of a packet. */
#define BBRLAB_PACKET_RETRANSMISSION 1

/* Events of `bbrlab_cc_event`, some with a value. */
#define BBRLAB_EVENT_DISORDER_ENTERED 0
#define BBRLAB_EVENT_CWR_ENTERED 1
#define BBRLAB_EVENT_RECOVERY_ENTERED 2
#define BBRLAB_EVENT_TIMEOUT 3
#define BBRLAB_EVENT_LEFT 4
#define BBRLAB_EVENT_SPURIOUS 5
#define BBRLAB_EVENT_IDLE_RESTART 6
#define BBRLAB_EVENT_APP_LIMITED 7
#define BBRLAB_EVENT_WINDOW_USED 8
#define BBRLAB_EVENT_MSS 9
#define BBRLAB_EVENT_HOLD 10

/* Results of functions. */
#define BBRLAB_OK 0
#define BBRLAB_ERROR_ARGUMENT (-1)
#define BBRLAB_ERROR_ORDER (-2)
#define BBRLAB_ERROR_PANIC (-3)

/* Bits of the flags of a sender. */
#define BBRLAB_SENDER_TIMESTAMPS 1
#define BBRLAB_SENDER_SACK 2
#define BBRLAB_SENDER_ECN 4
#define BBRLAB_SENDER_NODELAY 8

/* The number of timers of a sender; the timers are numbered from 0. */
#define BBRLAB_TIMERS_COUNT 5

/* Kinds of actions: no action is left, send a segment, set a deadline, forget a deadline. */
#define BBRLAB_ACTION_NONE 0
#define BBRLAB_ACTION_TRANSMIT 1
#define BBRLAB_ACTION_ARM 2
#define BBRLAB_ACTION_DISARM 3

typedef struct bbrlab_control bbrlab_control;
typedef struct bbrlab_conn bbrlab_conn;
typedef struct bbrlab_rate_sample bbrlab_rate_sample;
typedef struct bbrlab_ack_sample bbrlab_ack_sample;
typedef struct bbrlab_lost_skb bbrlab_lost_skb;
typedef struct bbrlab_param bbrlab_param;
typedef struct bbrlab_host bbrlab_host;
typedef struct bbrlab_info bbrlab_info;
typedef struct bbrlab_plugin bbrlab_plugin;
typedef struct bbrlab_setup bbrlab_setup;
typedef struct bbrlab_socket bbrlab_socket;
typedef struct bbrlab_packet bbrlab_packet;
typedef struct bbrlab_note bbrlab_note;
typedef struct bbrlab_ack bbrlab_ack;
typedef struct bbrlab_answer bbrlab_answer;
typedef struct bbrlab_parameter bbrlab_parameter;
typedef struct bbrlab_sender_setup bbrlab_sender_setup;
typedef struct bbrlab_segment bbrlab_segment;
typedef struct bbrlab_action bbrlab_action;
typedef struct bbrlab_status bbrlab_status;
typedef struct bbrlab_cc bbrlab_cc;
typedef struct bbrlab_sender bbrlab_sender;

/* The fields of the connection that a congestion control may write. */
struct bbrlab_control {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* packets; Congestion window. */
    uint32_t cwnd;
    /* packets; Linear increase counter. */
    uint32_t cwnd_cnt;
    /* packets; Upper bound of cwnd, which a control is expected to respect. */
    uint32_t cwnd_clamp;
    /* packets; Slow start threshold; 2147483647 at first. */
    uint32_t ssthresh;
    /* bytes per second; Rate at which payload is sent; 18446744073709551615 means unset. The
     * sender sets it for window-based controls. */
    uint64_t pacing_rate;
    /* state; The pacer: 0 none, 1 TCP's timer, 2 the `fq` discipline. A control that needs pacing
     * sets this field to 1 if it is 0, usually in `init`; pacing needs no other change. */
    uint8_t pacing_status;
    /* packets; The `delivered` count at which the application-limited bubble ends; 0 for none. */
    uint32_t app_limited;
    /* bits; 1 ECN negotiated, 2 send CWR, 4 echo ECE, 8 ECT seen. In the kernel tree of BBRv2: 16
     * ECT on every packet. In the kernel tree of BBRv3: 16 low-latency ECN, 32 ECT on every
     * packet. */
    uint8_t ecn_flags;
    /* bits; The receiver's pending ACK: 2 delayed-ACK timer armed, 16 ACK now. */
    uint8_t ack_pending;
};

/* A view of the sender. A congestion control may change only the fields of `ctl`. */
struct bbrlab_conn {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* nanoseconds; TCP clock. In a simulation it starts at 32.768 s. */
    uint64_t clock_ns;
    /* nanoseconds; Earliest departure time of the next packet. */
    uint64_t wstamp_ns;
    /* jiffies; The kernel's tick counter, 32 bits; `hz` ticks are a second. */
    uint32_t jiffies;
    /* sequence number; Next byte to send. */
    uint32_t snd_nxt;
    /* packets; The most packets outstanding in the last window. */
    uint32_t max_packets_out;
    /* state; State of loss recovery. */
    uint8_t ca_state;
    /* flag; Whether the sender was recently limited by cwnd. */
    uint8_t is_cwnd_limited;
    /* flag; Whether the packet that a tail-loss probe retransmitted was sent application-limited.
     * In Linux, only the kernel tree of BBRv3 has this field. */
    uint8_t tlp_orig_app_limited;
    /* sequence number; First unacknowledged byte. */
    uint32_t snd_una;
    /* packets; Packets in flight. */
    uint32_t inflight;
    /* bytes; Payload of a full segment. */
    uint32_t mss;
    /* microseconds times 8; Smoothed RTT; 0 for none. */
    uint32_t srtt_us;
    /* packets; Packets delivered so far; wraps. */
    uint32_t delivered;
    /* packets; Packets delivered with a CE mark; wraps. */
    uint32_t delivered_ce;
    /* packets; Packets marked lost so far; wraps. */
    uint32_t lost;
    /* jiffies; When data was last sent. */
    uint32_t lsndtime;
    /* microseconds; Time of the latest delivery. */
    uint64_t delivered_mstamp;
    /* microseconds; Windowed minimum RTT of the stack; 4294967295 for none. */
    uint32_t min_rtt_us;
    /* packets; cwnd before the last reduction. */
    uint32_t prior_cwnd;
    /* sequence number; Next byte expected from the peer. */
    uint32_t rcv_nxt;
    /* jiffies per second; The kernel's tick rate, a constant of its build. */
    uint32_t hz;
    /* bits; A burst has the bytes that the pacing rate sends in a second, shifted right by this
     * number; 10 by default. */
    uint32_t pacing_shift;
    /* bytes; Upper bound of a burst. */
    uint32_t gso_max_size;
    /* bytes per second; Upper bound of the pacing rate. */
    uint64_t max_pacing_rate;
};

/* A delivery-rate sample. Linux: `struct rate_sample`. */
struct bbrlab_rate_sample {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* packets; Packets delivered in the sample's interval; -1 for an invalid sample. */
    int32_t delivered;
    /* packets; Packets with a CE mark among those in `delivered`. */
    int32_t delivered_ce;
    /* microseconds; Length of the sample's interval; -1 for an invalid sample. */
    int64_t interval_us;
    /* microseconds; RTT of this ACK; -1 for none. */
    int64_t rtt_us;
    /* packets; Packets newly marked lost by this ACK. */
    int32_t losses;
    /* packets; Packets lost in the sample's interval, for a control with the switch
     * `notes_in_flight`. In Linux, only the kernel trees of BBRv2 and BBRv3 have this field. */
    int32_t lost;
    /* packets; Packets newly acknowledged or SACKed by this ACK. */
    uint32_t acked_sacked;
    /* packets; Packets in flight before this ACK. */
    uint32_t prior_in_flight;
    /* packets; The connection's `delivered` when the sampled packet was sent. */
    uint32_t prior_delivered;
    /* packets; Packets in flight just after the sampled packet was sent, for a control with the
     * switch `notes_in_flight`. In Linux, only the kernel trees of BBRv2 and BBRv3 have this
     * field. */
    uint32_t tx_in_flight;
    /* flag; Whether the sampled packet was sent application-limited. */
    uint8_t is_app_limited;
    /* flag; Whether the ACK may have been delayed. */
    uint8_t is_ack_delayed;
    /* flag; Whether the ACK carried ECE. In Linux, only the kernel trees of BBRv2 and BBRv3 have
     * this field. */
    uint8_t is_ece;
    /* flag; Whether the ACK matches a tail-loss probe's retransmission. In Linux, only the kernel
     * tree of BBRv3 has this field. */
    uint8_t is_tlp_ack;
};

/* The packets that an ACK acknowledged. Linux: `struct ack_sample`. */
struct bbrlab_ack_sample {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* packets; Packets that this ACK acknowledged. */
    uint32_t pkts_acked;
    /* microseconds; RTT of this ACK; -1 for none. */
    int32_t rtt_us;
    /* bytes; Bytes in flight when the newest acknowledged packet was sent. */
    uint32_t in_flight;
};

/* A packet that was marked lost, with values recorded when it was sent. Linux: `struct
 * tcp_skb_cb`. */
struct bbrlab_lost_skb {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* sequence number; First byte of the packet. */
    uint32_t seq;
    /* sequence number; The number after the packet's last byte. */
    uint32_t end_seq;
    /* packets; Segments in the packet. */
    uint32_t pcount;
    /* packets; Packets in flight just after the packet was sent, itself included. */
    uint32_t in_flight;
    /* packets; The connection's `lost` when the packet was sent. */
    uint32_t lost;
    /* flag; Whether the packet was sent application-limited. */
    uint8_t is_app_limited;
    /* microseconds; The connection's `delivered_mstamp` when the packet was sent; 0 if the
     * receiver SACKed the packet, then discarded it, and the packet was marked lost after that. */
    uint64_t delivered_mstamp;
};

/* A parameter of a control, as `cc_params` sets it. */
struct bbrlab_param {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* BBRLAB_PARAM_*. */
    uint32_t kind;
    /* Its name. */
    const char *name;
    /* The value as a number: a ratio in millionths, a text as 0. */
    int64_t value;
    /* The value as text, for every kind. */
    const char *text;
};

/* The part of the simulator that a control can use during a call. */
struct bbrlab_host {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* Number of the connection's flow. */
    uint32_t flow;
    /* The simulator's own. */
    void *data;
    /* Returns a random integer below `bound`, drawn with the run's seed. Only init, cwnd_event,
     * set_state, skb_marked_lost and cong_control can draw: if any other function calls draw, draw
     * returns 0. */
    uint32_t (*draw)(bbrlab_host *host, uint32_t bound);
    /* Ends the run with this text; the call must then return. */
    void (*fail)(bbrlab_host *host, const char *text);
};

/* Values for time series; a value of UINT64_MAX is unknown. */
struct bbrlab_info {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* Not used. */
    uint32_t reserved;
    /* bytes per second; bandwidth estimate. */
    uint64_t bw;
    /* microseconds; the control's own minimum RTT. */
    uint64_t min_rtt_us;
    /* packets; long-term bound on inflight. */
    uint64_t inflight_hi;
    /* packets; short-term bound on inflight. */
    uint64_t inflight_lo;
    /* bytes per second; long-term bound on the bandwidth. */
    uint64_t bw_hi;
    /* bytes per second; short-term bound on the bandwidth. */
    uint64_t bw_lo;
};

/* A congestion control in a shared object. A null function behaves like a null callback of Linux;
 * where Linux requires a callback, a null function behaves like Reno's. Functions return 0, or
 * another number to end the run. */
struct bbrlab_plugin {
    /* sizeof(bbrlab_plugin). */
    uint32_t size;
    /* BBRLAB_ABI_VERSION. */
    uint32_t abi_version;
    /* The NAME in cc = "plugin:NAME": up to 32 letters, digits, `-` and `_`. */
    const char *name;
    /* BBRLAB_PLUGIN_* bits. */
    uint32_t flags;
    /* 0. */
    uint32_t reserved;
    /* Returns the state of a new connection; null is a failure. If this function is null, the
     * state is a null pointer. */
    void *(*create)(const bbrlab_param *params, uint32_t count, bbrlab_host *host);
    /* Frees the state of a connection. */
    void (*destroy)(void *cc);
    /* The connection is established. */
    int32_t (*init)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, bbrlab_host *host);
    /* An event other than an ACK: BBRLAB_CWND_*. */
    int32_t (*cwnd_event)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, uint32_t event,
        bbrlab_host *host);
    /* The loss-recovery state becomes `state`: BBRLAB_CA_*. */
    int32_t (*set_state)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, uint32_t state,
        bbrlab_host *host);
    /* A packet was marked lost. */
    int32_t (*skb_marked_lost)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, const
        bbrlab_lost_skb *skb, bbrlab_host *host);
    /* packets; the slow start threshold for a new loss episode. */
    int32_t (*ssthresh)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, uint32_t
        *ssthresh, bbrlab_host *host);
    /* packets; the cwnd to restore after a spurious loss episode. */
    int32_t (*undo_cwnd)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, uint32_t
        *cwnd, bbrlab_host *host);
    /* An ACK; replaces `cong_avoid` and PRR. */
    int32_t (*cong_control)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, const
        bbrlab_rate_sample *rs, bbrlab_host *host);
    /* An ACK that may raise cwnd arrived. All data up to `ack` is acknowledged cumulatively, and
     * `acked` is the number of packets newly acknowledged, cumulatively or by SACK. */
    int32_t (*cong_avoid)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, uint32_t ack,
        uint32_t acked, bbrlab_host *host);
    /* Packets have left the network. `*ssthresh` holds the threshold and may be changed. */
    int32_t (*pkts_acked)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, const
        bbrlab_ack_sample *sample, uint32_t *ssthresh, bbrlab_host *host);
    /* An ACK arrives: BBRLAB_ACK_* bits. */
    int32_t (*in_ack_event)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, uint32_t flags,
        bbrlab_host *host);
    /* segments; the size of the next burst. */
    int32_t (*tso_segs)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, uint32_t
        mss_now, uint32_t *segs, bbrlab_host *host);
    /* segments; the smallest burst. */
    int32_t (*min_tso_segs)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, uint32_t
        *segs, bbrlab_host *host);
    /* The send buffer as a multiple of cwnd. */
    int32_t (*sndbuf_expand)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, uint32_t
        *factor, bbrlab_host *host);
    /* Values for time series. */
    int32_t (*info)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, bbrlab_info
        *info, bbrlab_host *host);
};

/* A new connection. */
struct bbrlab_setup {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* bytes; payload of a full segment. */
    uint32_t mss;
    /* The source of all random numbers of this connection. */
    uint64_t seed;
    /* bytes per second; 0 for no bound. */
    uint64_t max_pacing_rate;
    /* The algorithm's parameters that are not at their defaults. All elements must have the same
     * value in their own field `size`. */
    const bbrlab_param *params;
    /* How many. */
    uint32_t params_count;
    /* packets; Linux: 10. */
    uint32_t initial_cwnd;
    /* packets; upper bound of cwnd, 0 for none. */
    uint32_t cwnd_clamp;
    /* jiffies per second; 0 means 1000. */
    uint32_t hz;
    /* BBRLAB_ECN_* bits: BBRLAB_ECN_OK if ECN was negotiated. */
    uint32_t ecn_flags;
    /* First sequence number of the data. */
    uint32_t isn;
};

/* The connection at the time of a call. */
struct bbrlab_socket {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* packets; in flight: packets_out without packets that are SACKed or marked lost, plus
     * retransmissions in flight. Linux: tcp_packets_in_flight. */
    uint32_t inflight;
    /* nanoseconds; the calling program's clock, which may begin with 0 and never goes back. */
    uint64_t now_ns;
    /* nanoseconds; earliest departure of the next packet, by pacing; 0 for now. */
    uint64_t departure_ns;
    /* packets; sent and not acknowledged cumulatively. */
    uint32_t packets_out;
    /* sequence number; first unacknowledged byte. */
    uint32_t snd_una;
    /* sequence number; next byte to send. */
    uint32_t snd_nxt;
    /* microseconds times 8; smoothed RTT, 0 for none. */
    uint32_t srtt_us;
    /* microseconds; minimum RTT of the last 5 minutes, 0 for none. */
    uint32_t min_rtt_us;
    /* sequence number; next byte expected from the peer, 0 if unknown. */
    uint32_t rcv_nxt;
};

/* A packet that is sent. */
struct bbrlab_packet {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* Segments in the packet; 1 without TSO. */
    uint32_t segments;
    /* Sequence number of the packet's first byte. */
    uint32_t seq;
    /* Sequence number one past the packet's last byte. */
    uint32_t end_seq;
    /* BBRLAB_PACKET_* bits. */
    uint32_t flags;
    /* 0. */
    uint32_t reserved;
};

/* A note that the calling program keeps with a packet, and returns when the packet is acknowledged
 * or lost. Only the library reads the content of a note; the program may copy and move a note. */
struct bbrlab_note {
    /* 64 bytes. */
    uint64_t bytes[8];
};

/* An ACK that arrives. */
struct bbrlab_ack {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* BBRLAB_ACK_* bits; BBRLAB_ACK_ECE if the ACK echoes a CE mark. */
    uint32_t flags;
    /* microseconds; the RTT that the ACK measures, -1 for none. */
    int64_t rtt_us;
    /* The acknowledgement number. */
    uint32_t ack_seq;
    /* packets; in flight before the ACK. */
    uint32_t prior_in_flight;
    /* packets; acknowledged cumulatively by the ACK, also those that were SACKed before. */
    uint32_t pkts_acked;
    /* packets; acknowledged by the ACK and delivered with a CE mark. */
    uint32_t ce_count;
    /* 1 if the receiver may have delayed the ACK, else 0. */
    uint32_t is_delayed;
    /* 0. */
    uint32_t reserved;
};

/* The values that the calling program must use until its next call. */
struct bbrlab_answer {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* packets. */
    uint32_t cwnd;
    /* packets; 2147483647 at first. */
    uint32_t ssthresh;
    /* packets; the largest burst. */
    uint32_t quantum;
    /* bytes of payload per second; UINT64_MAX if the algorithm sets none. */
    uint64_t pacing_rate;
    /* 1 if packets must be paced, else 0. */
    uint32_t is_paced;
    /* 1 if the algorithm sets cwnd also in recovery; 0 if the calling program must reduce cwnd in
     * recovery (PRR). */
    uint32_t has_cong_control;
    /* Name of the algorithm's state, empty if it has none. */
    char state[24];
};

/* A parameter that an algorithm has. */
struct bbrlab_parameter {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* BBRLAB_PARAM_*. */
    uint32_t kind;
    /* Its name. */
    char name[40];
    /* Its default, as text. */
    char default_value[40];
    /* The parameter's meaning, with its unit; cut at 255 bytes. */
    char summary[256];
};

/* A new sender. */
struct bbrlab_sender_setup {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* bytes; payload of a full segment. */
    uint32_t mss;
    /* The source of all random numbers of this sender. */
    uint64_t seed;
    /* bytes per second; 0 for no bound. */
    uint64_t max_pacing_rate;
    /* The algorithm's parameters that are not at their defaults. All elements must have the same
     * value in their own field `size`. */
    const bbrlab_param *params;
    /* How many. */
    uint32_t params_count;
    /* packets; Linux: 10. */
    uint32_t initial_cwnd;
    /* jiffies per second, a divisor of 1000; 0 means 1000. */
    uint32_t hz;
    /* Sequence number of the SYN. */
    uint32_t isn;
    /* bytes; SO_SNDBUF, 0 for a buffer that grows up to 64 MiB. */
    uint32_t sndbuf;
    /* BBRLAB_SENDER_* bits. */
    uint32_t flags;
};

/* A TCP segment without its payload. */
struct bbrlab_segment {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* Sequence number of the first byte, or of the SYN or FIN. */
    uint32_t seq;
    /* bytes; payload. */
    uint32_t len;
    /* Sequence number of the next byte expected; valid with the flag ACK. */
    uint32_t ack;
    /* bytes; the window, after scaling. */
    uint32_t wnd;
    /* milliseconds; timestamp. */
    uint32_t tsval;
    /* milliseconds; echoed timestamp. */
    uint32_t tsecr;
    /* 1 if the segment has a timestamp option, else 0. */
    uint32_t has_ts;
    /* The flags of the TCP header: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, ECE 64, CWR 128. */
    uint32_t flags;
    /* The ECN field of the IP header, 0 to 3. */
    uint32_t ecn;
    /* Number of SACK blocks, at most 4. */
    uint32_t sack_count;
    /* How many times the bytes were sent before; only in segments that the sender sends. */
    uint32_t retransmission;
    /* Each block's first byte, and one past its last byte. */
    uint32_t sack[4][2];
};

/* An action that the calling program must carry out. */
struct bbrlab_action {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* BBRLAB_ACTION_*. */
    uint32_t kind;
    /* Number of the timer, from 0 to 4; only for ARM and DISARM. */
    uint32_t timer;
    /* 0. */
    uint32_t reserved;
    /* nanoseconds; the deadline of ARM on the calling program's clock. */
    uint64_t at_ns;
    /* The segment of TRANSMIT. */
    bbrlab_segment segment;
};

/* The state of a sender. */
struct bbrlab_status {
    /* Size of the struct in bytes. */
    uint32_t size;
    /* packets. */
    uint32_t cwnd;
    /* packets; 2147483647 at first. */
    uint32_t ssthresh;
    /* packets; Linux: tcp_packets_in_flight. */
    uint32_t in_flight;
    /* bytes of payload per second; UINT64_MAX if the algorithm sets none. */
    uint64_t pacing_rate;
    /* bytes that were acknowledged cumulatively; a FIN counts as one byte, the SYN does not. */
    uint64_t acked_bytes;
    /* packets; data packets sent, retransmissions included. */
    uint64_t sent;
    /* packets; retransmissions of data. */
    uint64_t retransmitted;
    /* bytes of payload per second; the algorithm's estimate of the bandwidth, 0 for none. */
    uint64_t bw;
    /* microseconds; the algorithm's minimum RTT, 0 for none. */
    uint32_t min_rtt_us;
    /* microseconds times 8; smoothed RTT, 0 for none. */
    uint32_t srtt_us;
    /* sequence number; first unacknowledged byte. */
    uint32_t snd_una;
    /* sequence number; next byte to send. */
    uint32_t snd_nxt;
    /* BBRLAB_CA_*. */
    uint32_t ca_state;
    /* packets; delivered so far, the SYN included. */
    uint32_t delivered;
    /* packets; data packets that were marked lost so far. */
    uint32_t lost;
    /* Retransmission timeouts. */
    uint32_t rto_count;
    /* Tail loss probes. */
    uint32_t tlp_count;
    /* Reductions of cwnd that were undone. */
    uint32_t undo_count;
    /* 1 if the handshake is complete, else 0. */
    uint32_t is_established;
    /* 1 if all written data and, after bbrlab_sender_close, the FIN are acknowledged, else 0. */
    uint32_t is_all_acked;
    /* Name of the algorithm's state, empty if it has none. */
    char state[24];
};

/* The TCP clock in microseconds. */
static inline uint64_t bbrlab_tcp_mstamp(const bbrlab_conn *conn) {
    return conn->clock_ns / 1000;
}

/* Whether cwnd is below ssthresh. */
static inline int bbrlab_in_slow_start(const bbrlab_control *ctl) {
    return ctl->cwnd < ctl->ssthresh;
}

/* Returns the struct of the control in a shared object. The shared object defines this function. */
const bbrlab_plugin *bbrlab_plugin_entry(void);

/* Returns the BBRLAB_ABI_VERSION of the library. It must equal the header's constant. */
uint32_t bbrlab_abi_version(void);

/* Returns the text of the last error in this thread, until its next call. */
const char *bbrlab_error(void);

/* Writes the name of the algorithm with this number, from 0 on, with a final zero byte. Returns
 * BBRLAB_ERROR_ARGUMENT after the last algorithm, or if `capacity` bytes are too few. */
int32_t bbrlab_algorithm(uint32_t number, char *name, uint32_t capacity);

/* Fills in the algorithm's parameter with this number, from 0 on. `parameter->size` must be set.
 * Returns BBRLAB_ERROR_ARGUMENT after the last parameter. */
int32_t bbrlab_algorithm_parameter(const char *algorithm, uint32_t number,
        bbrlab_parameter *parameter);

/* Makes the control of a connection. Every function with a `bbrlab_cc *` may be called from any
 * thread, but not from two at a time. */
int32_t bbrlab_cc_new(const char *algorithm, const bbrlab_setup *setup, bbrlab_cc **cc);

/* Frees a control; a null pointer is allowed. */
void bbrlab_cc_free(bbrlab_cc *cc);

/* The connection is established. This must be the first event of a control. */
int32_t bbrlab_cc_init(bbrlab_cc *cc, const bbrlab_socket *socket);

/* A packet is sent or retransmitted; `socket` does not include it yet. Fills in the packet's note,
 * which replaces that of an earlier transmission. */
int32_t bbrlab_cc_sent(bbrlab_cc *cc, const bbrlab_socket *socket, const bbrlab_packet *packet,
        bbrlab_note *note);

/* An ACK arrives. Then follow, in this order: bbrlab_cc_acked for each packet that it acknowledges
 * for the first time, cumulatively or by SACK; bbrlab_cc_lost and bbrlab_cc_event for its
 * consequences; bbrlab_cc_ack_end. */
int32_t bbrlab_cc_ack_begin(bbrlab_cc *cc, const bbrlab_socket *socket, const bbrlab_ack *ack);

/* The packet with this note is delivered. */
int32_t bbrlab_cc_acked(bbrlab_cc *cc, const bbrlab_note *note);

/* The packet with this note is marked lost, in an ACK or outside. */
int32_t bbrlab_cc_lost(bbrlab_cc *cc, const bbrlab_socket *socket, const bbrlab_note *note);

/* The ACK is processed; `socket` is the connection after it. `rs` is the calling program's own rate
 * sample. If `rs` is null, the library takes the sample as Linux does. */
int32_t bbrlab_cc_ack_end(bbrlab_cc *cc, const bbrlab_socket *socket,
        const bbrlab_rate_sample *rs);

/* An event other than a packet sent or an ACK: BBRLAB_EVENT_*. */
int32_t bbrlab_cc_event(bbrlab_cc *cc, const bbrlab_socket *socket, uint32_t event,
        uint32_t value);

/* Sets cwnd to a value that the calling program computed, for example by PRR; at least 1 packet. */
int32_t bbrlab_cc_set_cwnd(bbrlab_cc *cc, uint32_t cwnd);

/* Fills in the answer to the events so far. `answer->size` must be set. */
int32_t bbrlab_cc_answer(bbrlab_cc *cc, bbrlab_answer *answer);

/* Fill in the struct with the current values. Its `size` must be set. The rate sample is that of
 * the last ACK. */
int32_t bbrlab_cc_control(const bbrlab_cc *cc, bbrlab_control *control);
int32_t bbrlab_cc_conn(const bbrlab_cc *cc, bbrlab_conn *conn);
int32_t bbrlab_cc_rate_sample(const bbrlab_cc *cc, bbrlab_rate_sample *rs);

/* Calls `field` with each value of the algorithm's own state, under the kernel's names. */
int32_t bbrlab_cc_info(const bbrlab_cc *cc,
        void (*field)(void *user, const char *name, int64_t value), void *user);

/* Makes a whole sender of Linux: scoreboard, RACK-TLP, PRR, timers, pacing and a congestion control.
 * The calling program carries its segments and runs its timers. After each of the following events,
 * the program must call bbrlab_sender_action until no action is left. Times are nanoseconds of the
 * program's clock, which may begin with 0 and never goes back. */
int32_t bbrlab_sender_new(const char *algorithm, const bbrlab_sender_setup *setup,
        bbrlab_sender **sender);

/* Frees a sender; a null pointer is allowed. */
void bbrlab_sender_free(bbrlab_sender *sender);

/* Sends the SYN. This must be the first event of a sender. */
int32_t bbrlab_sender_connect(bbrlab_sender *sender, uint64_t now_ns);

/* A segment arrives from the peer: the SYN-ACK or an ACK. A FIN of the peer is not the sender's:
 * leave out its flag. */
int32_t bbrlab_sender_segment(bbrlab_sender *sender, uint64_t now_ns,
        const bbrlab_segment *segment);

/* A timer fires. */
int32_t bbrlab_sender_timer(bbrlab_sender *sender, uint64_t now_ns, uint32_t timer);

/* The application writes with one call. Data that does not fit into the send buffer waits in front
 * of it, as in an application whose call blocks. */
int32_t bbrlab_sender_write(bbrlab_sender *sender, uint64_t now_ns, uint64_t bytes);

/* The application closes: a FIN follows the data. */
int32_t bbrlab_sender_close(bbrlab_sender *sender, uint64_t now_ns);

/* The calling program received data: the next byte that it expects, and its window in bytes. */
int32_t bbrlab_sender_received(bbrlab_sender *sender, uint32_t rcv_nxt, uint32_t wnd);

/* Fills in and removes the oldest action that the calling program must still carry out; its kind is
 * BBRLAB_ACTION_NONE if no action is left. `action->size` must be set. */
int32_t bbrlab_sender_action(bbrlab_sender *sender, bbrlab_action *action);

/* Fills in the state of the sender. `status->size` must be set. */
int32_t bbrlab_sender_status(const bbrlab_sender *sender, bbrlab_status *status);

#ifdef __cplusplus
}
#endif

#endif
