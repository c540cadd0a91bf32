/// The capability bits of a device (protocol, section 4.5); a device without the block has none.
package struct Capabilities: OptionSet, Sendable, Equatable {
    package static let size = 16

    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static let hdcpEnforcement = Capabilities(rawValue: 1 << 0)
    package static let offlineKey = Capabilities(rawValue: 1 << 1)
    package static let secureInvalidation = Capabilities(rawValue: 1 << 2)
    package static let offlineKeyVersion2 = Capabilities(rawValue: 1 << 3)
    package static let securityLevelBaseline = Capabilities(rawValue: 1 << 4)
    package static let securityLevelMain = Capabilities(rawValue: 1 << 5)
}
