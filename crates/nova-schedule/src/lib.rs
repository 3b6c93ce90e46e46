//! How each array operation will run: for threads, for kernels, for vectors. Flat goes in, and Flat
//! comes out whose operations are grids, loops of one thread, or a choice between both.
//!
//! Two passes parallelise. [`honour`] gives to threads what the program gives to them. [`run`] parallelises
//! the other operations. An operation over `n` indices becomes a grid of chunks. Each chunk runs the
//! same body over its own indices, as `join (map_global (map_seq f) (split m x))` of dpia.txt §3.
//! Arrays are joined from the chunks, and the partial results of reductions are reduced once more.
//!
//! The size of a chunk depends on the number of indices and on the cost of the body, never on the
//! number of threads. So results do not depend on the number of threads either. An operation that costs
//! less than two chunks stays as it is; the program decides that when it runs.
//!
//! Operations whose outputs are maps, filters, collected rows or joined rows ([`joined`]) are
//! parallelised. So are reductions, scans and histograms of scalars. These cases have modules of their
//! own:
//!
//! - [`ordered`] for reductions and scans whose order is strict
//! - [`carried`] for loop-carried state that is a running result
//! - [`sort`] for sorts, most of which [`sort_keys`] has made sorts of keys before
//! - [`lanes`] for reductions whose order is free, on devices
//! - [`tiles`] for scans and filters whose order is free, on devices
//! - [`privatised_histogram`] for histograms of few bins, on devices
//! - [`blocks`] for maps whose threads all reduce over the same extent, on devices
//! - [`stencil`] for maps whose threads read neighbours in arrays, on devices
//! - [`short_dimensions`] for maps over several dimensions whose first is short, on processors
//! - [`stored`] for stores of blocks into arrays; on processors, also scatters whose order does not matter
//! - [`scattered`] for scatters to given positions, on devices
//!
//! [`paralleliser`] decides which operations are parallelised. [`chunking`] says whether that is worth
//! it, and how large chunks are. [`kernels`] chooses the form for devices. Forms whose condition is
//! tested when the program runs have [`plain_kernels`] for the other case. Operations without another
//! form are chunks ([`chunked`]).
//!
//! Below the forms are the cost model ([`cost`], [`rows`], [`costs`]), the bounds of chunks ([`chunks`]),
//! the permitted orders ([`freedom`]), the grid under construction ([`grid`]) and the writer of statements
//! ([`writer`]). Forms are functions over the writer. What only asks about a program takes the program.
//!
//! Other scatters stay with one thread: chunks would have to agree on which of several elements is the
//! last.
//!
//! [`together`] takes rows in groups of four where one thread reduces them.
//!
//! Operations inside a parallelised one are left to the thread of the chunk, where they may be fused
//! with the code around them. There are two exceptions: there are few indices, or one index has a row
//! so long that the others would wait for it. Then another body runs, whose operations are parallelised
//! in turn. (nova.txt §5.1 makes one segmented operation of such nests; here the sizes decide between
//! balanced rows and shared rows.)
//!
//! Strategies that the program states are honoured as they are ([`strategies`]). Operations that
//! enclose one which the program gives to threads are left to one thread.
//!
//! Operations with state that threads cannot share stay whole: side effects, and node tables
//! ([`shared`]). A check in Loop (`nova_loop::parallel_regions`) makes sure that threads share nothing
//! else.
//!
//! [`Notes`] records the outcome of each operation, with the reason. Operations for which a later
//! stage cannot prove that threads may share them stay whole, too ([`Alone`]).

mod blocks;
mod carried;
mod chunked;
mod chunked_scans;
mod chunking;
mod chunks;
mod collect;
mod control;
mod cost;
mod costs;
mod describe;
mod device;
mod grid;
mod group;
mod histogram;
mod joined;
mod kernels;
mod keys;
mod lanes;
mod least_keys;
mod levels;
mod limits;
mod lockstep;
mod merge;
mod nest;
mod notes;
mod ordered;
mod orders;
mod paralleliser;
mod plain_kernels;
mod policy;
mod privatised_histogram;
mod radix;
mod radix_pass;
mod rows;
mod sample_sort;
mod scattered;
mod segmented_reduction;
mod shared;
mod short_dimensions;
mod sort;
pub mod sort_keys;
mod stencil;
mod stored;
mod stores;
mod strategies;
mod tiles;
pub mod together;
mod way;
mod writer;

pub use lanes::LANES;
pub use limits::NESTED_PARALLELISM;
pub use notes::{Chunking, Fate, Note, Notes, Parallelised, Reason, Step};
pub use nova_flat::alone::Alone;
pub use nova_flat::freedom::Freedom;
pub use paralleliser::{notes, run, run_by_plan};
pub use policy::Parallelism;
pub use privatised_histogram::LOCAL_ELEMENTS;
pub use strategies::honour;
pub use writer::Writer;
