//! Output of messages, streams, files and schemas.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use jstream::inspect::text::{self, Style};
use jstream::inspect::{Code, Fault, Input, Message, dot, json, message, svg};
use serde_json::{Value as Json, json as object};

use crate::arguments::Arguments;
use crate::container::{Container, Object};
use crate::output::{Failure, Output, print_error, spelled};

/// Prints the requested output; returns true if the data is valid.
pub(crate) fn report(arguments: &Arguments, output: &mut Output) -> Result<bool, Failure> {
    let container = Container::open(arguments)?;
    let mut report = Report {
        arguments,
        container,
        output,
        fine: true,
    };
    report.fine = report.container.faults.is_empty();
    if arguments.json {
        report.json()?;
    } else if arguments.dot || arguments.svg.is_some() {
        report.picture()?;
    } else {
        report.text()?;
    }
    Ok(report.fine)
}

struct Report<'r> {
    arguments: &'r Arguments,
    container: Container,
    output: &'r mut Output,
    fine: bool,
}

/// Number of bytes to read before a fault, for display.
const AROUND: u64 = 64;

/// Maximum number of consecutive objects without a valid index entry. After that, the rest is
/// skipped, since a file without content can claim an index of any length.
const MISSING: u64 = 64;

impl Report<'_> {
    fn style(&self, base: u64) -> Style {
        let mut style = Style::default();
        style.colours = self.arguments.colours();
        style.hex = self.arguments.hex;
        style.base = usize::try_from(base).unwrap_or(usize::MAX);
        style
    }

    /// Returns the numbers of the objects to inspect.
    fn numbers(&self) -> std::ops::Range<u64> {
        match self.arguments.object {
            Some(number) => number..number.saturating_add(1),
            None => 0..self.container.count(),
        }
    }

    /// Reads and inspects an object, or returns the error in its index entry.
    fn inspect(&mut self, number: u64) -> Result<Result<Looked, Fault>, Failure> {
        let object = match self.container.object(number)? {
            Ok(object) => object,
            Err(fault) => {
                self.fine = false;
                return Ok(Err(fault));
            }
        };
        if object.len > self.arguments.bytes {
            self.fine = false;
            let at = usize::try_from(object.at).unwrap_or(usize::MAX);
            let details = format!(
                "object {number} has {} bytes, which exceed the limit; --bytes raises the limit",
                object.len
            );
            let at = at..at.saturating_add(1);
            return Ok(Err(Fault::new(Code::File, at, details)));
        }
        let bytes = self.container.read(object.at, object.len)?;
        let options = self.arguments.options();
        let message = message(&bytes, &self.container.catalog, &options);
        self.fine &= message.fault.is_none();
        Ok(Ok(Looked {
            object,
            bytes,
            message,
        }))
    }

    /// Returns true if so many objects are missing that the rest is skipped.
    fn is_hopeless(&mut self, number: u64, missing: u64) -> bool {
        let is_hopeless = missing >= MISSING;
        if is_hopeless {
            let details =
                format!("the objects from {number} on are skipped after too many missing ones");
            self.container
                .faults
                .push(Fault::new(Code::File, 0..0, details));
        }
        is_hopeless
    }

    fn text(&mut self) -> Result<(), Failure> {
        let quiet = self.arguments.quiet;
        if !quiet {
            self.title()?;
            self.about()?;
            self.index()?;
            self.structure()?;
        }
        let mut missing = 0;
        for number in self.numbers() {
            if self.is_hopeless(number, missing) {
                break;
            }
            let shown = number < self.arguments.limit as u64 || self.arguments.object.is_some();
            match self.inspect(number)? {
                Ok(looked) => {
                    missing = 0;
                    if shown && !quiet {
                        self.object(&looked)?;
                    } else if looked.message.fault.is_some() {
                        self.wrong(&looked)?;
                    }
                }
                Err(fault) => {
                    missing = missing.saturating_add(1);
                    self.fault(&fault)?;
                }
            }
        }
        let hidden = self
            .container
            .count()
            .saturating_sub(self.arguments.limit as u64);
        if !quiet && self.arguments.object.is_none() && hidden > 0 && missing < MISSING {
            let line =
                format!("… {hidden} more objects, checked; --object or --limit shows them\n");
            self.output.line(&line)?;
        }
        for fault in self.container.faults.clone() {
            self.fault(&fault)?;
        }
        Ok(())
    }

    fn title(&mut self) -> Result<(), Failure> {
        let Some(input) = self.container.input else {
            return Ok(());
        };
        let (len, count) = (self.container.len, self.container.count());
        let path = self.arguments.file.display().to_string();
        let path = spelled(&path);
        let mut line = format!("{path}: a {} of {len} bytes", input.name());
        if matches!(input, Input::Stream | Input::File) {
            let s = if count == 1 { "" } else { "s" };
            line.push_str(&format!(", {count} object{s}"));
        }
        self.output.line(&line)?;
        self.output.line("")
    }

    /// Prints the metadata of a file.
    fn about(&mut self) -> Result<(), Failure> {
        let Some(about) = &self.container.about else {
            return Ok(());
        };
        if self.arguments.object.is_some() {
            return Ok(());
        }
        let style = self.style(0);
        self.output.put(|to| {
            text::title("file", style, to)?;
            for line in &about.lines {
                writeln!(to, "{line}")?;
            }
            writeln!(to)
        })
    }

    /// Prints the positions of the objects, if there can be several.
    fn index(&mut self) -> Result<(), Failure> {
        let several = matches!(self.container.input, Some(Input::Stream | Input::File));
        if !several || self.arguments.object.is_some() {
            return Ok(());
        }
        let style = self.style(0);
        self.output.put(|to| text::title("index", style, to))?;
        let (count, limit) = (self.container.count(), self.arguments.limit as u64);
        for number in 0..count.min(limit) {
            // Errors are reported when the object is inspected.
            if let Ok(Object {
                at,
                len,
                descriptor,
                ..
            }) = self.container.object(number)?
            {
                let name = self.container.catalog.name(descriptor);
                let name =
                    name.map_or_else(|| format!("{descriptor:#018x}"), |name| name.to_string());
                let line = format!("  {number:>6}  {at:#010x}  {len:>10} bytes  {name}");
                self.output.line(&line)?;
            }
        }
        if count > limit {
            self.output
                .line(&format!("  … {} more", count.saturating_sub(limit)))?;
        }
        self.output.line("")
    }

    /// Prints the types of the objects.
    fn structure(&mut self) -> Result<(), Failure> {
        let style = self.style(0);
        let wanted = self.descriptors()?;
        for descriptor in wanted {
            let Some((schema, root)) = self.container.catalog.get(descriptor) else {
                continue;
            };
            let title = format!("structure {descriptor:#018x}");
            self.output.put(|to| {
                text::title(&title, style, to)?;
                for line in schema.display(root).to_string().lines() {
                    if line.is_empty() {
                        writeln!(to)?;
                    } else {
                        writeln!(to, "  {line}")?;
                    }
                }
                writeln!(to)
            })?;
        }
        Ok(())
    }

    /// Returns the descriptors whose structure is shown: all known ones, or that of the selected
    /// object.
    fn descriptors(&mut self) -> Result<BTreeSet<u64>, Failure> {
        if let Some(number) = self.arguments.object {
            let object = self.container.object(number)?;
            return Ok(object.into_iter().map(|object| object.descriptor).collect());
        }
        Ok(self.container.catalog.descriptors().collect())
    }

    fn object(&mut self, looked: &Looked) -> Result<(), Failure> {
        let Looked {
            object,
            bytes,
            message,
        } = looked;
        let style = self.style(object.at);
        let name = message.type_name.as_deref().unwrap_or("of an unknown type");
        let title = format!(
            "object {} at {:#x}: {name}, {} bytes",
            object.number, object.at, object.len
        );
        self.output.put(|to| {
            text::title(&title, style, to)?;
            if let Some(header) = &message.header {
                text::header(header, bytes, style, to)?;
                writeln!(to)?;
            }
            text::values(message, bytes, style, to)?;
            writeln!(to)
        })?;
        if message.fault.is_some() {
            self.wrong(looked)?;
        }
        Ok(())
    }

    /// Prints the error in an object.
    fn wrong(&mut self, looked: &Looked) -> Result<(), Failure> {
        let Some(fault) = &looked.message.fault else {
            return Ok(());
        };
        let style = self.style(looked.object.at);
        let several = self.container.count() > 1;
        self.output.put(|to| {
            if several {
                write!(to, "object {}: ", looked.object.number)?;
            }
            text::fault(fault, &looked.bytes, style, to)?;
            if matches!(fault.code, Code::Descriptor | Code::Class) {
                writeln!(
                    to,
                    "  pass the schema with --schema FILE, encoded by Schema::to_bytes"
                )?;
            }
            writeln!(to)
        })
    }

    /// Prints an error of the input as a whole.
    fn fault(&mut self, fault: &Fault) -> Result<(), Failure> {
        // Only the lines around the fault are read.
        let start = (fault.at.start as u64).saturating_sub(AROUND) & !15;
        let bytes = self.container.read(start, AROUND.saturating_mul(2))?;
        let style = self.style(0);
        self.output.put(|to| {
            let from = usize::try_from(start).unwrap_or(usize::MAX);
            text::fault_of_part(fault, &bytes, from, style, to)?;
            writeln!(to)
        })
    }

    fn json(&mut self) -> Result<(), Failure> {
        let head = object!({
            "version": json::VERSION,
            "input": self.container.input.map(Input::name),
            "len": self.container.len,
            "objects": self.container.count(),
            "file": self.container.about.as_ref().map(|about| &about.json),
            "schemas": json::schemas(&self.container.catalog),
        });
        // Objects are written one at a time, so that the output need not fit in memory.
        let head = head.to_string();
        let head = head.strip_suffix('}').unwrap_or(&head);
        self.output.put(|to| write!(to, "{head},\"messages\":["))?;
        let mut missing = 0;
        for (i, number) in self.numbers().enumerate() {
            if self.is_hopeless(number, missing) {
                break;
            }
            let message = match self.inspect(number)? {
                Ok(of) => {
                    missing = 0;
                    let at = usize::try_from(of.object.at).unwrap_or(usize::MAX);
                    let mut message = json::message(&of.message, &of.bytes, at);
                    if let Json::Object(map) = &mut message {
                        map.insert("object".to_owned(), Json::from(number));
                    }
                    message
                }
                Err(fault) => {
                    missing = missing.saturating_add(1);
                    object!({ "object": number, "fault": json::fault(&fault) })
                }
            };
            let comma = if i > 0 { "," } else { "" };
            self.output.put(|to| write!(to, "{comma}\n{message}"))?;
        }
        let faults = self.container.faults.iter().map(json::fault);
        let faults = Json::from(faults.collect::<Vec<_>>());
        let fine = self.fine;
        self.output
            .put(|to| writeln!(to, "],\"faults\":{faults},\"fine\":{fine}}}"))
    }

    fn picture(&mut self) -> Result<(), Failure> {
        let number = self.arguments.object.unwrap_or(0);
        for fault in self.container.faults.clone() {
            print_error(&fault.to_string());
        }
        if self.container.count() == 0 {
            return Err(Failure::Said("there is no object to draw".to_owned()));
        }
        let looked = match self.inspect(number)? {
            Ok(looked) => looked,
            Err(fault) => {
                print_error(&fault.to_string());
                return Ok(());
            }
        };
        if let Some(fault) = &looked.message.fault {
            print_error(&fault.to_string());
        }
        let boxes = self.arguments.boxes;
        match &self.arguments.svg {
            Some(path) if path.as_os_str() != "-" => {
                let mut picture = String::new();
                let drawn = svg::write(&looked.message, boxes, &mut picture);
                drawn.map_err(|_| Failure::Said("the picture can't be drawn".to_owned()))?;
                written(path, &picture)
            }
            Some(_) => self.output.put(|to| svg::write(&looked.message, boxes, to)),
            None => self.output.put(|to| dot::write(&looked.message, boxes, to)),
        }
    }
}

/// An object, its bytes, and the result of inspecting them.
struct Looked {
    object: Object,
    bytes: Vec<u8>,
    message: Message,
}

fn written(path: &Path, text: &str) -> Result<(), Failure> {
    let file = std::fs::File::create(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::Said(format!("{}: {error}", path.display())))
}
