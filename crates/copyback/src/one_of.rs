//! Types of which a device has one, and which is not known before the configuration is read.

/// Makes an enum with a variant for each type, named as the type, and a macro `each!`, which does with the value of
/// whichever variant it is what is said of it: `each!(any, one => one.choose(plane))`. A type more is a line; that of a type
/// which only tests have begins with `[cfg(test)]`. It is an enum, not a trait object, so that what is called for every page
/// can be inlined.
macro_rules! one_of {
    ($d:tt $(#[$on_enum:meta])* pub enum $Any:ident {
        $($(#[$on_variant:meta])* $([$when:meta])? $Variant:ident($Type:ty),)+
    }) => {
        $(#[$on_enum])*
        pub enum $Any {
            $($(#[$on_variant])* $(#[$when])? $Variant($Type),)+
        }

        macro_rules! each {
            ($d any:expr, $d one:ident => $d does:expr) => {
                match $d any {
                    $($(#[$when])? $Any::$Variant($d one) => $d does,)+
                }
            };
        }
    };
}
pub(crate) use one_of;
