//! Large arrays in large pages.
//!
//! Linux gives memory out in pages of 4 KiB, each with an interruption when it is first touched, and
//! finds them by tables that do not fit into a processor. Where it is asked to, it uses pages of 2 MiB:
//! a fifth of the time of counting words, and a third of finding pairs of them, went into small ones.

/// From which size on it is worth asking, in bytes.
const LARGE: usize = 4 << 20;

/// `n` copies of a value.
#[must_use]
pub fn filled<T: Clone>(value: T, n: usize) -> Vec<T> {
    let mut memory = Vec::with_capacity(n);
    advise(&memory);
    memory.resize(n, value);
    memory
}

/// Make room for `more` in memory that grows.
#[inline(always)]
pub fn reserve<T>(memory: &mut Vec<T>, more: usize) {
    if memory.capacity() - memory.len() < more {
        grow(memory, more);
    }
}

#[cold]
fn grow<T>(memory: &mut Vec<T>, more: usize) {
    memory.reserve(more.max(memory.len()));
    advise(memory);
}

/// Ask for the memory that a vector holds to be in large pages.
fn advise<T>(memory: &Vec<T>) {
    let bytes = memory.capacity() * size_of::<T>();
    if bytes < LARGE {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let from = memory.as_ptr().addr().next_multiple_of(PAGE);
        let to = (memory.as_ptr().addr() + bytes) / PAGE * PAGE;
        let start = memory.as_ptr().cast::<u8>().wrapping_add(from - memory.as_ptr().addr()).cast_mut();
        // SAFETY: the pages are ours, and this advice changes neither what they hold nor who may use them.
        // Whether it is followed is no matter.
        #[allow(unsafe_code)]
        unsafe {
            libc::madvise(start.cast(), to - from, libc::MADV_HUGEPAGE);
        }
    }
}
