/// A search for what devices have stated: a summary must have every value that is set.
package struct StatedFilter: Equatable, Sendable {
    /// A class, or that none is stated.
    package enum DeviceClass: Equatable, Sendable {
        case none
        case number(UInt32)
        case type(UInt64)

        /// What an operator may write.
        package static let form =
            "none, \(DeviceSummary.classNames), a number, or the 16 hexadecimal digits of a type"

        /// Reads `none`, the word for a class, its number, or the 16 hexadecimal digits of a type that has no class.
        package init?(_ text: String) {
            if text == "none" {
                self = .none
            } else if let known = DeviceSummary.classWords.first(where: { $0.value == text }) {
                self = .number(known.key)
            } else if let number = UInt32(text), "\(number)" == text {
                self = .number(number)
            } else if let type = Self.sixteenDigits(text) {
                self = .type(type)
            } else {
                return nil
            }
        }

        fileprivate static func sixteenDigits(_ text: String) -> UInt64? {
            text.utf8.count == 16 && text.allSatisfy(\.isHexDigit) ? UInt64(text, radix: 16) : nil
        }
    }

    /// A security level, or that none is stated.
    package enum SecurityLevel: Equatable, Sendable {
        case none
        case level(DeviceSummary.SecurityLevel)

        /// What an operator may write.
        package static let form = "none, audio, baseline, main, or the 16 hexadecimal digits of another level"

        /// Reads `none`, the name of a level, or the 16 hexadecimal digits of an unknown one.
        package init?(_ text: String) {
            if text == "none" {
                self = .none
            } else if let known = [.audio, .baseline, .main].first(where: { (level: DeviceSummary.SecurityLevel) in
                level.word == text
            }) {
                self = .level(known)
            } else if let number = DeviceClass.sixteenDigits(text) {
                self = .level(.other(number))
            } else {
                return nil
            }
        }
    }

    /// The first numbers of a version.
    package struct OSVersion: Equatable, Sendable {
        /// What an operator may write.
        package static let form = "one to three numbers, such as 17 or 17.4.1"

        private let numbers: [UInt8]

        /// Reads one to three numbers, such as `17` or `17.4.1`.
        package init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { part in UInt8(part).flatMap { "\($0)" == part ? $0 : nil } }
            guard (1...3).contains(parts.count), numbers.count == parts.count else { return nil }
            self.numbers = numbers
        }

        fileprivate func begins(_ version: UInt32) -> Bool {
            numbers.enumerated().allSatisfy { index, number in
                UInt8(truncatingIfNeeded: version >> (16 - 8 * UInt32(index))) == number
            }
        }
    }

    package var deviceClass: DeviceClass?
    package var securityLevel: SecurityLevel?
    package var osVersion: OSVersion?

    package init(deviceClass: DeviceClass? = nil, securityLevel: SecurityLevel? = nil, osVersion: OSVersion? = nil) {
        self.deviceClass = deviceClass
        self.securityLevel = securityLevel
        self.osVersion = osVersion
    }

    /// Entries without a summary match only if nothing is searched.
    package func matches(_ stated: DeviceSummary?) -> Bool {
        guard deviceClass != nil || securityLevel != nil || osVersion != nil else { return true }
        guard let stated else { return false }
        return matchesClass(of: stated) && matchesLevel(of: stated)
            && (osVersion.map { wanted in stated.operatingSystem.map(wanted.begins) ?? false } ?? true)
    }

    private func matchesClass(of stated: DeviceSummary) -> Bool {
        switch deviceClass {
        case nil: true
        case .some(.none): stated.deviceClass == nil && stated.deviceType == nil
        case .number(let number): stated.deviceClass == number
        case .type(let type): stated.deviceType == type
        }
    }

    private func matchesLevel(of stated: DeviceSummary) -> Bool {
        switch securityLevel {
        case nil: true
        case .some(.none): stated.securityLevel == nil
        case .level(let level): stated.securityLevel == level
        }
    }
}
