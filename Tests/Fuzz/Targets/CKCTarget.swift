import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport

/// A CKC as a device reads it. The input is one byte of plan, then a plain payload or a whole message.
///
///     bits of the plan: 0 a whole message follows, 1 version 2, 2 the payload is not repaired, 3 an echo was
///                       requested
///
/// A payload is encrypted under the key of a known session, and its R1 is corrected. A CKC that opens has a key, an IV
/// and terms that match its blocks.
struct CKCTarget: FuzzTarget {
    private let crypto: CryptoContext
    private let openers: (expectingNothing: CKCOpener, expectingEcho: CKCOpener)
    private let payloadKey: SharedSecret
    private let session = SharedSecret(SecretBytes(copying: FixedSession.plain))

    private static let antiReplaySeed = Bytes16(high: 0xA0A1_A2A3_A4A5_A6A7, low: 0xA8A9_AAAB_ACAD_AEAF)
    private static let iv = Bytes16(high: 0xB0B1_B2B3_B4B5_B6B7, low: 0xB8B9_BABB_BCBD_BEBF)
    private static let echo = RawTLLV(tag: TLLVTag.assetID, value: Array("skd-asset".utf8), padding: [])

    init() throws {
        let crypto = try CryptoContext()
        self.crypto = crypto
        openers = (
            try Self.makeOpener(echoes: [], crypto), try Self.makeOpener(echoes: [Self.echo.bytes], crypto)
        )
        let antiReplayKey = try crypto.sha1Key(of: SecretBytes(copying: FixedSession.r1), in: 0..<44)
        payloadKey = SharedSecret(try crypto.deriveKey(from: Self.antiReplaySeed, key: antiReplayKey))
    }

    private static func makeOpener(echoes: [[UInt8]], _ crypto: CryptoContext) throws -> CKCOpener {
        let abilities = DeviceAbilities(
            hasPlaybackState: true, capabilities: [.hdcpEnforcement, .offlineKey, .offlineKeyVersion2],
            offersVideoSessionKey: true)
        let secrets = try RequestSecrets(
            wrappedKey: SharedSecret(SecretBytes(count: 16)),
            sessionBlock: SharedSecret(SecretBytes(copying: FixedSession.plain)), antiReplaySeed: antiReplaySeed,
            expectedEchoes: echoes, abilities: abilities)
        return CKCOpener(secrets: secrets, using: crypto)
    }

    func check(_ input: [UInt8]) throws -> Verdict {
        guard let plan = input.first else { return .refused }
        let isMessage = plan & 1 != 0
        let message = isMessage ? Array(input.dropFirst()) : try seal(input.dropFirst(), plan)
        guard let envelope = try parse(message) else { return .refused }
        let opener = plan >> 3 & 1 == 0 ? openers.expectingNothing : openers.expectingEcho
        let license: OpenedLicense
        do throws(CKCFault) {
            license = try opener.open(message)
        } catch {
            if case .cryptography = error { throw error }
            return .refused
        }
        try check(license, of: envelope)
        return .accepted
    }

    /// Parses the envelope and checks that its parts make up the message again. Returns nil if it cannot be parsed.
    private func parse(_ message: [UInt8]) throws -> CKCEnvelope? {
        let envelope: CKCEnvelope
        do throws(CKCFault) {
            envelope = try CKCEnvelope(parsing: message)
        } catch {
            switch error {
            case .truncated, .payloadLength, .payloadUnaligned: return nil
            case _: throw PropertyViolation(description: "parsing an envelope needs no key: \(error)")
            }
        }
        let rewritten = Self.message(envelope.version, envelope.reserved, envelope.iv, Array(message[envelope.payload]))
        try require(rewritten == message, "the parts of an envelope make up the message")
        return envelope
    }

    /// Checks that the key, the IV and the terms match the blocks.
    private func check(_ license: OpenedLicense, of envelope: CKCEnvelope) throws {
        let payload = try crypto.decryptCBC(
            envelope.message, in: envelope.payload, key: payloadKey.bytes, iv: envelope.iv)
        let blocks = try require(RawTLLV.parse(payload), "an opened payload is a sequence of blocks")
        let values = Dictionary(uniqueKeysWithValues: blocks.map { ($0.tag, $0.value) })
        let key = try require(values[TLLVTag.contentKey], "an opened payload has a key")
        let wrapped = try crypto.encryptBlock(secret: license.contentKey.bytes, key: session.bytes)
        try require(key == license.contentIV.bytes + wrapped.bytes, "the key equals its block's value")
        try require(values[TLLVTag.r1] == FixedSession.r1, "R1 is the R1 of the session")
        try require(license.version == envelope.version, "the version is the version of the envelope")
        let terms = license.terms
        try require((terms.hdcp != nil) == (values[TLLVTag.hdcpEnforcement] != nil), "HDCP comes from its block")
        let hasLevel = values[TLLVTag.requiredSecurityLevel] != nil
        try require((terms.securityLevel != nil) == hasLevel, "a level comes from its block")
        try check(terms.validity, values)
    }

