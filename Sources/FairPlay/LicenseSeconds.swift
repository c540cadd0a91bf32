/// A limit that a device can be told: 1 to 0xFFFFFFFE seconds. To a device 0 means "no limit", and 0xFFFFFFFF has been
/// used for "none".
package struct LicenseSeconds: Sendable, Hashable, Comparable {
    package let value: UInt32

    /// Nil for 0; larger values are clamped to the maximum.
    package init?(_ value: UInt64) {
        guard value > 0 else { return nil }
        self.value = UInt32(min(value, 0xFFFF_FFFE))
    }

    /// A limit that was checked before. A 0, which should not occur, becomes the shortest limit, and never no limit.
    package init(atLeastOne value: UInt32) {
        self.value = min(max(value, 1), 0xFFFF_FFFE)
    }

    package static func < (one: LicenseSeconds, other: LicenseSeconds) -> Bool { one.value < other.value }
}
