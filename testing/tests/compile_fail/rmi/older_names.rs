use jstream_rmi::remote;

#[remote(renamed_from = "Store")]
trait Store {
    #[remote(renamed_from = "get")]
    fn put(&self, key: u64, #[remote(renamed_from = "key")] value: u64);
    #[remote(renamed_from("old", "old"))]
    fn get(&self, #[remote(renamed_from = "")] key: u64) -> u64;
}

fn main() {}
