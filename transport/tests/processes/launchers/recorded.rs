//! Recorded environments of launchers, with a PMI server of this test.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{self, Child, Output, Stdio};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use jstream_transport::Address;
use jstream_transport::rank::world::{Refusal, Session, World, WorldError};
use testing::transport::worlds::patient;

use super::{all_of, program, said};

/// Starts a rank with this environment and standard input.
fn start(variables: &[(&str, &str)], stdin: Stdio) -> Child {
    let mut command = program("rank");
    command.envs(variables.iter().copied()).stdin(stdin);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits for ranks, and returns what they said.
fn all_said(children: Vec<Child>) -> Vec<String> {
    let outputs = children.into_iter().map(|child| child.wait_with_output());
    let mut all: Vec<_> = outputs.flat_map(|output| said(&output.unwrap())).collect();
    all.sort();
    all
}

/// Returns what a rank with this environment says, and its error output.
fn alone(variables: &[(&str, &str)]) -> String {
    let child = start(variables, Stdio::null());
    all_said(vec![child]).join("\n")
}

/// Serves PMI-1 to one process.
fn serve(stream: UnixStream, store: &Mutex<Vec<(String, String)>>, barrier: &Barrier) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    for line in lines {
        let line = line.unwrap();
        let word = |name: &str| {
            let mut words = line.split(' ');
            let found = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            found.unwrap().to_owned()
        };
        let answer = match &*word("cmd") {
            "init" => "response_to_init pmi_version=1 pmi_subversion=1 rc=0".to_owned(),
            "get_maxes" => "maxes kvsname_max=256 keylen_max=64 vallen_max=1024".to_owned(),
            "get_my_kvsname" => "my_kvsname kvsname=kvs".to_owned(),
            "put" => {
                store.lock().unwrap().push((word("key"), word("value")));
                "put_result rc=0 msg=success".to_owned()
            }
            "barrier_in" => {
                barrier.wait();
                "barrier_out rc=0".to_owned()
            }
            "get" => {
                let key = word("key");
                let store = store.lock().unwrap();
                let found = store.iter().find(|(found, _)| *found == key);
                format!("get_result rc=0 msg=success value={}", found.unwrap().1)
            }
            "finalize" => "finalize_ack rc=0".to_owned(),
            other => panic!("{other}"),
        };
        (&stream)
            .write_all(format!("cmd={answer}\n").as_bytes())
            .unwrap();
    }
}

/// Starts a rank whose PMI server is the other end of the returned socket.
fn start_with_pmi(rank: u32, size: u32) -> (Child, UnixStream) {
    let (client, server) = UnixStream::pair().unwrap();
    let numbers = [rank, size].map(|number| number.to_string());
    let variables = [
        ("PMI_RANK", &*numbers[0]),
        ("PMI_SIZE", &numbers[1]),
        ("MPI_LOCALNRANKS", &numbers[1]),
        ("PMI_FD", "0"),
    ];
    let child = start(&variables, OwnedFd::from(client).into());
    (child, server)
}

#[test]
fn a_pmi_server_tells_the_address() {
    let shared = Arc::new((Mutex::new(Vec::new()), Barrier::new(3)));
    let children = (0..3).map(|rank| {
        let (child, server) = start_with_pmi(rank, 3);
        let shared = shared.clone();
        thread::spawn(move || serve(server, &shared.0, &shared.1));
        child
    });
    assert_eq!(all_said(children.collect()), all_of(3, "shm"));
    // Rank 0 alone has stored a value.
    assert_eq!(shared.0.lock().unwrap().len(), 1);
}

#[test]
fn a_pmi_server_that_misbehaves_is_named() {
    let answers: [(&[u8], &str); 4] = [
        (b"", "closed the connection instead of answering `init`"),
        (b"cmd=response_to_init rc=1\n", "reports a failure"),
        (&[b'x'; 100_000], "longer than"),
        (b"\xff\xfe\n", "is no text"),
    ];
    for (answer, problem) in answers {
        for rank in 0..2 {
            let (child, mut server) = start_with_pmi(rank, 2);
            // The rank may have given up before it has read everything.
            let _ = server.write_all(answer);
            drop(server);
            let said = all_said(vec![child]).join("\n");
            assert!(
                said.contains("the processes of the PMI server can't agree"),
                "{said}"
            );
            // What was sent may be lost when the connection ends.
            assert!(said.contains(problem) || said.contains("closed"), "{said}");
        }
    }
}

