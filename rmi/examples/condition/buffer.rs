//! The remote interface and its implementation.

use std::collections::VecDeque;

use jstream_rmi::{Guarded, remote};

/// A bounded buffer.
#[remote]
pub(crate) trait Buffer {
    /// Adds a word. Waits until there is room.
    async fn put(&self, word: &str);

    /// Removes the first word. Waits until there is one.
    async fn take(&self) -> String;

    fn len(&self) -> u64;
}

pub(crate) struct Bounded {
    places: usize,
    words: Guarded<VecDeque<String>>,
}

impl Bounded {
    pub(crate) fn of(places: usize) -> Self {
        Self {
            places,
            words: Guarded::default(),
        }
    }
}

#[remote]
impl Buffer for Bounded {
    async fn put(&self, word: &str) {
        let room = |words: &VecDeque<String>| words.len() < self.places;
        // Dropping the guard at the end of this statement makes waiting `take` calls check their
        // condition again.
        self.words.when(room).await.push_back(word.to_owned());
    }

    async fn take(&self) -> String {
        let mut words = self.words.when(|words| !words.is_empty()).await;
        words.pop_front().unwrap_or_default()
    }

    fn len(&self) -> u64 {
        self.words.lock().len() as u64
    }
}
