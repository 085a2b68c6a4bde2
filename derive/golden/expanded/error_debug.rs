#[automatically_derived]
impl ::core::fmt::Debug for OpenError {
    fn fmt(&self, __formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        if !::core::fmt::Formatter::alternate(__formatter) {
            return ::core::fmt::Display::fmt(self, __formatter);
        }
        match self {
            Self::Closed { .. } => {
                ::core::fmt::Formatter::debug_struct(__formatter, "Closed").finish()
            }
            Self::Refused { 0: __0, 1: __1, .. } => {
                ::core::fmt::Formatter::debug_tuple(__formatter, "Refused")
                    .field(__0)
                    .field(__1)
                    .finish()
            }
            Self::Io { r#type: __0, .. } => {
                ::core::fmt::Formatter::debug_struct(__formatter, "Io")
                    .field("type", __0)
                    .finish_non_exhaustive()
            }
        }
    }
}
#[automatically_derived]
impl<T: Transportable, R> ::core::fmt::Debug for Unsent<T, R>
where
    Remains<T>: ::core::fmt::Debug,
{
    fn fmt(&self, __formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        if !::core::fmt::Formatter::alternate(__formatter) {
            return ::core::fmt::Display::fmt(self, __formatter);
        }
        match self {
            Self { error: __0, remains: __1, .. } => {
                ::core::fmt::Formatter::debug_struct(__formatter, "Unsent")
                    .field("error", __0)
                    .field("remains", __1)
                    .finish_non_exhaustive()
            }
        }
    }
}
