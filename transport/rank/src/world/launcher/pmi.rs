//! Client of PMI-1, the text protocol of MPICH's process managers, which Slurm's plugin `pmi2`
//! understands too.
//!
//! Each request and each answer is a line of words `name=value`, the first of which is the command.
//!
//! Decision 094 has the reasons.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jstream_device::deadline::Deadline;

/// Maximum length in bytes of an answer. Limits the memory that a server can make this process use.
const LONGEST: usize = 16 << 10;

/// Maximum length in bytes of the name of the key-value space.
const LONGEST_NAME: usize = 1 << 10;

/// A client, which has introduced itself to the server.
pub(in crate::world) struct PmiClient {
    stream: UnixStream,
    until: Deadline,
    /// Bytes after the last line.
    rest: Vec<u8>,
    /// The name of the key-value space.
    space: String,
    /// Maximum length in bytes of a value.
    longest: usize,
}

impl PmiClient {
    /// Connects to the server of a descriptor that the launcher has passed to this process.
    pub(super) fn of_descriptor(number: i32, until: Deadline) -> Result<Self, String> {
        let stream = duplicate(number).map_err(|error| {
            format!("descriptor {number} of the PMI server can't be used: {error}")
        })?;
        Self::begin(stream.into(), until)
    }

    pub(super) fn begin(stream: UnixStream, until: Deadline) -> Result<Self, String> {
        let mut client = Self {
            stream,
            until,
            rest: Vec::new(),
            space: String::new(),
            longest: 0,
        };
        client.ask("init pmi_version=1 pmi_subversion=1", "response_to_init")?;
        let maxes = client.ask("get_maxes", "maxes")?;
        let longest = maxes.word("vallen_max")?.parse();
        client.longest = longest.map_err(|_| maxes.wrong("has no length of values"))?;
        let named = client.ask("get_my_kvsname", "my_kvsname")?;
        let space = named.word("kvsname")?;
        if space.is_empty() || space.len() > LONGEST_NAME {
            return Err(named.wrong("has no usable name"));
        }
        client.space = space.to_owned();
        Ok(client)
    }

    /// Stores a value, which has no white space.
    pub(super) fn put(&mut self, key: &str, value: &str) -> Result<(), String> {
        // Servers count the zero byte behind the value.
        if value.len() >= self.longest {
            return Err(format!(
                "the value of {} bytes exceeds the limit of the PMI server, {}",
                value.len(),
                self.longest.saturating_sub(1)
            ));
        }
        let request = format!("put kvsname={} key={key} value={value}", self.space);
        self.ask(&request, "put_result").map(drop)
    }

    /// Waits until all processes of the job call this. Values that were stored before are visible
    /// to all of them afterwards.
    pub(super) fn barrier(&mut self) -> Result<(), String> {
        self.ask("barrier_in", "barrier_out").map(drop)
    }

    /// Returns a value that any process has stored.
    pub(super) fn get(&mut self, key: &str) -> Result<String, String> {
        let request = format!("get kvsname={} key={key}", self.space);
        let answer = self.ask(&request, "get_result")?;
        answer.word("value").map(str::to_owned)
    }

    /// Tells the server that this process uses it no longer.
    pub(super) fn finish(mut self) -> Result<(), String> {
        self.ask("finalize", "finalize_ack").map(drop)
    }

