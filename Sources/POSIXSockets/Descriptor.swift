import Glibc

/// The one owner of an open file descriptor, which it closes when its life ends.
///
/// A descriptor number is never read again once it is closed, because the kernel gives it to another file.
package struct Descriptor: ~Copyable, Sendable {
    /// The number that system calls take; -1 once closed.
    package private(set) var number: Int32

    /// Takes over a descriptor that no other code closes.
    package init(owning number: Int32) {
        self.number = number
    }

    deinit {
        if number >= 0 { _ = Glibc.close(number) }
    }

    /// Whether the descriptor is still open.
    package var isOpen: Bool { number >= 0 }

    /// Closes now instead of at the end of life; a second call does nothing.
    ///
    /// An error of `close` is ignored: Linux frees the number in any case, and a retry could close another's
    /// descriptor.
    package mutating func close() {
        guard number >= 0 else { return }
        _ = Glibc.close(number)
        number = -1
    }
}
