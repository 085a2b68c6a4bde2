//! The blocks of a layout, as a list that is repeated by nested loops.

use std::ops::ControlFlow;

use super::error::LayoutError;

/// Maximum number of interleaved blocks that are checked for overlap one by one.
const CHECKED_BLOCKS: usize = 1 << 16;

/// Consecutive elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) len: usize,
}

impl Block {
    fn end(self) -> Result<usize, LayoutError> {
        self.start
            .checked_add(self.len)
            .ok_or(LayoutError::TooLarge)
    }
}

/// A repetition of everything inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Loop {
    count: usize,
    /// Distance in elements between the starts of two repetitions.
    extent: usize,
}

/// The blocks of a layout in the order in which they are packed.
///
/// INVARIANT: no block is empty, every count is at least 2, and `len` and `span` do not overflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    blocks: Vec<Block>,
    /// The outermost loop is the first.
    loops: Vec<Loop>,
    /// Number of selected elements.
    pub(super) len: usize,
    /// Number of elements from the start of the slice to the end of the last block.
    pub(super) span: usize,
    /// The reason for which nothing can be received into the blocks.
    pub(super) send_only: Option<LayoutError>,
}

impl Shape {
    /// Creates a shape of blocks in the given order. Neighbouring blocks are merged.
    pub(super) fn from_blocks(all: impl IntoIterator<Item = Block>) -> Result<Self, LayoutError> {
        let mut blocks: Vec<Block> = Vec::new();
        let (mut len, mut span) = (0usize, 0usize);
        for block in all.into_iter().filter(|block| block.len > 0) {
            let end = block.end()?;
            len = len.checked_add(block.len).ok_or(LayoutError::TooLarge)?;
            span = span.max(end);
            // Blocks that adjoin are joined, because each run costs more than its bytes.
            match blocks.last_mut() {
                Some(last) if last.end()? == block.start => {
                    // The sum is at most `span`.
                    last.len = last.len.saturating_add(block.len);
                }
                _ => blocks.push(block),
            }
        }
        let send_only = overlap(&blocks, &[]);
        Ok(Self {
            blocks,
            loops: Vec::new(),
            len,
            span,
            send_only,
        })
    }

    /// Returns `count` copies of this shape, each `extent` elements behind the one before.
    pub(super) fn repeated(&self, count: usize, extent: usize) -> Result<Self, LayoutError> {
        if count == 0 || self.len == 0 {
            return Self::from_blocks([]);
        }
        let mut shape = self.clone();
        if count == 1 {
            return Ok(shape);
        }
        let last = count.saturating_sub(1).checked_mul(extent);
        let span = last.and_then(|last| last.checked_add(self.span));
        let len = count.checked_mul(self.len);
        let (Some(span), Some(len)) = (span, len) else {
            return Err(LayoutError::TooLarge);
        };
        (shape.span, shape.len) = (span, len);
        match (&mut shape.blocks[..], &mut shape.loops[..]) {
            // Repetitions without gaps are one longer block.
            ([block], []) if block.len == extent => block.len = len,
            // The loop inside continues where the repetitions of this one begin.
            (_, [inner, ..]) if inner.count.checked_mul(inner.extent) == Some(extent) => {
                inner.count = inner
                    .count
                    .checked_mul(count)
                    .ok_or(LayoutError::TooLarge)?;
            }
            _ => shape.loops.insert(0, Loop { count, extent }),
        }
        shape.send_only = overlap(&shape.blocks, &shape.loops);
        Ok(shape)
    }

    /// Returns the only block, if there is no more than one.
    pub(super) fn single(&self) -> Option<Block> {
        match (&self.blocks[..], &self.loops[..]) {
            ([], _) => Some(Block { start: 0, len: 0 }),
            ([block], []) => Some(*block),
            _ => None,
        }
    }

    /// Returns the number of blocks, or `usize::MAX` if there are more.
    pub(super) fn count(&self) -> usize {
        count(&self.blocks, &self.loops)
    }

    /// Calls `run` with each block, in order, until it breaks.
    #[inline]
    pub(super) fn each(&self, mut run: impl FnMut(Block) -> ControlFlow<()>) {
        let _ = each(&self.blocks, &self.loops, 0, &mut run);
    }
}

fn count(blocks: &[Block], loops: &[Loop]) -> usize {
    let counts = loops.iter().map(|each| each.count);
    counts.fold(blocks.len(), usize::saturating_mul)
}

/// Calls `run` with each block of the loops. No sum overflows, because all are at most the span.
#[inline]
fn each(
    blocks: &[Block],
    loops: &[Loop],
    base: usize,
    run: &mut impl FnMut(Block) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut run_at = |base: usize| {
        blocks.iter().try_for_each(|block| {
            let start = base.wrapping_add(block.start);
            run(Block { start, ..*block })
        })
    };
    let starts = |each: &Loop, base: usize| {
        let extent = each.extent;
        (0..each.count).map(move |index| base.wrapping_add(index.wrapping_mul(extent)))
    };
    match loops {
        [] => run_at(base),
        [only] => starts(only, base).try_for_each(run_at),
        [outer, inner @ ..] => {
            starts(outer, base).try_for_each(|base| each_of(blocks, inner, base, run))
        }
    }
}

/// The recursive call of [`each`], which can't be inlined.
fn each_of(
    blocks: &[Block],
    loops: &[Loop],
    base: usize,
    run: &mut impl FnMut(Block) -> ControlFlow<()>,
) -> ControlFlow<()> {
    each(blocks, loops, base, run)
}

/// Returns an error if blocks overlap, or if that can't be excluded.
///
/// If each loop, from the smallest extent to the largest, moves the elements of the loops before it
/// at least by their width, no two repetitions overlap. This holds for the columns and tiles of a
/// matrix. Otherwise all blocks are compared.
fn overlap(blocks: &[Block], loops: &[Loop]) -> Option<LayoutError> {
    let Some(mut width) = width_without_overlap(blocks.to_vec()) else {
        return Some(LayoutError::Overlap);
    };
    let mut by_extent = loops.to_vec();
    by_extent.sort_unstable_by_key(|each| each.extent);
    // From the shortest loop to the longest: if each repetition begins behind all that the shorter
    // loops cover, nothing overlaps.
    let are_apart = by_extent.iter().all(|each| {
        let is_apart = each.extent >= width;
        let last = each.count.saturating_sub(1).saturating_mul(each.extent);
        width = width.saturating_add(last);
        is_apart
    });
    if are_apart {
        return None;
    }
    let total = count(blocks, loops);
    // The layout may describe any number of blocks in a few words, so the exact check is limited.
    if total > CHECKED_BLOCKS {
        return Some(LayoutError::Unchecked {
            blocks: total,
            limit: CHECKED_BLOCKS,
        });
    }
    let mut all = Vec::with_capacity(total);
    let _ = each(blocks, loops, 0, &mut |block| {
        all.push(block);
        ControlFlow::Continue(())
    });
    match width_without_overlap(all) {
        Some(_) => None,
        None => Some(LayoutError::Overlap),
    }
}

/// Returns the number of elements from the first block to the last, or `None` if two overlap.
fn width_without_overlap(mut blocks: Vec<Block>) -> Option<usize> {
    blocks.sort_unstable_by_key(|block| block.start);
    let first = blocks.first().map_or(0, |block| block.start);
    let mut end = first;
    for block in &blocks {
        if block.start < end {
            return None;
        }
        end = block.start.saturating_add(block.len);
    }
    Some(end.saturating_sub(first))
}
