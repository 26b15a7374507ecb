//! What the processor at hand can do better than the oldest one we support.

/// Whether this processor has the instructions that `at_its_best` compiles for.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn is_current() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Compile a function twice, for any processor and for current ones, and choose when it is called.
///
/// What it calls must be `#[inline(always)]` to gain. Results are the same either way; the gain is in
/// finding and counting bits, and in vector code without copies.
macro_rules! at_its_best {
    ($(#[$about:meta])* $seen:vis fn $name:ident$(<$life:lifetime>)?($($arg:ident: $kind:ty),* $(,)?) $(-> $out:ty)? $body:block) => {
        $(#[$about])*
        $seen fn $name$(<$life>)?($($arg: $kind),*) $(-> $out)? {
            #[inline(always)]
            fn any$(<$life>)?($($arg: $kind),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn current$(<$life>)?($($arg: $kind),*) $(-> $out)? {
                    any($($arg),*)
                }
                if $crate::processor::is_current() {
                    // SAFETY: every feature that `current` is compiled for has just been found.
                    #[allow(unsafe_code)]
                    return unsafe { current($($arg),*) };
                }
            }
            any($($arg),*)
        }
    };
}
pub(crate) use at_its_best;

/// Ask for `memory[at]` to be brought near; out of range is no harm.
#[inline(always)]
pub fn prefetch<T>(memory: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(place) = memory.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads and writes nothing and never faults, and `place` is valid.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (memory, at);
}

/// Ask for the beginning of a text, which is read next: documents lie anywhere in memory.
pub fn prefetch_text(text: &str) {
    for at in (0..text.len().min(4096)).step_by(64) {
        prefetch(text.as_bytes(), at);
    }
}
