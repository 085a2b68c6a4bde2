//! A Slurm cluster of one node, which this test starts.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{add_program, all_of, find, said};

/// Time after which the cluster counts as unable to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// The daemons, which are killed when this is dropped.
struct Cluster {
    folder: tempfile::TempDir,
    daemons: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

impl Cluster {
    /// Starts a cluster, or returns the reason why not.
    fn start() -> Result<Self, String> {
        for program in ["munged", "slurmctld", "slurmd", "srun", "sinfo"] {
            let is_there =
                find(program).is_some() || Path::new("/usr/sbin").join(program).is_file();
            if !is_there {
                return Err(format!("{program} is not installed"));
            }
        }
        if !rustix::process::geteuid().is_root() {
            return Err("only root starts the daemons".to_owned());
        }
        // The daemon of munge wants a socket that all users can reach.
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut cluster = Self {
            folder,
            daemons: Vec::new(),
        };
        cluster.configure();
        let path = |name: &str| cluster.folder.path().join(name).display().to_string();
        let munge = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            format!("--key-file={}", path("munge.key")),
            format!("--socket={}", path("munge.sock")),
            format!("--pid-file={}", path("munge.pid")),
            format!("--log-file={}", path("munge.log")),
            format!("--seed-file={}", path("munge.seed")),
        ];
        let slurm = ["-D".to_owned(), "-f".to_owned(), path("slurm.conf")];
        cluster.daemon("munged", &munge);
        cluster.daemon("slurmctld", &slurm);
        cluster.daemon("slurmd", &slurm);
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let mut sinfo = cluster.command("sinfo");
            let output = sinfo.args(["--noheader", "--format=%T"]).output().unwrap();
            if String::from_utf8_lossy(&output.stdout).trim() == "idle" {
                return Ok(cluster);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(format!("the cluster did not start within {PATIENCE:?}"))
    }

    fn configure(&self) {
        let folder = self.folder.path();
        let mut key = [0; 1024];
        let mut random = fs::File::open("/dev/urandom").unwrap();
        random.read_exact(&mut key).unwrap();
        fs::write(folder.join("munge.key"), key).unwrap();
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(folder.join("munge.key"), private).unwrap();
        // The ports are free now.
        let port = || TcpListener::bind("127.0.0.1:0").unwrap();
        let ports = [port(), port()].map(|bound| bound.local_addr().unwrap().port());
        let host = rustix::system::uname();
        let host = host.nodename().to_str().unwrap();
        let text = format!(
            "ClusterName=test
             SlurmctldHost={host}(127.0.0.1)
             SlurmUser=root
             AuthType=auth/munge
             AuthInfo=socket={folder}/munge.sock
             StateSaveLocation={folder}/state
             SlurmdSpoolDir={folder}/spool
             SlurmctldPidFile={folder}/slurmctld.pid
             SlurmdPidFile={folder}/slurmd.pid
             TmpFS={folder}/tmp
             SlurmctldLogFile={folder}/slurmctld.log
             SlurmdLogFile={folder}/slurmd.log
             SlurmctldPort={}
             SlurmdPort={}
             ProctrackType=proctrack/linuxproc
             TaskPlugin=task/none
             ReturnToService=2
             SchedulerType=sched/builtin
             JobAcctGatherType=jobacct_gather/none
             AccountingStorageType=accounting_storage/none
             NodeName={host} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            ports[0],
            ports[1],
            folder = folder.display(),
        );
        fs::write(folder.join("slurm.conf"), text).unwrap();
        // The plugin of PMIx does not start a job of which it finds a folder. Numbers of jobs begin
        // at 1.
        for name in ["state", "spool", "tmp"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
    }

    fn daemon(&mut self, name: &str, arguments: &[String]) {
        let mut command = self.command(name);
        command.args(arguments).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push(command.spawn().unwrap());
    }

    fn command(&self, name: &str) -> Command {
        let program = find(name).unwrap_or_else(|| Path::new("/usr/sbin").join(name));
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        command
    }
}

#[test]
fn srun_of_slurm_starts_a_world() {
    let cluster = match Cluster::start() {
        Ok(cluster) => cluster,
        Err(reason) => {
            eprintln!("SKIPPED: no cluster of Slurm: {reason}");
            return;
        }
    };
    let plugins = cluster.command("srun").arg("--mpi=list").output().unwrap();
    let plugins = String::from_utf8_lossy(&plugins.stderr).into_owned()
        + &String::from_utf8_lossy(&plugins.stdout);
    for plugin in ["pmi2", "none", "pmix"] {
        if !plugins.contains(plugin) {
            eprintln!("SKIPPED: Slurm has no plugin {plugin}");
            continue;
        }
        let mut command = cluster.command("srun");
        command.args(["--overcommit", "-n", "3", &format!("--mpi={plugin}")]);
        add_program(&mut command, "rank");
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        if errors.contains("Couldn't load specified plugin") {
            eprintln!("SKIPPED: Slurm can't load its plugin {plugin}");
            continue;
        }
        assert_eq!(said(&output), all_of(3, "shm"), "{plugin}");
        assert!(output.status.success(), "{plugin}");
    }
}
