//! Output of captures of connections.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};

use jstream::capture::{
    CaptureError, CaptureReader, Direction, Kind, MAGIC, Message, Method, Record, Start,
};
use jstream::inspect::{Catalog, message, value};
use jstream::schema::Schema;
use serde_json::{Value as Json, json};

use crate::arguments::Arguments;
use crate::output::{Failure, Output, print_error, spelled};

/// Returns true if the input file begins with the header of a capture.
pub(crate) fn is_capture(arguments: &Arguments) -> bool {
    let mut front = Vec::new();
    let is_file = arguments.file.metadata().is_ok_and(|meta| meta.is_file());
    let file = is_file.then(|| File::open(&arguments.file).ok()).flatten();
    let read = file.map(|file| file.take(MAGIC.len() as u64).read_to_end(&mut front));
    matches!(read, Some(Ok(_))) && front == MAGIC
}

/// Prints the messages; returns true if the capture is complete and valid.
pub(crate) fn report(arguments: &Arguments, output: &mut Output) -> Result<bool, Failure> {
    if arguments.dot || arguments.svg.is_some() {
        let text = "--dot and --svg do not apply to captures; --object with --json shows a message's values";
        return Err(Failure::Said(text.to_owned()));
    }
    let mut methods = Methods::default();
    // A method may be described after its first call, so they are collected beforehand.
    let ended = each(arguments, |number, record| {
        if let Record::Method(method) = record {
            methods.add(number, method);
        }
        Ok(())
    })?;
    let mut report = Report {
        arguments,
        output,
        methods,
        requests: BTreeMap::new(),
        json: Vec::new(),
        fine: ended.is_none(),
    };
    each(arguments, |number, record| report.record(number, record))?;
    if let Some(error) = &ended {
        print_error(&error.to_string());
    }
    report.finish()
}

/// Calls `look` for each record, with the number of messages before it. Returns the error that ends
/// the capture early, if any.
fn each(
    arguments: &Arguments,
    mut look: impl FnMut(u64, Record) -> Result<(), Failure>,
) -> Result<Option<CaptureError>, Failure> {
    let path = &arguments.file;
    let unreadable = |error: &dyn std::fmt::Display| {
        Failure::Said(format!("{} can't be read: {error}", path.display()))
    };
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut reader = CaptureReader::new(BufReader::new(file)).map_err(|of| unreadable(&of))?;
    let mut number: u64 = 0;
    loop {
        let record = match reader.read() {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(None),
            Err(CaptureError::Io(error)) => return Err(unreadable(&error)),
            Err(error) => return Ok(Some(error)),
        };
        let is_message = matches!(record, Record::Message(_));
        look(number, record)?;
        number = number.saturating_add(u64::from(is_message));
    }
}

/// Methods by direction, object and index, and by the number of the first message that they apply
/// to.
#[derive(Default)]
struct Methods(BTreeMap<(Direction, u32, u16), BTreeMap<u64, Method>>);

impl Methods {
    fn add(&mut self, from: u64, method: Method) {
        let key = (method.direction, method.object, method.place);
        self.0.entry(key).or_default().insert(from, method);
    }

    /// Returns the method that a message calls.
    fn get(&self, number: u64, of: &Message) -> Option<&Method> {
        let (object, place) = of.call?;
        let known = self.0.get(&(of.direction, object, place))?;
        let before = known.range(..=number).next_back();
        before.or_else(|| known.iter().next()).map(|(_, of)| of)
    }
}

/// A request without a reply so far.
struct Asked {
    method: Option<Method>,
    nanos: u64,
}

struct Report<'r> {
    arguments: &'r Arguments,
    output: &'r mut Output,
    methods: Methods,
    requests: BTreeMap<(Direction, u32), Asked>,
    json: Vec<Json>,
    fine: bool,
}

