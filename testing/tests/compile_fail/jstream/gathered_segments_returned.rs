//! Nor do they get out as what the call returns, though the values they are of live on.

use std::io::IoSlice;

use jstream::Writer;

fn main() {
    let values = vec![0u64; 1000];
    let mut writer = Writer::new();
    let kept: Vec<IoSlice<'_>> = writer.gather(&values, |segments| segments.to_vec()).unwrap();
    println!("{}", kept.len());
}
