//! Work lists that serve one message after another.

/// Empties a list. It keeps room for `most` elements, or for as many as it has.
#[inline(always)]
pub(crate) fn clear<T>(list: &mut Vec<T>, most: usize) {
    let had = list.len();
    clear_after(list, most, had);
}

/// Empties a list that had `had` elements at a time. It keeps room for `most`, or for as many: what
/// one message needs the next may need too, and is given back when it didn't.
#[inline(always)]
pub(crate) fn clear_after<T>(list: &mut Vec<T>, most: usize, had: usize) {
    list.clear();
    if list.capacity() > most {
        list.shrink_to(most.max(had));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_needed_twice_is_kept() {
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
