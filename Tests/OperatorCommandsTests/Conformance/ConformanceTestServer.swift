import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport

@testable import PlayerTools

/// A fault of a key server that the conformance run must find.
enum ServerFault: String, CaseIterable, Sendable {
    // In the CKC.
    case otherKey, zeroVector, otherR1, echoMissing, echoAltered, echoesInOtherOrder, longerLease, noLease
    case durationForSilentDevice, durationWithOfflineKey, offlineLimitsSwapped, shortHDCPBlock, noHDCPBlock
    case lengthTooLarge, versionThree
    // Around the CKC.
    case statusOfFailure, otherDevice, noAnswerToLargeSPCs
    // In what is accepted and refused.
    case refusesFullBlocks, cutsAssetIDs, acceptsForgedSessions, acceptsDuplicates, tellsFaultsApart, showsKey
    case looksAtNoDevice, keepsForEver, looksAtNoLevel, demandsMain, knowsEveryAsset, renewsWithoutLease
    // Beside the CKC, and in refusals.
    case showsKeyBesideLicense, showsKeyInBase64, showsSecretInField, refusesWithNothing
    case tellsFaultsApartInField, tellsFaultsApartByLength

    /// A case that must fail, and a part of what is found.
    var evidence: (name: String, found: String) {
        switch self {
        case .otherKey: ("lease, version 1", "the content key is another one")
        case .zeroVector: ("streaming, version 1", "the initialization vector is another one")
        case .otherR1: ("streaming, version 2", "R1 is not the one of the SPC")
        case .echoMissing: ("return request that repeats a block", "of the return request is missing")
        case .echoAltered: ("return request of 7 blocks, version 2", "of the return request was altered")
        case .echoesInOtherOrder: ("return request in another order than the blocks", "not in the order")
        case .longerLease: ("renewal of a lease", "other terms (lease 601 s")
        case .noLease: ("lease, version 3", "other terms (session")
        case .durationForSilentDevice: ("streaming without a playback state", "needs more than this device's SPC says")
        case .durationWithOfflineKey: ("offline, version 2", "a duration and an offline key")
        case .offlineLimitsSwapped: ("offline, version 1", "storage 172800 s, playback 2592000 s")
        case .shortHDCPBlock: ("protected, version 1", "has a value of 8 bytes")
        case .noHDCPBlock: ("protected, version 1", "HDCP Type 1 is missing")
        case .lengthTooLarge: ("streaming, version 1", "declares a payload")
        case .versionThree: ("streaming, version 1", "its version is 3")
        case .statusOfFailure: ("streaming, version 1", "a CKC with the status 500")
        case .otherDevice: ("streaming, version 1", "HU is another one")
        case .noAnswerToLargeSPCs: ("SPC of 5 KB, version 3", "no answer: closed")
        case .refusesFullBlocks: ("value that fills its block", "refused")
        case .cutsAssetIDs: ("asset id that is not text", "refused")
        case .acceptsForgedSessions: ("wrong integrity", "a license, and no refusal")
        case .acceptsDuplicates: ("duplicate tag different", "a license, and no refusal")
        case .tellsFaultsApart: ("equal refusals after the certificate", "2 different answers")
        case .showsKey, .showsKeyInBase64: ("wrong integrity", "the answer shows the content key")
        case .showsKeyBesideLicense: ("streaming, version 1", "the answer shows the content key")
        case .showsSecretInField: ("wrong integrity", "the answer shows the application secret")
        case .refusesWithNothing: ("wrong integrity", "no refusal")
        case .tellsFaultsApartInField, .tellsFaultsApartByLength:
            ("equal refusals after the certificate", "2 different answers")
        case .looksAtNoLevel: ("Baseline for a device of the level Audio", "a license, and no refusal")
        case .demandsMain: ("protected, for a device of the level Baseline", "it demands the level main")
        case .knowsEveryAsset: ("unknown asset", "a license, and no refusal")
        case .renewsWithoutLease: ("renewal in the same playback session", "other terms (session")
        case .looksAtNoDevice: ("lease without a playback state", "a license that this device cannot use")
        case .keepsForEver: ("offline for a device without offline keys", "a license, and no refusal: stored offline")
        }
    }
}

