//! The contents of capture files.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jstream::capture::{CaptureReader, Direction, Kind, Message, Record};
use jstream_rmi::{
    Capture, CaptureOptions, Client, ClientOptions, Secret, Server, ServerOptions, remote,
};

#[remote]
trait Desk {
    fn sum(&self, numbers: &[f64]) -> f64;
    fn length(&self, bytes: &[u8]) -> u64;
    fn fails(&self);
    #[remote(one_way)]
    fn note(&self, text: &str);
}

struct Here;

#[remote]
impl Desk for Here {
    fn sum(&self, numbers: &[f64]) -> f64 {
        numbers.iter().sum()
    }

    fn length(&self, bytes: &[u8]) -> u64 {
        bytes.len() as u64
    }

    fn fails(&self) {
        panic!("as it should");
    }

    fn note(&self, _text: &str) {}
}

/// A temporary folder that is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("jstream-capture-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    /// Returns the records of each file, sorted by file name.
    fn files(&self) -> Vec<Vec<Record>> {
        let mut paths: Vec<_> = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        paths.iter().map(|path| records(path)).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn records(path: &Path) -> Vec<Record> {
    let mut reader = CaptureReader::new(BufReader::new(File::open(path).unwrap())).unwrap();
    std::iter::from_fn(|| reader.read().unwrap()).collect()
}

fn messages(records: &[Record]) -> Vec<&Message> {
    let all = records.iter();
    all.filter_map(|record| match record {
        Record::Message(message) => Some(message),
        _ => None,
    })
    .collect()
}

/// Returns the direction, the interface and the name of each described method.
fn methods(records: &[Record]) -> Vec<(Direction, &str, &str)> {
    let all = records.iter();
    all.filter_map(|record| match record {
        Record::Method(of) => Some((of.direction, &*of.interface, &*of.name)),
        _ => None,
    })
    .collect()
}

fn serve(options: ServerOptions, uri: &str) -> (Server, jstream_rmi::Serving) {
    let server = Server::new(options);
    server.bind::<dyn Desk>("desk", Arc::new(Here)).unwrap();
    let serving = server.listen(&uri.parse().unwrap()).unwrap();
    (server, serving)
}

#[test]
fn both_sides_capture_the_same_calls() {
    let folders = [Folder::new("server"), Folder::new("clients")];
    let secret = Secret::new(b"thirty-two bytes that nobody knows").unwrap();
    let captures = [
        Capture::new(&folders[0].0).unwrap(),
        Capture::new(&folders[1].0).unwrap(),
    ];
    let mut options = ServerOptions::default();
    options.capture = Some(captures[0].clone());
    options.secret = Some(secret.clone());
    let (server, serving) = serve(options, "tcp://127.0.0.1:0");
    let mut options = ClientOptions::default();
    options.capture = Some(captures[1].clone());
    options.secret = Some(secret);
    for _ in 0..2 {
        let client = Client::connect_with(serving.address(), &options)
            .wait()
            .unwrap();
        let desk = client.lookup::<dyn Desk>("desk").wait().unwrap();
        assert_eq!(*desk.sum(&[1.0, 2.5]).wait().unwrap().get(), 3.5);
        desk.note("a word").unwrap();
        assert!(desk.fails().wait().is_err());
    }
    drop((serving, server, options));
    for capture in &captures {
        capture.flush();
        assert_eq!(capture.lost(), 0);
    }
    for (folder, called) in folders.iter().zip([Direction::Inward, Direction::Outward]) {
        let files = folder.files();
        assert_eq!(files.len(), 2);
        for records in &files {
            let Some(Record::Start(start)) = records.first() else {
                panic!("it begins with {:?}", records.first());
            };
            assert_eq!(start.by_client, called == Direction::Outward);
            let mut described = methods(records);
            let mut expected = [
                ("Registry", "lookup"),
                ("Desk", "sum"),
                ("Desk", "note"),
                ("Desk", "fails"),
            ]
            .map(|(interface, name)| (called, interface, name));
            if called == Direction::Inward {
                // The thread that runs a call writes the description of its method. Two threads may
                // do so at the same time, in any order.
                described.sort_unstable();
                expected.sort_unstable();
            }
            assert_eq!(described, expected);
            let messages = messages(records);
            let calls: Vec<_> = messages.iter().filter(|of| of.call.is_some()).collect();
            assert!(calls.iter().all(|of| of.direction == called));
            let kinds: Vec<_> = calls.iter().map(|of| of.kind).collect();
            assert_eq!(
                kinds,
                [Kind::Request, Kind::Request, Kind::OneWay, Kind::Request]
            );
            // The captured arguments are in wire form, although the server reads them in place and
            // turns places into pointers.
            let sent = calls[1].payload.clone();
            let filled = jstream::Writer::new()
                .write(&(&[1.0, 2.5][..],), jstream::EmptyBuffer::heap(4096))
                .unwrap();
            assert_eq!(sent, filled.as_bytes());
            let answer = |number| {
                messages.iter().find(|of| {
                    of.direction == called.other()
                        && of.number == number
                        && of.nanos >= calls[1].nanos
                })
            };
            assert_eq!(answer(calls[1].number).unwrap().kind, Kind::Reply);
            let text = |of: &[u8]| of.windows(10).any(|part| part == b"thirty-two");
            assert!(!messages.iter().any(|of| text(&of.payload)), "the secret");
        }
    }
}

#[test]
fn a_folder_that_can_not_be_written_to_disturbs_no_call() {
    let folder = Folder::new("unwritable");
    // Creating a folder below a file fails.
    fs::write(&folder.0, b"a file").unwrap();
    let capture = Capture::new(folder.0.join("below")).unwrap();
    let mut options = ServerOptions::default();
    options.capture = Some(capture.clone());
    let (_server, serving) = serve(options, "inproc://capture-unwritable");
    let client = Client::connect(serving.address()).wait().unwrap();
    let desk = client.lookup::<dyn Desk>("desk").wait().unwrap();
    for _ in 0..100 {
        assert_eq!(*desk.sum(&[1.0, 2.5]).wait().unwrap().get(), 3.5);
    }
    capture.flush();
    assert!(capture.lost() > 100);
    fs::remove_file(&folder.0).unwrap();
}

#[test]
fn what_exceeds_a_limit_is_counted_and_marked() {
    for which in 0..3 {
        let folder = Folder::new(&format!("limited-{which}"));
        let mut limits = CaptureOptions::default();
        match which {
            0 => limits.max_file = 64 << 10,
            1 => limits.max_in_all = 64 << 10,
            _ => limits.max_buffer = 64 << 10,
        }
        let capture = Capture::with(&folder.0, limits).unwrap();
        let mut options = ClientOptions::default();
        options.capture = Some(capture.clone());
        let (_server, serving) = serve(
            ServerOptions::default(),
            &format!("inproc://capture-limited-{which}"),
        );
        let client = Client::connect_with(serving.address(), &options)
            .wait()
            .unwrap();
        let desk = client.lookup::<dyn Desk>("desk").wait().unwrap();
        let much = vec![7; 100_000];
        assert_eq!(*desk.length(&much).wait().unwrap().get(), 100_000);
        assert_eq!(*desk.sum(&[]).wait().unwrap().get(), 0.0);
        drop((desk, client, serving));
        capture.flush();
        let lost = capture.lost();
        assert!(lost >= 1);
        let files = folder.files();
        let all = files.iter().flatten();
        let marked = all.filter_map(|record| match record {
            Record::Lost { messages, bytes } => Some((*messages, *bytes)),
            _ => None,
        });
        let (messages, bytes) = marked.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        assert_eq!(messages, lost);
        assert!(bytes >= 100_000);
        assert!(files.iter().all(|of| of.last() == Some(&Record::End)));
    }
}
