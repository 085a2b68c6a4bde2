//! Segments that are lent from the program's memory do not outlive the call that sends them.

use jstream::Writer;

fn main() {
    let values = vec![0u64; 1000];
    let mut kept: &[u8] = &[];
    Writer::new().gather(&values, |segments| kept = &segments[1]).unwrap();
    println!("{}", kept.len());
}
