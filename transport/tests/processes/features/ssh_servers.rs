//! Servers of `ssh` on this machine, which act as hosts in one test.
//!
//! They need `sshd`, `ssh` and `ssh-keygen`. If one is missing, or a host can't be reached, a test
//! prints a note and passes.

use std::env;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::jrun::BOUND;
use crate::namespaces::Hosts;

/// Names of the hosts.
const NAMES: [&str; 2] = ["a", "b"];

/// Two hosts, with keys and configurations in a folder of their own.
pub(super) struct SshServers {
    folder: TempDir,
    servers: Vec<Child>,
}

impl SshServers {
    /// Starts the servers of two hosts, which are this one. Says so if it can't.
    pub(super) fn start() -> Option<Self> {
        Self::start_in(None)
    }

    /// Like [`start`](Self::start), but the hosts are network namespaces with the addresses 1 and 2
    /// of `network`.
    pub(super) fn start_in(namespaces: Option<(&Hosts, &str)>) -> Option<Self> {
        match Self::try_start(namespaces) {
            Ok(servers) => Some(servers),
            Err(why) => {
                eprintln!("SKIPPED: {}", why.trim());
                None
            }
        }
    }

    fn try_start(namespaces: Option<(&Hosts, &str)>) -> Result<Self, String> {
        let sshd = find("sshd").ok_or("there is no sshd; install openssh-server")?;
        find("ssh").ok_or("there is no ssh; install openssh-client")?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut this = Self {
            folder,
            servers: Vec::new(),
        };
        for name in ["host_key", "key"] {
            let path = this.path(name);
            run(Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(path))?;
        }
        fs::copy(this.path("key.pub"), this.path("authorized")).unwrap();
        // Agents and guards are recognised by the path of their program.
        let jrun = env!("CARGO_BIN_EXE_jrun");
        if fs::hard_link(jrun, this.jrun()).is_err() {
            fs::copy(jrun, this.jrun()).unwrap();
        }
        if rustix::process::geteuid().is_root() {
            // Servers of root need this folder, which the system creates at its start.
            let _ = fs::create_dir_all("/run/sshd");
        }
        let user = run(Command::new("id").arg("-un"))?;
        let mut config = String::new();
        for (number, name) in NAMES.into_iter().enumerate() {
            let (address, port) = match namespaces {
                Some((_, network)) => (format!("{network}.{}", number + 1), 2222),
                None => ("127.0.0.1".to_owned(), free_port()),
            };
            this.start_server(&sshd, number, &address, port, namespaces)?;
            config += &format!("Host {name}\nHostName {address}\nPort {port}\n");
        }
        // Nothing listens there.
        config += &format!("Host refusing\nHostName 127.0.0.1\nPort {}\n", free_port());
        let user = user.trim();
        config += &format!(
            "Host *\nUser {user}\nIdentityFile {}\nIdentitiesOnly yes\nBatchMode yes\n\
             StrictHostKeyChecking no\nUserKnownHostsFile {}\nLogLevel ERROR\nConnectTimeout 20\n",
            this.path("key").display(),
            this.path("known").display()
        );
        fs::write(this.path("config"), config).unwrap();
        for (number, name) in NAMES.into_iter().enumerate() {
            this.wait_for(name, number, namespaces)?;
        }
        Ok(this)
    }

    fn start_server(
        &mut self,
        sshd: &Path,
        number: usize,
        address: &str,
        port: u16,
        namespaces: Option<(&Hosts, &str)>,
    ) -> Result<(), String> {
        let name = NAMES[number];
        let (key, authorized) = (self.path("host_key"), self.path("authorized"));
        // The programs in the folder of a host are those that the other host does not have.
        let programs = self.path(name);
        fs::create_dir(&programs).unwrap();
        let text = format!(
            "ListenAddress {address}\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n\
             MaxStartups 200\nMaxSessions 200\nLogLevel ERROR\nSetEnv PATH={}:{}\n",
            key.display(),
            authorized.display(),
            programs.display(),
            env::var("PATH").unwrap_or_default()
        );
        let config = self.path(&format!("sshd-{name}"));
        fs::write(&config, text).unwrap();
        let mut command = match namespaces {
            None => Command::new(sshd),
            Some((hosts, _)) => {
                let mut command = Command::new("ip");
                command
                    .args(["netns", "exec", &hosts.names[number]])
                    .arg(sshd);
                command
            }
        };
        command.args(["-D", "-e", "-f"]).arg(config);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(fs::File::create(self.path(&format!("log-{name}"))).unwrap());
        let server = command.spawn().map_err(|error| error.to_string())?;
        self.servers.push(server);
        Ok(())
    }