/// A key server in this process with the conformance credential and at most one fault.
struct ConformanceTestServer {
    private let fault: ServerFault?
    private let server: TestServer
    private let sessions = SeenSessions()
    private var crypto: CryptoContext { server.crypto }

    init(_ fault: ServerFault?) throws {
        self.fault = fault
        let credential = ConformanceCredential.self
        func pair(_ certificate: [UInt8], _ key: [UInt8]) throws -> Credential.KeyPair {
            try Credential.KeyPair(
                certificate: Certificate(parsing: certificate), privateKey: RSAPrivateKey(parsing: credential.pem(key)))
        }
        server = try TestServer([
            Credential(
                name: "conformance", pair1024: pair(credential.certificate1024, credential.privateKey1024),
                pair2048: pair(credential.certificate2048, credential.privateKey2048),
                ladder: .applicationSecret(
                    ApplicationSecretKeyLadder(
                        .applicationSecret, SecretBytes(copying: credential.applicationSecret))),
                servesVersion3: true)
        ])
    }

    func answer(_ question: ConformanceQuestion) -> ConformanceAnswer {
        if fault == .noAnswerToLargeSPCs, question.request.message.count > 4096 {
            return ConformanceAnswer(content: .none("closed"))
        }
        do {
            let spc = try server.open(question.request.message)
            guard let kind = kind(of: spc) else { return refusal(404, "key_not_found") }
            var answer = ConformanceAnswer(content: .ckc(try ckc(for: spc, kind, question)), status: 200)
            if fault == .statusOfFailure { answer.status = 500 }
            answer.deviceID =
                fault == .otherDevice ? DeviceID([UInt8](repeating: 1, count: 20)) : spc.sessionKeys?.deviceID
            answer.transactionID = spc.transactionID
            if fault == .showsKeyBesideLicense {
                let pairs = kind.contentKey.map { Hexadecimal.encode([$0]) }
                answer.fields = [(name: "X-Key", value: pairs.joined(separator: ":"))]
            }
            return answer
        } catch let error as SPCError {
            return refusal(of: error, question)
        } catch {
            return refusal(403, "\(error)")
        }
    }

    // MARK: Refusals

    private func refusal(_ status: Int, _ code: String, idSize: Int = 16) -> ConformanceAnswer {
        // An id that is different in each answer.
        let id = String(UInt64.random(in: 1 << 60 ... .max), radix: 16).prefix(idSize)
        let body = "{\"code\":\"\(code)\",\"id\":\"\(id)\"}"
        return ConformanceAnswer(
            content: .refusal(code: "\(status)", body: Array(body.utf8)), status: status,
            fields: [(name: "X-Request-Id", value: "\(id)")])
    }

    /// The refusal of an SPC after its certificate was found.
    private func rejection(_ question: ConformanceQuestion) -> ConformanceAnswer {
        let isFirst = payload(of: question) == nil
        var answer = refusal(422, "rejected")
        switch fault {
        case .showsKey: answer = refusal(422, Hexadecimal.encode(question.kind.contentKey))
        case .showsKeyInBase64: answer = refusal(422, Base64.encode([1] + question.kind.contentKey))
        case .showsSecretInField:
            let secret = ConformanceCredential.applicationSecret
            answer.fields.append((name: "X-Debug", value: Hexadecimal.encode(secret).uppercased()))
        case .refusesWithNothing: answer = ConformanceAnswer(content: .refusal(code: "200", body: []), status: 200)
        case .tellsFaultsApart: answer = refusal(422, isFirst ? "decryption failed" : "rejected")
        case .tellsFaultsApartInField: answer.fields.append((name: "X-Stage", value: isFirst ? "key" : "block"))
        case .tellsFaultsApartByLength: answer = refusal(422, "rejected", idSize: isFirst ? 12 : 16)
        default: break
        }
        return answer
    }

    private func refusal(of error: SPCError, _ question: ConformanceQuestion) -> ConformanceAnswer {
        switch error {
        case .rejected:
            if accepts(question), let ckc = try? forged(question) { return .init(content: .ckc(ckc), status: 200) }
            return rejection(question)
        case .unknownCertificate: return refusal(422, "certificate_unknown")
        case .empty, .isCertificate, .malformed, .unsupportedVersion: return refusal(400, "malformed")
        case .internalFailure: return refusal(500, "internal")
        }
    }

