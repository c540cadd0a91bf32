import Glibc

/// What libraries of the Swift runtime write to standard error by themselves.
package enum RuntimeMessages {
    /// Keeps libdispatch from writing there, unless the environment says what it shall do. To be called first in
    /// `main`.
    ///
    /// It gives its threads priorities, and writes a line of its own for each thread whose priority the kernel does not
    /// change: for every user but root, and in the sandbox of the unit. Such a line does not belong to the log.
    package static func silence() {
        // No other thread is there that could read the environment.
        _ = unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
    }
}
