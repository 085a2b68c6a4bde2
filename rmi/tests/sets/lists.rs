//! Lists of members that change, flap, fail or have no end.

use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use jstream_rmi::{Address, AddressList, ClientSet, HostRecords, ListedMember, MemberSource};
use testing::until;

use crate::{Ledger, Running, Shop, addresses, open, quick, start_all};

/// A list that the test changes.
#[derive(Clone)]
struct Changing {
    shared: Arc<Shared>,
    address: Address,
}

#[derive(Default)]
struct Shared {
    state: Mutex<Answers>,
    unblocked: Condvar,
}

#[derive(Default)]
struct Answers {
    /// The members, or none for an error.
    list: Option<Vec<Address>>,
    is_blocked: bool,
    asked: u64,
    waker: Option<Waker>,
}

impl Changing {
    fn new(list: &[Address]) -> Self {
        let this = Self {
            shared: Arc::default(),
            address: list[0].clone(),
        };
        this.change(Some(list));
        this
    }

    /// Changes the list, and waits until the set has asked for it.
    fn replace(&self, list: Option<&[Address]>) {
        let before = self.change(list);
        until(|| self.shared.state.lock().unwrap().asked > before);
    }

    fn change(&self, list: Option<&[Address]>) -> u64 {
        let mut state = self.shared.state.lock().unwrap();
        state.list = list.map(<[Address]>::to_vec);
        let (asked, waker) = (state.asked, state.waker.take());
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        asked
    }

    fn block(&self, is_blocked: bool) {
        self.shared.state.lock().unwrap().is_blocked = is_blocked;
        self.shared.unblocked.notify_all();
    }
}

impl MemberSource for Changing {
    fn address(&self) -> &Address {
        &self.address
    }

    fn members(&self, changed: &Waker) -> io::Result<Vec<ListedMember>> {
        let mut state = self.shared.state.lock().unwrap();
        while state.is_blocked {
            state = self.shared.unblocked.wait(state).unwrap();
        }
        state.asked += 1;
        state.waker = Some(changed.clone());
        let list = state.list.as_ref();
        let list = list.ok_or_else(|| io::Error::other("the source fails"))?;
        Ok(list
            .iter()
            .map(|address| ListedMember::new(vec![address.clone()]))
            .collect())
    }
}

#[test]
fn members_that_leave_end_their_calls_and_then_their_connections() {
    for addresses in addresses("leave", 2) {
        let ledger = Arc::default();
        let running = start_all(&addresses, &ledger);
        let source = Changing::new(&addresses[..1]);
        let set = ClientSet::open_with(source.clone(), &quick()).unwrap();
        let shop = set.get::<dyn Shop>("shop");
        assert!(set.ready().wait());
        running[0].object.hold();
        let held = shop.wait(1);
        until(|| running[0].object.calls() == 1);
        source.replace(Some(&addresses[1..]));
        until(|| open(&set) == 1 && *shop.buy(2).wait().unwrap().get() == 1);
        for number in 3..40 {
            assert_eq!(*shop.buy(number).wait().unwrap().get(), 1);
        }
        assert_eq!(running[0].connections(), 1);
        running[0].object.release();
        assert_eq!(*held.wait().unwrap().get(), 0);
        until(|| running[0].connections() == 0);
    }
}

#[test]
fn a_list_that_flaps_loses_no_call() {
    let addresses = &addresses("flaps", 3)[3];
    let ledger: Arc<Ledger> = Arc::default();
    let running = start_all(addresses, &ledger);
    let source = Changing::new(&addresses[..1]);
    let mut options = quick();
    options.max_connections = 4;
    options.watch = Duration::from_millis(50);
    let set = ClientSet::open_with(source.clone(), &options).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    assert!(set.ready().wait());
    let calls = 4 * 300;
    thread::scope(|scope| {
        let callers: Vec<_> = (0..4)
            .map(|thread| {
                let (shop, ledger) = (shop.clone(), ledger.clone());
                scope.spawn(move || {
                    for call in 0..300 {
                        let number = thread * 1000 + call;
                        let outcome = shop.buy(number).wait().map(|reply| *reply.get());
                        assert!(outcome.is_ok(), "{outcome:?}");
                        ledger.check(number, &outcome);
                    }
                })
            })
            .collect();
        let dead: Vec<Address> = vec!["inproc://sets-nobody".parse().unwrap()];
        let lists: [Option<&[Address]>; 6] = [
            Some(&addresses[1..]),
            None,
            Some(&addresses[..2]),
            Some(&[]),
            Some(&dead),
            Some(&addresses[..]),
        ];
        for list in lists.iter().cycle() {
            source.replace(*list);
            // With a list of a dead server only, calls wait for the next list.
            if callers.iter().all(|caller| caller.is_finished()) {
                break;
            }
        }
    });
    let ran: u64 = running.iter().map(|one| one.object.calls()).sum();
    assert_eq!(ran, calls);
    // A server notices the end of a connection a little later.
    let connections = || running.iter().map(Running::connections).sum::<u64>();
    until(|| connections() <= 4);
}