    /// Whether a server with this fault takes a rejected SPC.
    private func accepts(_ question: ConformanceQuestion) -> Bool {
        guard let payload = payload(of: question) else { return false }
        do throws(TLLVError) {
            _ = try TLLVBlocks(parsing: payload)
            return fault == .acceptsForgedSessions
        } catch {
            guard case .duplicateTag = error else { return false }
            return fault == .acceptsDuplicates
        }
    }

    /// The plain payload; nil if the wrapped key is a wrong one.
    private func payload(of question: ConformanceQuestion) -> [UInt8]? {
        guard let envelope = try? SPCEnvelope(parsing: question.request.message, served: [.v1, .v2, .v3]),
            let payload = try? question.request.secrets.decryptPayload(of: envelope, using: crypto)
        else { return nil }
        // A block begins with its tag (8 bytes) and two lengths (4 bytes each), which are below 65,536 here.
        let hasBlocks = payload.count >= 16 && [8, 9, 12, 13].allSatisfy { payload[$0] == 0 }
        return hasBlocks ? payload : nil
    }

    // MARK: CKCs

    private func kind(of spc: SPC) -> ConformanceKind? {
        if fault == .knowsEveryAsset, spc.assetID.elementsEqual(ConformanceKind.unknownAssetID) { return .streaming }
        let assetID = fault == .cutsAssetIDs ? spc.assetID.prefix { $0 < 0x80 } : spc.assetID[...]
        return ConformanceKind.allCases.first { kind in
            kind.assetID.elementsEqual(assetID) || kind.aliases.contains { $0.elementsEqual(assetID) }
        }
    }

    private func ckc(for spc: SPC, _ kind: ConformanceKind, _ question: ConformanceQuestion) throws -> [UInt8] {
        let hasFullBlock = spc.blocks.contains { !$0.value.isEmpty && $0.value.upperBound == $0.range.upperBound }
        if fault == .refusesFullBlocks, hasFullBlock {
            throw SPCError.empty
        }
        var terms = LicenseTerms(validity: kind.validity(for: question.options.capabilities))
        if kind == .protected { (terms.hdcp, terms.securityLevel) = (.type1, .baseline) }
        if fault == .keepsForEver, kind == .offline, !spc.device.supportsOfflineKey {
            terms.validity = .duration(.persistent)
        }
        if fault == .looksAtNoLevel { terms.securityLevel = nil }
        if fault != .looksAtNoDevice { try terms.check(for: spc.device, by: DevicePolicy()) }
        switch (fault, kind) {
        case (.longerLease, .lease): terms.validity = .duration(.lease(LicenseSeconds(atLeastOne: 601)))
        case (.noLease, .lease): terms.validity = .session
        case (.renewsWithoutLease, .lease) where sessions.knows(question): terms.validity = .session
        case (.demandsMain, _): terms.securityLevel = .main
        case (.noHDCPBlock, _): terms.hdcp = nil
        case (.offlineLimitsSwapped, .offline): terms.validity = swapped(terms.validity)
        default: break
        }
        let key = fault == .otherKey ? ConformanceKind.streaming.contentKey : kind.contentKey
        let iv = fault == .zeroVector ? Bytes16.zero : Bytes16(kind.contentIV, at: 0)
        let ckc = try server.answer(spc, contentKey: key, iv: iv, terms: terms)
        return try altered(ckc, question)
    }

    private func swapped(_ validity: LicenseTerms.Validity) -> LicenseTerms.Validity {
        guard case .offlineKey(let key) = validity else { return validity }
        return .offlineKey(OfflineKey(key.name, storage: key.playback, playback: key.storage))
    }