    /// Sends a request, and returns the answer, which must be of the expected kind.
    fn ask(&mut self, request: &str, expected: &'static str) -> Result<Answer, String> {
        let command = request.split(' ').next().unwrap_or_default();
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                format!("the PMI server did not answer `{command}` in time")
            }
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                format!("the PMI server closed the connection instead of answering `{command}`")
            }
            _ => format!("`{command}` of PMI failed: {error}"),
        };
        let line = format!("cmd={request}\n");
        let line = self.exchange(&line).map_err(failed)?;
        let answer = Answer(line);
        if answer.word("cmd")? != expected {
            return Err(answer.wrong(&format!("is no {expected}")));
        }
        match answer.word("rc") {
            Ok("0") | Err(_) => Ok(answer),
            Ok(_) => Err(answer.wrong("reports a failure")),
        }
    }

    fn exchange(&mut self, line: &str) -> io::Result<String> {
        self.limit_time()?;
        self.stream.write_all(line.as_bytes())?;
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.rest.drain(..=end).collect();
                line.pop();
                let wrong = |_| io::Error::other("the answer is no text");
                return String::from_utf8(line).map_err(wrong);
            }
            if self.rest.len() > LONGEST {
                let long = format!("the answer is longer than {LONGEST} bytes");
                return Err(io::Error::other(long));
            }
            self.limit_time()?;
            let mut bytes = [0; 1024];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.rest.extend(bytes.iter().take(count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Limits the next system call to the time that is left.
    fn limit_time(&self) -> io::Result<()> {
        let left = self.until.left();
        if left == Some(Duration::ZERO) {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(left)?;
        self.stream.set_write_timeout(left)
    }
}

/// An answer of the server.
struct Answer(String);

impl Answer {
    fn word(&self, name: &str) -> Result<&str, String> {
        let mut words = self.0.split_ascii_whitespace();
        let found = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        found.ok_or_else(|| self.wrong(&format!("has no {name}")))
    }

    fn wrong(&self, problem: &str) -> String {
        let shown: String = self.0.escape_debug().take(128).collect();
        format!("the answer of the PMI server {problem}: `{shown}`")
    }
}

/// Returns a duplicate of a descriptor of this process, if it is an open socket.
fn duplicate(number: i32) -> io::Result<OwnedFd> {
    let link = std::fs::read_link(format!("/proc/self/fd/{number}"))?;
    let is_socket = link
        .to_str()
        .is_some_and(|link| link.starts_with("socket:"));
    if !is_socket || number < 0 {
        return Err(io::Error::other("it is no socket"));
    }
    // SAFETY: The number is not -1, and it was open a moment ago. The launcher has opened it before
    // this program began, and tells its number for use by this process, so nothing else in this
    // process owns and closes it. The borrow ends with the next statement.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    borrowed.try_clone_to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::thread::{self, JoinHandle};

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(60);

    /// Starts a server that gives these answers, whatever it is asked. It returns the requests.
    fn serve(answers: &[&str]) -> (UnixStream, JoinHandle<Vec<String>>) {
        let (client, server) = UnixStream::pair().unwrap();
        let answers: Vec<_> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        let serving = thread::spawn(move || {
            let mut lines = BufReader::new(server.try_clone().unwrap()).lines();
            let mut asked = Vec::new();
            for answer in answers {
                let Some(Ok(line)) = lines.next() else { break };
                asked.push(line);
                // The client may have given up.
                if (&server).write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
            asked
        });
        (client, serving)
    }

    const GREETING: [&str; 3] = [
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
        "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
        "cmd=my_kvsname kvsname=kvs_1\n",
    ];

    /// Runs a whole exchange with a server whose further answers are these.
    fn run(answers: &[&str]) -> (Result<String, String>, Vec<String>) {
        let (stream, serving) = serve(answers);
        let run = || {
            let mut client = PmiClient::begin(stream, Deadline::after(LONG))?;
            client.put("key", "1234")?;
            client.barrier()?;
            let value = client.get("key")?;
            client.finish()?;
            Ok(value)
        };
        let result = run();
        (result, serving.join().unwrap())
    }

    #[test]
    fn values_are_exchanged() {
        let answers = [
            &GREETING[..],
            &[
                "cmd=put_result rc=0 msg=success\n",
                "cmd=barrier_out tag=0\n",
                "cmd=get_result rc=0 msg=success value=abcd\n",
                "cmd=finalize_ack\n",
            ],
        ];
        let (result, asked) = run(&answers.concat());
        assert_eq!(result.as_deref(), Ok("abcd"));
        let expected = [
            "cmd=init pmi_version=1 pmi_subversion=1",
            "cmd=get_maxes",
            "cmd=get_my_kvsname",
            "cmd=put kvsname=kvs_1 key=key value=1234",
            "cmd=barrier_in",
            "cmd=get kvsname=kvs_1 key=key",
            "cmd=finalize",
        ];
        assert_eq!(asked, expected);
    }

    #[test]
    fn hostile_answers_are_errors() {
        let long = format!("cmd=response_to_init {}", "x".repeat(LONGEST + 1024));
        let [init, maxes, named] = GREETING;
        let name = format!("cmd=my_kvsname kvsname={}\n", "k".repeat(LONGEST_NAME + 1));
        for (answers, problem) in [
            (&[][..], "closed the connection instead of answering `init`"),
            (&["\n"], "has no cmd"),
            (&["cmd=response_to_init rc=-1\n"], "reports a failure"),
            (&["cmd=response_to_init rc=0"], "closed the connection"),
            (&["cmd=barrier_out\n"], "is no response_to_init"),
            (&[&long], "longer than"),
            (&[init], "instead of answering `get_maxes`"),
            (&[init, "cmd=maxes\n"], "has no vallen_max"),
            (&[init, "cmd=maxes vallen_max=-1\n"], "no length of values"),
            (
                &[init, "cmd=maxes vallen_max=99999999999999999999999\n"],
                "no length of values",
            ),
            (
                &[init, "cmd=maxes vallen_max=4\n", named],
                "exceeds the limit of the PMI server, 3",
            ),
            (
                &[init, "cmd=maxes vallen_max=0\n", named],
                "exceeds the limit of the PMI server, 0",
            ),
            (
                &[init, maxes, "cmd=my_kvsname kvsname=\n"],
                "no usable name",
            ),
            (&[init, maxes, &name], "no usable name"),
            (
                &[init, maxes, named, "cmd=put_result rc=1\n"],
                "reports a failure",
            ),
            (
                &[
                    init,
                    maxes,
                    named,
                    "cmd=put_result rc=0\n",
                    "cmd=barrier_out\n",
                    "cmd=get_result rc=0\n",
                ],
                "has no value",
            ),
        ] {
            let (result, _) = run(answers);
            let error = result.unwrap_err();
            assert!(error.contains(problem), "{answers:?}: {error}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_errors() {
        let (stream, mut server) = UnixStream::pair().unwrap();
        server.write_all(b"cmd=\xff\n").unwrap();
        let error = PmiClient::begin(stream, Deadline::after(LONG))
            .err()
            .unwrap();
        assert!(error.contains("no text"), "{error}");
    }

    #[test]
    fn silent_servers_are_given_up() {
        let (stream, _server) = UnixStream::pair().unwrap();
        let error = PmiClient::begin(stream, Deadline::after(SHORT))
            .err()
            .unwrap();
        assert!(error.contains("did not answer `init` in time"), "{error}");
    }

    #[test]
    fn servers_that_answer_byte_by_byte_are_given_up() {
        let (stream, mut server) = UnixStream::pair().unwrap();
        let dripping = thread::spawn(move || {
            while server.write_all(b"x").is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
        });
        let error = PmiClient::begin(stream, Deadline::after(SHORT))
            .err()
            .unwrap();
        assert!(error.contains("in time"), "{error}");
        dripping.join().unwrap();
    }

    #[test]
    fn descriptors_are_checked() {
        let file = tempfile_like();
        for (number, problem) in [
            (std::os::fd::AsRawFd::as_raw_fd(&file), "it is no socket"),
            (-1, "can't be used"),
            (i32::MAX, "can't be used"),
        ] {
            let until = Deadline::after(SHORT);
            let error = PmiClient::of_descriptor(number, until).err().unwrap();
            assert!(error.contains(problem), "{error}");
        }
    }

    fn tempfile_like() -> std::fs::File {
        std::fs::File::open("/dev/null").unwrap()
    }
}
