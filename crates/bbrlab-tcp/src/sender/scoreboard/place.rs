//! Ids of slots: each skb in flight has a slot in the ring of `queue.rs`. The ids of new slots
//! continue to count up when the ring wraps or grows.

/// The id of an skb's slot in the ring; [`NIL`] for no skb.
pub(super) type SkbId = u32;

/// The id that stands for no skb.
pub(super) const NIL: SkbId = u32::MAX;

/// Largest id of a slot. After this id, ids start again at 0.
pub(super) const ID_MASK: SkbId = u32::MAX >> 1;

/// Returns the id of the slot that is `count` slots after `id`.
#[inline]
pub(super) const fn places_on(id: SkbId, count: u32) -> SkbId {
    id.wrapping_add(count) & ID_MASK
}

/// Whether an id belongs to one of `count` slots from `first` on.
#[inline]
pub(super) const fn is_place_among(id: SkbId, first: SkbId, count: u32) -> bool {
    id != NIL && places_on(id, first.wrapping_neg()) < count
}

/// Returns the id of the slot after `id`.
#[inline]
pub(super) const fn following(id: SkbId) -> SkbId {
    places_on(id, 1)
}
