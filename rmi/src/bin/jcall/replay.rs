//! Replay of captured calls.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use jstream::capture::{CaptureReader, Direction, Kind, Message, Method, Record};
use jstream::command_line::Color;
use jstream_rmi::__private::metadata_of;
use jstream_rmi::{Address, Client, Described, context};
use serde_json::{Value as Json, json};

use crate::arguments::Connecting;
use crate::call::value_of;
use crate::failure::Failure;
use crate::output;

/// Repeats the calls of a capture, one after another, and compares the answers.
///
/// Repeats calls of objects that were looked up by name, and finds their methods by name. Leaves
/// out calls of other objects, and calls with streams.
#[derive(Debug, Parser)]
#[command(
    name = "jcall replay",
    after_help = "\
Exit codes: 0 if all answers are the same as in the capture, 1 if some differ or the server could not be reached, 2 on \
wrong usage."
)]
pub(crate) struct Replay {
    /// Capture file of a server or a client.
    capture: PathBuf,
    /// Address of the server: tcp://host:port, uds:///path or shm://name.
    #[arg(value_name = "URI")]
    server: Address,
    /// Keep the time intervals of the captured calls, instead of repeating the calls at once.
    #[arg(long)]
    paced: bool,
    /// Print JSON on one line, for programs.
    #[arg(long)]
    json: bool,
    /// Print nothing but errors: the exit code says whether the answers are the same.
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
    #[command(flatten)]
    pub(crate) color: Color,
    #[command(flatten)]
    connecting: Connecting,
}

/// Contents of a capture.
#[derive(Default)]
struct Captured {
    calls: Vec<Message>,
    /// Answers, by the index of the call.
    answers: BTreeMap<usize, Message>,
    methods: BTreeMap<(u32, u16), Method>,
    lost: u64,
}

/// Result of a replay.
#[derive(Default)]
struct Tally {
    same: u64,
    left_out: u64,
    differ: Vec<Json>,
}

impl Captured {
    /// Reads the calls that the client of the connection made, whichever side captured them.
    fn read(path: &PathBuf) -> Result<Self, Failure> {
        let file = File::open(path)
            .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
        let mut reader = CaptureReader::new(BufReader::new(file))?;
        let (mut captured, mut open) = (Self::default(), BTreeMap::new());
        let mut way = Direction::Outward;
        while let Some(record) = reader.read()? {
            match record {
                Record::Start(start) if start.by_client => way = Direction::Outward,
                Record::Start(_) => way = Direction::Inward,
                Record::Lost { messages, .. } => {
                    captured.lost = captured.lost.saturating_add(messages);
                }
                Record::Method(method) if method.direction == way => {
                    let key = (method.object, method.place);
                    captured.methods.insert(key, method);
                }
                Record::Message(message) if message.call.is_some() && message.direction == way => {
                    if message.kind == Kind::Request {
                        open.insert(message.number, captured.calls.len());
                    }
                    captured.calls.push(message);
                }
                Record::Message(message)
                    if message.direction != way
                        && matches!(message.kind, Kind::Reply | Kind::Return) =>
                {
                    if let Some(call) = open.remove(&message.number) {
                        captured.answers.insert(call, message);
                    }
                }
                _ => {}
            }
        }
        Ok(captured)
    }
}

/// Repeats the calls and reports the differences.
pub(crate) fn replay(arguments: &Replay) -> Result<(), Failure> {
    let captured = Captured::read(&arguments.capture)?;
    let options = arguments.connecting.options()?;
    let client = Client::connect_with(&arguments.server, &options).wait()?;
    let (began, mut tally) = (Instant::now(), Tally::default());
    let first = captured.calls.first().map_or(0, |call| call.nanos);
    // Objects, by their numbers at the time of the capture.
    let mut objects: BTreeMap<u32, Described> = BTreeMap::new();
    for (place, call) in captured.calls.iter().enumerate() {
        let answer = captured.answers.get(&place);
        let key = call.call.unwrap_or_default();
        let Some(method) = captured.methods.get(&key) else {
            tally.left_out = tally.left_out.saturating_add(1);
            continue;
        };
        if arguments.paced {
            let then = Duration::from_nanos(call.nanos.saturating_sub(first));
            thread::sleep(then.saturating_sub(began.elapsed()));
        }
        if (method.interface.as_str(), method.name.as_str()) == ("Registry", "lookup") {
            if let Some((number, name)) = looked_up(method, call, answer) {
                objects.insert(number, client.describe(&name).wait()?);
            }
            continue;
        }
        let object = objects.get(&key.0).filter(|_| !method.streams);
        match object.and_then(|object| again(object, method, call, answer)) {
            None => tally.left_out = tally.left_out.saturating_add(1),
            Some(Ok(())) => tally.same = tally.same.saturating_add(1),
            Some(Err([then, now])) => {
                let name = format!("{}::{}", method.interface, method.name);
                let call = json!({ "call": place, "method": name, "then": then, "now": now });
                tally.differ.push(call);
            }
        }
    }
    told(arguments, &captured, &tally)
}

