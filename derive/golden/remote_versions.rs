#[remote(renamed_from = "Shop")]
trait Store {
    #[remote(renamed_from = "put")]
    fn submit(
        &self,
        #[remote(renamed_from("item", "thing"))] order: &Order<'_>,
        #[remote(default = 1 + 2)] priority: u8,
        #[remote(default)] note: Option<u32>,
    ) -> u64;
}
