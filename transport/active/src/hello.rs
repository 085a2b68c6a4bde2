//! The handshake: both sides exchange their windows and the names of their handlers.

use std::io::IoSlice;

use super::error::JoinError;
use super::frame::{Frame, VERSION};
use super::handlers::{Entry, Handlers, LONGEST_NAME};
use super::ledger::Window;
use super::settings::Settings;
use jstream_base::Header;
use jstream_endpoint::acceptor::Candidate;
use jstream_endpoint::{Endpoint, Message};

/// Maximum length of a handler table on the wire, in bytes.
const MAX_TABLE: usize = 1 << 20;

/// Maximum number of messages in a window.
const MAX_MESSAGES: u64 = u16::MAX as u64;

/// Maximum length of the description of a handler's types on the wire, in bytes.
const LONGEST_TYPES: usize = 512;

/// A handler of the peer.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) takes: u64,
    pub(super) gives: u64,
    pub(super) types: String,
}

/// Length in bytes of an entry of a handler table: the descriptors of what the handler takes and
/// gives, and the lengths of its name and of the description of its types, which follow. All are
/// little-endian.
const ENTRY: usize = 20;

fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut table = Vec::new();
    for entry in entries {
        let types = cut(&entry.types, LONGEST_TYPES);
        let length = |text: &str| u16::try_from(text.len()).unwrap_or(0).to_le_bytes();
        table.extend_from_slice(&entry.takes.to_le_bytes());
        table.extend_from_slice(&entry.gives.to_le_bytes());
        table.extend_from_slice(&length(&entry.name));
        table.extend_from_slice(&length(types));
        table.extend_from_slice(entry.name.as_bytes());
        table.extend_from_slice(types.as_bytes());
    }
    table
}

/// Returns the longest prefix of a text that has at most `most` bytes and ends between characters.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}

/// Decodes a peer's table, which is untrusted.
fn decode(mut table: &[u8]) -> Option<Vec<Known>> {
    let mut known: Vec<Known> = Vec::new();
    while !table.is_empty() {
        let (entry, rest) = table.split_first_chunk::<ENTRY>()?;
        let (takes, entry) = entry.split_first_chunk()?;
        let (gives, entry) = entry.split_first_chunk()?;
        let (name, entry) = entry.split_first_chunk()?;
        let types = entry.first_chunk()?;
        let name = usize::from(u16::from_le_bytes(*name));
        let types = usize::from(u16::from_le_bytes(*types));
        if name > LONGEST_NAME || types > LONGEST_TYPES || known.len() > usize::from(u16::MAX) {
            return None;
        }
        let (name, rest) = rest.split_at_checked(name)?;
        let (types, rest) = rest.split_at_checked(types)?;
        known.push(Known {
            name: std::str::from_utf8(name).ok()?.to_owned(),
            takes: u64::from_le_bytes(*takes),
            gives: u64::from_le_bytes(*gives),
            types: std::str::from_utf8(types).ok()?.to_owned(),
        });
        table = rest;
    }
    Some(known)
}

/// The hello of the peer.
pub(super) struct Theirs {
    pub(super) known: Vec<Known>,
    pub(super) window: Window,
}

/// Sends the hello of this side and receives that of the peer.
pub(super) fn exchange(
    endpoint: &Endpoint,
    handlers: &Handlers,
    settings: &Settings,
) -> Result<Theirs, JoinError> {
    let (header, table) = hello(handlers, settings)?;
    // Posted, not sent: both sides may do this at the same time over a device with little buffer
    // space.
    let shared = endpoint.shared();
    let filled = shared.gather(&[IoSlice::new(&table)]);
    let ticket = endpoint.post_send(header, filled);
    let theirs = endpoint.recv_message_within(settings.handshake_timeout)?;
    ticket.wait().map_err(jstream_base::SendError::from)?;
    read_from(endpoint, &theirs)
}

/// As [`exchange`], for a peer that an acceptor has accepted.
pub(super) async fn exchange_with(
    candidate: &Candidate,
    handlers: &Handlers,
    settings: &Settings,
) -> Result<Theirs, JoinError> {
    // Sent first, because the peer may be waiting for another message of this side.
    let (header, table) = hello(handlers, settings)?;
    candidate.send(header, &table).await?;
    let theirs = candidate.receive(MAX_TABLE).await?;
    read_from(candidate, &theirs)
}

/// Returns the header and payload of this side's hello.
fn hello(handlers: &Handlers, settings: &Settings) -> Result<(Header, Vec<u8>), JoinError> {
    let table = encode(handlers.entries());
    if table.len() > MAX_TABLE {
        return Err(JoinError::TooLong {
            length: table.len(),
            max: MAX_TABLE,
        });
    }
    let hello = Frame::Hello {
        version: VERSION,
        messages: u64::from(settings.window_messages()),
        bytes: settings.window_bytes,
    };
    Ok((hello.header(), table))
}

fn read_from(endpoint: &Endpoint, theirs: &Message) -> Result<Theirs, JoinError> {
    let read = read(&theirs.header, theirs.payload.as_bytes());
    read.map_err(|reason| JoinError::NotActive {
        peer: endpoint.peer().clone(),
        reason,
    })
}

fn read(header: &Header, table: &[u8]) -> Result<Theirs, &'static str> {
    let Some((
        Frame::Hello {
            version,
            messages,
            bytes,
        },
        _,
    )) = Frame::parse(header)
    else {
        return Err("the first message is not a hello");
    };
    if version != VERSION {
        return Err("the protocol version differs");
    }
    if messages == 0 || bytes == 0 {
        return Err("the window is zero");
    }
    if table.len() > MAX_TABLE {
        return Err("the handler table is too long");
    }
    let messages = u32::try_from(messages.min(MAX_MESSAGES)).unwrap_or(1);
    Ok(Theirs {
        known: decode(table).ok_or("the handler table is malformed")?,
        window: Window::new(messages, bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_comes_out_as_it_went_in() {
        let handlers = Handlers::builder()
            .on("first", |request| request.echo())
            .function("second", |text: jstream::Received<String>| {
                text.get().len() as u64
            })
            .build();
        let table = encode(handlers.entries());
        let known = decode(&table).unwrap();
        let names: Vec<_> = known.iter().map(|known| known.name.as_str()).collect();
        assert_eq!(names, ["first", "second"]);
        assert_eq!((known[0].takes, known[0].gives), (0, 0));
        assert_eq!(known[1].takes, handlers.entries()[1].takes);
        assert_ne!(known[1].takes, known[1].gives);
        assert!(known[1].types.contains("String"));
        // Prefixes of the table are not valid, except the two that end between handlers.
        let whole = (0..table.len()).filter(|length| decode(&table[..*length]).is_some());
        assert_eq!(whole.count(), 2);
    }

    #[test]
    fn malformed_hellos_are_refused() {
        let hello = |version, messages, bytes| {
            let frame = Frame::Hello {
                version,
                messages,
                bytes,
            };
            read(&frame.header(), &[]).map(drop)
        };
        assert!(hello(VERSION, 1, 1).is_ok());
        assert!(hello(VERSION, u64::MAX, u64::MAX).is_ok());
        assert!(hello(VERSION + 1, 1, 1).is_err());
        assert!(hello(VERSION, 0, 1).is_err());
        assert!(hello(VERSION, 1, 0).is_err());
        assert!(read(&Header::default(), &[]).is_err());
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("aé", 3), "aé");
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("aé", 0), "");
    }
}