impl Report<'_> {
    fn record(&mut self, number: u64, record: Record) -> Result<(), Failure> {
        match record {
            Record::Start(start) => self.start(&start),
            Record::Message(message) => self.message(number, &message),
            Record::Lost { messages, bytes } => {
                let line = format!("{messages} messages with {bytes} bytes are missing here");
                self.put(
                    &line,
                    json!({ "lost": { "messages": messages, "bytes": bytes } }),
                )
            }
            Record::End => self.put("the connection has ended", json!({ "end": true })),
            _ => Ok(()),
        }
    }

    /// Prints a line, or adds a JSON object.
    fn put(&mut self, line: &str, json: Json) -> Result<(), Failure> {
        if self.arguments.quiet || self.arguments.object.is_some() {
            return Ok(());
        }
        self.put_anyway(line, json)
    }

    fn put_anyway(&mut self, line: &str, json: Json) -> Result<(), Failure> {
        if self.arguments.json {
            self.json.push(json);
            return Ok(());
        }
        self.output.line(&spelled(line))
    }

    fn start(&mut self, start: &Start) -> Result<(), Failure> {
        let side = if start.by_client { "client" } else { "server" };
        let line = format!("capture of a {side}, connected with {}", start.peer);
        let nanos = start.unix_nanos;
        let json = json!({ "start": { "by": side, "peer": start.peer, "unix_nanos": nanos } });
        self.put(&line, json)
    }

    fn message(&mut self, number: u64, of: &Message) -> Result<(), Failure> {
        let (method, asked) = match of.kind {
            Kind::Request | Kind::OneWay => (self.methods.get(number, of).cloned(), None),
            Kind::Cancel => (None, None),
            _ => {
                let asked = self.requests.remove(&(of.direction.other(), of.number));
                let nanos = asked.as_ref().map(|asked| asked.nanos);
                (asked.and_then(|asked| asked.method), nanos)
            }
        };
        if of.kind == Kind::Request {
            let (method, nanos) = (method.clone(), of.nanos);
            let asked = Asked { method, nanos };
            self.requests.insert((of.direction, of.number), asked);
        }
        let wanted = self.arguments.object;
        if wanted.is_some_and(|wanted| wanted != number) || self.arguments.quiet {
            return Ok(());
        }
        let line = line(number, of, method.as_ref(), asked);
        let mut json = as_json(number, of, method.as_ref(), asked);
        let shown = match (&method, wanted) {
            (Some(method), Some(_)) => self.values(of, method)?,
            _ => None,
        };
        if let (Some(json), Some(shown)) = (json.as_object_mut(), &shown) {
            json.insert("value".to_owned(), shown.clone());
        }
        self.put_anyway(&line, json)?;
        match shown {
            Some(shown) if !self.arguments.json => {
                let shown = format!("{shown:#}");
                let mut lines = shown.lines();
                lines.try_for_each(|line| self.output.line(&spelled(line)))
            }
            _ => Ok(()),
        }
    }

    /// Returns the values of the arguments or of the result.
    fn values(&mut self, of: &Message, method: &Method) -> Result<Option<Json>, Failure> {
        let schema = match of.kind {
            Kind::Request | Kind::OneWay => &method.arguments,
            Kind::Reply if of.word == 0 => &method.result,
            _ => return Ok(None),
        };
        let wrong =
            |error: String| Failure::Said(format!("the schema of {}: {error}", method.name));
        let payload = without_metadata(of);
        if payload.is_empty() {
            let (schema, root) =
                Schema::from_bytes(schema).map_err(|error| wrong(error.to_string()))?;
            if schema.is_unit(root) {
                return Ok(Some(Json::Null));
            }
        }
        let mut catalog = Catalog::default();
        catalog
            .add_bytes(schema)
            .map_err(|error| wrong(error.to_string()))?;
        let found = message(payload, &catalog, &self.arguments.options());
        if let Some(fault) = &found.fault {
            self.fine = false;
            print_error(&format!("{}: {}", fault.path, fault.details));
        }
        Ok(Some(value::value(&found)))
    }

    fn finish(self) -> Result<bool, Failure> {
        if self.arguments.json {
            let all = json!({ "capture": self.json });
            self.output.line(&all.to_string())?;
        }
        Ok(self.fine)
    }
}

/// Returns the payload of a message without the metadata of its call. Bit 47 of the word says that
/// the payload ends with metadata and its length.
fn without_metadata(of: &Message) -> &[u8] {
    let is_call = of.call.is_some() && matches!(of.kind, Kind::Request | Kind::OneWay);
    match of.payload.split_last_chunk() {
        Some((rest, length)) if is_call && of.word & 1 << 47 != 0 => {
            let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
            let start = rest.len().saturating_sub(length);
            rest.get(..start).unwrap_or_default()
        }
        _ => &of.payload,
    }
}

fn name(method: Option<&Method>) -> Option<String> {
    method.map(|of| format!("{}::{}", of.interface, of.name))
}

/// Returns the error text of a message.
fn error_text(of: &Message) -> Option<String> {
    let text = match of.kind {
        Kind::Reply if of.word != 0 => &of.payload[..],
        Kind::Return | Kind::Bounce => {
            let rest = of.payload.len().saturating_sub(usize::from(of.text));
            of.payload.get(rest..).unwrap_or_default()
        }
        _ => return None,
    };
    Some(String::from_utf8_lossy(text).into_owned())
}

fn line(number: u64, of: &Message, method: Option<&Method>, asked: Option<u64>) -> String {
    let arrow = match of.direction {
        Direction::Outward => "->",
        Direction::Inward => "<-",
    };
    let micros = |nanos: u64| nanos / 1000;
    let mut line = format!(
        "{number:>6} {:>12} us {arrow} {:<7}",
        micros(of.nanos),
        of.kind.name()
    );
    if !matches!(of.kind, Kind::OneWay | Kind::Bounce) {
        line.push_str(&format!(" #{}", of.number));
    }
    if let Some((object, place)) = of.call {
        let name = name(method).unwrap_or_else(|| format!("method {place}"));
        line.push_str(&format!(" {name} of object {object}"));
    } else if let Some(name) = name(method) {
        line.push_str(&format!(" {name}"));
    }
    line.push_str(&format!(", {} bytes", of.payload.len()));
    if let Some(asked) = asked {
        let after = micros(of.nanos.saturating_sub(asked));
        line.push_str(&format!(", after {after} us"));
    }
    if let Some(error_text) = error_text(of) {
        let code = match of.kind {
            Kind::Reply => of.word,
            _ => u64::from(of.code),
        };
        line.push_str(&format!(
            ", failed with {code}: {}",
            error_text.escape_debug()
        ));
    }
    line
}

fn as_json(number: u64, of: &Message, method: Option<&Method>, asked: Option<u64>) -> Json {
    json!({
        "message": number,
        "nanos": of.nanos,
        "sent": of.direction == Direction::Outward,
        "kind": of.kind.name(),
        "number": of.number,
        "code": of.code,
        "word": of.word.to_string(),
        "object": of.call.map(|(object, _)| object),
        "interface": method.map(|of| &of.interface),
        "method": method.map(|of| &of.name),
        "bytes": of.payload.len(),
        "after_nanos": asked.map(|asked| of.nanos.saturating_sub(asked)),
        "failed": error_text(of),
    })
}
