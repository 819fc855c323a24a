//! Memory for a process that lives a millisecond: handed out in a row and hardly ever taken back. An eighth of the work of an
//! event was the allocator's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicUsize, Ordering};

/// All that most events ever need. It costs nothing where it is not touched.
const SIZE: usize = 1 << 20;

/// What is larger is worth giving back.
const LARGEST: usize = SIZE / 8;

/// Where blocks begin at least: copying a short text to an odd address takes musl twice as long.
const WORD: usize = size_of::<usize>();

thread_local! {
    /// Its address tells this thread from all others. It needs neither memory of the allocator's nor a farewell.
    static HERE: Cell<u8> = const { Cell::new(0) };
}

fn this_thread() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// Memory is taken from a fixed piece first, by the one thread that began with it, which therefore needs no exchange with
/// others; what does not fit, and what other threads need, comes from the system.
#[derive(Debug)]
pub struct Arena {
    /// The thread that takes and gives back, 0 before the first.
    owner: AtomicUsize,
    used: AtomicUsize,
    memory: UnsafeCell<[u8; SIZE]>,
}

// SAFETY: only the owning thread moves `used`, which parts the memory: every byte below it was handed out once and not given
// back since. Whoever holds a block may use it in any thread; the arena itself reads and writes only what its caller owns.
// A thread takes the place of an owner only if it has the address of its `HERE`, so the other is no more.
unsafe impl Sync for Arena {}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

impl Arena {
    /// An arena with nothing taken from it.
    #[must_use]
    pub const fn new() -> Arena {
        Arena { owner: AtomicUsize::new(0), used: AtomicUsize::new(0), memory: UnsafeCell::new([0; SIZE]) }
    }

    fn start(&self) -> usize {
        self.memory.get().addr()
    }

    /// Where a block of ours begins, counted from the start; none for a block of the system.
    fn offset(&self, block: *mut u8) -> Option<usize> {
        block.addr().checked_sub(self.start()).filter(|offset| *offset < SIZE)
    }

    /// Whether this thread is the one; the first to ask becomes it.
    fn is_owner(&self) -> bool {
        let here = this_thread();
        match self.owner.load(Ordering::Relaxed) {
            0 => self.owner.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed).is_ok(),
            owner => owner == here,
        }
    }

    fn take(&self, layout: Layout) -> Option<*mut u8> {
        if layout.size() > LARGEST || !self.is_owner() {
            return None;
        }
        let start = self.start();
        let used = start + self.used.load(Ordering::Relaxed);
        let from = used.checked_next_multiple_of(layout.align().max(WORD))? - start;
        let to = from.checked_add(layout.size()).filter(|to| *to <= SIZE)?;
        self.used.store(to, Ordering::Relaxed);
        Some(self.memory.get().cast::<u8>().wrapping_add(from))
    }

    /// Moves the end of the last block; whether it was the last, and ours to move.
    fn move_end(&self, from: usize, to: usize) -> bool {
        let can = to <= SIZE && self.used.load(Ordering::Relaxed) == from && self.is_owner();
        if can {
            self.used.store(to, Ordering::Relaxed);
        }
        can
    }
}

