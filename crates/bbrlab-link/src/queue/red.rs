//! The parameters of `red`.

use bbrlab_units::{BitRate, Bytes};

use crate::loss::Probability;

/// The parameters of `red`, with `tc`'s names. `None` means the value that `tc` computes from the
/// other parameters.
///
/// `tc` requires a limit and `avpkt`; without a `bandwidth`, `tc` assumes 10 Mbit/s. In a scenario,
/// all three may be missing: `avpkt` is then 1,000 bytes, and `bandwidth` is the link's rate. The
/// limit is the link's `buffer` or, without a `buffer`, the result of [`Self::limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of `tc`")]
pub struct RedParams {
    /// Average queue length below which no packet is dropped. `None`: a third of `max`.
    pub min: Option<Bytes>,
    /// Average queue length at or above which every packet is dropped. `None`: three times `min` if
    /// `min` is set, otherwise a quarter of the limit.
    pub max: Option<Bytes>,
    /// Mean packet size.
    pub avpkt: Bytes,
    /// Number of packets that may arrive at once without a drop. This number determines how slowly
    /// the average follows the queue length. `None`: `(2 min + max) / (3 avpkt)`.
    pub burst: Option<u32>,
    /// The probability of a drop when the average reaches `max`.
    pub probability: Probability,
    /// The rate that determines, with `avpkt`, how fast the average decays while the link is idle.
    /// `None`: 10 Mbit/s, `tc`'s default; a scenario's reader replaces `None` by the link's rate.
    pub bandwidth: Option<BitRate>,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// With `ecn`: whether packets are still dropped above `max`.
    pub harddrop: bool,
    /// With `ecn`: whether packets that are not ECN-capable are queued instead of dropped.
    pub nodrop: bool,
    /// Whether `probability` is adapted between 1 and 50 % so that the average stays midway between
    /// `min` and `max`.
    pub adaptive: bool,
}

impl RedParams {
    /// `tc`'s defaults, with packets of 1,000 bytes.
    pub const DEFAULT: Self = Self {
        min: None,
        max: None,
        avpkt: Bytes(1000),
        burst: None,
        // 2 %, rounded down.
        probability: Probability((1 << 32) / 50),
        bandwidth: None,
        ecn: false,
        harddrop: false,
        nodrop: false,
        adaptive: false,
    };

    /// Returns the limit for a link without `buffer`: the bytes that the link sends in 300 ms, but
    /// at least 60 packets. With this limit, the default of `min` is the bytes that the link sends
    /// in 25 ms, but at least 5 packets. The default of `max` is the bytes that it sends in 75 ms,
    /// but at least 15 packets.
    #[must_use]
    pub fn limit(&self, rate: BitRate) -> Bytes {
        let sent = u128::from(rate.0) * 300 / 8000;
        let packets = u128::from(self.avpkt.0) * 60;
        Bytes(u64::try_from(sent.max(packets)).unwrap_or(u64::MAX))
    }
}