#[test]
fn a_descriptor_that_is_no_socket_is_an_error() {
    let said = alone(&[("PMI_RANK", "0"), ("PMI_SIZE", "2"), ("PMI_FD", "0")]);
    assert!(
        said.contains("descriptor 0 of the PMI server can't be used"),
        "{said}"
    );
    let said = alone(&[("PMI_RANK", "0"), ("PMI_SIZE", "2"), ("PMI_FD", "999")]);
    assert!(said.contains("descriptor 999 of the PMI server"), "{said}");
}

/// The environment of a step of Slurm without a key-value store.
fn slurm<'v>(job: &'v str, rank: &'v str, hosts: &'v str) -> Vec<(&'v str, &'v str)> {
    vec![
        ("SLURM_JOB_ID", job),
        ("SLURM_STEP_ID", "0"),
        ("SLURM_PROCID", rank),
        ("SLURM_STEP_NUM_TASKS", "2"),
        ("SLURM_STEP_NUM_NODES", hosts),
        ("SLURM_STEP_NODELIST", "localhost,other"),
    ]
}

#[test]
fn processes_of_one_host_agree_through_a_private_file() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().to_str().unwrap();
    let children = ["1", "0"].map(|rank| {
        let mut variables = slurm("7", rank, "1");
        variables.push(("TMPDIR", temporary));
        start(&variables, Stdio::null())
    });
    assert_eq!(all_said(children.into()), all_of(2, "shm"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn strangers_do_not_join() {
    // Both the port and the session are derived from the number of this process.
    let job = process::id().to_string();
    let session = Session::new().unwrap();
    let text = session.to_string();
    let start = |rank| {
        let mut variables = slurm(&job, rank, "2");
        variables.push(("JSTREAM_SESSION", &text));
        start(&variables, Stdio::null())
    };
    let first = start("0");
    let port = 10_240 + u64::from(process::id()) * 31 % (32_768 - 10_240);
    let address: Address = format!("tcp://localhost:{port}").parse().unwrap();
    for known in [None, Some(Session::new().unwrap())] {
        let mut options = patient();
        options.session = known;
        let error = World::join(&address, 1, 2, &options).unwrap_err();
        assert!(
            matches!(
                error,
                WorldError::Refused {
                    refusal: Refusal::Session,
                    ..
                }
            ),
            "{error}"
        );
    }
    assert_eq!(all_said(vec![first, start("1")]), all_of(2, "tcp"));
}

#[test]
fn several_hosts_without_a_store_need_a_session() {
    let problem = "JSTREAM_SESSION is not set, and";
    let said = alone(&slurm("8", "0", "2"));
    assert!(said.contains(problem), "{said}");
    let pod = [
        ("JOB_COMPLETION_INDEX", "1"),
        ("JSTREAM_SIZE", "2"),
        ("JSTREAM_WORLD", "tcp://localhost:1"),
    ];
    let said = alone(&pod);
    assert!(said.contains(problem), "{said}");
}

#[test]
fn pods_of_a_job_are_a_world() {
    let [.., high, low] = process::id().to_be_bytes();
    let world = format!("tcp://127.{high}.{low}.251:7117");
    let session = Session::new().unwrap().to_string();
    let children = ["0", "1", "2"].map(|index| {
        let variables = [
            ("JOB_COMPLETION_INDEX", index),
            ("JSTREAM_SIZE", "3"),
            ("JSTREAM_WORLD", &world),
            ("JSTREAM_SESSION", &session),
        ];
        start(&variables, Stdio::null())
    });
    assert_eq!(all_said(children.into()), all_of(3, "tcp"));
}

#[test]
fn a_first_rank_that_cannot_listen_is_named_by_all() {
    let shared = Arc::new((Mutex::new(Vec::new()), Barrier::new(2)));
    let outputs = (0..2).map(|rank: u32| {
        let (client, server) = UnixStream::pair().unwrap();
        let shared = shared.clone();
        thread::spawn(move || serve(server, &shared.0, &shared.1));
        let mut command = program("rank");
        command
            .env("PMI_RANK", rank.to_string())
            .env("PMI_SIZE", "2");
        command
            .env("PMI_FD", "0")
            .env("JSTREAM_WORLD", "uds:///nowhere/at/all");
        command.stdin(Stdio::from(OwnedFd::from(client)));
        thread::spawn(move || command.output().unwrap())
    });
    let outputs: Vec<_> = outputs.collect();
    for (rank, output) in outputs.into_iter().enumerate() {
        let output: Output = output.join().unwrap();
        let said = said(&output).join("\n");
        let expected = ["rank 0 can't listen", "rank 0 gave up: rank 0 can't listen"][rank];
        assert!(said.contains(expected), "{said}");
    }
}
