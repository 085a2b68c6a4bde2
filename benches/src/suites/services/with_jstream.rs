//! The service over remote calls, with a client set in each client.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jstream_rmi::{
    Address, AddressList, CallError, ClientSet, Outcome, Remotable, Server, Serves, Serving,
    SetOptions,
};

use super::CALL_TIMEOUT;
use super::calls::{Answer, Lane, Present, save};
use super::ledger::{End, ExecutedFile, Order};
use super::process::{Version, each_line, tell};
use crate::Failure;

const NAME: &str = "desk";

/// Time that a server has for its shutdown.
const SHUTDOWN: Duration = Duration::from_secs(30);

mod first {
    use jstream::Transportable;
    use jstream_rmi::remote;

    #[derive(Transportable)]
    pub(super) struct Parcel<'b> {
        pub(super) number: u64,
        pub(super) client: &'b str,
    }

    #[derive(Transportable)]
    pub(super) struct Receipt {
        pub(super) number: u64,
        pub(super) price: u64,
        pub(super) server: u64,
    }

    #[remote]
    pub(super) trait Desk {
        fn submit(&self, parcel: &Parcel<'_>) -> Receipt;
        #[remote(idempotent)]
        fn ask(&self, number: u64) -> Receipt;
    }
}

/// The interface with other fields, a renamed method, and another argument.
mod second {
    use jstream::Transportable;
    use jstream_rmi::remote;

    #[derive(Transportable)]
    pub(super) struct Parcel<'b> {
        #[transportable(default = 1)]
        pub(super) weight: u32,
        pub(super) client: &'b str,
        pub(super) number: u64,
    }

    #[derive(Transportable)]
    pub(super) struct Receipt {
        pub(super) server: u64,
        pub(super) number: u64,
        #[transportable(default)]
        pub(super) weight: u32,
        pub(super) price: u64,
    }

    #[remote]
    pub(super) trait Desk {
        #[remote(idempotent)]
        fn ask(&self, number: u64) -> Receipt;
        #[remote(renamed_from = "submit")]
        fn enter(&self, #[remote(default = 7)] priority: u8, parcel: &Parcel<'_>) -> Receipt;
    }
}

/// The object of a server.
struct Desk {
    executed: ExecutedFile,
    server: u64,
    /// Time that each call takes, in microseconds.
    delay_us: AtomicU64,
}

impl Desk {
    /// Executes an order. Returns its price, or a wrong one if it can't be recorded.
    fn execute(&self, number: u64) -> u64 {
        let delay = self.delay_us.load(Ordering::Relaxed);
        if delay > 0 {
            thread::sleep(Duration::from_micros(delay));
        }
        match self.executed.record(number) {
            Ok(()) => Order::price(number),
            Err(_) => 0,
        }
    }
}

#[jstream_rmi::remote]
impl first::Desk for Desk {
    fn submit(&self, parcel: &first::Parcel<'_>) -> first::Receipt {
        first::Desk::ask(self, parcel.number)
    }

    fn ask(&self, number: u64) -> first::Receipt {
        first::Receipt {
            number,
            price: self.execute(number),
            server: self.server,
        }
    }
}

#[jstream_rmi::remote]
impl second::Desk for Desk {
    fn ask(&self, number: u64) -> second::Receipt {
        second::Receipt {
            number,
            price: self.execute(number),
            server: self.server,
            weight: 0,
        }
    }

    fn enter(&self, priority: u8, parcel: &second::Parcel<'_>) -> second::Receipt {
        let mut receipt = second::Desk::ask(self, parcel.number);
        // Either both are those of the second version, or both are the defaults.
        if !matches!((priority, parcel.weight), (3, 2) | (7, 1)) {
            receipt.price = 0;
        }
        receipt.weight = parcel.weight;
        receipt
    }
}

fn listen<T: Remotable + ?Sized>(
    object: impl Serves<T>,
    address: &str,
) -> Result<Serving, Failure> {
    let server = Server::default();
    server.bind::<T>(NAME, object)?;
    Ok(server.listen(&address.parse()?)?)
}

