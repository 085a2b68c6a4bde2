//! Messages between `jrun` and its agents.
//!
//! An agent first writes a greeting with the number of the protocol. Everything else is messages: a
//! byte for the kind, a number and the length of the payload with 4 bytes each (little endian), and
//! the payload.
//!
//! Decision 099 has the reasons.

use std::ffi::OsString;
use std::net::IpAddr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::rendezvous::HostAddresses;
use crate::process::End;

/// The start of the greeting. The number of the protocol and a newline follow.
pub(crate) const GREETING: &str = "jrun agent of protocol ";

/// The number of the protocol.
pub(crate) const PROTOCOL: &str = "1";

/// Maximum length in bytes of the payload of a message to an agent.
pub(crate) const LONGEST_ORDER: usize = 32 << 20;

/// Maximum length in bytes of the payload of a message of an agent.
pub(crate) const LONGEST_REPORT: usize = 128 << 10;

/// Number of bytes of output that an agent may send before `jrun` has granted more.
pub(crate) const WINDOW: u32 = 256 << 10;

/// Length in bytes of the header of a message.
const HEADER: usize = 9;

/// The processes that an agent starts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct StartOrder {
    /// Working folder.
    pub(crate) folder: PathBuf,
    /// True if each process is to have cores of its own.
    pub(crate) bind: bool,
    /// Number of ranks of each process.
    pub(crate) threads: u32,
    /// True if the first process gets input.
    pub(crate) has_input: bool,
    /// The first rank of each process.
    pub(crate) ranks: Vec<u32>,
    /// Program and arguments.
    pub(crate) command: Vec<OsString>,
    /// Variables that all processes get.
    pub(crate) environment: Vec<(OsString, OsString)>,
}

/// A message to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgentOrder {
    Start(StartOrder),
    /// A signal to all processes.
    Signal(i32),
    /// The agent may send this many more bytes of output.
    Grant(u32),
    /// Input of the first process; its end if there are no bytes.
    Input(Vec<u8>),
}

/// A message of an agent. The processes of a host have numbers from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgentReport {
    /// The addresses of the host, and a free port.
    Hello(HostAddresses, u16),
    /// Text for the user.
    Notice(String),
    /// A process has started with this process id.
    Started(u32, u32),
    /// A process and those behind it can't be started: the exit code for this, and the reason.
    NotStarted(u32, u8, String),
    /// Output of a stream, whose number is twice that of the process, plus 1 for errors.
    Output(u32, Vec<u8>),
    Ended(u32, End),
    /// The input was taken, and the agent can take more. False if nothing reads it any more.
    InputTaken(bool),
}

impl StartOrder {
    /// Encodes the order as texts, each of which ends with a zero byte. None of them contains one.
    fn to_payload(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        let mut put = |text: &[u8]| {
            payload.extend(text.iter().copied().filter(|byte| *byte != 0));
            payload.push(0);
        };
        put(self.folder.as_os_str().as_bytes());
        put(u32::from(self.bind).to_string().as_bytes());
        put(self.threads.to_string().as_bytes());
        put(u32::from(self.has_input).to_string().as_bytes());
        put(self.ranks.len().to_string().as_bytes());
        for rank in &self.ranks {
            put(rank.to_string().as_bytes());
        }
        put(self.command.len().to_string().as_bytes());
        for word in &self.command {
            put(word.as_bytes());
        }
        for (name, value) in &self.environment {
            put(name.as_bytes());
            put(value.as_bytes());
        }
        payload
    }

    /// Returns an error if the order is longer than an agent takes.
    pub(crate) fn check_length(&self) -> Result<(), String> {
        let length = self.to_payload().len();
        // The addresses of rank 0 may be added later.
        if length <= LONGEST_ORDER.saturating_sub(1 << 10) {
            return Ok(());
        }
        Err(format!(
            "the arguments of the program and the variables of its environment have {length} bytes; \
             an agent takes less than {LONGEST_ORDER}"
        ))
    }

    fn from_payload(payload: &[u8]) -> Option<Self> {
        let mut texts = payload.strip_suffix(&[0])?.split(|byte| *byte == 0);
        let folder = text(&mut texts)?.into();
        let bind = number(&mut texts)? != 0;
        let threads = number(&mut texts)?;
        let has_input = number(&mut texts)? != 0;
        // The iterators end with the texts, so a wrong count takes no memory.
        let ranks = (0..number(&mut texts)?).map(|_| number(&mut texts));
        let ranks = ranks.collect::<Option<Vec<_>>>()?;
        let command = (0..number(&mut texts)?).map(|_| text(&mut texts));
        let command = command.collect::<Option<Vec<_>>>()?;
        let mut environment = Vec::new();
        while let Some(name) = text(&mut texts) {
            environment.push((name, text(&mut texts)?));
        }
        Some(Self {
            folder,
            bind,
            threads,
            has_input,
            ranks,
            command,
            environment,
        })
    }
}

