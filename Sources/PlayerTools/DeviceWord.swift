import Administration
import CommandLineKit
import FairPlay

/// The words for kinds of devices and versions of systems, for command lines and explanations.
enum DeviceWord {
    private static let classWords: [(word: String, deviceClass: DeviceClass, text: String)] = [
        ("unknown", .unknown, "unknown"), ("living-room", .appleLivingRoom, "Apple living room"),
        ("mobile", .appleMobile, "Apple mobile"), ("desktop", .appleDesktop, "Apple desktop"),
        ("spatial", .appleSpatial, "Apple spatial"), ("wearable", .appleWearable, "Apple wearable"),
        ("apple-unknown", .appleUnknown, "Apple, unknown"),
        ("partner-living-room", .partnerLivingRoom, "a partner's living room"),
        ("partner-unknown", .partnerUnknown, "a partner's, unknown"),
    ]

    private static let typeWords: [(word: String, type: DeviceType, text: String)] = [
        ("mac", .mac, "Mac"), ("tv", .television, "Apple TV"), ("ios", .mobile, "iOS"), ("watch", .watch, "Watch"),
    ]

    /// The words for classes, for help and messages.
    static let classes = classWords.map(\.word).joined(separator: ", ")
    /// The words for types, for help and messages.
    static let types = typeWords.map(\.word).joined(separator: ", ")

    static func text(of deviceClass: DeviceClass) -> String {
        classWords.first { $0.deviceClass == deviceClass }?.text ?? "class \(deviceClass.number)"
    }

    static func text(ofType rawType: UInt64) -> String {
        typeWords.first { $0.type.rawValue == rawType }?.text ?? "type \(hexadecimal(rawType))"
    }

    // MARK: From a command line

    static func identity(_ text: String) throws(CommandError) -> DeviceIdentity {
        let (word, system) = try parts(of: text, "--device-identity")
        let named = classWords.first { $0.word == word }?.deviceClass
        guard let deviceClass = named ?? UInt32(word).map({ DeviceClass($0) }) else {
            throw .usage("--device-identity takes one of: \(classes), or a number")
        }
        return DeviceIdentity(
            version: 1, deviceClass: deviceClass, vendorHash: 0, productHash: 0, systemFairPlayVersion: 0,
            trustedFairPlayVersion: 0, operatingSystem: system)
    }

    static func info(_ text: String) throws(CommandError) -> DeviceInfo {
        let (word, system) = try parts(of: text, "--device-info")
        let named = typeWords.first { $0.word == word }?.type.rawValue
        guard let type = named ?? word.sixteenDigits else {
            throw .usage("--device-info takes one of: \(types), or a number of 16 digits")
        }
        return DeviceInfo(rawType: type, operatingSystem: system)
    }

    /// The virtual machine of `--virtual-machine`: a guest of class desktop on a host of class desktop.
    static let virtualMachine: VirtualMachineInfo = {
        let side = VirtualMachineInfo.Side(
            deviceClass: .appleDesktop, operatingSystem: OperatingSystemVersion(rawValue: 0x000F_0000),
            protocolVersion: 1)
        return VirtualMachineInfo(version: 1, host: side, guest: side)
    }()

    private static func parts(
        of text: String, _ option: String
    ) throws(CommandError) -> (word: String, system: OperatingSystemVersion) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return (text, OperatingSystemVersion(rawValue: 0)) }
        guard let system = version(parts[1]) else {
            throw .usage("\(option): the version of the operating system has one to three numbers up to 255, as 18.4.1")
        }
        return (String(parts[0]), system)
    }

    private static func version(_ text: Substring) -> OperatingSystemVersion? {
        let words = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = words.compactMap { UInt8($0) }
        guard numbers.count == words.count, (1...3).contains(numbers.count) else { return nil }
        let padded = numbers + [UInt8](repeating: 0, count: 3 - numbers.count)
        return OperatingSystemVersion(rawValue: padded.reduce(0) { $0 << 8 | UInt32($1) })
    }
}

extension SecurityLevel {
    package var name: String {
        switch self {
        case .audio: "audio"
        case .baseline: "baseline"
        case .main: "main"
        }
    }
}
