//! The hashes and random numbers that disciplines use.

use crate::packet::Queued;

/// Hashes of flows, and random numbers. In the engine, each link has its own stream of random
/// numbers. A replay supplies the values that the kernel logged.
pub trait Entropy {
    /// Returns the hash of the packet's flow. Linux: `skb_get_hash`.
    fn flow_hash(&mut self, packet: &Queued) -> u32;

    /// Returns a random number of 32 bits. Linux: `get_random_u32`.
    fn next_u32(&mut self) -> u32;

    /// Returns a random number of 64 bits. Linux: `get_random_bytes` of 8 bytes.
    fn next_u64(&mut self) -> u64;

    /// Returns a random number of 16 bits. Linux: `get_random_u16`.
    fn next_u16(&mut self) -> u16 {
        (self.next_u32() >> 16) as u16
    }

    /// Returns the hash of the packet's flow, changed by `perturbation`. Linux:
    /// `skb_get_hash_perturb`.
    fn perturbed_hash(&mut self, packet: &Queued, perturbation: u32) -> u32 {
        let mixed = (self.flow_hash(packet) ^ perturbation).wrapping_mul(0x9e37_79b1);
        (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca77) >> 4
    }

    /// Returns the hashes of the packet's hosts and of its flow. By default, no two flows share a
    /// host. Linux: `flow_hash_from_keys` in `cake_hash`.
    fn host_hashes(&mut self, packet: &Queued) -> HostHashes {
        let flow = self.flow_hash(packet);
        HostHashes { destination: flow, source: flow, flow }
    }
}

/// Hashes by which `cake` distinguishes hosts and flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostHashes {
    /// Hash of the receiving host's address.
    pub destination: u32,
    /// Hash of the sending host's address.
    pub source: u32,
    /// Hash of the flow.
    pub flow: u32,
}