/// Serves until the standard input ends.
pub(super) fn serve(
    version: Version,
    server: usize,
    address: &str,
    executed: ExecutedFile,
) -> Result<(), Failure> {
    let desk = Arc::new(Desk {
        executed,
        server: server as u64,
        delay_us: AtomicU64::new(0),
    });
    let serving = match version {
        Version::First => listen::<dyn first::Desk>(desk.clone(), address)?,
        Version::Second => listen::<dyn second::Desk>(desk.clone(), address)?,
    };
    tell("ready")?;
    each_line(|line| {
        desk.delay_us
            .store(line.parse().unwrap_or(0), Ordering::Relaxed)
    });
    let ended = serving.shutdown(SHUTDOWN).wait();
    if ended.cut_off > 0 || ended.abandoned {
        return Err(format!("the shutdown has cut calls off: {ended:?}").into());
    }
    Ok(())
}

/// The stub of one of the versions.
#[derive(Clone)]
enum Stub {
    First(first::DeskStub),
    Second(second::DeskStub),
}

impl Stub {
    fn call(&self, order: Order) -> Result<Answer, CallError> {
        let number = order.number();
        Ok(match (self, order.is_idempotent()) {
            (Self::First(desk), true) => of_first(desk.ask(number).wait()?.get()),
            (Self::First(desk), false) => {
                let client = "first";
                of_first(desk.submit(&first::Parcel { number, client }).wait()?.get())
            }
            (Self::Second(desk), true) => of_second(desk.ask(number).wait()?.get()),
            (Self::Second(desk), false) => {
                let parcel = second::Parcel {
                    weight: 2,
                    client: "second",
                    number,
                };
                of_second(desk.enter(3, &parcel).wait()?.get())
            }
        })
    }
}

fn of_first(receipt: &first::Receipt) -> Answer {
    Answer {
        number: receipt.number,
        price: receipt.price,
        server: receipt.server as usize,
    }
}

fn of_second(receipt: &second::Receipt) -> Answer {
    // A server of the first version does not return the weight.
    let is_right = matches!(receipt.weight, 0 | 2);
    Answer {
        number: receipt.number,
        price: if is_right { receipt.price } else { 0 },
        server: receipt.server as usize,
    }
}

/// Calls with as many threads as there are lanes, until the standard input ends.
pub(super) fn call(
    version: Version,
    addresses: &[String],
    (first_lane, count): (u16, u16),
    folder: &Path,
    pause: Duration,
) -> Result<(), Failure> {
    let addresses: Result<Vec<Address>, _> = addresses.iter().map(|one| one.parse()).collect();
    let mut options = SetOptions::default();
    options.client.call_timeout = CALL_TIMEOUT;
    let set = ClientSet::open_with(AddressList::new(addresses?)?, &options)?;
    let stub = match version {
        Version::First => Stub::First(set.get::<dyn first::Desk>(NAME)),
        Version::Second => Stub::Second(set.get::<dyn second::Desk>(NAME)),
    };
    if !set.ready().wait() {
        return Err("no server was found".into());
    }
    let present = Present::default();
    tell("ready")?;
    let lanes = thread::scope(|scope| {
        let lanes: Vec<_> = (first_lane..first_lane + count)
            .map(|lane| {
                let (stub, present) = (stub.clone(), &present);
                scope.spawn(move || call_in_lane(&stub, lane, (folder, present), pause))
            })
            .collect();
        present.follow();
        let ended = lanes.into_iter().map(|lane| lane.join());
        ended
            .map(|lane| lane.unwrap_or_else(|_| Err("a thread has panicked".into())))
            .collect::<Result<Vec<_>, Failure>>()
    });
    save(folder, lanes?)
}

fn call_in_lane<'p>(
    stub: &Stub,
    lane: u16,
    (folder, present): (&Path, &'p Present),
    pause: Duration,
) -> Result<Lane<'p>, Failure> {
    let mut lane = Lane::open(folder, lane, present)?;
    while !present.is_over() {
        let begun = lane.begin();
        let ended = stub.call(begun.order);
        report(&ended, begun.order);
        lane.end(begun, ended.map_err(|error| end_of(error.outcome())))?;
        if !pause.is_zero() {
            thread::sleep(pause);
        }
    }
    Ok(lane)
}

/// Prints the error of a call to stderr if the program is to explain its failures.
fn report(ended: &Result<Answer, CallError>, order: Order) {
    if let (Err(error), true) = (ended, super::explains()) {
        eprintln!("{:?} {order:?}: {error}", Instant::now());
    }
}

fn end_of(outcome: Outcome) -> End {
    match outcome {
        Outcome::DidNotRun => End::DidNotRun,
        Outcome::Ran => End::Ran,
        _ => End::MayHaveRun,
    }
}
