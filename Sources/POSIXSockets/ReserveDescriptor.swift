import Glibc

/// A descriptor kept back, so that a connection can still be accepted (and closed) when no other is left.
package struct ReserveDescriptor: ~Copyable, Sendable {
    private var descriptor: Descriptor

    /// Opens the reserve.
    package init() throws(SocketError) {
        descriptor = Descriptor(owning: try Self.open().get(.open))
    }

    /// Gives the reserve up for the time of `body`, then takes it back if the process can have it.
    package mutating func lend(_ body: () -> Void) {
        descriptor.close()
        body()
        if case .value(let number) = Self.open() { descriptor = Descriptor(owning: number) }
    }

    /// Takes the reserve back if an earlier `lend` could not; whether it is there now.
    package mutating func restore() -> Bool {
        if !descriptor.isOpen, case .value(let number) = Self.open() { descriptor = Descriptor(owning: number) }
        return descriptor.isOpen
    }

    private static func open() -> SystemCallResult<Int32> {
        // Safe: a literal path.
        interruptible { unsafe Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }
    }
}
