import Glibc

/// The system's own words for its errors.
package enum SystemText {
    /// What `errno` says now.
    package static var lastError: String { description(of: errno) }

    package static func description(of error: Int32) -> String {
        // The text is copied before another call could replace it.
        unsafe String(cString: strerror(error))
    }
}
