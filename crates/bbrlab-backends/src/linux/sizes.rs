//! Refuses sizes of buffers that are too large for the kernel, which stores these sizes as signed
//! integers of 32 bits.

use bbrlab_run::Place;
use bbrlab_stack::{BufferBounds, SocketBuffer, Stack};

use crate::backend::Refusal;

/// The largest size of `SO_RCVLOWAT`, `tcp_rmem` and `tcp_wmem`, in bytes.
const MOST: u64 = (1 << 31) - 1;

/// The largest size of `SO_SNDBUF` and `SO_RCVBUF`, in bytes. The kernel doubles the values that
/// programs set.
const FIXED_MOST: u64 = MOST / 2;

/// Refuses the buffer sizes in `[stack]` that are too large for the kernel.
pub(super) fn refusals(stack: &Stack) -> Vec<Refusal> {
    let fixed = |buffer: SocketBuffer| match buffer {
        SocketBuffer::Fixed(bytes) => bytes.0,
        SocketBuffer::Auto => 0,
    };
    let largest =
        |bounds: BufferBounds| u64::from(bounds.least.max(bounds.initial).max(bounds.most));
    [
        ("sndbuf", fixed(stack.sndbuf), FIXED_MOST),
        ("rcvbuf", fixed(stack.rcvbuf), FIXED_MOST),
        ("rcvlowat", stack.rcvlowat.0, MOST),
        ("tcp_rmem", largest(stack.tcp_rmem), MOST),
        ("tcp_wmem", largest(stack.tcp_wmem), MOST),
    ]
    .into_iter()
    .filter(|&(_, found, most)| found > most)
    .map(|(key, _, most)| Refusal {
        place: Place::Stack,
        key,
        reason: format!("allows at most {most} bytes"),
        nearest: Some(format!("`{key} = \"{most}B\"`")).filter(|_| !key.starts_with("tcp_")),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use bbrlab_stack::{SocketBuffer, Stack};
    use bbrlab_units::Bytes;

    use super::{FIXED_MOST, MOST, refusals};

    #[test]
    fn sizes_beyond_the_kernels_integers_are_refused_by_key() {
        let keys = |stack: &Stack| refusals(stack).iter().map(|it| it.key).collect::<Vec<_>>();
        let largest = Stack {
            sndbuf: SocketBuffer::Fixed(Bytes(FIXED_MOST)),
            rcvbuf: SocketBuffer::Fixed(Bytes(FIXED_MOST)),
            rcvlowat: Bytes(MOST),
            ..Stack::default()
        };
        assert!(keys(&largest).is_empty());
        let mut larger = Stack {
            sndbuf: SocketBuffer::Fixed(Bytes(4 << 30)),
            rcvbuf: SocketBuffer::Fixed(Bytes(FIXED_MOST + 1)),
            rcvlowat: Bytes(MOST + 1),
            ..Stack::default()
        };
        larger.tcp_rmem.most = 1 << 31;
        larger.tcp_wmem.initial = u32::MAX;
        assert_eq!(keys(&larger), ["sndbuf", "rcvbuf", "rcvlowat", "tcp_rmem", "tcp_wmem"]);
        assert_eq!(refusals(&larger)[0].nearest.as_deref(), Some("`sndbuf = \"1073741823B\"`"));
    }
}
