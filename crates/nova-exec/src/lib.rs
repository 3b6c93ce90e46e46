//! Values in files, compiling generated C, loading and calling it.
