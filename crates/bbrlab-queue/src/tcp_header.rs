//! The fields of a TCP segment that an ACK filter reads.

/// A segment's flags, numbers and options, without its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpHeader {
    /// The flags: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, ECE 64, CWR 128.
    pub flags: u8,
    /// Bytes of payload.
    pub len: u32,
    /// The acknowledgement number.
    pub ack: u32,
    /// `TSval` and `TSecr` of the timestamps option, if present.
    pub timestamps: Option<(u32, u32)>,
    /// For each SACK block, its first sequence number and the sequence number after its last byte.
    pub sack: [(u32, u32); 4],
    /// Number of SACK blocks.
    pub sack_count: u8,
}

impl TcpHeader {
    /// Returns the SACK blocks.
    #[must_use]
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.sack_count).min(self.sack.len())]
    }
}
