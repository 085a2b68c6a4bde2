//! Commands that start an agent on a host.
//!
//! Decision 099 has the reasons.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use rustix::system::uname;

use super::agent;

/// The environment variable with the command that runs another one on a host.
const COMMAND: &str = "JRUN_SSH";

/// The usual command. It asks no questions, because several hosts are reached at once, and notices
/// that a host is gone.
const SSH: [&str; 11] = [
    "ssh",
    "-x",
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=30",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=3",
];

/// The way to start programs on other hosts.
pub(crate) struct RemoteShell {
    words: Vec<OsString>,
    /// The program `jrun` on other hosts.
    pub(crate) remote_jrun: PathBuf,
    local_jrun: PathBuf,
    host: String,
}

impl RemoteShell {
    /// Returns the way that the options `--ssh` and `--remote-jrun` name, or the usual one.
    pub(crate) fn new(ssh: Option<&str>, remote_jrun: Option<&PathBuf>) -> io::Result<Self> {
        let told = match ssh {
            Some(told) => Some(told.to_owned()),
            None => env::var(COMMAND).ok(),
        };
        let words: Vec<OsString> = match &told {
            Some(told) => told.split_whitespace().map(OsString::from).collect(),
            None => SSH.map(OsString::from).to_vec(),
        };
        if words.is_empty() {
            return Err(io::Error::other(
                "the command of --ssh or JRUN_SSH is empty; it is a program with options, as `ssh -4`",
            ));
        }
        let local_jrun = env::current_exe()?;
        Ok(Self {
            words,
            remote_jrun: remote_jrun.unwrap_or(&local_jrun).clone(),
            local_jrun,
            host: uname().nodename().to_string_lossy().into_owned(),
        })
    }

    /// Returns true if an agent on this host is started without `ssh`.
    pub(crate) fn is_local(&self, host: &str) -> bool {
        host == "localhost" || host == self.host
    }

    /// Returns the words of the command that starts an agent. Everything else is told to the agent
    /// through its standard input, because command lines are visible to all users of a host.
    pub(crate) fn command(&self, host: &str) -> Vec<OsString> {
        if self.is_local(host) {
            let jrun = self.local_jrun.clone().into_os_string();
            return vec![jrun, agent::OPTION.into()];
        }
        let mut remote = OsString::from("exec ");
        remote.push(quoted(self.remote_jrun.as_os_str()));
        remote.push(" ");
        remote.push(agent::OPTION);
        let mut words = self.words.clone();
        words.extend([OsString::from(host), remote]);
        words
    }
}

/// Returns a word as shells read it: unchanged if it has usual characters only, otherwise in single
/// quotes.
pub(crate) fn quoted(word: &OsStr) -> OsString {
    let bytes = word.as_bytes();
    let usual = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(usual) {
        return word.to_owned();
    }
    let mut quoted = vec![b'\''];
    for byte in bytes {
        match byte {
            // A quote ends the quoted text, and stands behind a backslash between two such texts.
            b'\'' => quoted.extend_from_slice(br"'\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    OsString::from_vec(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    #[test]
    fn the_command_names_the_host_and_the_agent() {
        let jrun = PathBuf::from("/opt/j's/jrun");
        let shell = RemoteShell::new(Some(" rsh  -4 "), Some(&jrun)).unwrap();
        let expected = ["rsh", "-4", "n1", r"exec '/opt/j'\''s/jrun' --agent-of-job"];
        assert_eq!(shell.command("n1"), expected);
        assert_eq!(shell.command("localhost").len(), 2);
        assert!(RemoteShell::new(Some(" "), None).is_err());
    }

    #[test]
    fn words_are_quoted_if_they_need_it() {
        for (word, expected) in [
            ("a/b-c", "a/b-c"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$x", "'$x'"),
        ] {
            assert_eq!(quoted(OsStr::new(word)), expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn shells_read_quoted_words(word in prop::collection::vec(1u8..=255, 0..40)) {
            let word = OsString::from_vec(word);
            let mut script = OsString::from("printf %s ");
            script.push(quoted(&word));
            let output = Command::new("sh").arg("-c").arg(script).output().unwrap();
            prop_assert_eq!(OsString::from_vec(output.stdout), word);
        }
    }
}
