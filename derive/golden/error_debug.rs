#[derive(ErrorDebug)]
enum OpenError {
    Closed,
    Refused(u8, String),
    Io {
        r#type: u8,
        #[error_debug(skip)]
        r#source: Secret,
    },
}

#[derive(ErrorDebug)]
struct Unsent<T: Transportable, R> {
    error: OpenError,
    remains: Remains<T>,
    #[error_debug(skip)]
    receiver: R,
}
