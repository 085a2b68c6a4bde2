//! What all maps have, and what all sets have.

/// For a set whose elements are the slice `elements`.
macro_rules! set {
    ($set:ident) => {
        impl<'b, K> $set<'b, K> {
            /// How many elements there are.
            #[inline]
            #[must_use]
            pub const fn len(&self) -> usize {
                self.elements.len()
            }

            /// Whether there are none.
            #[inline]
            #[must_use]
            pub const fn is_empty(&self) -> bool {
                self.elements.is_empty()
            }

            /// The elements in order.
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

/// For a map that has the set `keys`, and the slice `values` beside it.
macro_rules! map {
    ($map:ident, $set:ident) => {
        impl<'b, K, V> $map<'b, K, V> {
            /// A map of keys, and the values beside them.
            #[inline]
            pub(crate) const fn new(keys: $set<'b, K>, values: &'b [V]) -> Self {
                Self { keys, values }
            }

            /// Keys and values, as many of both: a message may have more of one.
            #[inline]
            fn columns(&self) -> (&'b [K], &'b [V]) {
                let (keys, values) = (self.keys.elements, self.values);
                (
                    keys.get(..values.len()).unwrap_or(keys),
                    values.get(..keys.len()).unwrap_or(values),
                )
            }

            /// How many entries there are.
            #[inline]
            #[must_use]
            pub fn len(&self) -> usize {
                self.keys.len().min(self.values.len())
            }

            /// Whether there are none.
            #[inline]
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The entries in order.
            #[inline]
            pub fn iter(&self) -> Iter<'b, K, V> {
                Iter::new(self.columns())
            }

            /// The keys in order.
            #[inline]
            pub fn keys(&self) -> slice::Iter<'b, K> {
                self.columns().0.iter()
            }

            /// The values in the order of their keys.
            #[inline]
            pub fn values(&self) -> slice::Iter<'b, V> {
                self.columns().1.iter()
            }

            /// The entry at a place in the order.
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
                Self::new($set::default(), &[])
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

/// For a set in which elements are found by their hash.
macro_rules! hashed_set {
    ($set:ident) => {
        impl<'b, K> $set<'b, K> {
            /// The element that equals `key`.
            #[inline]
            pub fn get<Q>(&self, key: &Q) -> Option<&'b K>
            where
                K: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                self.elements.get(self.place(key)?)
            }

            /// Whether there is an element that equals `key`.
            #[inline]
            pub fn contains<Q>(&self, key: &Q) -> bool
            where
                K: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                self.get(key).is_some()
            }
        }

        /// Sets are equal that have the same elements, in whatever order.
        ///
        /// The sets are compared element by element, and if these differ, each element is looked up in
        /// the other set. See [the limits of lookups](crate::map#what-is-not-checked).
        impl<K: Hash + Eq> PartialEq for $set<'_, K> {
            fn eq(&self, other: &Self) -> bool {
                // A forged set can have elements twice, so each side is looked up in the other one.
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

/// For a map in which keys are found by their hash.
macro_rules! hashed_map {
    ($map:ident) => {
        impl<'b, K, V> $map<'b, K, V> {
            /// The value of the key that equals `key`.
            #[inline]
            pub fn get<Q>(&self, key: &Q) -> Option<&'b V>
            where
                K: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                self.values.get(self.keys.place(key)?)
            }

            /// The key that equals `key`, and its value.
            #[inline]
            pub fn get_key_value<Q>(&self, key: &Q) -> Option<(&'b K, &'b V)>
            where
                K: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                self.entry(self.keys.place(key)?)
            }

            /// Whether there is a key that equals `key`.
            #[inline]
            pub fn contains_key<Q>(&self, key: &Q) -> bool
            where
                K: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                self.get(key).is_some()
            }
        }

        /// Maps are equal that have equal values for the same keys, in whatever order.
        ///
        /// The maps are compared entry by entry, and if their keys differ, each key is looked up in the
        /// other map. See [the limits of lookups](crate::map#what-is-not-checked).
        impl<K: Hash + Eq, V: PartialEq> PartialEq for $map<'_, K, V> {
            fn eq(&self, other: &Self) -> bool {
                let ((keys, values), (other_keys, other_values)) =
                    (self.columns(), other.columns());
                if keys == other_keys {
                    return values == other_values;
                }
                // A forged map can have keys twice, so each side is looked up in the other one.
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
