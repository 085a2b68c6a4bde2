//! Start of named threads.

use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a thread with a name.
///
/// The standard library's function is compiled for each type of closure, 2 KiB at a time. This one
/// boxes the closure, so that all layers share one copy.
///
/// # Errors
///
/// The error of the operating system if it has no thread. `run` has then been dropped.
pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    spawn_boxed(name, Box::new(run))
}

fn spawn_boxed(name: &str, run: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.to_owned()).spawn(run)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::spawn;

    #[test]
    fn a_thread_has_its_name() {
        let (tell, told) = mpsc::channel();
        let named = move || {
            let name = thread::current().name().map(str::to_owned);
            let _ = tell.send(name);
        };
        spawn("jstream-named", named).unwrap().join().unwrap();
        assert_eq!(told.recv().unwrap().as_deref(), Some("jstream-named"));
    }
}