fn told(arguments: &Replay, captured: &Captured, tally: &Tally) -> Result<(), Failure> {
    let Tally {
        same,
        left_out,
        differ,
    } = tally;
    if arguments.json {
        let all =
            json!({ "same": same, "left_out": left_out, "lost": captured.lost, "differ": differ });
        output::value(&all, true)?;
    } else if !arguments.quiet {
        for one in differ {
            output::lines(&one.to_string())?;
        }
        output::lines(&format!(
            "{same} answers are the same, {} differ, {left_out} calls were left out, {} messages are missing in the capture",
            differ.len(),
            captured.lost
        ))?;
    }
    match differ.len() {
        0 => Ok(()),
        many => Err(Failure::Said(format!(
            "{many} answers differ from the capture"
        ))),
    }
}

/// Returns the number and the name of a lookup, if it found an object.
fn looked_up(method: &Method, call: &Message, answer: Option<&Message>) -> Option<(u32, String)> {
    let answer = answer.filter(|answer| answer.kind == Kind::Reply && answer.word == 0)?;
    let asked = value_of(&method.arguments, metadata_of(call.word, &call.payload)?.0).ok()?;
    let found = value_of(&method.result, &answer.payload).ok()?;
    let number = found.get("Object")?.get("number")?.as_u64()?;
    let name = asked.get(0)?.as_str()?.to_owned();
    Some((u32::try_from(number).ok()?, name))
}

/// Repeats a call. If the answers differ, returns the captured and the new one. Returns `None` if
/// the call can't be repeated or compared.
fn again(
    object: &Described,
    method: &Method,
    call: &Message,
    answer: Option<&Message>,
) -> Option<Result<(), [Json; 2]>> {
    let of = object.description().methods;
    let place = of.iter().position(|of| of.text == method.signature)?;
    if of
        .get(place)
        .is_none_or(|of| of.arguments != method.arguments)
    {
        return None;
    }
    // Without a captured answer, there is nothing to compare.
    let answer = match (call.kind, answer) {
        (Kind::Request, Some(answer)) => Some(answer),
        (Kind::Request, None) => return None,
        _ => None,
    };
    let (payload, metadata) = metadata_of(call.word, &call.payload)?;
    let with_metadata = context().with_metadata(metadata);
    let now = with_metadata.enter(|| object.call(place, payload));
    let failed = |why: &str| json!({ "failed": why });
    let Some(answer) = answer else {
        return Some(now.map(|_| ()).map_err(|error| {
            let now = failed(&error.to_string());
            [Json::Null, now]
        }));
    };
    let went_well = answer.kind == Kind::Reply && answer.word == 0;
    let then = match went_well {
        true => value_of(&method.result, &answer.payload).ok()?,
        false => failed(&String::from_utf8_lossy(&answer.payload)),
    };
    let now = match now {
        Ok(result) if went_well && result.as_bytes() == answer.payload => return Some(Ok(())),
        Ok(result) => {
            let schema = of.get(place).map(|of| of.result).unwrap_or_default();
            value_of(schema, result.as_bytes()).unwrap_or_else(|_| failed("unreadable result"))
        }
        Err(_) if !went_well => return Some(Ok(())),
        Err(error) => failed(&error.to_string()),
    };
    let is_same = then == now && went_well;
    Some(if is_same { Ok(()) } else { Err([then, now]) })
}
