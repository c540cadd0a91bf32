/// What a device has stated about itself in an SPC, in the form in which a ledger has it. None of it identifies a
/// device or a viewer.
///
/// The sender of an SPC can change all of it.
package struct DeviceSummary: Hashable, Sendable {
    /// The level as the device has reported it (protocol, section 4.6).
    package enum SecurityLevel: Hashable, Sendable {
        case audio, baseline, main
        /// A level that is not known.
        case other(UInt64)
    }

    /// Where the content is shown. The raw values are stored, and never change.
    package enum Output: UInt8, Sendable, CaseIterable {
        case local = 0
        case airPlay = 1
        case avAdapter = 2
    }

    /// What the device says of its playback. The raw values are stored, and never change.
    package enum Playback: UInt8, Sendable, CaseIterable {
        case ready = 1
        case playing = 2
        case expiring = 3
        case stopped = 4
    }

    /// What the device says about being a virtual machine. The raw values are stored, and never change.
    package enum Machine: UInt8, Sendable, CaseIterable {
        case physical = 1
        case virtual = 2
        /// The statement has an unknown form.
        case unreadable = 3
    }

    /// The version of FairPlay's protocol that the device uses, and the newest one that it supports: at most 15 each.
    package struct Versions: Hashable, Sendable {
        package static let maximum: UInt8 = 15
        package let used: UInt8
        package let newest: UInt8

        package init(used: UInt32, newest: UInt32) {
            self.used = UInt8(min(used, UInt32(Self.maximum)))
            self.newest = UInt8(min(newest, UInt32(Self.maximum)))
        }
    }

    /// Nil if the device has reported none.
    package var securityLevel: SecurityLevel?
    /// The number of the class (protocol, section 4.6); nil if the device has named none.
    package var deviceClass: UInt32?
    /// The device type of an older device whose type has no class.
    package var deviceType: UInt64?
    /// The version of the operating system: major, minor and patch in the three low bytes.
    package var operatingSystem: UInt32?
    /// The version of a Mac's kext deny list, at most 65,535; nil for none and for 0.
    package var denyList: UInt16?
    /// The low 16 bits of the capabilities (protocol, section 4.5); nil if the device has stated none.
    package var capabilities: UInt16?
    package var versions: Versions
    package var output = Output.local
    package var playback: Playback?
    package var machine: Machine?

    package init(versions: Versions) {
        self.versions = versions
    }

    /// The major version of the operating system.
    package var majorVersion: UInt8? { operatingSystem.map { UInt8(truncatingIfNeeded: $0 >> 16) } }
}

// MARK: Words

extension DeviceSummary {
    /// What is known, in the order in which it is shown; `name` is a word for lines of text.
    package var words: [(name: String, value: String)] {
        let all: [(name: String, value: String?)] = [
            ("class", classWord), ("os", operatingSystem.map(Self.version)), ("level", securityLevel?.word),
            ("output", output == .local ? nil : output.word), ("state", playback?.word),
            ("machine", machine.flatMap { $0 == .physical ? nil : $0.word }), ("deny_list", denyList.map { "\($0)" }),
            ("capabilities", capabilities.map(Self.capabilityWords)),
            ("protocol", "\(versions.used)/\(versions.newest)"),
        ]
        return all.compactMap { one in one.value.map { (one.name, $0) } }
    }

    /// All words in one text of ASCII.
    package var text: String { words.map { "\($0.name) \($0.value)" }.joined(separator: ", ") }

    /// The word for the class, or its number; for an unknown type of an older device its 16 hexadecimal digits.
    package var classWord: String? {
        deviceClass.map(Self.word(ofClass:)) ?? deviceType.map(Self.digits)
    }

    /// The known classes by their numbers (protocol, section 4.6).
    package static let classWords: [UInt32: String] = [
        0: "unknown", 1: "living_room", 2: "mobile", 3: "desktop", 4: "spatial", 5: "wearable", 127: "apple_other",
        128: "partner_living_room", 255: "partner_other",
    ]

    /// The words for the classes, in the order of their numbers.
    package static let classNames = classWords.sorted { $0.key < $1.key }.map(\.value).joined(separator: ", ")

    package static func word(ofClass number: UInt32) -> String { classWords[number] ?? "\(number)" }

    /// A version as major, minor and patch.
    package static func version(_ number: UInt32) -> String {
        "\(number >> 16 & 0xFF).\(number >> 8 & 0xFF).\(number & 0xFF)"
    }

    /// The known capabilities by their bits (protocol, section 4.5).
    private static let capabilityNames = [
        "hdcp", "offline_key", "secure_invalidation", "offline_key_2", "baseline", "main",
    ]

    private static func capabilityWords(_ bits: UInt16) -> String {
        let words = (0..<16).filter { bits >> $0 & 1 == 1 }.map { bit in
            bit < capabilityNames.count ? capabilityNames[bit] : "bit_\(bit)"
        }
        return words.isEmpty ? "none" : words.joined(separator: "+")
    }