    private func check(_ validity: LicenseTerms.Validity, _ values: [UInt64: [UInt8]]) throws(PropertyViolation) {
        let duration = values[TLLVTag.contentKeyDuration]
        let offlineKey = values[TLLVTag.offlineKey]
        switch validity {
        case .session: try require(duration == nil && offlineKey == nil, "without a block, a key is for the session")
        case .duration(let limits):
            let words = [limits.lease?.value ?? 0, limits.rental?.value ?? 0, limits.keyType]
            let said = duration.map { Array($0.prefix(12)) }
            try require(said == words.flatMap { bigEndianBytes($0) }, "a duration equals its block's value")
        case .offlineKey(let key):
            let words = [key.storage?.value ?? 0, key.playback?.value ?? 0]
            let said = offlineKey.map { Array($0[24..<32]) }
            try require(said == words.flatMap { bigEndianBytes($0) }, "an offline key's limits equal its block")
        }
    }

    // MARK: - Sealing

    private func seal(_ plain: ArraySlice<UInt8>, _ plan: UInt8) throws -> [UInt8] {
        var payload = Array(plain.prefix(plain.count & ~15))
        if plan >> 2 & 1 == 0 { FixedSession.repairR1(&payload) }
        let encrypted = try crypto.encryptCBC(payload, key: payloadKey.bytes, iv: Self.iv)
        return Self.message(plan >> 1 & 1 == 0 ? 1 : 2, 0, Self.iv, encrypted)
    }

    private static func message(_ version: UInt32, _ reserved: UInt32, _ iv: Bytes16, _ payload: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 28 + payload.count)
        writer.write(version)
        writer.write(reserved)
        writer.write(iv)
        writer.write(UInt32(payload.count))
        writer.write(payload)
        return writer.bytes
    }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for terms in SeedLicenses.terms {
            let payload = SeedLicenses.payload(terms)
            seeds.append([0] + payload)
            seeds.append([1 << 1] + payload + SeedLicenses.videoKeyUsed)
            seeds.append([1 << 3] + payload + Self.echo.bytes)
        }
        return seeds + [[1] + (try seal(SeedLicenses.payload([])[...], 0))]
    }

    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard let plan = input.first else { return ByteMutation.mutate(input, using: &generator) }
        let rest = Array(input.dropFirst())
        if Int.random(in: 0..<8, using: &generator) == 0 {
            return [plan ^ 1 << UInt8.random(in: 0..<4, using: &generator)] + rest
        }
        let isMessage = plan & 1 != 0
        let changed =
            isMessage
            ? ByteMutation.mutate(rest, using: &generator) : TLLVMutation.mutate(rest, using: &generator)
        return [plan] + changed
    }
}

/// Plain payloads of CKCs. They were written from the format's description (protocol, section 2.2), not by the server's
/// code.
enum SeedLicenses {
    /// The blocks for each kind of terms: duration or offline key, HDCP, security level.
    static let terms: [[RawTLLV]] = [
        [],
        [duration(lease: 60, rental: 0, keyType: 0x1A4B_DE7E), hdcp(.type1)],
        [duration(lease: 0, rental: 60, keyType: 0x3DFE_45A0), hdcp(.type0)],
        [duration(lease: 60, rental: 90, keyType: 0x27B5_9BDE), level(.main)],
        [duration(lease: 0, rental: 0, keyType: 0x3DF2_D9FB), hdcp(.none)],
        [duration(lease: 0, rental: 60, keyType: 0x18F0_6048)],
        [offlineKey(version: 1), level(.baseline)],
        [offlineKey(version: 2), level(.audio)],
    ]

    /// The block that says that the session key for video was used.
    static let videoKeyUsed = RawTLLV(
        tag: TLLVTag.sessionKeyVersionUsed,
        value: [0, 0, 0, 1, 0, 0, 0, 0] + bigEndianBytes(SessionKeyVersion.video.rawValue), padding: []
    ).bytes

    static func payload(_ terms: [RawTLLV]) -> [UInt8] {
        let key = RawTLLV(tag: TLLVTag.contentKey, value: [UInt8](0..<32), padding: [])
        let r1 = RawTLLV(tag: TLLVTag.r1, value: FixedSession.r1, padding: [])
        return ([key, r1] + terms).flatMap(\.bytes)
    }

    private static func duration(lease: UInt32, rental: UInt32, keyType: UInt32) -> RawTLLV {
        let words = [lease, rental, keyType, 0x86D3_4A3A]
        return RawTLLV(tag: TLLVTag.contentKeyDuration, value: words.flatMap { bigEndianBytes($0) }, padding: [])
    }

    private static func offlineKey(version: UInt32) -> RawTLLV {
        let name = [UInt8](repeating: 0x1D, count: 16)
        let limits = [UInt32(3600), UInt32(60)].flatMap { bigEndianBytes($0) }
        let value = bigEndianBytes(version) + [0, 0, 0, 0] + name + limits + (version == 2 ? name : [])
        return RawTLLV(tag: TLLVTag.offlineKey, value: value, padding: [])
    }

    private static func hdcp(_ level: HDCPLevel) -> RawTLLV {
        let value = bigEndianBytes(level.rawValue) + [UInt8](repeating: 0xE7, count: 8)
        return RawTLLV(tag: TLLVTag.hdcpEnforcement, value: value, padding: [])
    }

    private static func level(_ level: SecurityLevel) -> RawTLLV {
        let value = [0, 0, 0, 1, 0, 0, 0, 0] + bigEndianBytes(level.rawValue)
        return RawTLLV(tag: TLLVTag.requiredSecurityLevel, value: value, padding: [])
    }
}