    /// Applies the faults that no sound writer of CKCs can make.
    private func altered(_ ckc: [UInt8], _ question: ConformanceQuestion) throws -> [UInt8] {
        let secrets = question.request.secrets
        var ckc = ckc
        let tags = secrets.expectedEchoes.map { Bytes16($0, at: 0).high }
        switch fault {
        case .lengthTooLarge: ckc[27] &+= 16
        case .versionThree: ckc[3] = 3
        case .otherR1: try edit(&ckc, secrets) { $0.change(TLLVTag.r1) { $0[16] ^= 1 } }
        case .echoMissing: try edit(&ckc, secrets) { blocks in blocks.removeAll { $0.tag == tags.first } }
        case .echoAltered:
            try edit(&ckc, secrets) { blocks in
                if let tag = tags.first { blocks.change(tag) { $0[16] ^= 1 } }
            }
        case .echoesInOtherOrder:
            try edit(&ckc, secrets) { blocks in
                let echoes = blocks.filter { tags.contains($0.tag) }
                blocks = blocks.filter { !tags.contains($0.tag) } + echoes.reversed()
            }
        case .durationForSilentDevice where question.options.playbackState == nil,
            .durationWithOfflineKey where question.kind == .offline:
            try edit(&ckc, secrets) { $0.append(try Self.duration) }
        case .shortHDCPBlock:
            try edit(&ckc, secrets) { $0.change(TLLVTag.hdcpEnforcement) { $0[15] = 8 } }
        default: break
        }
        return ckc
    }

    /// A lease of ten minutes.
    private static var duration: RawBlock {
        get throws {
            let block = DeviceBlock(
                TLLVTag.contentKeyDuration, [0, 0, 2, 0x58, 0, 0, 0, 0, 0x1a, 0x4b, 0xde, 0x7e, 0x86, 0xd3, 0x4a, 0x3a])
            return try RawBlock(block, from: DeviceRandomness(using: CryptoContext()))
        }
    }

    /// Opens the payload of a CKC, and encrypts it again after a change of its blocks.
    private func edit(_ ckc: inout [UInt8], _ secrets: RequestSecrets, _ change: (inout [RawBlock]) throws -> Void)
        throws
    {
        let key = try payloadKey(secrets)
        let iv = Bytes16(ckc, at: 8)
        let payload = try crypto.decryptCBC(ckc, in: 28..<ckc.count, key: key, iv: iv)
        var blocks = try TLLVBlocks(parsing: payload).blocks.map {
            RawBlock(bytes: Array(payload[$0.range]), tag: $0.tag)
        }
        try change(&blocks)
        ckc = Array(ckc[..<24]) + (try sealed(blocks.flatMap(\.bytes), key, iv))
    }

    private func sealed(_ payload: [UInt8], _ key: borrowing SecretBytes, _ iv: Bytes16) throws -> [UInt8] {
        bigEndian(UInt32(payload.count)) + (try crypto.encryptCBC(payload, key: key, iv: iv))
    }

    private func payloadKey(_ secrets: RequestSecrets) throws -> SecretBytes {
        let antiReplayKey = try crypto.sha1Key(of: secrets.sessionBlock.bytes, in: 36..<80)
        return try crypto.deriveKey(from: secrets.antiReplaySeed, key: antiReplayKey)
    }

    /// A CKC for an SPC that a sound server refuses.
    private func forged(_ question: ConformanceQuestion) throws -> [UInt8] {
        let secrets = question.request.secrets
        let wrapped = try crypto.encryptBlock(
            secret: SecretBytes(copying: question.kind.contentKey), key: secrets.sessionBlock.bytes)
        let randomness = DeviceRandomness(using: crypto)
        let blocks = [
            try RawBlock(DeviceBlock(TLLVTag.contentKey, question.kind.contentIV + wrapped.bytes), from: randomness),
            try RawBlock(DeviceBlock(TLLVTag.r1, secrets.r1), from: randomness),
        ]
        let payload = blocks.flatMap(\.bytes) + secrets.expectedEchoes.flatMap(\.self)
        let iv = try crypto.randomBytes16()
        return bigEndian(UInt32(1)) + bigEndian(UInt32(0)) + iv.bytes
            + (try sealed(payload, payloadKey(secrets), iv))
    }
}

/// The playback sessions that a server has answered.
private final class SeenSessions {
    private var ids: Set<UInt64> = []

    /// Whether there was a license for the session before.
    func knows(_ question: ConformanceQuestion) -> Bool {
        question.options.playbackState.map { !ids.insert($0.sessionID).inserted } ?? false
    }
}

extension [RawBlock] {
    fileprivate mutating func change(_ tag: UInt64, _ change: (inout [UInt8]) -> Void) {
        for index in indices where self[index].tag == tag { change(&self[index].bytes) }
    }
}