// Not inlined, or every place that allocates would carry all of it.
// SAFETY: blocks are aligned and sized as asked, do not overlap (see `take`), and stay valid until they are given back; blocks
// of the system go back to the system, told apart by their address.
unsafe impl GlobalAlloc for Arena {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, which is the system's too.
        self.take(layout).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some(block) => {
                // SAFETY: the block was just taken for `layout`. It may have been given back before, so it is not zero.
                unsafe { block.write_bytes(0, layout.size()) };
                block
            }
            // SAFETY: as above.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match self.offset(block) {
            Some(from) => {
                self.move_end(from + layout.size(), from);
            }
            // SAFETY: it is not ours, so it came from the system with this layout.
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(from) = self.offset(block) else {
            // SAFETY: it is not ours, so it came from the system with this layout.
            return unsafe { System.realloc(block, layout, size) };
        };
        if size <= LARGEST && self.move_end(from + layout.size(), from + size) {
            return block;
        }
        if size <= layout.size() {
            return block;
        }
        // SAFETY: the caller promises that `size` fits an allocation of this alignment.
        let larger = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !larger.is_null() {
            // SAFETY: both are valid for the old size, and the new block overlaps with nothing that is in use.
            unsafe { std::ptr::copy_nonoverlapping(block, larger, layout.size()) };
        }
        larger
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug)]
    enum Act {
        Take(usize, u32),
        Zeroed(usize, u32),
        Give(usize),
        Resize(usize, usize),
    }

    fn acts() -> impl proptest::strategy::Strategy<Value = Vec<Act>> {
        use proptest::prelude::*;
        let size = prop_oneof![4 => 1usize..200, 1 => 1usize..(LARGEST * 2)];
        let act = prop_oneof![
            (size.clone(), 0u32..7).prop_map(|(size, align)| Act::Take(size, align)),
            (size.clone(), 0u32..7).prop_map(|(size, align)| Act::Zeroed(size, align)),
            (0usize..50).prop_map(Act::Give),
            ((0usize..50), size).prop_map(|(which, size)| Act::Resize(which, size)),
        ];
        proptest::collection::vec(act, 1..120)
    }

    /// An arena in a box, made there: it is too large for the stack.
    fn boxed() -> Box<Arena> {
        let layout = Layout::new::<Arena>();
        // SAFETY: an arena of zeros is one with nothing taken from it, and the memory is of its layout.
        unsafe { Box::from_raw(System.alloc_zeroed(layout).cast::<Arena>()) }
    }

    struct Block {
        at: *mut u8,
        layout: Layout,
        mark: u8,
    }

    impl Block {
        fn fill(&self) {
            // SAFETY: the block is ours and this long.
            unsafe { self.at.write_bytes(self.mark, self.layout.size()) };
        }

        fn is_whole(&self, length: usize) -> bool {
            // SAFETY: the block is ours and at least this long, and was filled.
            unsafe { std::slice::from_raw_parts(self.at, length) }.iter().all(|byte| *byte == self.mark)
        }
    }

    proptest::proptest! {
        #[test]
        fn no_block_ever_touches_another(acts in acts()) {
            let arena = boxed();
            let mut blocks: Vec<Block> = Vec::new();
            for (number, act) in acts.into_iter().enumerate() {
                let mark = (number % 251) as u8 + 1;
                match act {
                    Act::Take(size, align) | Act::Zeroed(size, align) => {
                        let layout = Layout::from_size_align(size, 1 << align).unwrap();
                        let zeroed = matches!(act, Act::Zeroed(..));
                        // SAFETY: the size is not zero.
                        let at = unsafe { if zeroed { arena.alloc_zeroed(layout) } else { arena.alloc(layout) } };
                        proptest::prop_assert!(!at.is_null() && at.addr() % layout.align() == 0);
                        if zeroed {
                            let fresh = Block { at, layout, mark: 0 };
                            proptest::prop_assert!(fresh.is_whole(size));
                        }
                        let block = Block { at, layout, mark };
                        block.fill();
                        blocks.push(block);
                    }
                    Act::Give(which) if !blocks.is_empty() => {
                        let block = blocks.remove(which % blocks.len());
                        proptest::prop_assert!(block.is_whole(block.layout.size()));
                        // SAFETY: it came from this arena with this layout.
                        unsafe { arena.dealloc(block.at, block.layout) };
                    }
                    Act::Resize(which, size) if !blocks.is_empty() => {
                        let index = which % blocks.len();
                        let Block { at, layout, mark } = blocks.remove(index);
                        // SAFETY: it came from this arena with this layout, and the size is not zero.
                        let at = unsafe { arena.realloc(at, layout, size) };
                        let block = Block { at, layout: Layout::from_size_align(size, layout.align()).unwrap(), mark };
                        proptest::prop_assert!(at.addr() % layout.align() == 0);
                        proptest::prop_assert!(block.is_whole(size.min(layout.size())));
                        block.fill();
                        blocks.push(block);
                    }
                    Act::Give(_) | Act::Resize(..) => {}
                }
            }
            for block in &blocks {
                proptest::prop_assert!(block.is_whole(block.layout.size()));
                // SAFETY: it came from this arena with this layout.
                unsafe { arena.dealloc(block.at, block.layout) };
            }
        }
    }

    #[test]
    fn threads_get_blocks_of_their_own() {
        static ARENA: Arena = Arena::new();
        let work = |mark: u8| {
            for _ in 0..2_000 {
                let layout = Layout::from_size_align(64, 8).unwrap();
                // SAFETY: the size is not zero.
                let block = Block { at: unsafe { ARENA.alloc(layout) }, layout, mark };
                block.fill();
                std::thread::yield_now();
                assert!(block.is_whole(64));
                // SAFETY: it came from this arena with this layout.
                unsafe { ARENA.dealloc(block.at, layout) };
            }
        };
        std::thread::scope(|scope| {
            for mark in 1..=4 {
                scope.spawn(move || work(mark));
            }
        });
    }
}
