import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// What a device accepts and refuses in CKCs that are made here block by block.
@Suite struct CKCOpenerTests {
    private static let key = [UInt8](0x20...0x2F)
    private static let state = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2)
    private static let everything: Capabilities = [.hdcpEnforcement, .offlineKey, .offlineKeyVersion2]

    private let crypto: CryptoContext
    private let fixture: TestCredential

    init() throws {
        crypto = try CryptoContext()
        fixture = try TestCredential.shared.get()
    }

    /// A request of a device with all capabilities, except for the change.
    private func request(_ change: (inout DeviceOptions) -> Void = { _ in }) throws -> DeviceRequest {
        var options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
        options.playbackState = Self.state
        options.capabilities = Self.everything
        change(&options)
        return try fixture.makeDevice(.v1, using: crypto).makeRequest(options)
    }

    private func open(_ license: ForgedLicense, _ request: DeviceRequest) throws(CKCFault) -> OpenedLicense {
        let message: [UInt8]
        do throws(CryptoError) {
            message = try license.seal(for: request, using: crypto)
        } catch {
            throw .cryptography(error)
        }
        return try CKCOpener(secrets: request.secrets, using: crypto).open(message)
    }

    /// Opens the valid license with these additional blocks.
    private func open(
        adding blocks: [DeviceBlock], _ change: (inout DeviceOptions) -> Void = { _ in }
    ) throws -> OpenedLicense {
        let request = try request(change)
        var license = try ForgedLicense(for: request, key: Self.key, using: crypto)
        license.blocks += blocks
        return try open(license, request)
    }

    // MARK: The container

    @Test func opensWhatHolds() throws {
        let license = try open(adding: [])
        #expect(license.contentKey.bytes.revealed() == Self.key)
        #expect(license.contentIV == ForgedLicense.iv)
        #expect(license.terms == LicenseTerms())
        #expect(license.version == 1)
        #expect(license.sessionKeyVersion == nil)
        #expect(license.remarks.isEmpty)
    }

    @Test func refusesEveryTruncation() throws {
        let request = try request()
        let answer = try ForgedLicense(for: request, key: Self.key, using: crypto).seal(for: request, using: crypto)
        let opener = CKCOpener(secrets: request.secrets, using: crypto)
        for length in 0..<answer.count {
            #expect(throws: CKCFault.self) { try opener.open(Array(answer.prefix(length))) }
        }
        #expect(throws: CKCFault.self) { try opener.open(answer + [0]) }
    }

    @Test(arguments: [UInt32(0), 3, 256, .max])
    func refusesAnotherVersion(version: UInt32) throws {
        let request = try request()
        var license = try ForgedLicense(for: request, key: Self.key, using: crypto)
        license.version = version
        #expect(throws: CKCFault.version(version)) { try open(license, request) }
    }

    /// Apple's newer server writes its version in the reserved word.
    @Test(arguments: [UInt32(1), 0x3428_0012, .max])
    func acceptsAReservedWordWithARemark(word: UInt32) throws {
        let request = try request()
        var license = try ForgedLicense(for: request, key: Self.key, using: crypto)
        license.reserved = word
        let opened = try open(license, request)
        #expect(opened.remarks == [.reservedWord(word)])
        #expect(opened.contentKey.bytes.revealed() == Self.key)
    }

    @Test func refusesTheAnswerToAnotherRequest() throws {
        let (request, other) = (try request(), try request())
        let answer = try ForgedLicense(for: request, key: Self.key, using: crypto).seal(for: request, using: crypto)
        #expect(throws: CKCFault.self) { try CKCOpener(secrets: other.secrets, using: crypto).open(answer) }
    }

    // MARK: Key, R1 and echoes

    @Test func refusesAnotherR1() throws {
        let request = try request()
        var license = try ForgedLicense(for: request, key: Self.key, using: crypto)
        license.edit(TLLVTag.r1) { $0[43] ^= 1 }
        #expect(throws: CKCFault.r1Mismatch) { try open(license, request) }
    }

    @Test(arguments: [(TLLVTag.r1, 44), (TLLVTag.contentKey, 32)])
    func needsR1AndKeyOfTheirSizes(tag: UInt64, size: Int) throws {
        let request = try request()
        for otherSize in [0, size - 1, size + 1] {
            var license = try ForgedLicense(for: request, key: Self.key, using: crypto)
            license.edit(tag) { $0 = Array(($0 + [0]).prefix(otherSize)) }
            #expect(throws: CKCFault.wrongSize(tag: tag, size: otherSize)) { try open(license, request) }
        }
        var license = try ForgedLicense(for: request, key: Self.key, using: crypto)
        license.blocks.removeAll { $0.tag == tag }
        #expect(throws: CKCFault.missingTag(tag)) { try open(license, request) }
    }

    @Test func needsEveryEchoInItsOrderAndUnaltered() throws {
        let request = try request { $0.returnRequest = [TLLVTag.assetID, TLLVTag.transactionID, TLLVTag.r2] }
        let sound = try ForgedLicense(for: request, key: Self.key, using: crypto)
        var license = sound
        license.echoes.remove(at: 1)
        #expect(throws: CKCFault.echoMissing(tag: TLLVTag.transactionID)) { try open(license, request) }
        license = sound
        license.echoes.swapAt(0, 1)
        #expect(throws: CKCFault.echoOutOfOrder(tag: TLLVTag.transactionID)) { try open(license, request) }
        license = sound
        license.echoes[2][16] ^= 1
        #expect(throws: CKCFault.echoAltered(tag: TLLVTag.r2)) { try open(license, request) }
        license = sound
        // The same value inside a longer one.
        license.echoes[2][15] += 1
        #expect(throws: CKCFault.echoAltered(tag: TLLVTag.r2)) { try open(license, request) }
        license = sound
        license.echoes.append(license.echoes[0])
        #expect(throws: CKCFault.framing(.duplicateTag(TLLVTag.assetID))) { try open(license, request) }
    }

    /// Apple's newer server writes echoes with its own padding, which may be longer or shorter.
    @Test func acceptsAnEchoWithOtherPaddingWithARemark() throws {
        let request = try request { $0.returnRequest = [TLLVTag.assetID, TLLVTag.transactionID, TLLVTag.r2] }
        let sound = try ForgedLicense(for: request, key: Self.key, using: crypto)
        #expect(try open(sound, request).remarks.isEmpty)
        var license = sound
        license.echoes[2][license.echoes[2].count - 1] ^= 1
        #expect(try open(license, request).remarks == [.echoPadding(tag: TLLVTag.r2)])
        license = sound
        license.echoes[0] += [UInt8](repeating: 0xA5, count: 16)
        license.echoes[0][11] += 16
        #expect(try open(license, request).remarks == [.echoPadding(tag: TLLVTag.assetID)])
    }

    /// Apple's sample CKCs have a block without a public name.
    @Test func acceptsTheBlockOfApplesSamplesWithARemark() throws {
        let tag: UInt64 = 0xe6d0_a3e7_2c92_a4ef
        #expect(try open(adding: [DeviceBlock(tag, [0, 0, 0, 0, 0, 0, 0, 1])]).remarks == [.sampleBlock])
        #expect(throws: CKCFault.wrongSize(tag: tag, size: 9)) {
            try open(adding: [DeviceBlock(tag, [UInt8](repeating: 0, count: 9))])
        }
    }

    @Test(arguments: [TLLVTag.sync, 1, 0xe6d0_a3e7_2c92_a4ee])
    func refusesWhatIsNeitherKnownNorAskedFor(tag: UInt64) throws {
        #expect(throws: CKCFault.unexpectedTag(tag)) { try open(adding: [DeviceBlock(tag, [0, 0, 0, 0, 0, 0, 0, 1])]) }
    }

    // MARK: Duration

    private static func duration(
        _ lease: UInt32, _ rental: UInt32, _ keyType: UInt32, reserved: UInt32 = 0x86d3_4a3a
    ) -> DeviceBlock {
        DeviceBlock(TLLVTag.contentKeyDuration, [lease, rental, keyType, reserved].flatMap { bigEndianBytes($0) })
    }

    private static let keyTypes: [(type: UInt32, hasLease: Bool, hasRental: Bool)] = [
        (0x1a4b_de7e, true, false), (0x3dfe_45a0, false, true), (0x27b5_9bde, true, true),
        (0x3df2_d9fb, false, false), (0x18f0_6048, false, true),
    ]

    @Test(arguments: keyTypes.map { $0 })
    func takesEachKeyTypeWithItsOwnDurationsAlone(type: UInt32, hasLease: Bool, hasRental: Bool) throws {
        for (lease, rental) in [(UInt32(0), UInt32(0)), (0, 7), (5, 0), (5, 7)] {
            let blocks = [Self.duration(lease, rental, type)]
            guard (lease != 0) == hasLease, (rental != 0) == hasRental else {
                #expect(throws: CKCFault.keyTypeContradictsDurations, "\(lease), \(rental)") {
                    try open(adding: blocks)
                }
                continue
            }
            guard case .duration(let duration) = try open(adding: blocks).terms.validity else {
                Issue.record("no duration")
                return
            }
            #expect(duration.keyType == type)
            #expect(duration.lease?.value ?? 0 == lease && duration.rental?.value ?? 0 == rental)
        }
    }

    @Test func refusesAnUnknownKeyType() throws {
        #expect(throws: CKCFault.unknownValue(tag: TLLVTag.contentKeyDuration, 0x1a4b_de7f)) {
            try open(adding: [Self.duration(5, 0, 0x1a4b_de7f)])
        }
    }

    @Test(arguments: [(UInt32.max, UInt32(0), UInt32(0x1a4b_de7e)), (0, .max, 0x3dfe_45a0), (5, .max, 0x27b5_9bde)])
    func refusesTheNumberThatHasMeantNone(lease: UInt32, rental: UInt32, keyType: UInt32) throws {
        #expect(throws: CKCFault.secondsOutOfRange(tag: TLLVTag.contentKeyDuration)) {
            try open(adding: [Self.duration(lease, rental, keyType)])
        }
    }

    /// Apple's sample CKCs have 0 in the reserved word.
    @Test(arguments: [UInt32(0), 1, .max])
    func acceptsAnotherReservedWordOfADurationWithARemark(word: UInt32) throws {
        let license = try open(adding: [Self.duration(5, 0, 0x1a4b_de7e, reserved: word)])
        #expect(license.terms.lease?.value == 5)
        #expect(license.remarks == [.durationReservedWord(word)])
        #expect(try open(adding: [Self.duration(5, 0, 0x1a4b_de7e)]).remarks.isEmpty)
    }

    @Test func takesADurationOnlyAfterAPlaybackState() throws {
        #expect(throws: CKCFault.beyondAbilities(tag: TLLVTag.contentKeyDuration)) {
            try open(adding: [Self.duration(5, 0, 0x1a4b_de7e)]) { $0.playbackState = nil }
        }
    }

    // MARK: Offline keys

    private static let identifier = Bytes16([UInt8](0x50...0x5F), at: 0)
    private static let otherIdentifier = Bytes16([UInt8](0x60...0x6F), at: 0)

    private static func offlineKey(
        _ version: UInt32, reserved: UInt32 = 0, storage: UInt32 = 11, playback: UInt32 = 12, _ rest: [UInt8] = []
    ) -> DeviceBlock {
        DeviceBlock(
            TLLVTag.offlineKey,
            bigEndianBytes(version) + bigEndianBytes(reserved) + identifier.bytes + bigEndianBytes(storage)
                + bigEndianBytes(playback) + rest)
    }

    @Test func takesBothVersionsOfOfflineKeys() throws {
        let (storage, playback) = (LicenseSeconds(11), LicenseSeconds(12))
        let first = OfflineKey(.version1(contentID: Self.identifier), storage: storage, playback: playback)
        #expect(try open(adding: [Self.offlineKey(1)]).terms.validity == .offlineKey(first))
        let second = OfflineKey(
            .version2(streamID: Self.identifier, titleID: Self.otherIdentifier), storage: storage, playback: playback)
        let block = Self.offlineKey(2, Self.otherIdentifier.bytes)
        #expect(try open(adding: [block]).terms.validity == .offlineKey(second))
    }

    @Test func anOfflineKeyWithoutSecondsHasNoLimit() throws {
        let key = OfflineKey(.version1(contentID: Self.identifier), storage: nil, playback: nil)
        let block = Self.offlineKey(1, storage: 0, playback: 0)
        #expect(try open(adding: [block]).terms.validity == .offlineKey(key))
    }

    @Test(arguments: [
        (UInt32(1), 0), (1, 31), (1, 33), (1, 48), (2, 32), (2, 47), (2, 49), (2, 64),
    ])
    func needsOfflineKeysOfTheirSizes(version: UInt32, size: Int) throws {
        var block = Self.offlineKey(version, [UInt8](repeating: 0, count: 64))
        block.value = Array(block.value.prefix(size))
        #expect(throws: CKCFault.wrongSize(tag: TLLVTag.offlineKey, size: size)) { try open(adding: [block]) }
    }

    @Test(arguments: [UInt32(0), 3, .max])
    func refusesAnotherVersionOfOfflineKeys(version: UInt32) throws {
        #expect(throws: CKCFault.unknownValue(tag: TLLVTag.offlineKey, UInt64(version))) {
            try open(adding: [Self.offlineKey(version)])
        }
    }

    @Test func refusesAReservedWordAndNumbersThatHaveMeantNoneInOfflineKeys() throws {
        #expect(throws: CKCFault.reservedWord(tag: TLLVTag.offlineKey, 1)) {
            try open(adding: [Self.offlineKey(1, reserved: 1)])
        }
        for block in [Self.offlineKey(1, storage: .max), Self.offlineKey(1, playback: .max)] {
            #expect(throws: CKCFault.secondsOutOfRange(tag: TLLVTag.offlineKey)) { try open(adding: [block]) }
        }
    }

    @Test func refusesADurationBesideAnOfflineKey() throws {
        #expect(throws: CKCFault.durationWithOfflineKey) {
            try open(adding: [Self.duration(0, 0, 0x3df2_d9fb), Self.offlineKey(1)])
        }
    }

    private static let keepers: [(Capabilities?, Bool, Bool)] = [
        (nil, true, false), ([], false, false), (.offlineKey, true, false), (.offlineKeyVersion2, true, true),
        (.hdcpEnforcement, false, false),
    ]

    @Test(arguments: keepers)
    func takesOfflineKeysAsItsCapabilitiesSay(
        capabilities: Capabilities?, keepsVersion1: Bool, keepsVersion2: Bool
    ) throws {
        let version2 = Self.offlineKey(2, Self.otherIdentifier.bytes)
        for (block, isKept) in [(Self.offlineKey(1), keepsVersion1), (version2, keepsVersion2)] {
            if isKept {
                #expect(try open(adding: [block]) { $0.capabilities = capabilities }.terms.isPersistent)
            } else {
                #expect(throws: CKCFault.beyondAbilities(tag: TLLVTag.offlineKey)) {
                    try open(adding: [block]) { $0.capabilities = capabilities }
                }
            }
        }
    }

    // MARK: Protection

    private static func hdcp(_ level: UInt64, size: Int = 16) -> DeviceBlock {
        DeviceBlock(TLLVTag.hdcpEnforcement, Array((bigEndianBytes(level) + [UInt8](0..<9)).prefix(size)))
    }

    @Test(arguments: HDCPLevel.allCases)
    func takesEachHDCPLevel(level: HDCPLevel) throws {
        #expect(try open(adding: [Self.hdcp(level.rawValue)]).terms.hdcp == level)
    }

    @Test func refusesAnotherHDCPLevelAndSize() throws {
        #expect(throws: CKCFault.unknownValue(tag: TLLVTag.hdcpEnforcement, 1)) { try open(adding: [Self.hdcp(1)]) }
        for size in [0, 8, 15, 17] {
            #expect(throws: CKCFault.wrongSize(tag: TLLVTag.hdcpEnforcement, size: size)) {
                try open(adding: [Self.hdcp(HDCPLevel.type0.rawValue, size: size)])
            }
        }
        #expect(throws: CKCFault.beyondAbilities(tag: TLLVTag.hdcpEnforcement)) {
            try open(adding: [Self.hdcp(HDCPLevel.type1.rawValue)]) { $0.capabilities = .offlineKey }
        }
    }

    private static func versioned(
        _ tag: UInt64, _ number: UInt64, version: UInt32 = 1, reserved: UInt32 = 0
    ) -> DeviceBlock {
        DeviceBlock(tag, bigEndianBytes(version) + bigEndianBytes(reserved) + bigEndianBytes(number))
    }

    @Test(arguments: SecurityLevel.allCases)
    func takesEachRequiredLevel(level: SecurityLevel) throws {
        let license = try open(adding: [Self.versioned(TLLVTag.requiredSecurityLevel, level.rawValue)])
        #expect(license.terms.securityLevel == level)
    }

    @Test(arguments: [
        (TLLVTag.requiredSecurityLevel, SecurityLevel.main.rawValue),
        (TLLVTag.sessionKeyVersionUsed, SessionKeyVersion.generic.rawValue),
    ])
    func refusesWhatIsWrongWithAVersionedNumber(tag: UInt64, number: UInt64) throws {
        #expect(throws: CKCFault.unknownValue(tag: tag, number + 1)) {
            try open(adding: [Self.versioned(tag, number + 1)])
        }
        #expect(throws: CKCFault.unknownValue(tag: tag, 2)) {
            try open(adding: [Self.versioned(tag, number, version: 2)])
        }
        #expect(throws: CKCFault.reservedWord(tag: tag, 9)) {
            try open(adding: [Self.versioned(tag, number, reserved: 9)])
        }
        for size in [0, 8, 15, 17] {
            var block = Self.versioned(tag, number)
            block.value = Array((block.value + [0]).prefix(size))
            #expect(throws: CKCFault.wrongSize(tag: tag, size: size)) { try open(adding: [block]) }
        }
    }

    // MARK: The session key for video

    private static let video = versioned(TLLVTag.sessionKeyVersionUsed, SessionKeyVersion.video.rawValue)

    @Test func takesTheGenericKeyByItsName() throws {
        let block = Self.versioned(TLLVTag.sessionKeyVersionUsed, SessionKeyVersion.generic.rawValue)
        #expect(try open(adding: [block]).sessionKeyVersion == .generic)
    }

    @Test func takesWhatIsForVideoOnlyWhereItWasOffered() throws {
        #expect(throws: CKCFault.videoNotOffered) { try open(adding: [Self.video]) }
        let request = try request()
        var license = try ForgedLicense(for: request, key: Self.key, using: crypto)
        license.version = 2
        license.blocks.append(Self.video)
        #expect(throws: CKCFault.videoNotOffered) { try open(license, request) }
    }

    @Test func takesTheR1ForVideoInVersion2Alone() throws {
        let request = try request { $0.video = .sealed }
        var license = try ForgedLicense(for: request, key: Self.key, using: crypto, usesVideo: true)
        license.blocks.append(Self.video)
        #expect(throws: CKCFault.self) { try open(license, request) }
        license.version = 2
        let opened = try open(license, request)
        #expect(opened.version == 2 && opened.sessionKeyVersion == .video)
        #expect(opened.contentKey.bytes.revealed() == Self.key)
    }

    @Test func version2SaysWhichSessionKeyWasUsed() throws {
        let request = try request { $0.video = .sealed }
        var license = try ForgedLicense(for: request, key: Self.key, using: crypto, usesVideo: true)
        license.version = 2
        #expect(throws: CKCFault.missingTag(TLLVTag.sessionKeyVersionUsed)) { try open(license, request) }
    }
}
