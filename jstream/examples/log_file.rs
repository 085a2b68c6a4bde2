//! A log file: appends entries, and reads all of them or one by its number.
//!
//! ```text
//! log_file add FILE TEXT...   adds an entry
//! log_file show FILE          shows all entries
//! log_file get FILE NUMBER    shows one entry
//! log_file                    does all of these with a temporary file
//! ```

use std::env;
use std::error::Error;
use std::io::ErrorKind;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jstream::Transportable;
use jstream::file::{FileError, FileReader, FileWriter, WriteOptions};

#[derive(Transportable)]
struct Entry {
    since_1970: Duration,
    process: u32,
    words: Vec<String>,
}

/// Opens the file for appending, or creates it.
fn opened(file: &Path) -> Result<FileWriter, FileError> {
    match FileWriter::append(file) {
        Err(FileError::System { source, .. }) if source.kind() == ErrorKind::NotFound => {
            let mut options = WriteOptions::default();
            options.replace = false;
            FileWriter::create_with(file, &options)
        }
        opened => opened,
    }
}

/// Adds an entry and returns its number.
fn add(file: &Path, words: &[String]) -> Result<u64, Box<dyn Error>> {
    let entry = Entry {
        since_1970: SystemTime::now().duration_since(UNIX_EPOCH)?,
        process: std::process::id(),
        words: words.to_vec(),
    };
    loop {
        let added = opened(file).and_then(|mut file| {
            let number = file.push(&entry)?;
            file.commit()?;
            Ok(number)
        });
        match added {
            // Another process has just created the file, or is writing to it.
            Err(FileError::System { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {}
            Err(FileError::Locked { .. }) => thread::sleep(Duration::from_millis(1)),
            // The entry has been committed, or the error is permanent.
            added => return Ok(added?),
        }
    }
}

fn line(number: u64, entry: &EntryRef<'_>) -> String {
    let seconds = entry.since_1970.as_secs();
    let text = entry.words.join(" ");
    format!("{number:6}  {seconds}  [{}]  {text}", entry.process)
}

fn show(file: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut file = FileReader::open(file)?;
    let mut lines = Vec::new();
    for (entry, number) in file.iter::<Entry>().zip(0..) {
        lines.push(line(number, entry?.get()));
    }
    Ok(lines)
}

fn get(file: &Path, number: u64) -> Result<String, Box<dyn Error>> {
    let entry = FileReader::open(file)?.read::<Entry>(number)?;
    Ok(line(number, entry.get()))
}

fn try_all() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("log.jsf");
    for text in ["started", "working hard", "done"] {
        add(
            &file,
            &text.split(' ').map(str::to_owned).collect::<Vec<_>>(),
        )?;
    }
    for line in show(&file)? {
        println!("{line}");
    }
    assert!(get(&file, 1)?.ends_with("working hard"));
    let Err(error) = get(&file, 3) else {
        return Err("read an entry that was never added".into());
    };
    println!("{error}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.as_slice() {
        [] => try_all()?,
        [what, file, words @ ..] if what == "add" => println!("{}", add(file.as_ref(), words)?),
        [what, file] if what == "show" => println!("{}", show(file.as_ref())?.join("\n")),
        [what, file, number] if what == "get" => {
            println!("{}", get(file.as_ref(), number.parse()?)?)
        }
        _ => return Err("usage: log_file [add FILE TEXT... | show FILE | get FILE NUMBER]".into()),
    }
    Ok(())
}
