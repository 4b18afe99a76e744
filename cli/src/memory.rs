//! The one thing that is set of the allocator: when freed memory goes back to the system.
//!
//! The allocator keeps what was freed for a second, which is longer than most runs take. A check
//! parses every source, each with a syntax tree of its own size, so that what is kept and never
//! fits again was a third to a half of its peak. What this module refuses to do: it decides for
//! no other command; those were measured with the allocator's own settings.

use std::ffi::{c_int, c_long};

/// `mi_option_purge_delay` of mimalloc 2 and 3.
const PURGE_DELAY: c_int = 15;

#[expect(unsafe_code, reason = "functions of the allocator, which is written in C")]
mod c {
    use super::{c_int, c_long};

    unsafe extern "C" {
        fn mi_option_get(option: c_int) -> c_long;
        fn mi_option_set(option: c_int, value: c_long);
    }

    pub(super) fn get(option: c_int) -> c_long {
        // SAFETY: reads one number of a table; an option out of its range is answered with 0.
        unsafe { mi_option_get(option) }
    }

    pub(super) fn set(option: c_int, value: c_long) {
        // SAFETY: writes one number of the same table, and ignores an option out of its range.
        unsafe { mi_option_set(option, value) }
    }
}

/// What is freed from now on goes back to the system at once.
pub(crate) fn give_back_at_once() {
    // Another release may number its options otherwise; then nothing is set.
    if matches!(c::get(PURGE_DELAY), 10 | 1_000) {
        c::set(PURGE_DELAY, 0);
    }
}

/// What is freed from now on stays: the process is about to end, which gives all back in one go and
/// not in fifty calls.
pub(crate) fn give_back_at_the_end() {
    if matches!(c::get(PURGE_DELAY), 0 | 10 | 1_000) {
        c::set(PURGE_DELAY, -1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_the_one_that_is_meant() {
        assert!(matches!(c::get(PURGE_DELAY), 10 | 1_000), "{}", c::get(PURGE_DELAY));
        give_back_at_once();
        assert_eq!(c::get(PURGE_DELAY), 0);
        give_back_at_the_end();
        assert_eq!(c::get(PURGE_DELAY), -1);
    }
}
