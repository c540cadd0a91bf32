import ByteCoding
import FairPlay

extension LicenseReader {
    /// Returns the terms of the blocks. Throws if they need an ability that the device did not state in its SPC.
    func terms(for device: DeviceAbilities) throws(CKCFault) -> LicenseTerms {
        let duration = try duration(for: device)
        let offlineKey = try offlineKey(for: device)
        let validity: LicenseTerms.Validity
        switch (duration, offlineKey) {
        case (.none, .none): validity = .session
        case (.some(let duration), .none): validity = .duration(duration)
        case (.none, .some(let key)): validity = .offlineKey(key)
        case (.some, .some): throw .durationWithOfflineKey
        }
        return LicenseTerms(validity: validity, hdcp: try hdcp(for: device), securityLevel: try securityLevel())
    }

    /// Reads the duration block, 16 bytes: lease, rental, key type, and a word that no device checks (protocol, section
    /// 4.2).
    private func duration(for device: DeviceAbilities) throws(CKCFault) -> KeyDuration? {
        let tag = TLLVTag.contentKeyDuration
        guard let value = try value(of: tag, size: 16) else { return nil }
        guard device.hasPlaybackState else { throw .beyondAbilities(tag: tag) }
        let fields = Bytes16(payload, at: value.lowerBound)
        let lease = try seconds(fields.high >> 32, tag)
        let rental = try seconds(fields.high & 0xFFFF_FFFF, tag)
        return try Self.duration(keyType: UInt32(fields.low >> 32), lease, rental)
    }

    /// Returns a remark if the reserved word of the duration block is not the one that servers send. Apple's samples
    /// have 0.
    func durationRemark() throws(CKCFault) -> CKCRemark? {
        guard let value = try value(of: TLLVTag.contentKeyDuration, size: 16) else { return nil }
        let reserved = UInt32(truncatingIfNeeded: Bytes16(payload, at: value.lowerBound).low)
        return reserved == KeyDuration.reservedWord ? nil : .durationReservedWord(reserved)
    }

    private static func duration(
        keyType: UInt32, _ lease: LicenseSeconds?, _ rental: LicenseSeconds?
    ) throws(CKCFault) -> KeyDuration {
        switch (keyType, lease, rental) {
        case (0x1a4b_de7e, .some(let lease), .none): return .lease(lease)
        case (0x3dfe_45a0, .none, .some(let rental)): return .rental(rental)
        case (0x27b5_9bde, .some(let lease), .some(let rental)): return .leaseAndRental(lease: lease, rental: rental)
        case (0x3df2_d9fb, .none, .none): return .persistent
        case (0x18f0_6048, .none, .some(let rental)): return .persistentLimited(rental)
        case (0x1a4b_de7e, _, _), (0x3dfe_45a0, _, _), (0x27b5_9bde, _, _), (0x3df2_d9fb, _, _), (0x18f0_6048, _, _):
            throw .keyTypeContradictsDurations
        case (let keyType, _, _): throw .unknownValue(tag: TLLVTag.contentKeyDuration, UInt64(keyType))
        }
    }

    /// Returns nil for 0, which means no limit.
    private func seconds(_ value: UInt64, _ tag: UInt64) throws(CKCFault) -> LicenseSeconds? {
        guard value < 0xFFFF_FFFF else { throw .secondsOutOfRange(tag: tag) }
        return LicenseSeconds(value)
    }

    /// Reads the offline key block, 32 bytes in version 1 and 48 in version 2: version, a reserved word, content or
    /// stream id, storage, playback, title id (section 4.3).
    private func offlineKey(for device: DeviceAbilities) throws(CKCFault) -> OfflineKey? {
        let tag = TLLVTag.offlineKey
        guard let block = block(of: tag) else { return nil }
        guard block.value.count >= 32 else { throw .wrongSize(tag: tag, size: block.value.count) }
        let start = block.value.lowerBound
        let header = Bytes16(payload, at: start).high
        let reserved = UInt32(truncatingIfNeeded: header)
        let first = Bytes16(payload, at: start + 8)
        let limits = Bytes16(payload, at: start + 16).low
        let name: OfflineKey.Name
        switch header >> 32 {
        case 1:
            _ = try value(of: tag, size: 32)
            name = .version1(contentID: first)
        case 2:
            _ = try value(of: tag, size: 48)
            name = .version2(streamID: first, titleID: Bytes16(payload, at: start + 32))
        case let version: throw .unknownValue(tag: tag, version)
        }
        guard reserved == 0 else { throw .reservedWord(tag: tag, reserved) }
        guard device.canKeep(name) else { throw .beyondAbilities(tag: tag) }
        return OfflineKey(
            name, storage: try seconds(limits >> 32, tag), playback: try seconds(limits & 0xFFFF_FFFF, tag))
    }

    /// Reads the HDCP block, 16 bytes: a level and eight bytes of any value.
    private func hdcp(for device: DeviceAbilities) throws(CKCFault) -> HDCPLevel? {
        let tag = TLLVTag.hdcpEnforcement
        guard let value = try value(of: tag, size: 16) else { return nil }
        let word = Bytes16(payload, at: value.lowerBound).high
        guard let level = HDCPLevel(rawValue: word) else { throw .unknownValue(tag: tag, word) }
        let canEnforce = device.capabilities?.contains(.hdcpEnforcement) ?? false
        guard level < .type1 || canEnforce else { throw .beyondAbilities(tag: tag) }
        return level
    }

    private func securityLevel() throws(CKCFault) -> SecurityLevel? {
        let tag = TLLVTag.requiredSecurityLevel
        guard let number = try versionedNumber(of: tag) else { return nil }
        guard let level = SecurityLevel(rawValue: number) else { throw .unknownValue(tag: tag, number) }
        return level
    }
}

extension DeviceAbilities {
    /// Whether the device can keep a key of this version. The first systems with offline keys sent no capabilities and
    /// support version 1.
    fileprivate func canKeep(_ name: OfflineKey.Name) -> Bool {
        switch name {
        case .version1:
            capabilities.map { !$0.isDisjoint(with: [.offlineKey, .offlineKeyVersion2]) } ?? true
        case .version2: capabilities?.contains(.offlineKeyVersion2) ?? false
        }
    }
}
