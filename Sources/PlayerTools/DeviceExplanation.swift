import Administration
import ByteCoding
import FairPlay

/// A device's own description in its SPC, in words.
enum DeviceExplanation {
    static func identity(_ reader: inout ByteReader) throws(ByteReaderError) -> [String] {
        let version = try reader.readUInt32("version")
        let deviceClass = DeviceClass(try reader.readUInt32("class"))
        let vendor = try reader.readUInt64("vendor")
        let product = try reader.readUInt64("product")
        let system = try reader.readUInt32("FairPlay of the system")
        let trusted = try reader.readUInt32("FairPlay of the trusted environment")
        let operatingSystem = OperatingSystemVersion(rawValue: try reader.readUInt32("operating system"))
        return [
            "\(DeviceWord.text(of: deviceClass)), operating system \(operatingSystem)",
            "vendor \(hexadecimal(vendor)), product \(hexadecimal(product))",
            "FairPlay \(hexadecimal(system)) in the system, \(hexadecimal(trusted)) in the trusted environment",
            "version \(version) of this block",
        ]
    }

    static func info(_ reader: inout ByteReader) throws(ByteReaderError) -> [String] {
        let type = try reader.readUInt64("type")
        let operatingSystem = OperatingSystemVersion(rawValue: try reader.readUInt32("operating system"))
        let version = try reader.readUInt32("version")
        return [
            "\(DeviceWord.text(ofType: type)), operating system \(operatingSystem)", "version \(version) of this block",
        ]
    }

    static func denyList(_ version: UInt32) -> String {
        switch version {
        case 0: "version 0, which does not count as outdated"
        case ..<DevicePolicy.denyListVersionMinimum: "version \(version), which is outdated: Baseline at most"
        default: "version \(version)"
        }
    }

    static func securityLevel(_ value: [UInt8]) throws(ByteReaderError) -> [String] {
        if value.count == SecurityLevelReport.encryptedSize {
            return ["the encrypted form, which a server ignores"]
        }
        guard value.count >= SecurityLevelReport.size else { return [unknownLayout(value.count)] }
        var reader = ByteReader(value)
        let version = try reader.readUInt32("version")
        let reserved = try reader.readUInt32("reserved")
        let level = try reader.readUInt64("level")
        let denyListVersion = try reader.readUInt32("deny list")
        guard version == 1 else { return ["version \(version) of this block, which is ignored"] }
        guard reserved == 0 else { return ["a reserved word is not 0: a server refuses it"] }
        let name = SecurityLevel(reported: level)?.name ?? "below all known levels"
        return ["level \(hexadecimal(level)), that is \(name)", "deny list \(denyList(denyListVersion))"]
    }

    static func virtualMachine(_ value: [UInt8]) throws(ByteReaderError) -> [String] {
        guard value.count >= 4 else { return [unknownLayout(value.count)] }
        var reader = ByteReader(value)
        let version = try reader.readUInt32("version")
        guard version != 0 else { return ["not a virtual machine"] }
        guard VirtualMachineInfo.versions.contains(version), value.count >= VirtualMachineInfo.size else {
            return [
                "version \(version) of this block, in \(value.count) bytes: not known, and ignored unless the server refuses "
                    + "virtual machines"
            ]
        }
        let sides = [("host", try side(&reader)), ("guest", try side(&reader))]
        return ["a virtual machine (version \(version) of this block)"] + sides.map { "\($0): \($1)" }
    }

    /// The explanation of a block whose layout is not known.
    static func unknownLayout(_ size: Int) -> String {
        "\(size) bytes in an unknown layout: ignored"
    }

    private static func side(_ reader: inout ByteReader) throws(ByteReaderError) -> String {
        let deviceClass = DeviceClass(try reader.readUInt32("class"))
        let operatingSystem = OperatingSystemVersion(rawValue: try reader.readUInt32("operating system"))
        let protocolVersion = try reader.readUInt32("protocol version")
        return "\(DeviceWord.text(of: deviceClass)), operating system \(operatingSystem), protocol \(protocolVersion)"
    }
}
