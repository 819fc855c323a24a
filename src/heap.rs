//! `dlmalloc` behind a lock of one atomic instruction. The mutex of the C library that it brings along was a seventh of the time
//! that a long shell command takes.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use dlmalloc::Dlmalloc;

/// How many bytes the system is asked for at least: one call for most events.
const FROM_SYSTEM: usize = 512 << 10;

pub(crate) struct Heap {
    is_locked: AtomicBool,
    inner: UnsafeCell<Dlmalloc>,
}

// SAFETY: `inner` is used in `with` alone, by one thread at a time.
#[expect(unsafe_code, reason = "an allocator is shared by all threads")]
unsafe impl Sync for Heap {}

impl Heap {
    pub(crate) const fn new() -> Heap {
        let mut heap = Dlmalloc::new();
        heap.set_granularity(FROM_SYSTEM);
        Heap { is_locked: AtomicBool::new(false), inner: UnsafeCell::new(heap) }
    }

    /// A hook has one thread, so the lock is free. Elsewhere it is held for some nanoseconds: waiting is no matter of sleeping.
    #[inline]
    fn with<T>(&self, work: impl FnOnce(&mut Dlmalloc) -> T) -> T {
        while self.is_locked.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        // SAFETY: whoever holds the lock is alone, and `dlmalloc` does not call back.
        #[expect(unsafe_code, reason = "a std Mutex takes a second atomic instruction to unlock")]
        let result = work(unsafe { &mut *self.inner.get() });
        self.is_locked.store(false, Ordering::Release);
        result
    }
}

// SAFETY: each call goes to `dlmalloc`, whose contracts are the same.
#[expect(unsafe_code, reason = "the trait is unsafe")]
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for the caller.
        self.with(|heap| unsafe { heap.malloc(layout.size(), layout.align()) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for the caller.
        self.with(|heap| unsafe { heap.calloc(layout.size(), layout.align()) })
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, _: Layout) {
        // SAFETY: as for the caller.
        self.with(|heap| unsafe { heap.c_free(pointer) })
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for the caller.
        self.with(|heap| unsafe { heap.realloc(pointer, layout.size(), layout.align(), size) })
    }
}
