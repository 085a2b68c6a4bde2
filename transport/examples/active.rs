//! Active messages between processes: one client increments a counter, and another waits until the
//! counter has reached a value.
//!
//! ```text
//! cargo run -p jstream-transport --example active
//! ```

use std::error::Error;
use std::process::Command;
use std::sync::Arc;

use jstream::Received;
use jstream_transport::active::{Guarded, Handlers, Peer, PollGroup, Settings};
use jstream_transport::{Address, Options, connect, listen};

fn table() -> Handlers {
    let count = Arc::new(Guarded::new(0u64));
    let (waited, changed) = (count.clone(), count);
    Handlers::builder()
        .on("inc", move |request| {
            let mut value = changed.lock();
            *value = value.saturating_add(request.word());
            let now = *value;
            drop(value);
            request.reply(now, &[]);
        })
        // Polled where the request arrives. If it has to wait, it resumes after the `inc` that
        // completes its condition.
        .on_async("await value", move |request| {
            let count = waited.clone();
            async move {
                let wanted = request.word();
                let value = *count.when(|value| *value >= wanted).await;
                request.reply(value, &[]);
            }
        })
        .function("mean", |numbers: Received<Vec<f64>>| {
            let numbers = numbers.get();
            numbers.iter().sum::<f64>() / f64::from(u32::try_from(numbers.len()).unwrap_or(1))
        })
        .build()
}

fn serve(address: &Address) -> Result<(), Box<dyn Error>> {
    let listener = listen(address, &Options::default())?;
    let handlers = table();
    let group = PollGroup::default();
    // One thread serves both connections.
    let mut children = Vec::new();
    for role in ["count", "wait"] {
        let mut child = Command::new(std::env::current_exe()?);
        children.push(child.args([role, &address.to_string()]).spawn()?);
        let endpoint = listener.accept()?.establish()?;
        group.add(&Peer::join(endpoint, &handlers, Settings::default())?);
    }
    group.serve();
    for mut child in children {
        child.wait()?;
    }
    println!("served: {:?}", handlers.counters());
    Ok(())
}

fn ask(role: &str, address: &Address) -> Result<(), Box<dyn Error>> {
    let endpoint = connect(address, &Options::default())?;
    let peer = Peer::join(endpoint, &Handlers::none(), Settings::default())?;
    if role == "wait" {
        let reply = peer
            .request(peer.handler("await value")?, 1000, &[])?
            .wait()?;
        println!("the counter has reached {}", reply.word);
        return Ok(());
    }
    let mean = peer.function::<Vec<f64>, f64>("mean")?;
    let result = peer.call(&mean, &vec![1.0, 2.0, 6.0])?.wait()?;
    println!("the mean is {}", result.get());
    let inc = peer.handler("inc")?;
    for _ in 0..1000 {
        peer.request(inc, 1, &[])?.wait()?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(role), Some(address)) => ask(&role, &address.parse()?),
        _ => serve(&Address::shm(&format!("active-{}", std::process::id()))?),
    }
}
