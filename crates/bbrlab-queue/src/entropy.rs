//! The hashes and random numbers that disciplines ask for.

use crate::packet::Queued;

/// Hashes of flows, and random numbers. The engine has a stream of its own for each link; a replay supplies what
/// the kernel logged.
pub trait Entropy {
    /// The hash of the packet's flow. Linux: `skb_get_hash`.
    fn flow_hash(&mut self, packet: &Queued) -> u32;

    /// The next random number. Linux: `get_random_u32`.
    fn next_u32(&mut self) -> u32;

    /// The next random number. Linux: `get_random_bytes` of 8 bytes.
    fn next_u64(&mut self) -> u64;

    /// The hash of the packet's flow under a perturbation: another perturbation gives another hash. Linux:
    /// `skb_get_hash_perturb`.
    fn perturbed_hash(&mut self, packet: &Queued, perturbation: u32) -> u32 {
        let mixed = (self.flow_hash(packet) ^ perturbation).wrapping_mul(0x9e37_79b1);
        (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca77) >> 4
    }
}
