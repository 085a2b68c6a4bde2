//! Work lists that are reused for one message after another.

/// Clears a list. The list keeps capacity for `most` elements, or for its current length if that is
/// larger.
#[inline(always)]
pub(crate) fn clear<T>(list: &mut Vec<T>, most: usize) {
    let had = list.len();
    clear_after(list, most, had);
}

/// Clears a list that held up to `had` elements. The list keeps capacity for `most` elements, or
/// for `had` if that is larger, because the next message may need as much as this one. Any capacity
/// beyond that is freed.
#[inline(always)]
pub(crate) fn clear_after<T>(list: &mut Vec<T>, most: usize, had: usize) {
    list.clear();
    if list.capacity() > most {
        shrink(list, most.max(had));
    }
}

/// Kept out of line because lists are cleared after each message.
#[cold]
fn shrink<T>(list: &mut Vec<T>, most: usize) {
    list.shrink_to(most);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_capacity_that_was_needed_twice() {
        let mut list = Vec::new();
        for _ in 0..2 {
            list.extend(0..1000);
            clear(&mut list, 10);
            assert!(list.is_empty() && list.capacity() >= 1000);
        }
        list.push(0);
        clear(&mut list, 10);
        assert!(list.capacity() >= 10 && list.capacity() < 1000);
    }
}
