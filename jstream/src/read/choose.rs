//! Branchless selection.
//!
//! Decision 046 has the reasons.

/// Returns `a` if `first` is true, otherwise `b`. If the condition is unpredictable, a branch
/// misprediction would cost more than the rest of the check of a small value, and the compiler
/// emits a branch however the expression is written.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(crate) fn choose<T>(first: bool, a: *mut T, b: *mut T) -> *mut T {
    let mut chosen = b;
    #[expect(
        clippy::pointers_in_nomem_asm_block,
        reason = "they are passed on, not followed"
    )]
    // SAFETY: the code does the same as `if first { chosen = a }`. It touches no memory, and it
    // changes no state but the flags, which need not be preserved.
    unsafe {
        std::arch::asm!(
            "test {first:e}, {first:e}",
            "cmovne {chosen}, {a}",
            first = in(reg) u32::from(first),
            a = in(reg) a,
            chosen = inout(reg) chosen,
            options(pure, nomem, nostack),
        );
    };
    chosen
}

/// Returns `a` if `first` is true, otherwise `b`.
#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline(always)]
pub(crate) fn choose<T>(first: bool, a: *mut T, b: *mut T) -> *mut T {
    if first { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_one_asked_for() {
        let (mut a, mut b) = (1, 2);
        let (a, b) = (&raw mut a, &raw mut b);
        assert_eq!(choose(true, a, b), a);
        assert_eq!(choose(false, a, b), b);
    }
}
