import Glibc

/// The system's texts for its errors.
package enum SystemText {
    /// The text for the current `errno`.
    package static var lastError: String { description(of: errno) }

    package static func description(of error: Int32) -> String {
        // Safe: the text is copied before another call can replace it.
        unsafe String(cString: strerror(error))
    }
}
