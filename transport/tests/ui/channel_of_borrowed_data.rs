//! What waits in a channel may be received when what was borrowed is gone; what is sent is a copy of it.

use jstream_transport::channel;

fn tell(line: &str) {
    let words = line.split(' ').collect::<Vec<&str>>();
    let (sender, _receiver) = channel::<Vec<&str>>("inproc://words").both().unwrap();
    sender.send(&words).unwrap();
}

fn main() {
    let _ = tell;
}
