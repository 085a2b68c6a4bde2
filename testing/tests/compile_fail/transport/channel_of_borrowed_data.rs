//! Objects of a channel cannot borrow: they may be received after the borrow has ended.

use jstream_transport::channel;

fn tell(line: &str) {
    let words = line.split(' ').collect::<Vec<&str>>();
    let (sender, _receiver) = channel::<Vec<&str>>("inproc://words").both().unwrap();
    sender.send(&words).unwrap();
}

fn main() {
    let _ = tell;
}
