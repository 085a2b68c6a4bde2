#[derive(Transportable)]
struct Pair<'b, A, B: Copy, const N: usize>
where
    A: PartialEq,
{
    a: &'b A,
    b: [B; N],
    id: u64,
}

#[derive(Transportable)]
struct List<T> {
    of: Vec<T>,
}
