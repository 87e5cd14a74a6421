//! The priority that a Linux router gives a packet. `prio` and `fq` choose the packet's band by
//! this priority.
//!
//! The kernel's table is older than DSCP: it interprets the DSCP field as the type of service of
//! RFC 1349. The table uses only the bits for low delay and high throughput. EF (46), whose lower
//! three bits are 110, is therefore "interactive bulk". The upper three bits, the precedence, have
//! no effect.
//!
//! Sources: [linux] `net/ipv4/route.c`, `ip_tos2prio`; `include/net/route.h`, `rt_tos2priority`;
//! `net/ipv4/ip_forward.c`; `net/sched/sch_generic.c`, `sch_default_prio2band`.
//! Deviations: none.

/// The band of each of the 16 priorities. The default bands are also `tc`'s defaults for `priomap`.
pub(crate) const DEFAULT_PRIOMAP: [u8; 16] = bbrlab_link::PrioParams::DEFAULT.priomap;

/// Returns the priority of a packet that a router forwards: 0 best effort, 2 bulk, 4 interactive
/// bulk, 6 interactive.
pub(crate) fn priority(dscp: u8) -> u8 {
    match (dscp >> 1) & 3 {
        0 => 0,
        1 => 2,
        2 => 6,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_PRIOMAP, priority};

    #[test]
    fn the_type_of_service_decides_not_the_precedence() {
        let band = |dscp| DEFAULT_PRIOMAP[usize::from(priority(dscp))];
        // Best effort, CS6 and EF share the middle band. In the default bands of `prio`, a packet
        // is in the first band only if its bit for low delay is 1 and its bit for high throughput
        // is 0. DSCP 4 is an example of such a packet.
        assert_eq!([band(0), band(48), band(46)], [1, 1, 1]);
        assert_eq!(band(4), 0);
        // AF11 and AF41 have the bit for throughput, so they are in the last band.
        assert_eq!([band(10), band(34)], [2, 2]);
    }
}
