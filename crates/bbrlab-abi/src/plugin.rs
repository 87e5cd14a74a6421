//! The struct with which a congestion control in a shared object exports its functions.

use std::ffi::{c_char, c_void};

use crate::layout::c_struct;
use crate::{AckSample, Conn, Control, LostSkb, RateSample};

/// The kinds of parameters, as in the field `kind` of [`Param`].
pub mod param_kinds {
    /// A whole number; the field `value` of the parameter's struct contains it.
    pub const INTEGER: u32 = 0;
    /// A ratio; the field `value` contains it in millionths.
    pub const RATIO: u32 = 1;
    /// A Boolean; the field `value` is 0 or 1.
    pub const SWITCH: u32 = 2;
    /// A text; the field `text` contains it.
    pub const TEXT: u32 = 3;
}

c_struct!(Param = "bbrlab_param", "A parameter of a control, as `cc_params` sets it" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    kind: u32, "uint32_t kind", "BBRLAB_PARAM_*";
    name: *const c_char, "const char *name", "Its name";
    value: i64, "int64_t value", "The value as a number: a ratio in millionths, a text as 0";
    text: *const c_char, "const char *text", "The value as text, for every kind";
});

c_struct!(Host = "bbrlab_host", "The part of the simulator that a control can use during a call" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    flow: u32, "uint32_t flow", "Number of the connection's flow";
    data: *mut c_void, "void *data", "The simulator's own";
    draw: Option<unsafe extern "C" fn(*mut Host, u32) -> u32>, "uint32_t (*draw)(bbrlab_host *host, uint32_t bound)", "Returns a random integer below `bound`, drawn with the run's seed. Only init, cwnd_event, set_state, skb_marked_lost and cong_control can draw: if any other function calls draw, draw returns 0";
    fail: Option<unsafe extern "C" fn(*mut Host, *const c_char)>, "void (*fail)(bbrlab_host *host, const char *text)", "Ends the run with this text; the call must then return";
});

c_struct!(Info = "bbrlab_info", "Values for time series; a value of UINT64_MAX is unknown" {
    size: u32, "uint32_t size", "Size of the struct in bytes";
    reserved: u32, "uint32_t reserved", "Not used";
    bw: u64, "uint64_t bw", "bytes per second; bandwidth estimate";
    min_rtt_us: u64, "uint64_t min_rtt_us", "microseconds; the control's own minimum RTT";
    inflight_hi: u64, "uint64_t inflight_hi", "packets; long-term bound on inflight";
    inflight_lo: u64, "uint64_t inflight_lo", "packets; short-term bound on inflight";
    bw_hi: u64, "uint64_t bw_hi", "bytes per second; long-term bound on the bandwidth";
    bw_lo: u64, "uint64_t bw_lo", "bytes per second; short-term bound on the bandwidth";
});

impl Info {
    /// A struct whose values are all unknown.
    pub const UNKNOWN: Self = Self {
        size: Self::SIZE,
        reserved: 0,
        bw: u64::MAX,
        min_rtt_us: u64::MAX,
        inflight_hi: u64::MAX,
        inflight_lo: u64::MAX,
        bw_hi: u64::MAX,
        bw_lo: u64::MAX,
    };
}

/// A function that may change the `Control` struct, and has an argument of the type `A`.
type Tell<A> =
    Option<unsafe extern "C" fn(*mut c_void, *const Conn, *mut Control, A, *mut Host) -> i32>;
/// A function that may change the `Control` struct.
type TellAlone =
    Option<unsafe extern "C" fn(*mut c_void, *const Conn, *mut Control, *mut Host) -> i32>;
/// A function that computes a number.
type Ask = Option<
    unsafe extern "C" fn(*mut c_void, *const Conn, *const Control, *mut u32, *mut Host) -> i32,
>;
/// A function with an argument of the type `A` that computes a number.
type AskWith<A> = Option<
    unsafe extern "C" fn(*mut c_void, *const Conn, *const Control, A, *mut u32, *mut Host) -> i32,
>;

