//! Reading does not allocate. Neither does writing, once the writer's scratch memory has reached
//! its maximum. Received objects lie in the receive buffer.

use jstream::{EmptyBuffer, Pool, Reader, StreamReader, StreamWriter, Transportable, Writer};
use testing::allocator::allocations_of as allocations;

#[derive(Transportable, Debug, PartialEq)]
struct Graph<'b> {
    packages: &'b [Package<'b>],
    root: Option<&'b Package<'b>>,
}

#[derive(Transportable, Debug, PartialEq)]
struct Package<'b> {
    name: &'b str,
    dependencies: &'b [u32],
    features: &'b [&'b str],
    size: Option<u32>,
    large: &'b [f64],
}

#[test]
fn nothing_is_allocated_in_steady_state() {
    let names: Vec<String> = (0..500).map(|i| format!("package-{i}")).collect();
    let large = vec![1.5; 1000];
    let packages: Vec<_> = names
        .iter()
        .map(|name| Package {
            name,
            dependencies: &[1, 2, 3],
            features: &["std", "alloc"],
            size: Some(7),
            large: &large[..name.len() * 10],
        })
        .collect();
    let graph = Graph {
        packages: &packages,
        root: packages.last(),
    };

    let pool = Pool::default();
    let mut writer = Writer::new();
    let mut reader = Reader::default();
    let mut round = || {
        let filled = writer.write_to(&graph, &pool).unwrap();
        let received = reader.read::<Graph<'static>>(filled).unwrap();
        assert_eq!(*received.get(), graph);
        let again = writer.write(&graph, received.into_empty()).unwrap();
        drop(reader.read::<Graph<'static>>(again).unwrap());
    };
    assert!(allocations(&mut round) > 0, "the counter counts");
    round();
    assert_eq!(allocations(&mut round), 0);
}

/// The writer keeps the memory for gathered text if the last message needed it, also if most of the
/// text has moved to its place in the buffer.
#[test]
fn much_text_allocates_nothing_in_steady_state() {
    let lists = vec![vec!["some text of 20 byte"; 100]; 2_500];
    let mut writer = Writer::new();
    let mut buffer = EmptyBuffer::heap(16 << 20);
    for round in 0..3 {
        let mut message = None;
        let count = allocations(|| message = writer.write(&lists, buffer).ok());
        assert_eq!(
            count > 0,
            round == 0,
            "{count} allocations in round {round}"
        );
        buffer = message.unwrap().into_empty();
    }
}

#[test]
fn streams_allocate_nothing_in_steady_state() {
    let pool = Pool::default();
    let mut writer = Writer::new();
    let mut reader = Reader::default();
    let words = vec!["once".to_owned(), "upon".to_owned()];
    let mut round = || {
        let mut stream = StreamWriter::new(pool.take(1 << 14).unwrap());
        for i in 0..20u32 {
            stream.write(&mut writer, &i).unwrap();
            stream.write(&mut writer, &words).unwrap();
            let slice = stream.uninit_slice::<u16>(&mut writer, 9).unwrap();
            slice.fill_with(|_| 7);
        }
        let stream = StreamReader::new(stream.finish());
        for i in 0..20u32 {
            assert_eq!(*stream.next::<u32>(&mut reader).unwrap(), i);
            assert_eq!(*stream.next::<Vec<String>>(&mut reader).unwrap(), words);
            stream.skip().unwrap();
        }
    };
    round();
    assert_eq!(allocations(&mut round), 0);
}

#[test]
fn everything_received_lies_in_the_jbuf() {
    let large = vec![0.5; 3000];
    let package = |name| Package {
        name,
        dependencies: &[1, 2, 3],
        features: &["std", "alloc"],
        size: None,
        large: &large,
    };
    let packages = [package("a"), package("b")];
    let graph = Graph {
        packages: &packages,
        root: Some(&packages[1]),
    };
    let pool = Pool::default();
    let filled = Writer::new().write_to(&graph, &pool).unwrap();
    let message = filled.as_bytes().as_ptr_range();
    let message = message.start.addr()..message.end.addr();
    let received = Reader::default().read::<Graph<'static>>(filled).unwrap();
    let inside = |start: *const u8, size: usize| {
        message.contains(&start.addr()) && start.addr() + size <= message.end
    };
    fn span<T: ?Sized>(of: &T) -> (*const u8, usize) {
        (std::ptr::from_ref(of).cast(), size_of_val(of))
    }
    let graph = received.get();
    let mut spans = vec![span(graph), span(graph.packages)];
    for package in graph.packages.iter().chain(graph.root) {
        spans.extend([
            span(package),
            span(package.name),
            span(package.dependencies),
            span(package.features),
            span(package.features[1]),
            span(package.large),
        ]);
    }
    assert_eq!(spans.len(), 20);
    assert!(spans.into_iter().all(|(start, size)| inside(start, size)));
    assert!(pool.contains(graph));
}
