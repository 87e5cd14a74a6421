//! The hashes and random numbers of a link's queue discipline.

use bbrlab_queue::{Entropy, HostHashes, Queued};

use crate::rng::Rng;

/// The random numbers for a link's queue discipline, and the key with which the discipline hashes
/// flows. The key is the first random number of the link, so the seed and the link determine which
/// flows have equal hashes.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    rng: Rng,
    key: u64,
}

impl Chance {
    pub(crate) fn new(rng: Rng) -> Self {
        let key = rng.clone().next_u64();
        Self { rng, key }
    }
}

impl Entropy for Chance {
    #[inline]
    fn flow_hash(&mut self, packet: &Queued) -> u32 {
        hash(packet.flow, self.key)
    }

    /// Returns hashes of the packet's two hosts and of its flow. A host to which the scenario gives
    /// no number is hashed by the flow's number.
    fn host_hashes(&mut self, packet: &Queued) -> HostHashes {
        // Flow numbers have 24 bits, so bit 31 distinguishes the numbers of hosts from them.
        let host = |number: u32| if number == 0 { packet.flow } else { number | 1 << 31 };
        HostHashes {
            destination: hash(host(packet.hosts.destination), !self.key),
            source: hash(host(packet.hosts.source), self.key.rotate_left(32)),
            flow: hash(packet.flow, self.key),
        }
    }

    #[inline]
    fn next_u32(&mut self) -> u32 {
        (self.rng.next_u64() >> 32) as u32
    }

    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.rng.next_u64()
    }
}

/// Hashes a flow's number. The multiplications spread the number over the upper 32 bits of the
/// product. These bits are the hash, from which disciplines select the queue.
#[inline]
fn hash(flow: u32, key: u64) -> u32 {
    let mixed = (u64::from(flow) ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
}
