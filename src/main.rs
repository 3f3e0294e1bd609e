//! Parse the verb, run it, exit with its code.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    formgate::cli::run(std::env::args_os())
}
