//! A pipeline of typed channels over shared memory, between two processes. One process generates
//! texts. The threads of the other one count the words of each text and return the results.
//!
//! `channels [SCHEME]`: with `uds`, the channels use Unix sockets.

use std::error::Error;
use std::process::{Child, Command};
use std::{env, process, thread};

use jstream::Transportable;
use jstream_transport::channel;
use jstream_transport::channel::{Receiver, Sender};

type Failure = Box<dyn Error + Send + Sync>;

/// A text, sent to the workers.
#[derive(Transportable)]
struct Page {
    number: u64,
    text: String,
}

/// The result for a page, returned by a worker.
#[derive(Transportable)]
struct Words {
    number: u64,
    count: u64,
    longest: String,
}

const PAGES: u64 = 1000;
const WORKERS: usize = 2;

/// Processes pages until the channel closes. The texts are read in place in the receive buffers.
fn work(pages: &Receiver<Page>, words: &Sender<Words>) -> Result<(), Failure> {
    for page in pages {
        let page = page?;
        let page = page.get();
        let longest = page.text.split_whitespace().max_by_key(|word| word.len());
        words.send(&Words {
            number: page.number,
            count: u64::try_from(page.text.split_whitespace().count())?,
            longest: longest.unwrap_or_default().to_owned(),
        })?;
    }
    Ok(())
}

/// Runs the second process. Each worker has its own connection, so pages are distributed in
/// round-robin order.
fn workers(pages: &str, words: &str) -> Result<(), Failure> {
    thread::scope(|scope| {
        let started = [(); WORKERS].map(|()| {
            scope.spawn(|| {
                let pages = channel(pages).fan_out().receiver()?;
                let words = channel(words).sender()?;
                work(&pages, &words)
            })
        });
        started
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| "a worker panicked")?)
    })
}

fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let first = arguments.next();
    if let (Some(pages), Some(words)) = (&first, arguments.next()) {
        return workers(pages, &words);
    }
    let scheme = match first.as_deref() {
        Some("uds") => "uds://@",
        _ => "shm://",
    };
    let name = |what| format!("{scheme}channels-{what}-{}", process::id());
    let (pages, words) = (name("pages"), name("words"));
    let mut other: Child = Command::new(env::current_exe()?)
        .args([&pages, &words])
        .spawn()?;

    // Because of `peers`, both channels close only after all workers have joined and finished.
    let words = channel::<Words>(&words).peers(WORKERS).receiver()?;
    let pages = channel::<Page>(&pages).fan_out().peers(WORKERS).sender()?;
    let making = thread::spawn(move || {
        (0..PAGES).try_for_each(|number| {
            let text =
                "a page of words that differ in length ".repeat(usize::try_from(number % 50)?);
            Ok::<_, Failure>(pages.send(&Page { number, text })?)
        })
    });
    let (mut found, mut count) = (0u64, 0u64);
    for words in &words {
        let words = words?;
        found = found.saturating_add(1);
        count = count.saturating_add(words.get().count);
        assert!(matches!(words.get().longest, "" | "length" | "differ"));
    }
    making.join().map_err(|_| "making pages panicked")??;
    println!("{found} pages, {count} words");
    assert_eq!(found, PAGES);
    if other.wait()?.success() {
        Ok(())
    } else {
        Err("the other process failed".into())
    }
}