fn text<'t>(texts: &mut impl Iterator<Item = &'t [u8]>) -> Option<OsString> {
    Some(OsString::from_vec(texts.next()?.to_vec()))
}

fn number<'t>(texts: &mut impl Iterator<Item = &'t [u8]>) -> Option<u32> {
    std::str::from_utf8(texts.next()?).ok()?.parse().ok()
}

impl AgentOrder {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Start(order) => message(b'S', 0, &order.to_payload()),
            Self::Signal(signal) => message(b'K', signal.unsigned_abs(), &[]),
            Self::Grant(bytes) => message(b'G', *bytes, &[]),
            Self::Input(bytes) => message(b'I', 0, bytes),
        }
    }

    pub(crate) fn from_message(message: Message) -> Option<Self> {
        let Message(kind, number, payload) = message;
        Some(match kind {
            b'S' => Self::Start(StartOrder::from_payload(&payload)?),
            b'K' => Self::Signal(i32::try_from(number).ok()?),
            b'G' => Self::Grant(number),
            b'I' => Self::Input(payload),
            _ => return None,
        })
    }
}

impl AgentReport {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Hello(addresses, port) => {
                let text = |ip: Option<IpAddr>| ip.map(|ip| ip.to_string()).unwrap_or_default();
                let (client, server) = addresses.ssh.unzip();
                let all = [client, server, addresses.route].map(text).join(" ");
                message(b'H', u32::from(*port), all.as_bytes())
            }
            Self::Notice(text) => message(b'N', 0, text.as_bytes()),
            Self::Started(process, id) => message(b'P', *process, &id.to_le_bytes()),
            Self::NotStarted(process, code, reason) => {
                let mut payload = vec![*code];
                payload.extend_from_slice(reason.as_bytes());
                message(b'F', *process, &payload)
            }
            Self::Output(stream, bytes) => message(b'O', *stream, bytes),
            Self::Ended(process, End::Code(code)) => message(b'E', *process, &code.to_le_bytes()),
            Self::Ended(process, End::Signal(signal)) => {
                message(b'D', *process, &signal.to_le_bytes())
            }
            // An agent knows how its processes ended.
            Self::Ended(process, End::Lost | End::NotStarted) => message(b'D', *process, &[0; 4]),
            Self::InputTaken(is_read) => message(b'T', u32::from(*is_read), &[]),
        }
    }

    pub(crate) fn from_message(message: Message) -> Option<Self> {
        let Message(kind, number, payload) = message;
        let text = |payload: &[u8]| String::from_utf8_lossy(payload).into_owned();
        let four = || payload.as_slice().try_into().ok();
        Some(match kind {
            b'H' => {
                let texts = std::str::from_utf8(&payload).ok()?;
                let mut ips = texts.split(' ').map(|text| text.parse::<IpAddr>().ok());
                let (client, server, route) = (ips.next()?, ips.next()?, ips.next()?);
                let addresses = HostAddresses {
                    ssh: client.zip(server),
                    route,
                };
                Self::Hello(addresses, u16::try_from(number).ok()?)
            }
            b'N' => Self::Notice(text(&payload)),
            b'P' => Self::Started(number, u32::from_le_bytes(four()?)),
            b'F' => {
                let (code, reason) = payload.split_first()?;
                Self::NotStarted(number, *code, text(reason))
            }
            b'O' => Self::Output(number, payload),
            b'E' => Self::Ended(number, End::Code(i32::from_le_bytes(four()?))),
            b'D' => Self::Ended(number, End::Signal(i32::from_le_bytes(four()?))),
            b'T' => Self::InputTaken(number != 0),
            _ => return None,
        })
    }
}

/// The kind, the number, and the payload of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Message(u8, u32, Vec<u8>);

