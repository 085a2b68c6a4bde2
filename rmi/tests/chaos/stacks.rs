//! What the processes of this test are doing, for whoever has to find out why one does not answer.

use std::fs;
use std::process::Command;

use crate::process::ROLE;

/// Prints for each process that this one has started what its threads wait for, and their stacks if there is a
/// debugger.
pub(crate) fn print_of_children() {
    let me = std::process::id();
    for process in numbers("/proc") {
        let folder = format!("/proc/{process}");
        // The fourth field is the parent; the second one, the name, has no spaces here.
        let parent = read(&format!("{folder}/stat"));
        if parent.split(' ').nth(3) != Some(me.to_string().as_str()) {
            continue;
        }
        println!("process {process}: {}", role(process));
        for thread in numbers(&format!("{folder}/task")) {
            let [name, waits, call] = ["comm", "wchan", "syscall"]
                .map(|what| read(&format!("{folder}/task/{thread}/{what}")));
            println!("  thread {thread} {name}: {waits}, system call {call}");
        }
        let stacks = Command::new("gdb")
            .args(["-p", &process.to_string(), "-batch", "-nx"])
            .args(["-ex", "thread apply all backtrace 40"])
            .output();
        match stacks {
            Ok(stacks) => println!("{}", String::from_utf8_lossy(&stacks.stdout)),
            Err(error) => println!("  no stacks: gdb: {error}"),
        }
    }
}

/// The entries of a folder that are numbers.
fn numbers(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// What a file of `/proc` says, without space around it; nothing if its process has gone.
fn read(path: &str) -> String {
    let text = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
}

/// What a process of this test is, by the variable that said so to it.
fn role(process: u32) -> String {
    let environment = read(&format!("/proc/{process}/environ"));
    let mut variables = environment.split(char::from(0));
    let role = variables.find(|variable| variable.starts_with(ROLE));
    role.unwrap_or("no process of this test").to_owned()
}
