//! `alias!` takes aliases with at most one lifetime, and one option.

jstream::alias! {
    struct Name(String);
}

jstream::alias! {
    type Pair<'a, 'b> = (&'a str, &'b str);
}

jstream::alias! {
    #[transportable(owned)]
    type Text = String;
}

fn main() {}