fn message(kind: u8, number: u32, payload: &[u8]) -> Vec<u8> {
    // Payloads are shorter than the limits, which `jrun` checks for the only long one.
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(payload.len().saturating_add(HEADER));
    bytes.push(kind);
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Divides a stream of bytes into messages.
pub(crate) struct MessageReader {
    bytes: Vec<u8>,
    /// Number of bytes at the start that were taken.
    taken: usize,
    /// Maximum length in bytes of a payload.
    longest: usize,
}

impl MessageReader {
    pub(crate) fn new(longest: usize) -> Self {
        Self {
            bytes: Vec::new(),
            taken: 0,
            longest,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.taken.min(self.bytes.len()));
        self.taken = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the bytes that are not taken yet.
    pub(crate) fn rest(&self) -> &[u8] {
        self.bytes.get(self.taken..).unwrap_or_default()
    }

    /// Takes bytes that are no message.
    pub(crate) fn skip(&mut self, count: usize) {
        self.taken = self.taken.saturating_add(count).min(self.bytes.len());
    }

    /// Returns the next message, if all of it has arrived. An error if its length is not allowed.
    pub(crate) fn next(&mut self) -> Result<Option<Message>, String> {
        let Some((header, rest)) = self.rest().split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let [kind, n0, n1, n2, n3, l0, l1, l2, l3] = *header;
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > self.longest {
            return Err(format!(
                "a message of {length} bytes exceeds the limit of {}",
                self.longest
            ));
        }
        let Some(payload) = rest.get(..length) else {
            return Ok(None);
        };
        let message = Message(kind, u32::from_le_bytes([n0, n1, n2, n3]), payload.to_vec());
        self.skip(HEADER.saturating_add(length));
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order() -> StartOrder {
        StartOrder {
            folder: "/tmp/a b".into(),
            bind: true,
            threads: 2,
            has_input: true,
            ranks: vec![4, 6],
            command: ["p", "", "it's \n$x"].map(OsString::from).to_vec(),
            environment: vec![("A".into(), "".into()), ("B".into(), "=\n".into())],
        }
    }

    fn reports() -> Vec<AgentReport> {
        let addresses = |ssh, route| HostAddresses { ssh, route };
        let ip: IpAddr = "192.0.2.1".parse().unwrap();
        vec![
            AgentReport::Hello(addresses(Some((ip, ip)), None), 7),
            AgentReport::Hello(addresses(None, Some(ip)), 65535),
            AgentReport::Notice("text".to_owned()),
            AgentReport::Started(1, 2),
            AgentReport::NotStarted(1, 127, "reason".to_owned()),
            AgentReport::Output(3, vec![0, 1, 255]),
            AgentReport::Ended(0, End::Code(-1)),
            AgentReport::Ended(1, End::Signal(9)),
            AgentReport::InputTaken(true),
        ]
    }

    #[test]
    fn messages_travel_in_any_parts() {
        let orders = [
            AgentOrder::Start(order()),
            AgentOrder::Signal(15),
            AgentOrder::Grant(u32::MAX),
            AgentOrder::Input(vec![0; 5]),
            AgentOrder::Input(Vec::new()),
        ];
        let bytes: Vec<u8> = orders.iter().flat_map(AgentOrder::to_bytes).collect();
        for size in [1, 7, bytes.len()] {
            let mut reader = MessageReader::new(1 << 10);
            let mut found = Vec::new();
            for part in bytes.chunks(size) {
                reader.push(part);
                while let Some(message) = reader.next().unwrap() {
                    found.push(AgentOrder::from_message(message).unwrap());
                }
            }
            assert_eq!(found, orders);
        }
        let reports = reports();
        let mut reader = MessageReader::new(1 << 10);
        for report in &reports {
            reader.push(&report.to_bytes());
        }
        for report in reports {
            let message = reader.next().unwrap().unwrap();
            assert_eq!(AgentReport::from_message(message), Some(report));
        }
        assert_eq!(reader.next(), Ok(None));
    }

    #[test]
    fn long_messages_are_refused() {
        let mut reader = MessageReader::new(4);
        reader.push(&AgentOrder::Input(vec![0; 5]).to_bytes());
        assert!(reader.next().unwrap_err().contains("limit of 4"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_messages_or_errors(
            kind in prop::sample::select(b"SKGIHNPFOEDTx".to_vec()),
            number in any::<u32>(),
            payload in prop::collection::vec(prop_oneof![Just(0u8), b'0'..=b'9', any::<u8>()], 0..60),
        ) {
            let message = || Message(kind, number, payload.clone());
            let _ = AgentOrder::from_message(message());
            if let Some(report) = AgentReport::from_message(message()) {
                let mut reader = MessageReader::new(1 << 10);
                reader.push(&report.to_bytes());
                let again = reader.next().unwrap().unwrap();
                prop_assert_eq!(AgentReport::from_message(again), Some(report));
            }
        }
    }
}