    fileprivate static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension DeviceSummary.SecurityLevel {
    /// The level's name, or the 16 hexadecimal digits of an unknown one.
    package var word: String {
        switch self {
        case .audio: "audio"
        case .baseline: "baseline"
        case .main: "main"
        case .other(let number): DeviceSummary.digits(number)
        }
    }
}

extension DeviceSummary.Output {
    package var word: String {
        switch self {
        case .local: "local"
        case .airPlay: "airplay"
        case .avAdapter: "av_adapter"
        }
    }
}

extension DeviceSummary.Playback {
    package var word: String {
        switch self {
        case .ready: "ready"
        case .playing: "playing"
        case .expiring: "expiring"
        case .stopped: "stopped"
        }
    }
}

extension DeviceSummary.Machine {
    package var word: String {
        switch self {
        case .physical: "physical"
        case .virtual: "virtual"
        case .unreadable: "unreadable"
        }
    }
}

// MARK: Encoding

/// A summary takes at most 22 bytes, and 6 to 9 for the devices that are known:
///
///     size  field
///        2  header, big-endian
///        8  security level, if it is not known             header bits 0...2: 0 none, 1 audio, 2 baseline, 3 main, 4
///     1...5  class, a number                               header bit 3
///        8  device type                                    header bit 4
///        3  operating system                               header bit 5
///     1...3  version of the deny list, a number            header bit 6
///     1...3  capabilities, a number                        header bit 7
///        1  version of the protocol in use in the high half, newest one in the low half
///
/// Header bits 8 and 9 are the output, 10 to 12 the playback and 13 and 14 the machine (0 for none). Bit 15 is 0. Only
/// a device with an unknown level and an unknown class can need more. Its capabilities are then left out, and if that
/// is not enough, the deny list.
extension DeviceSummary {
    package static let sizeMaximum = 22

    /// The summary as a ledger keeps it.
    package var bounded: DeviceSummary {
        var summary = self
        if summary.size > Self.sizeMaximum { summary.capabilities = nil }
        if summary.size > Self.sizeMaximum { summary.denyList = nil }
        return summary
    }

    private var size: Int {
        var writer = LedgerFieldWriter()
        writer.writeFields(of: self)
        return writer.bytes.count
    }

    fileprivate var header: UInt16 {
        let level: UInt16 =
            switch securityLevel {
            case nil: 0
            case .audio: 1
            case .baseline: 2
            case .main: 3
            case .other: 4
            }
        var bits = level
        if deviceClass != nil { bits |= 1 << 3 }
        if deviceType != nil { bits |= 1 << 4 }
        if operatingSystem != nil { bits |= 1 << 5 }
        if denyList != nil { bits |= 1 << 6 }
        if capabilities != nil { bits |= 1 << 7 }
        return bits | UInt16(output.rawValue) << 8 | UInt16(playback?.rawValue ?? 0) << 10
            | UInt16(machine?.rawValue ?? 0) << 13
    }
}

extension LedgerFieldWriter {
    mutating func write(_ summary: DeviceSummary) { writeFields(of: summary.bounded) }

    fileprivate mutating func writeFields(of summary: DeviceSummary) {
        write(summary.header)
        if case .other(let number) = summary.securityLevel { write(number) }
        if let number = summary.deviceClass { write(number: UInt64(number)) }
        if let type = summary.deviceType { write(type) }
        if let version = summary.operatingSystem {
            write(UInt8(truncatingIfNeeded: version >> 16))
            write(UInt16(truncatingIfNeeded: version))
        }
        if let version = summary.denyList { write(number: UInt64(version)) }
        if let bits = summary.capabilities { write(number: UInt64(bits)) }
        write(summary.versions.used << 4 | summary.versions.newest)
    }
}

extension LedgerFieldReader {
    /// Reads a summary in the one form in which it is written.
    mutating func readDeviceSummary() throws(LedgerEntryError) -> DeviceSummary {
        let header = try readUInt16()
        var level: DeviceSummary.SecurityLevel?
        switch header & 7 {
        case 0: break
        case 1: level = .audio
        case 2: level = .baseline
        case 3: level = .main
        case 4: level = .other(try readFixedUInt64())
        default: throw .notCanonical
        }
        let deviceClass = header >> 3 & 1 == 1 ? try readUInt32() : nil
        let deviceType = header >> 4 & 1 == 1 ? try readFixedUInt64() : nil
        let operatingSystem =
            header >> 5 & 1 == 1 ? UInt32(try readUInt8()) << 16 | UInt32(try readUInt16()) : nil
        let denyList = header >> 6 & 1 == 1 ? try readNumber16() : nil
        let capabilities = header >> 7 & 1 == 1 ? try readNumber16() : nil
        let versions = try readUInt8()
        var summary = DeviceSummary(versions: .init(used: UInt32(versions >> 4), newest: UInt32(versions & 0xF)))
        summary.securityLevel = level
        summary.deviceClass = deviceClass
        summary.deviceType = deviceType
        summary.operatingSystem = operatingSystem
        summary.denyList = denyList
        summary.capabilities = capabilities
        guard let output = DeviceSummary.Output(rawValue: UInt8(header >> 8 & 3)) else { throw .notCanonical }
        summary.output = output
        summary.playback = DeviceSummary.Playback(rawValue: UInt8(header >> 10 & 7))
        summary.machine = DeviceSummary.Machine(rawValue: UInt8(header >> 13 & 3))
        guard summary.header == header, summary.bounded == summary else { throw .notCanonical }
        return summary
    }

    private mutating func readNumber16() throws(LedgerEntryError) -> UInt16 {
        guard let value = UInt16(exactly: try readNumber()) else { throw .notCanonical }
        return value
    }
}
