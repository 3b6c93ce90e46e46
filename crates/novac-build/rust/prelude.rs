
/// The failure of a call.
#[allow(dead_code)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// 1: an error of the running program. 2: no memory. 4: an argument is wrong. 5: the device failed.
    pub code: i32,
    /// The message, which begins with the place in the program for code 1.
    pub message: ::std::string::String,
}

impl ::std::fmt::Display for Error {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl ::std::error::Error for Error {}

#[allow(dead_code)]
impl Error {
    fn of(code: ::std::ffi::c_int, message: unsafe extern "C" fn() -> *const ::std::ffi::c_char) -> Error {
        // SAFETY: the message of this thread's last failure is a text that stays until its next one.
        let message = unsafe { ::std::ffi::CStr::from_ptr(message()) };
        Error { code, message: message.to_string_lossy().into_owned() }
    }

    fn argument(what: &str) -> Error {
        Error { code: 4, message: ::std::string::String::from(what) }
    }
}

/// Elements that a call has allocated. They are read as a slice.
#[allow(dead_code)]
pub struct Buffer<T> {
    pointer: *mut T,
    length: usize,
}

#[allow(dead_code)]
impl<T> Buffer<T> {
    /// Takes the elements over.
    ///
    /// # Safety
    ///
    /// The pointer is to so many elements in memory of `malloc`, which nothing else uses.
    unsafe fn new(pointer: *mut T, length: i64) -> Buffer<T> {
        Buffer { pointer, length: length as usize }
    }
}

// SAFETY: a buffer is the only owner of its memory.
unsafe impl<T: Send> Send for Buffer<T> {}
// SAFETY: a shared buffer is only read.
unsafe impl<T: Sync> Sync for Buffer<T> {}

impl<T> ::std::ops::Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self.length {
            0 => &[],
            // SAFETY: the call has written so many elements.
            length => unsafe { ::std::slice::from_raw_parts(self.pointer, length) },
        }
    }
}

impl<T> ::std::ops::DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self.length {
            0 => &mut [],
            // SAFETY: the call has written so many elements, and this is their owner.
            length => unsafe { ::std::slice::from_raw_parts_mut(self.pointer, length) },
        }
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        unsafe extern "C" {
            fn free(pointer: *mut ::std::ffi::c_void);
        }
        // SAFETY: the memory is of `malloc`, and this is its owner.
        unsafe { free(self.pointer.cast()) }
    }
}

impl<T: ::std::fmt::Debug> ::std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq<[T]> for Buffer<T> {
    fn eq(&self, other: &[T]) -> bool {
        **self == *other
    }
}

/// True if an array with these extents has so many elements.
#[allow(dead_code)]
fn is_array(extents: &[usize], elements: usize) -> bool {
    let product = extents.iter().try_fold(1usize, |n, extent| n.checked_mul(*extent));
    match extents.contains(&0) {
        true => elements == 0,
        false => product == Some(elements),
    }
}

/// True if the numbers of offsets of each level, which begin with 0 and rise, fit the next level and the elements.
#[allow(dead_code)]
fn are_offsets(levels: &[&[i64]], elements: usize) -> bool {
    let lengths = levels.iter().skip(1).map(|offsets| offsets.len().wrapping_sub(1));
    let lengths = lengths.chain([elements]);
    levels.iter().zip(lengths).all(|(offsets, length)| {
        offsets.first() == Some(&0) && offsets.last().map(|end| *end as usize) == Some(length)
    })
}

/// Returns the number of elements of an array.
#[allow(dead_code)]
fn count(extents: &[i64]) -> i64 {
    match extents.contains(&0) {
        true => 0,
        false => extents.iter().product(),
    }
}
