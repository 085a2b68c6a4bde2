//! Methods and traits common to all maps, and to all sets.

/// Implements a set whose elements are the slice `elements`.
macro_rules! set {
    ($set:ident) => {
        impl<'b, K> $set<'b, K> {
            /// Returns the number of elements.
            #[inline]
            #[must_use]
            pub const fn len(&self) -> usize {
                self.elements.len()
            }

            /// Returns true if there are no elements.
            #[inline]
            #[must_use]
            pub const fn is_empty(&self) -> bool {
                self.elements.is_empty()
            }

            /// Returns an iterator over the elements, in order.
            #[inline]
            pub fn iter(&self) -> slice::Iter<'b, K> {
                self.elements.iter()
            }
        }

        impl<K> Clone for $set<'_, K> {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<K> Copy for $set<'_, K> {}

        impl<K: fmt::Debug> fmt::Debug for $set<'_, K> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_set().entries(self.elements).finish()
            }
        }

        impl<'b, K> IntoIterator for &$set<'b, K> {
            type Item = &'b K;
            type IntoIter = slice::Iter<'b, K>;

            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }

        impl<'b, K> IntoIterator for $set<'b, K> {
            type Item = &'b K;
            type IntoIter = slice::Iter<'b, K>;

            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }
    };
}

/// Implements a map with the set `keys` and the slice `values`.
macro_rules! map {
    ($map:ident, $set:ident) => {
        impl<'b, K, V> $map<'b, K, V> {
            /// Returns the slots of the keys and of the values.
            #[allow(dead_code, reason = "indexed maps are written behind a feature only")]
            #[inline(always)]
            pub(crate) const fn slots(slot: *mut Self) -> (*mut $set<'b, K>, *mut &'b [V]) {
                let keys = slot.wrapping_byte_add(std::mem::offset_of!(Self, keys));
                let values = slot.wrapping_byte_add(std::mem::offset_of!(Self, values));
                (keys.cast(), values.cast())
            }

            /// Returns keys and values, truncated to the same length, because the columns of a
            /// forged message may differ in length.
            #[inline]
            fn columns(&self) -> (&'b [K], &'b [V]) {
                let (keys, values) = (self.keys.elements, self.values);
                (
                    keys.get(..values.len()).unwrap_or(keys),
                    values.get(..keys.len()).unwrap_or(values),
                )
            }

            /// Returns the number of entries.
            #[inline]
            #[must_use]
            pub fn len(&self) -> usize {
                self.keys.len().min(self.values.len())
            }

            /// Returns true if there are no entries.
            #[inline]
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns an iterator over the entries, in order.
            #[inline]
            pub fn iter(&self) -> Iter<'b, K, V> {
                Iter::new(self.columns())
            }

            /// Returns an iterator over the keys, in order.
            #[inline]
            pub fn keys(&self) -> slice::Iter<'b, K> {
                self.columns().0.iter()
            }

            /// Returns an iterator over the values, in the order of their keys.
            #[inline]
            pub fn values(&self) -> slice::Iter<'b, V> {
                self.columns().1.iter()
            }

            /// Returns the entry at an index.
            #[inline]
            fn entry(&self, at: usize) -> Option<(&'b K, &'b V)> {
                Some((self.keys.elements.get(at)?, self.values.get(at)?))
            }
        }

        impl<K, V> Clone for $map<'_, K, V> {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<K, V> Copy for $map<'_, K, V> {}

        impl<K, V> Default for $map<'_, K, V> {
            fn default() -> Self {
                Self {
                    keys: $set::default(),
                    values: &[],
                }
            }
        }

        impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for $map<'_, K, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_map().entries(self.iter()).finish()
            }
        }

        impl<'b, K, V> IntoIterator for &$map<'b, K, V> {
            type Item = (&'b K, &'b V);
            type IntoIter = Iter<'b, K, V>;

            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }

        impl<'b, K, V> IntoIterator for $map<'b, K, V> {
            type Item = (&'b K, &'b V);
            type IntoIter = Iter<'b, K, V>;

            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }
    };
}

/// Implements lookup by hash in a set.
macro_rules! hashed_set {
    ($set:ident) => {
        impl<'b, K> $set<'b, K> {
            /// Returns the element equal to `key`.
            pub fn get<Q>(&self, key: &Q) -> Option<&'b K>
            where
                K: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                self.elements.get(self.position(key)?)
            }

            /// Returns true if there is an element equal to `key`.
            pub fn contains<Q>(&self, key: &Q) -> bool
            where
                K: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                self.get(key).is_some()
            }
        }

        /// Compares the elements of two sets, regardless of their order.
        ///
        /// The sets are first compared element by element. If these differ, each element is looked
        /// up in the other set. See [the limits of lookups](crate::map#what-is-not-checked).
        impl<K: Hash + Eq> PartialEq for $set<'_, K> {
            fn eq(&self, other: &Self) -> bool {
                // A forged set may contain an element twice, so each side is looked up in the other
                // one.
                let is_within = |one: &Self, other: &Self| {
                    other.is_searchable() && one.iter().all(|key| other.contains(key))
                };
                self.len() == other.len()
                    && (self.elements == other.elements
                        || (is_within(self, other) && is_within(other, self)))
            }
        }

        impl<K: Hash + Eq> Eq for $set<'_, K> {}
    };
}

/// Implements lookup by hash in a map.
macro_rules! hashed_map {
    ($map:ident) => {
        impl<'b, K, V> $map<'b, K, V> {
            /// Returns the value of `key`.
            pub fn get<Q>(&self, key: &Q) -> Option<&'b V>
            where
                K: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                self.values.get(self.keys.position(key)?)
            }

            /// Returns the key equal to `key`, and its value.
            pub fn get_key_value<Q>(&self, key: &Q) -> Option<(&'b K, &'b V)>
            where
                K: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                self.entry(self.keys.position(key)?)
            }

            /// Returns true if there is a key equal to `key`.
            pub fn contains_key<Q>(&self, key: &Q) -> bool
            where
                K: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                self.get(key).is_some()
            }
        }

        /// Compares the entries of two maps, regardless of their order.
        ///
        /// The maps are first compared entry by entry. If their keys differ, each key is looked up
        /// in the other map. See [the limits of lookups](crate::map#what-is-not-checked).
        impl<K: Hash + Eq, V: PartialEq> PartialEq for $map<'_, K, V> {
            fn eq(&self, other: &Self) -> bool {
                let ((keys, values), (other_keys, other_values)) =
                    (self.columns(), other.columns());
                if keys == other_keys {
                    return values == other_values;
                }
                // A forged map may contain a key twice, so each side is looked up in the other one.
                let is_within = |one: &Self, other: &Self| {
                    let mut entries = one.iter();
                    other.keys.is_searchable()
                        && entries.all(|(key, value)| other.get(key) == Some(value))
                };
                self.len() == other.len() && is_within(self, other) && is_within(other, self)
            }
        }

        impl<K: Hash + Eq, V: Eq> Eq for $map<'_, K, V> {}
    };
}

pub(super) use {hashed_map, hashed_set, map, set};
