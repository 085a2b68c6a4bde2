//! Buddy allocator for the blocks of an outbox. The length of a block is a power of two of units.
//!
//! A freed block is kept for the next request of its size. Blocks are joined only if there is no
//! other room, so for messages of a few sizes, an allocation is a push and a pop.

use super::UNIT;

/// Number of block sizes: blocks of up to `2^26` units, the maximum that a block number can encode.
const ORDERS: usize = 27;
/// Number of bits of a block number that encode the order.
const ORDER_BITS: u32 = 5;
const MOST_UNITS: usize = 1 << (u32::BITS - ORDER_BITS - 1);

/// A block: its first unit, and its length as a power of two of units (the order).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    unit: u32,
    order: u32,
}

impl Block {
    /// Returns the offset in bytes.
    pub(super) fn offset(self) -> usize {
        (self.unit as usize).wrapping_mul(UNIT)
    }

    /// Returns the length in bytes.
    pub(super) fn capacity(self) -> usize {
        UNIT.wrapping_shl(self.order)
    }

    /// Encodes the block as a number, which is never 0xffff_ffff.
    pub(super) fn to_number(self) -> u32 {
        (self.unit << ORDER_BITS) | self.order
    }

    pub(super) fn from_number(number: u32) -> Self {
        Self {
            unit: number >> ORDER_BITS,
            order: number & ((1 << ORDER_BITS) - 1),
        }
    }
}

/// The free blocks.
pub(super) struct Blocks {
    /// First units of the free blocks, by order.
    free: [Vec<u32>; ORDERS],
    /// True if blocks were freed since the last join.
    given: bool,
}

impl Blocks {
    /// Divides `bytes` into blocks. Bytes beyond 16 GiB are not used.
    pub(super) fn new(bytes: usize) -> Self {
        let units = u32::try_from((bytes / UNIT).min(MOST_UNITS)).unwrap_or_default();
        let mut blocks = Self {
            free: std::array::from_fn(|_| Vec::new()),
            given: false,
        };
        let mut unit = 0_u32;
        while let Some(rest) = units.checked_sub(unit).filter(|rest| *rest > 0) {
            let order = rest.ilog2().min(unit.trailing_zeros());
            blocks.put(Block { unit, order });
            unit = unit.wrapping_add(1 << order);
        }
        blocks
    }

    fn put(&mut self, block: Block) {
        if let Some(free) = self.free.get_mut(block.order as usize) {
            free.push(block.unit);
        }
    }

    /// Allocates a block of at least `bytes`.
    #[inline]
    pub(super) fn allocate(&mut self, bytes: usize) -> Option<Block> {
        let units = bytes.max(1).div_ceil(UNIT).checked_next_power_of_two()?;
        let order = units.trailing_zeros();
        if let Some(unit) = self.free.get_mut(order as usize)?.pop() {
            return Some(Block { unit, order });
        }
        self.split(order).or_else(|| {
            self.join();
            self.split(order)
        })
    }

    /// Splits the smallest block that is large enough, and returns its first part.
    fn split(&mut self, order: u32) -> Option<Block> {
        let mut free = (order..).zip(self.free.get_mut(order as usize..)?);
        let (mut larger, unit) = free.find_map(|(order, free)| Some((order, free.pop()?)))?;
        while larger > order {
            larger = larger.wrapping_sub(1);
            self.put(Block {
                unit: unit.wrapping_add(1 << larger),
                order: larger,
            });
        }
        Some(Block { unit, order })
    }

    /// Joins pairs of free buddies.
    #[cold]
    fn join(&mut self) {
        if !std::mem::take(&mut self.given) {
            return;
        }
        for order in 0..ORDERS.wrapping_sub(1) {
            let Some([free, larger]) = self.free.get_mut(order..order.wrapping_add(2)) else {
                return;
            };
            let size = 1_u32 << order;
            free.sort_unstable();
            let (mut kept, mut at) = (0_usize, 0_usize);
            while let Some(&unit) = free.get(at) {
                let next = free.get(at.wrapping_add(1)).copied();
                if unit & size == 0 && next == Some(unit | size) {
                    larger.push(unit);
                    at = at.wrapping_add(2);
                    continue;
                }
                if let Some(place) = free.get_mut(kept) {
                    *place = unit;
                }
                kept = kept.wrapping_add(1);
                at = at.wrapping_add(1);
            }
            free.truncate(kept);
        }
    }

    /// Frees a block.
    #[inline]
    pub(super) fn free(&mut self, block: Block) {
        self.given = true;
        self.put(block);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::arithmetic_side_effects, reason = "test code")]

    use super::*;

    #[test]
    fn blocks_are_disjoint_and_merge_when_freed() {
        // 64 KiB and half as much.
        let bytes = (64 << 10) + (32 << 10);
        let mut blocks = Blocks::new(bytes);
        for round in 0..3 {
            let mut taken = vec![blocks.allocate(40 << 10).unwrap()];
            for n in 1.. {
                let Some(block) = blocks.allocate(UNIT * (1 + (n + round) % 3)) else {
                    break;
                };
                assert_eq!(Block::from_number(block.to_number()), block);
                taken.push(block);
            }
            let mut ends: Vec<_> = taken
                .iter()
                .map(|b| (b.offset(), b.offset() + b.capacity()))
                .collect();
            ends.sort_unstable();
            assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            assert!(ends.last().unwrap().1 <= bytes);
            assert!(blocks.allocate(32 << 10).is_none());
            taken.into_iter().for_each(|block| blocks.free(block));
        }
        assert_eq!(blocks.allocate(64 << 10).unwrap().offset(), 0);
        assert!(blocks.allocate(64 << 10).is_none());
        assert!(blocks.allocate(usize::MAX).is_none());
        assert_eq!(blocks.allocate(32 << 10).unwrap().offset(), 64 << 10);
    }

    #[test]
    fn the_last_one_given_back_is_the_next() {
        let mut blocks = Blocks::new(1 << 20);
        let (first, second) = (
            blocks.allocate(5000).unwrap(),
            blocks.allocate(5000).unwrap(),
        );
        assert_eq!(first.capacity(), 8192);
        blocks.free(second);
        blocks.free(first);
        assert_eq!(blocks.allocate(8192), Some(first));
        assert_eq!(blocks.allocate(4097), Some(second));
    }
}
