//! The interfaces of the hosts.

use jstream_rmi::{Remote, remote};

/// A text that stays on its host.
#[remote]
pub(crate) trait Book {
    fn pages(&self) -> u32;
    fn page(&self, number: u32) -> Option<String>;
}

#[remote]
pub(crate) trait Library {
    fn open(&self, title: &str) -> Option<Remote<dyn Book>>;
}

/// Reads books on any host.
#[remote]
pub(crate) trait Reader {
    fn longest_word(&self, book: Remote<dyn Book>) -> Result<String, String>;
}

pub(crate) struct Printed(pub(crate) Vec<&'static str>);

impl Book for Printed {
    fn pages(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    fn page(&self, number: u32) -> Option<String> {
        let page = self.0.get(usize::try_from(number).ok()?)?;
        Some((*page).to_owned())
    }
}

pub(crate) struct Shelf(pub(crate) Remote<dyn Book>);

impl Library for Shelf {
    fn open(&self, title: &str) -> Option<Remote<dyn Book>> {
        (title == "The Net").then(|| self.0.clone())
    }
}

pub(crate) struct Eager;

impl Reader for Eager {
    fn longest_word(&self, book: Remote<dyn Book>) -> Result<String, String> {
        let failed = |error: jstream_rmi::CallError| error.to_string();
        let pages = *book.pages().wait().map_err(failed)?.get();
        let mut longest = String::new();
        for number in 0..pages {
            let page = book.page(number).wait().map_err(failed)?;
            let words = page.get().unwrap_or_default().split_whitespace();
            for word in words.filter(|word| word.len() > 3) {
                if word.len() > longest.len() {
                    longest = word.to_owned();
                }
            }
        }
        Ok(longest)
    }
}
