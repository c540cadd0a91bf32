import ByteCoding
package import FairPlay

// The values of an SPC's blocks as a device writes them (protocol, section 2.1). FairPlay has the server's code that
// reads them. The two are written independently, so that tests can compare them.

extension MediaPlaybackState {
    /// The block's value, 16 bytes.
    package var blockValue: [UInt8] {
        bigEndian(createdAt) + bigEndian(state.rawValue) + bigEndian(sessionID)
    }
}

extension Capabilities {
    /// The block's value, 16 bytes. The bits of the first eight bytes have no meaning yet.
    package var blockValue: [UInt8] {
        bigEndian(UInt64(0)) + bigEndian(rawValue)
    }
}

extension DeviceIdentity {
    /// The block's value, 36 bytes.
    package var blockValue: [UInt8] {
        bigEndian(version) + bigEndian(deviceClass.number) + bigEndian(vendorHash) + bigEndian(productHash)
            + bigEndian(systemFairPlayVersion) + bigEndian(trustedFairPlayVersion)
            + bigEndian(operatingSystem.rawValue)
    }
}

extension DeviceInfo {
    /// The block's value, 16 bytes. The last word is the version of the block.
    package var blockValue: [UInt8] {
        bigEndian(rawType) + bigEndian(operatingSystem.rawValue) + bigEndian(UInt32(1))
    }
}

extension SecurityLevelReport {
    /// The block's value, 20 bytes: version 1, a reserved word, the level, the version of the deny list.
    package var blockValue: [UInt8] {
        bigEndian(UInt32(1)) + bigEndian(UInt32(0)) + bigEndian(rawLevel) + bigEndian(denyListVersion)
    }
}

extension VirtualMachineInfo {
    /// The block's value, 28 bytes.
    package var blockValue: [UInt8] {
        bigEndian(version) + host.blockValue + guest.blockValue
    }
}

extension VirtualMachineInfo.Side {
    fileprivate var blockValue: [UInt8] {
        bigEndian(deviceClass.number) + bigEndian(operatingSystem.rawValue) + bigEndian(protocolVersion)
    }
}

extension SyncReport {
    /// The block's value: 28 bytes in version 1; 48 bytes and 16 for each record in version 2 (protocol, section 4.4).
    package var blockValue: [UInt8] {
        switch subject {
        case .version1(let contentID):
            bigEndian(UInt32(1)) + bigEndian(UInt32(0)) + contentID.bytes + bigEndian(remaining.wireValue)
        case .version2(let report):
            bigEndian(UInt32(2)) + bigEndian(UInt32(0)) + bigEndian(report.challenge)
                + bigEndian(report.flags.rawValue) + report.titleID.bytes + bigEndian(remaining.wireValue)
                + bigEndian(UInt32(report.streamIDs.count)) + report.streamIDs.flatMap(\.bytes)
        }
    }
}

extension SyncStatement {
    package var blockValue: [UInt8] {
        switch self {
        case .nothing: [UInt8](repeating: 0, count: 28)
        case .report(let report): report.blockValue
        }
    }
}

/// Returns a block's value: version 1, a reserved word, a count, and eight bytes for each format.
func keyFormatsValue(_ formats: [UInt64]) -> [UInt8] {
    bigEndian(UInt32(1)) + bigEndian(UInt32(0)) + bigEndian(UInt32(formats.count)) + formats.flatMap { bigEndian($0) }
}

package func bigEndian(_ value: UInt32) -> [UInt8] {
    var writer = ByteWriter(capacity: 4)
    writer.write(value)
    return writer.bytes
}

package func bigEndian(_ value: UInt64) -> [UInt8] {
    var writer = ByteWriter(capacity: 8)
    writer.write(value)
    return writer.bytes
}