c_struct!(Plugin = "bbrlab_plugin", "A congestion control in a shared object. A null function behaves like a null callback of Linux; where Linux requires a callback, a null function behaves like Reno's. Functions return 0, or another number to end the run" {
    size: u32, "uint32_t size", "sizeof(bbrlab_plugin)";
    abi_version: u32, "uint32_t abi_version", "BBRLAB_ABI_VERSION";
    name: *const c_char, "const char *name", "The NAME in cc = \"plugin:NAME\": up to 32 letters, digits, `-` and `_`";
    flags: u32, "uint32_t flags", "BBRLAB_PLUGIN_* bits";
    reserved: u32, "uint32_t reserved", "0";
    create: Option<unsafe extern "C" fn(*const Param, u32, *mut Host) -> *mut c_void>, "void *(*create)(const bbrlab_param *params, uint32_t count, bbrlab_host *host)", "Returns the state of a new connection; null is a failure. If this function is null, the state is a null pointer";
    destroy: Option<unsafe extern "C" fn(*mut c_void)>, "void (*destroy)(void *cc)", "Frees the state of a connection";
    init: TellAlone, "int32_t (*init)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, bbrlab_host *host)", "The connection is established";
    cwnd_event: Tell<u32>, "int32_t (*cwnd_event)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, uint32_t event, bbrlab_host *host)", "An event other than an ACK: BBRLAB_CWND_*";
    set_state: Tell<u32>, "int32_t (*set_state)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, uint32_t state, bbrlab_host *host)", "The loss-recovery state becomes `state`: BBRLAB_CA_*";
    skb_marked_lost: Tell<*const LostSkb>, "int32_t (*skb_marked_lost)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, const bbrlab_lost_skb *skb, bbrlab_host *host)", "A packet was marked lost";
    ssthresh: Ask, "int32_t (*ssthresh)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, uint32_t *ssthresh, bbrlab_host *host)", "packets; the slow start threshold for a new loss episode";
    undo_cwnd: Ask, "int32_t (*undo_cwnd)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, uint32_t *cwnd, bbrlab_host *host)", "packets; the cwnd to restore after a spurious loss episode";
    cong_control: Tell<*const RateSample>, "int32_t (*cong_control)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, const bbrlab_rate_sample *rs, bbrlab_host *host)", "An ACK; replaces `cong_avoid` and PRR";
    cong_avoid: Option<unsafe extern "C" fn(*mut c_void, *const Conn, *mut Control, u32, u32, *mut Host) -> i32>, "int32_t (*cong_avoid)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, uint32_t ack, uint32_t acked, bbrlab_host *host)", "An ACK that may raise cwnd arrived. All data up to `ack` is acknowledged cumulatively, and `acked` is the number of packets newly acknowledged, cumulatively or by SACK";
    pkts_acked: AskWith<*const AckSample>, "int32_t (*pkts_acked)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, const bbrlab_ack_sample *sample, uint32_t *ssthresh, bbrlab_host *host)", "Packets have left the network. `*ssthresh` holds the threshold and may be changed";
    in_ack_event: Tell<u32>, "int32_t (*in_ack_event)(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, uint32_t flags, bbrlab_host *host)", "An ACK arrives: BBRLAB_ACK_* bits";
    tso_segs: AskWith<u32>, "int32_t (*tso_segs)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, uint32_t mss_now, uint32_t *segs, bbrlab_host *host)", "segments; the size of the next burst";
    min_tso_segs: Ask, "int32_t (*min_tso_segs)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, uint32_t *segs, bbrlab_host *host)", "segments; the smallest burst";
    sndbuf_expand: Ask, "int32_t (*sndbuf_expand)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, uint32_t *factor, bbrlab_host *host)", "The send buffer as a multiple of cwnd";
    info: Option<unsafe extern "C" fn(*mut c_void, *const Conn, *const Control, *mut Info, *mut Host) -> i32>, "int32_t (*info)(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl, bbrlab_info *info, bbrlab_host *host)", "Values for time series";
});
