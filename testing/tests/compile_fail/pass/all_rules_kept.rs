//! A correct use of everything that the other programs use incorrectly.

use jstream::{EmptyBuffer, Reader, Received, Transportable, Writer};

#[derive(Transportable, Debug, PartialEq)]
struct Order<'b> {
    id: u64,
    symbol: &'b str,
    side: Side,
    parent: Option<&'b Order<'b>>,
}

#[derive(Transportable, Debug, PartialEq)]
enum Side {
    Buy,
    Sell,
}

#[derive(Transportable)]
#[repr(u8)]
enum Shape<'b> {
    Point,
    Circle(f64),
    Named(&'b str, &'b Shape<'b>),
}

#[derive(Transportable)]
#[transportable(crate = unsafe(jstream))]
#[repr(C, align(128))]
struct Aligned(u8);

#[derive(Transportable)]
#[repr(u16)]
enum Wide {
    Large = 256,
}

/// Takes one value of each type that is not looked at here.
fn send<T: Send>(_: T) {}

fn main() {
    let order = Order {
        id: 1,
        symbol: "abc",
        side: Side::Sell,
        parent: None,
    };
    let filled = Writer::new().write(&order, EmptyBuffer::heap(1024)).unwrap();
    let received: Received<Order<'static>> = Reader::default().read(filled).unwrap();
    assert_eq!(received.get(), &order);
    assert_ne!(received.get().side, Side::Buy);
    let copied = received.get().symbol.to_owned();
    let empty = received.into_empty();
    assert_eq!(copied, "abc");

    let shape = Shape::Named("n", &Shape::Circle(1.0));
    let filled = Writer::new().write(&shape, empty).unwrap();
    let received = Reader::default().read::<Shape<'static>>(filled).unwrap();
    assert!(matches!(
        received.get(),
        Shape::Named("n", Shape::Circle(1.0))
    ));
    let _ = Shape::Point;
    let aligned = Writer::new().write(&(Aligned(3), Some([0u8; 1024])), received.into_empty());
    let filled = aligned.unwrap_err().buffer;
    let _ = (filled.capacity(), Aligned(1).0);
    let filled = Writer::new().write(&Wide::Large, EmptyBuffer::heap(64)).unwrap();
    send(Reader::default().read::<Wide>(filled).unwrap());
}
