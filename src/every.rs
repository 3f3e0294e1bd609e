//! All values of an enum that has no data, in the order of its variants.

/// In an `impl` of the enum: `every![First, Second, …];` makes `ALL`. A variant that is left out, stands twice or stands out
/// of place does not build, so that `value as usize` is its index in whatever was made from `ALL`.
macro_rules! every {
    ($($variant:ident),+ $(,)?) => {
        /// Every one, in the order of the variants.
        pub const ALL: [Self; [$(stringify!($variant)),+].len()] = {
            let _none_is_left_out = |one: Self| match one {
                $(Self::$variant => (),)+
            };
            let all = [$(Self::$variant),+];
            let mut index = 0;
            while index < all.len() {
                assert!(all[index] as usize == index, "not in the order of the variants");
                index += 1;
            }
            all
        };
    };
}

pub(crate) use every;
