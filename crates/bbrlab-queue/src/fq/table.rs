//! The table of flows of `fq`: flows are found by their hash, and may be removed after they have
//! been empty for three seconds.
//!
//! The key of a flow is ten bits of its packets' hash. The kernel stores the flows of each bucket
//! in a tree. A hash function maps the 1,024 keys to 1,024 buckets, and at most two keys to one
//! bucket, so a tree has a root and at most one child.
//!
//! When the kernel searches a tree for a flow, it removes the flows that it passes if they have
//! been empty for three seconds. A search that ends at the root passes no other flow; any other
//! search passes the root.
//!
//! Sources: [linux] `net/sched/sch_fq.c`, `fq_classify`, `fq_gc`; `include/linux/hash.h`,
//! `hash_64`.
//! Deviations: none.

use crate::lists::List;

/// Number of keys, and log2 of the number of buckets. Linux: `orphan_mask` + 1, `fq_trees_log`.
const KEYS: u16 = 1024;
const BUCKETS_LOG: u32 = 10;

/// The multiplier of the hash function that maps a key to its bucket. Linux: `GOLDEN_RATIO_64`.
const GOLDEN_RATIO: u64 = 0x61C8_8646_80B5_83EB;

/// Time in jiffies after which an empty flow may be removed. Linux: `FQ_GC_AGE`.
const FORGET_AFTER: u64 = 3000;

/// The key that means "no flow".
const NONE: u16 = u16::MAX;

/// The key of a flow, which is its index in `Table::flows`.
pub(super) type Key = u16;

/// A flow. Linux: `struct fq_flow`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) queue: List,
    pub(super) length: u32,
    /// Bytes that the flow may send before the next flow is served.
    pub(super) credit: i32,
    pub(super) band: u8,
    /// Time in jiffies at which the flow left its list; `None` while it is in a list.
    pub(super) detached: Option<u64>,
    is_known: bool,
    /// Whether this flow is the child in its bucket's tree. If so, the root is the bucket's other
    /// flow.
    is_child: bool,
    /// The key of the other flow in the same bucket, or [`NONE`].
    other: Key,
}

/// The flows by key.
#[derive(Debug)]
pub(super) struct Table {
    flows: Vec<Flow>,
}

impl Table {
    pub(super) fn new() -> Self {
        let flow = Flow {
            queue: List::default(),
            length: 0,
            credit: 0,
            band: 0,
            detached: None,
            is_known: false,
            is_child: false,
            other: NONE,
        };
        let mut flows = vec![flow; usize::from(KEYS)];
        let mut buckets = [NONE; 1 << BUCKETS_LOG];
        for key in 0..KEYS {
            let before = std::mem::replace(&mut buckets[bucket(key)], key);
            if before != NONE {
                flows[usize::from(key)].other = before;
                flows[usize::from(before)].other = key;
            }
        }
        Self { flows }
    }

    /// Returns the key of packets with this hash.
    pub(super) fn key(hash: u32) -> Key {
        Key::try_from(hash % u32::from(KEYS)).expect("less than `KEYS`")
    }

    /// Searches the tree of the key's bucket for the flow with this key. If the flow is not in the
    /// tree, adds it; it may then send `credit` bytes. If the root of the tree is another flow, the
    /// search passes the root. If the root has then been empty for three seconds, removes the root.
    pub(super) fn meet(&mut self, key: Key, jiffies: u64, credit: i32) {
        let Flow { is_known, is_child, other, .. } = self.flows[usize::from(key)];
        let mut has_other = other != NONE && self.flows[usize::from(other)].is_known;
        if has_other && (!is_known || is_child) {
            let root = &mut self.flows[usize::from(other)];
            if root.detached.is_some_and(|age| age + FORGET_AFTER < jiffies) {
                root.is_known = false;
                has_other = false;
                self.flows[usize::from(key)].is_child = false;
            }
        }
        if !is_known {
            let flow = &mut self.flows[usize::from(key)];
            let is_child = has_other;
            // `flow` can have the data of an earlier flow with this key that was removed. As in the
            // kernel, the band of the new flow is 0, and not the band of the removed flow.
            *flow = Flow { credit, band: 0, is_known: true, is_child, ..*flow };
            flow.detached = Some(detached_at(jiffies));
        }
    }

    pub(super) fn flow(&mut self, key: Key) -> &mut Flow {
        &mut self.flows[usize::from(key)]
    }

    pub(super) fn all(&self) -> &[Flow] {
        &self.flows
    }
}

/// Returns the kernel's representation of the time at which a flow leaves its list. The last bit of
/// a time is set, which distinguishes the time from a pointer. Linux: `fq_flow_set_detached`.
pub(super) fn detached_at(jiffies: u64) -> u64 {
    jiffies | 1
}

fn bucket(key: Key) -> usize {
    let socket = (u64::from(key) << 1) | 1;
    (socket.wrapping_mul(GOLDEN_RATIO) >> (64 - BUCKETS_LOG)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns two keys that share a bucket.
    fn pair(table: &Table) -> (Key, Key) {
        let key = (0..KEYS).find(|&key| table.flows[usize::from(key)].other != NONE).unwrap();
        (key, table.flows[usize::from(key)].other)
    }

    fn is_known(table: &Table, key: Key) -> bool {
        table.flows[usize::from(key)].is_known
    }

    #[test]
    fn no_bucket_has_more_than_two_keys() {
        for key in 0..KEYS {
            assert!((0..KEYS).filter(|&k| bucket(k) == bucket(key)).count() <= 2);
        }
    }

    #[test]
    fn the_root_is_forgotten_on_the_way_to_the_child() {
        let mut table = Table::new();
        let (root, child) = pair(&table);
        table.meet(root, 0, 1);
        table.meet(child, 3001, 1);
        assert!(is_known(&table, root));
        table.meet(child, 3002, 1);
        assert!(!is_known(&table, root));
    }

    #[test]
    fn the_child_is_not_forgotten_on_the_way_to_the_root() {
        let mut table = Table::new();
        let (root, child) = pair(&table);
        table.meet(root, 0, 1);
        table.meet(child, 0, 1);
        table.meet(root, 10_000, 1);
        assert!(is_known(&table, child));
        // The search for `child` passes the flow `root` and removes it, so `child` is then the root
        // of the tree. The next search for `root` passes `child` and removes it.
        table.meet(child, 10_000, 1);
        assert!(!is_known(&table, root));
        table.meet(root, 10_001, 1);
        assert!(!is_known(&table, child));
    }

    #[test]
    fn a_flow_with_packets_is_not_forgotten() {
        let mut table = Table::new();
        let (root, child) = pair(&table);
        table.meet(root, 0, 1);
        table.flow(root).detached = None;
        table.meet(child, 10_000, 1);
        assert!(is_known(&table, root));
    }
}
