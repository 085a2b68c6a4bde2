use std::cell::RefCell;
use std::future::poll_fn;
use std::io::IoSlice;
use std::rc::Rc;
use std::task::Poll;

use super::state::PipeSide;
use super::world::{Closed, ConnectionEnd};
use super::*;

/// Writes all of `bytes`, as a task.
async fn write_all(end: &ConnectionEnd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let (first, second) = bytes.split_at(bytes.len() / 2);
        match end.write(&[IoSlice::new(first), IoSlice::new(second)], false) {
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                sleep_on(end, PipeSide::Writer).await
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads until the end.
async fn read_all(end: &ConnectionEnd) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        match end.read(1 << 14, |piece| all.extend(piece)) {
            Ok(0) => return Ok(all),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                sleep_on(end, PipeSide::Reader).await
            }
            Err(error) => return Err(error),
        }
    }
}

async fn sleep_on(end: &ConnectionEnd, side: PipeSide) {
    poll_fn(|context| {
        if end.arm(side, context.waker()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

async fn accept(world: &Arc<World>, name: &str, id: u64) -> ConnectionEnd {
    poll_fn(|context| match world.accept(name, id) {
        Ok(Some(end)) => Poll::Ready(end),
        Ok(None) if world.arm_door(name, id, context.waker()) => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
        Ok(None) => Poll::Pending,
        Err(Closed) => panic!("the door is open"),
    })
    .await
}

fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut random = random::Random::new(seed);
    (0..length)
        .map(|_| random.next().to_le_bytes()[0])
        .collect()
}

/// For each reader, its index, and the bytes or the error.
type Results = Vec<(usize, io::Result<Vec<u8>>)>;

/// Opens several connections on which both sides write and read. Returns the results in the order
/// in which the readers ended.
fn run(settings: Settings) -> (Results, Simulation) {
    let mut simulation = Simulation::new(settings);
    let order = Rc::new(RefCell::new(Vec::new()));
    let ends = Rc::clone(&order);
    simulation
        .run(async move {
            let world = world();
            let door = world.bind("door").unwrap();
            assert_eq!(world.bind("door"), None);
            let mut tasks = Vec::new();
            let mut connected = 0;
            for _ in 0..4 {
                let Ok(client) = world.connect("door") else {
                    continue;
                };
                let server = accept(&world, "door", door).await;
                for end in [client, server] {
                    let (end, ends, index) = (Arc::new(end), Rc::clone(&ends), connected);
                    connected += 1;
                    let writer = Arc::clone(&end);
                    tasks.push(spawn("writer", async move {
                        let length = 10_000 + 1000 * index;
                        let done = write_all(&writer, &bytes(length, index as u64)).await;
                        if done.is_ok() {
                            writer.finish();
                        }
                    }));
                    tasks.push(spawn("reader", async move {
                        let read = read_all(&end).await;
                        ends.borrow_mut().push((index, read));
                    }));
                }
            }
            for task in tasks {
                task.await;
            }
            world.unbind("door", door);
            assert!(world.connect("door").is_err());
        })
        .unwrap();
    let order = std::mem::take(&mut *order.borrow_mut());
    (order, simulation)
}

#[test]
fn without_faults_all_bytes_arrive_and_connections_overtake_each_other() {
    let mut orders = Vec::new();
    for seed in 0..30 {
        let (ends, simulation) = run(Settings::new(seed));
        assert_eq!((ends.len(), simulation.faults()), (8, 0));
        for (index, read) in &ends {
            let other = index ^ 1;
            let expected = bytes(10_000 + 1000 * other, other as u64);
            assert!(read.as_ref().unwrap() == &expected, "{seed}");
        }
        orders.push(ends.iter().map(|(index, _)| *index).collect::<Vec<_>>());
        assert_eq!(simulation.world.pipes(), 0, "nothing is left");
    }
    orders.sort();
    orders.dedup();
    assert!(orders.len() > 10, "{orders:?}");
}

#[test]
fn one_seed_is_one_run() {
    for seed in 0..10 {
        let mut settings = Settings::new(seed);
        settings.faults = Faults::ALL;
        let (ends, simulation) = run(settings.clone());
        let (same_ends, same) = run(settings.clone());
        let words = |ends: &[_]| format!("{ends:?}");
        assert_eq!(words(&ends), words(&same_ends));
        assert_eq!(simulation.trace(), same.trace());
        assert_eq!(simulation.now(), same.now());
        settings.seed = 1000 + seed;
        assert_ne!(run(settings).1.trace(), simulation.trace());
    }
}

#[test]
fn every_fault_happens() {
    let mut faults = Faults::NONE;
    faults.within = 9000;
    let all = |set: fn(&mut Faults)| {
        let mut settings = Settings::new(3);
        settings.faults = faults.clone();
        set(&mut settings.faults);
        run(settings)
    };
    let kinds = |ends: &[(usize, io::Result<Vec<u8>>)]| {
        ends.iter()
            .map(|(_, read)| read.as_ref().err().map(io::Error::kind))
            .collect::<Vec<_>>()
    };
    let whole = |index: usize| bytes(10_000 + 1000 * (index ^ 1), (index ^ 1) as u64);

    let (ends, simulation) = all(|faults| faults.cut = 1000);
    assert_eq!(simulation.faults(), 8);
    for (index, read) in &ends {
        let read = read.as_ref().unwrap();
        assert!(read.len() < 9000 && whole(*index).starts_with(read));
    }
    let (ends, _) = all(|faults| faults.reset = 1000);
    assert_eq!(kinds(&ends), [Some(ErrorKind::ConnectionReset); 8]);
    for set in [
        (|faults| faults.drop = 1000) as fn(&mut Faults),
        |faults| faults.vanish = 1000,
        |faults| faults.silent = 1000,
    ] {
        let (ends, simulation) = all(set);
        assert_eq!(kinds(&ends), [Some(ErrorKind::TimedOut); 8]);
        assert!(simulation.now() >= Duration::from_secs(60));
    }
    let (ends, _) = all(|faults| faults.corrupt = 1000);
    for (index, read) in &ends {
        let (read, whole) = (read.as_ref().unwrap(), whole(*index));
        let wrong = read.iter().zip(&whole).filter(|(a, b)| a != b).count();
        assert_eq!((wrong, read.len()), (1, whole.len()));
    }
    let (ends, simulation) = all(|faults| faults.refuse = 1000);
    assert_eq!((ends.len(), simulation.faults()), (0, 4));
}

#[test]
fn time_costs_nothing_and_has_an_order() {
    let mut simulation = Simulation::new(Settings::new(1));
    let order = simulation
        .run(async {
            let order = Rc::new(RefCell::new(Vec::new()));
            let tasks: Vec<_> = [30, 10, 20]
                .map(|hours| {
                    let order = Rc::clone(&order);
                    spawn("sleeper", async move {
                        sleep(Duration::from_secs(hours * 3600)).await;
                        yield_now().await;
                        order.borrow_mut().push(hours);
                    })
                })
                .into();
            for task in tasks {
                task.await;
            }
            order.take()
        })
        .unwrap();
    assert_eq!(order, [10, 20, 30]);
    assert_eq!(simulation.now().as_secs(), 30 * 3600);
}

#[test]
fn what_can_never_go_on_is_said() {
    let mut simulation = Simulation::new(Settings::new(1));
    let stuck = simulation.run(async {
        drop(spawn("done", async {}));
        spawn("waits for ever", std::future::pending::<()>()).await;
    });
    let waiting = vec!["main".into(), "waits for ever".into()];
    assert_eq!(stuck, Err(Stuck::Deadlock { waiting }));
    let text = stuck.unwrap_err().to_string();
    assert!(text.contains("main, waits for ever"), "{text}");

    let mut settings = Settings::new(1);
    settings.max_steps = 1000;
    let stuck = Simulation::new(settings).run(async {
        loop {
            yield_now().await;
        }
    });
    assert_eq!(stuck, Err::<(), _>(Stuck::Steps { steps: 1000 }));
}

#[test]
fn a_panic_leaves_the_thread_fit_for_another_simulation() {
    let panic = std::panic::catch_unwind(|| {
        Simulation::new(Settings::new(1)).run(async {
            drop(spawn("panics", async { panic!("as it should") }));
            sleep(Duration::from_secs(1)).await;
        })
    });
    assert!(panic.is_err());
    assert_eq!(Simulation::new(Settings::new(1)).run(async { 5 }), Ok(5));
}

#[test]
fn threads_without_a_simulation_sleep_and_wake() {
    let world = World::of_threads();
    let door = world.bind("threads").unwrap();
    let client = SimWire::new(world.connect("threads").unwrap());
    let Ok(Some(server)) = world.accept("threads", door) else {
        panic!("the client waits");
    };
    let server = SimWire::new(server);
    let never = crate::deadline::Deadline::NEVER;
    let (all, mut got) = (bytes(3_000_000, 1), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut rest = all.as_slice();
            while !rest.is_empty() {
                match client.try_write(&[IoSlice::new(rest)]).unwrap() {
                    Some(n) => rest = &rest[n..],
                    None => client.sleep(Interest::Writable, never).unwrap(),
                }
            }
            client.end_sending();
        });
        loop {
            let mut piece = [std::mem::MaybeUninit::<u8>::uninit(); 5000];
            let (a, b) = piece.split_at_mut(1);
            let mut slices = [a, &mut [], b].map(socket2::MaybeUninitSlice::new);
            match server.try_read(&mut slices).unwrap() {
                Some(0) => break,
                Some(n) => {
                    // SAFETY: The wire has initialised the first `n` bytes.
                    got.extend(piece[..n].iter().map(|byte| unsafe { byte.assume_init() }));
                }
                None => server.sleep(Interest::Readable, never).unwrap(),
            }
        }
    });
    assert!(got == all);
    world.unbind("threads", door);
}
