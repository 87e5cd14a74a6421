//! First-in, first-out lists of packets that share one store. The size of the store depends on the
//! largest number of packets that waited at the same time in all lists together, not on the number
//! of lists. A list consists of three numbers: the slots of its first and its last packet, and the
//! bytes of its packets.

use crate::packet::Queued;

/// The slot number that means "end of the list".
const NONE: u32 = u32::MAX;

/// The packets of all lists of a discipline.
#[derive(Debug)]
pub(crate) struct Store {
    slots: Vec<Slot>,
    /// The first free slot. The field `next` of a free slot is the number of the next free slot.
    free: u32,
}

impl Default for Store {
    fn default() -> Self {
        Self { slots: Vec::new(), free: NONE }
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    packet: Queued,
    next: u32,
}

/// A list of packets within a [`Store`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    head: u32,
    tail: u32,
    bytes: u64,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NONE, tail: NONE, bytes: 0 }
    }
}

impl List {
    /// Returns the bytes on the wire of all packets in the list.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head == NONE
    }
}

impl Store {
    /// Adds a packet at the end of `list`; returns the packet's slot in the store.
    pub(crate) fn push(&mut self, list: &mut List, packet: Queued) -> u32 {
        let slot = Slot { packet, next: NONE };
        let at = if let Some(free) = self.slots.get_mut(self.free as usize) {
            let at = self.free;
            self.free = free.next;
            *free = slot;
            at
        } else {
            let at = u32::try_from(self.slots.len()).expect("fewer packets than 2^32");
            self.slots.push(slot);
            at
        };
        if list.is_empty() {
            list.head = at;
        } else {
            self.slots[list.tail as usize].next = at;
        }
        list.tail = at;
        list.bytes += u64::from(packet.wire_bytes);
        at
    }

    /// Iterates over the slots of the packets of `list`, in order.
    pub(crate) fn places(&self, list: &List) -> impl Iterator<Item = u32> {
        let next = |&at: &u32| self.slots.get(at as usize).map(|slot| slot.next);
        std::iter::successors(Some(list.head), next).take_while(|&at| at != NONE)
    }

    /// Returns the packet at a slot.
    pub(crate) fn packet(&self, place: u32) -> &Queued {
        &self.slots[place as usize].packet
    }

    /// Removes the packet after the slot `before`, or the first packet if `before` is `None`. The
    /// packet must not be the last of the list.
    pub(crate) fn remove_behind(&mut self, list: &mut List, before: Option<u32>) -> Option<Queued> {
        let Some(before) = before else { return self.pop(list) };
        let mut rest = List { head: self.slots[before as usize].next, ..*list };
        let packet = self.pop(&mut rest)?;
        self.slots[before as usize].next = rest.head;
        list.bytes = rest.bytes;
        Some(packet)
    }

    /// Removes the packet that has been in `list` longest.
    pub(crate) fn pop(&mut self, list: &mut List) -> Option<Queued> {
        if list.is_empty() {
            return None;
        }
        let at = list.head;
        let slot = &mut self.slots[at as usize];
        let packet = slot.packet;
        list.head = slot.next;
        list.bytes -= u64::from(packet.wire_bytes);
        slot.next = self.free;
        self.free = at;
        Some(packet)
    }

    /// Removes the packet that was added to `list` last. The cost grows with the length of the
    /// list.
    pub(crate) fn pop_back(&mut self, list: &mut List) -> Option<Queued> {
        if list.head == list.tail {
            return self.pop(list);
        }
        let mut before = list.head;
        while self.slots[before as usize].next != list.tail {
            before = self.slots[before as usize].next;
        }
        self.slots[before as usize].next = NONE;
        // Make a list that contains only the last packet, and pop the packet from it.
        let mut last = List { head: list.tail, ..*list };
        let packet = self.pop(&mut last)?;
        list.tail = before;
        list.bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    /// Calls `each` with every packet of `list`.
    pub(crate) fn walk(&self, list: &List, each: &mut impl FnMut(&Queued)) {
        let mut at = list.head;
        while let Some(slot) = self.slots.get(at as usize) {
            each(&slot.packet);
            at = slot.next;
        }
    }
}