#[test]
fn failures_and_empty_lists_change_nothing() {
    let addresses = &addresses("fails", 1)[0];
    let ledger = Arc::default();
    let _running = start_all(addresses, &ledger);
    let source = Changing::new(addresses);
    let set = ClientSet::open_with(source.clone(), &quick()).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    assert!(set.ready().wait());
    for list in [None, Some(&[][..])] {
        source.replace(list);
        source.replace(list);
        assert_eq!(set.members().len(), 1);
        shop.look().wait().unwrap();
    }
}

#[test]
fn a_long_list_is_cut() {
    let address = |number| format!("inproc://sets-long-{number}").parse().unwrap();
    let long: Vec<Address> = (0..5000).map(address).collect();
    let mut options = quick();
    options.max_connections = 4;
    let list = AddressList::new(long).unwrap();
    let set = ClientSet::open_with(list, &options).unwrap();
    until(|| set.members().len() == 4);
    assert!(set.ready().wait() || open(&set) == 0);
}

#[test]
fn a_source_that_blocks_keeps_nothing() {
    let addresses = &addresses("blocks", 1)[3];
    let ledger = Arc::default();
    let running = start_all(addresses, &ledger);
    let source = Changing::new(addresses);
    let set = ClientSet::open_with(source.clone(), &quick()).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    assert!(set.ready().wait());
    source.block(true);
    source.change(Some(addresses));
    shop.look().wait().unwrap();
    drop(set);
    shop.look().wait().unwrap();
    drop(shop);
    until(|| running[0].connections() == 0);
    source.block(false);
    until(|| Arc::strong_count(&source.shared) == 1);
}

#[test]
fn a_source_that_panics_is_asked_again() {
    struct Panics(Address, Mutex<u32>);
    impl MemberSource for Panics {
        fn address(&self) -> &Address {
            &self.0
        }

        fn members(&self, _: &Waker) -> io::Result<Vec<ListedMember>> {
            let mut times = self
                .1
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            *times += 1;
            assert!(*times > 2, "as it should");
            Ok(vec![ListedMember::new(vec![self.0.clone()])])
        }
    }
    let addresses = &addresses("panics", 1)[0];
    let ledger = Arc::default();
    let _running = start_all(addresses, &ledger);
    let mut options = quick();
    options.refresh = Duration::from_millis(5);
    let source = Panics(addresses[0].clone(), Mutex::new(0));
    let set = ClientSet::open_with(source, &options).unwrap();
    set.get::<dyn Shop>("shop").look().wait().unwrap();
}

#[test]
fn hosts_have_members_for_all_their_records() {
    let ledger = Arc::default();
    let running = Running::start(&"tcp://127.0.0.1:0".parse().unwrap(), 0, &ledger);
    let Address::Tcp { port, .. } = &running.address else {
        panic!("not a TCP address");
    };
    let name: Address = format!("tcp://localhost:{port}").parse().unwrap();
    let set = ClientSet::open_with(HostRecords::new(&name).unwrap(), &quick()).unwrap();
    set.get::<dyn Shop>("shop").look().wait().unwrap();
    let members = set.members();
    let known = |member: &jstream_rmi::MemberInfo| member.addresses == [running.address.clone()];
    assert!(members.iter().any(known), "{members:?}");
    assert!(HostRecords::new(&"inproc://sets-host".parse().unwrap()).is_err());
    assert!(AddressList::new([]).is_err());
}