    /// Waits until a host can be reached.
    fn wait_for(
        &mut self,
        name: &str,
        number: usize,
        namespaces: Option<(&Hosts, &str)>,
    ) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            let mut words = self.ssh();
            words += &format!(" {name} true");
            if let Some((hosts, _)) = namespaces {
                words = format!("ip netns exec {} {words}", hosts.names[0]);
            }
            let mut words = words.split(' ');
            let reached = run(Command::new(words.next().unwrap()).args(words));
            let ended = self.servers[number].try_wait().unwrap();
            match reached {
                Ok(_) => return Ok(()),
                Err(error) if ended.is_some() || begun.elapsed() > BOUND / 3 => {
                    let log = fs::read_to_string(self.path(&format!("log-{name}")));
                    return Err(format!("{error}{}", log.unwrap_or_default()));
                }
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Returns the path of a file of these hosts.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the path of `jrun`, which no other test uses.
    pub(super) fn jrun(&self) -> PathBuf {
        self.path("jrun")
    }

    /// Returns the command that runs another one on a host.
    pub(super) fn ssh(&self) -> String {
        format!("ssh -F {}", self.path("config").display())
    }

    /// Writes a file of hosts, and returns its path.
    pub(super) fn hosts(&self, text: &str) -> PathBuf {
        let path = self.path("hosts");
        fs::write(&path, text).unwrap();
        path
    }

    /// Returns a command of `jrun` on hosts.
    pub(super) fn command(&self, hosts: &str, options: &[&str]) -> Command {
        let mut command = Command::new(self.jrun());
        self.add_options(&mut command, hosts, options);
        command
    }

    /// Adds the options of a job on hosts to a command of `jrun`.
    pub(super) fn add_options(&self, command: &mut Command, hosts: &str, options: &[&str]) {
        command.arg("--hosts").arg(self.hosts(hosts));
        if !options.contains(&"--ssh") {
            command.arg("--ssh").arg(self.ssh());
        }
        // All processes of the job have this variable.
        command.env("JSTREAM_TEST_FOLDER", self.folder.path());
        command.args(options).stdin(Stdio::null());
    }

    /// Adds a program that only one host has.
    pub(super) fn add_program(&self, host: &str, name: &str, text: &str) {
        let path = self.path(host).join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns the processes of jobs on these hosts, without the servers.
    pub(super) fn processes(&self) -> Vec<u32> {
        let folder = self.folder.path().to_str().unwrap();
        let servers: Vec<u32> = self.servers.iter().map(Child::id).collect();
        let entries = fs::read_dir("/proc").unwrap();
        let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let is_ours = |number: &u32| {
            let of = |file: &str| fs::read(format!("/proc/{number}/{file}")).unwrap_or_default();
            let texts = [of("cmdline"), of("environ")];
            let mut texts = texts.iter().map(|text| String::from_utf8_lossy(text));
            !servers.contains(number) && texts.any(|text| text.contains(folder))
        };
        numbers.filter(is_ours).collect()
    }

    /// Returns the processes that serve connections.
    pub(super) fn connections(&self) -> Vec<u32> {
        let servers = self.servers.iter().map(Child::id);
        servers.flat_map(children).collect()
    }

    /// Waits until nothing of the jobs is left.
    #[track_caller]
    pub(super) fn are_clean(&self) {
        let begun = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            let shown = left.iter().map(|number| {
                let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
                format!(
                    "{number}: {}\n",
                    String::from_utf8_lossy(&line).replace('\0', " ")
                )
            });
            assert!(
                begun.elapsed() < BOUND,
                "left: {}",
                shown.collect::<String>()
            );
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for SshServers {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let connections = children(server.id());
            let _ = server.kill();
            let _ = server.wait();
            for connection in connections {
                if let Some(pid) = i32::try_from(connection)
                    .ok()
                    .and_then(rustix::process::Pid::from_raw)
                {
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                }
            }
        }
    }
}

/// Returns the children of a process.
pub(super) fn children(number: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{number}/task/{number}/children"));
    let list = list.unwrap_or_default();
    list.split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// Finds a program in the path, and in the folders of programs for the administrator.
fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let mut files = folders.map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// Runs a command, and returns its output.
fn run(command: &mut Command) -> Result<String, String> {
    let shown = format!("{:?}", command.get_program());
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{shown}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!(
        "{shown}: {}",
        String::from_utf8_lossy(&output.stderr)
    ))
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
