//! Diagnostics for a child process that does not respond.

use std::fs;
use std::process::Command;

use testing::process::ROLE;

/// Prints the state of each thread of each child process, and its stack if `gdb` is installed.
pub(crate) fn print_of_children() {
    let me = std::process::id();
    for process in numbers("/proc") {
        let folder = format!("/proc/{process}");
        // The fourth field is the parent. The second field, the name, contains no spaces here.
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

/// Returns the entries of a folder whose names are numbers.
fn numbers(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Returns the trimmed content of a file below `/proc`, or an empty string if the process is gone.
fn read(path: &str) -> String {
    let text = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
}

/// Returns the role of a child process, taken from its environment.
fn role(process: u32) -> String {
    let environment = read(&format!("/proc/{process}/environ"));
    let mut variables = environment.split(char::from(0));
    let role = variables.find(|variable| variable.starts_with(ROLE));
    role.unwrap_or("no process of this test").to_owned()
}
