//! `dlmalloc` behind a lock of std. The mutex of the C library that it brings along was a seventh of the time that a long shell
//! command takes.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dlmalloc::Dlmalloc;

/// How many bytes the system is asked for at least: one call for most events.
const FROM_SYSTEM: usize = 512 << 10;

pub(crate) struct Heap(Mutex<Dlmalloc>);

impl Heap {
    pub(crate) const fn new() -> Heap {
        let mut heap = Dlmalloc::new();
        heap.set_granularity(FROM_SYSTEM);
        Heap(Mutex::new(heap))
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Dlmalloc> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: each call goes to `dlmalloc`, whose contracts are the same.
#[expect(unsafe_code, reason = "the trait is unsafe")]
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for the caller.
        unsafe { self.lock().malloc(layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for the caller.
        unsafe { self.lock().calloc(layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as for the caller.
        unsafe { self.lock().free(pointer, layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for the caller.
        unsafe { self.lock().realloc(pointer, layout.size(), layout.align(), size) }
    }
}
