/// Whether a content may leave the device it was asked for on. Nil says nothing.
package struct OutputPermissions: Equatable, Sendable {
    package let airPlay: Bool?
    package let avAdapter: Bool?

    package init(airPlay: Bool? = nil, avAdapter: Bool? = nil) {
        self.airPlay = airPlay
        self.avAdapter = avAdapter
    }

    /// Both together: what either forbids is forbidden.
    func merged(with other: OutputPermissions) -> OutputPermissions {
        OutputPermissions(
            airPlay: Self.stricter(airPlay, other.airPlay), avAdapter: Self.stricter(avAdapter, other.avAdapter))
    }

    private static func stricter(_ one: Bool?, _ other: Bool?) -> Bool? {
        guard let one, let other else { return one ?? other }
        return one && other
    }
}
