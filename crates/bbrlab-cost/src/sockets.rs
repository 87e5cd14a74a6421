//! The amount of data in flight that a flow's sockets allow.

use bbrlab_stack::{BufferBounds, SKB_OVERHEAD, Sockbuf, SocketBuffer, Stack};

/// The largest MSS for which Linux does not measure the ratio of payload to memory
/// (`TCP_MSS_DEFAULT`).
const UNMEASURED_MSS: u32 = 536;
/// The ratio of payload to memory until it is measured, in 1/256 (`TCP_DEFAULT_SCALING_RATIO`).
const UNMEASURED_RATIO: u32 = 128;
/// A sender whose buffer was full writes again when at most this share of the buffer is in use
/// (`sk_stream_is_writeable`).
const IN_USE_AT_NEXT_WRITE: f64 = 2.0 / 3.0;
/// The largest skb of a sender, in bytes. Linux checks the space in the send buffer before it adds
/// an skb, so the buffer can exceed its limit by one skb. The upper bound of the data in flight
/// adds two such skbs to the limit.
const LARGEST_SKB: f64 = 65_536.0;

/// The range of the limit that the size of a socket's buffer or receive window sets to a flow's
/// goodput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SocketLimit {
    /// The lower bound of the limit in bits per second: the flow's goodput is at least this bound
    /// if nothing but the socket limits it.
    pub least_bits_per_s: f64,
    /// The upper bound of the limit in bits per second; `None` if the path, or the flow's pacing
    /// limit, is not faster than this bound. The two bounds differ only if the sender's buffer sets
    /// the limit: after the buffer was full, the sender writes again only when at most two thirds
    /// of it are in use. The amount of data in the buffer therefore changes.
    pub most_bits_per_s: Option<f64>,
    /// The key of `[stack]` that sets the size of the socket's buffer or receive window from which
    /// this limit follows.
    pub key: &'static str,
}

/// The largest number of bytes in flight that a socket allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketWindow {
    /// The lower and the upper bound of the number of bytes. The bounds differ only if the sender's
    /// buffer sets the limit. After this buffer was full, the sender writes again only when at most
    /// two thirds of the buffer are in use. The amount of data in the buffer, which limits the
    /// bytes in flight, therefore changes during the run.
    pub(crate) bytes: [f64; 2],
    /// The key of `[stack]` that sets the size of the buffer or receive window from which these
    /// bounds follow.
    pub(crate) key: &'static str,
}

impl SocketWindow {
    fn new(bytes: f64, key: &'static str) -> Self {
        Self { bytes: [bytes; 2], key }
    }

    pub(crate) fn mean(self) -> f64 {
        f64::midpoint(self.bytes[0], self.bytes[1])
    }
}

/// Returns the largest number of bytes in flight that the receive window and the socket buffers
/// allow a flow with segments of `mss` bytes.
#[expect(clippy::cast_precision_loss, reason = "estimates")]
pub(crate) fn window_of_sockets(stack: &Stack, mss: u32) -> SocketWindow {
    let sockbuf = stack.socket.sockbuf;
    let memory = |buffer: SocketBuffer, bounds: BufferBounds, [fixed, grows]: [&'static str; 2]| {
        match buffer.fixed_size(sockbuf) {
            Some(size) => SocketWindow::new(f64::from(size), fixed),
            None => SocketWindow::new(f64::from(bounds.most), grows),
        }
    };
    let mut receiver = memory(stack.rcvbuf, stack.tcp_rmem, ["rcvbuf", "tcp_rmem"]);
    let mut sender = memory(stack.sndbuf, stack.tcp_wmem, ["sndbuf", "tcp_wmem"]);
    if sockbuf != Sockbuf::Payload {
        receiver.bytes = receiver.bytes.map(|bytes| bytes * payload_of_memory(mss));
        // The skbs in the sender's buffer are large, so their overhead is small.
        let [least, most] = sender.bytes;
        sender.bytes = [least * IN_USE_AT_NEXT_WRITE, most + 2.0 * LARGEST_SKB];
    }
    let rwnd = stack.rwnd.map(|rwnd| SocketWindow::new(rwnd.0 as f64, "rwnd"));
    let all = [Some(receiver), Some(sender), rwnd].into_iter().flatten();
    all.min_by(|one, other| one.bytes[0].total_cmp(&other.bytes[0])).unwrap_or(receiver)
}

/// Returns the ratio of payload to memory in a receive buffer. Linux: `scaling_ratio`, which
/// `tcp_measure_rcv_mss` measures in 1/256.
fn payload_of_memory(mss: u32) -> f64 {
    let ratio = match mss {
        0..=UNMEASURED_MSS => UNMEASURED_RATIO,
        _ => 256 * mss / (mss + SKB_OVERHEAD),
    };
    f64::from(ratio) / 256.0
}

#[cfg(test)]
mod tests {
    use super::payload_of_memory;

    /// With an MSS of 536, 1448 and 8948 bytes, a receive buffer of 6 MiB at an RTT of 100 ms
    /// allows 252, 319 and 460 Mbit/s. Runs reach 250, 304 (the mean, including slow start) and
    /// 458 Mbit/s.
    #[test]
    fn a_receive_buffer_holds_the_more_payload_the_larger_its_segments() {
        let mbps =
            |mss: u32| format!("{:.0}", 6_291_456.0 * payload_of_memory(mss) * 8.0 / 0.1 / 1e6);
        assert_eq!([536, 1448, 8948].map(mbps), ["252", "319", "460"]);
    }
}
