#[derive(Transportable)]
struct Id<T: ?Sized> {
    number: u64,
    of: PhantomData<fn() -> T>,
}

#[derive(Transportable)]
struct Named<T: Entity, U> {
    name: String,
    value: U,
    of: PhantomData<T>,
}
