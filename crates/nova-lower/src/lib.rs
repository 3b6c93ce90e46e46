//! From Core to Flat: closure conversion, data representation, normal form.
