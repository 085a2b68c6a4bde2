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
