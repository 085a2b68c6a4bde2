//! The interface, and the object behind it.

use std::collections::VecDeque;

use jstream_rmi::{Guarded, remote};

/// A buffer of few places.
#[remote]
pub(crate) trait Buffer {
    /// Waits until there is room.
    async fn put(&self, word: &str);

    /// Waits until there is something.
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
        // Whoever waits to take looks again when the words are let go of.
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
