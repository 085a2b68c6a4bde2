#[derive(Referring)]
struct Guest {
    name: String,
    listener: Remote<dyn Listener>,
    r#type: Vec<u8>,
    friends: Vec<Referring<Friend>>,
    a: u8,
    b: u8,
    c: u8,
    d: u8,
    last: Option<Remote<dyn Listener>>,
}

#[derive(Referring)]
#[referring(crate = my::rmi)]
struct Friend(Remote<dyn Listener>, u64);

#[derive(Referring)]
enum Notice {
    None,
    One(Remote<dyn Listener>, u8),
    Some {
        all: [Remote<dyn Listener>; 2],
        r#for: Referring<Friend>,
    },
}
