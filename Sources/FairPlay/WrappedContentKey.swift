package import ByteCoding
package import KeyCrypto

/// A content key that only the device of one SPC can open, with the other values that the ladder returns.
package enum WrappedContentKey: Sendable {
    /// The key was wrapped in this process, with the application secret: `wrapped` is AES-ECB(SK, key).
    case here(SessionKeys, iv: Bytes16, wrapped: Bytes16)
    /// The key was wrapped by an external module.
    case module(LadderAnswer)

    package var deviceID: DeviceID {
        switch self {
        case .here(let keys, _, _): keys.deviceID
        case .module(let answer): answer.deviceID
        }
    }

    /// The version of the CKC: 2 if a module returned the R1 for video, otherwise 1.
    package var licenseVersion: UInt32 {
        switch self {
        case .here: 1
        case .module(let answer): answer.r1Version == .video ? 2 : 1
        }
    }

    /// Appends the blocks of a CKC that come from the ladder (protocol, section 2.2). Only a module adds the session
    /// key version.
    func append(to blocks: inout [LicenseBlock]) {
        switch self {
        case .here(let keys, let iv, let wrapped):
            blocks.append(.contentKey(iv: iv, wrapped: wrapped))
            blocks.append(.r1(keys.r1))
        case .module(let answer):
            blocks.append(.moduleContentKey(tag: answer.contentKeyTag, value: answer.contentKeyValue))
            blocks.append(.r1(answer.r1.bytes.revealed()))
            blocks.append(.sessionKeyVersion(answer.sessionKeyVersion))
        }
    }

    /// Returns the key of the CKC's payload: AES-ECB(SHA-1(R1)[0..<16], anti-replay seed) (protocol, section 3.3).
    func payloadKey(seed: Bytes16, using crypto: CryptoContext) throws(CryptoError) -> SecretBytes {
        switch self {
        case .here(let keys, _, _): return try keys.payloadKey(seed: seed, using: crypto)
        case .module(let answer):
            let key = try crypto.sha1Key(of: answer.r1.bytes, in: 0..<answer.r1.bytes.count)
            return try crypto.deriveKey(from: seed, key: key)
        }
    }
}

/// The facts about a content key that a ladder needs in addition to the key.
package struct ContentKeyUse: Sendable, Equatable {
    package let kind: LadderCall.ContentKind
    /// The type that decides the key's policy. A key of unknown kind has one too.
    package let contentType: LibraryTerms.ContentType
    package let scheme: LibraryTerms.Scheme

    /// Whether the key may be wrapped with the device's video session key. Only video keys with the scheme `cbcs` may
    /// (protocol, section 3.5).
    var allowsVideoSessionKey: Bool { kind == .video && scheme == .cbcs }

    package init(
        kind: LadderCall.ContentKind, contentType: LibraryTerms.ContentType, scheme: LibraryTerms.Scheme
    ) {
        self.kind = kind
        self.contentType = contentType
        self.scheme = scheme
    }

    /// The use for an SPC that is only verified and gets no key.
    static let none = ContentKeyUse(kind: .unknown, contentType: .sd, scheme: .cbcs)
}

/// Why a license was not prepared for a device.
package enum LadderError: Error, Equatable, Sendable {
    /// An external module or a library has given no answer.
    case module(LadderModuleError)
    /// The library cannot be told a term.
    case inexpressible(LibraryTermError)
    case cryptography(CryptoError)
}

extension SPC {
    /// Wraps a content key (16 bytes) with its initialization vector for the device.
    ///
    /// With an external module, this call waits for the module. The SPC must not be one for a library.
    package func wrap(
        _ contentKey: borrowing SecretBytes, iv: Bytes16, for use: ContentKeyUse, using crypto: CryptoContext
    ) async throws(LadderError) -> WrappedContentKey {
        switch sessionLadder {
        case .opened(let keys):
            return .here(
                keys, iv: iv,
                wrapped: try ByteCoding.wrap(LadderError.cryptography, try keys.wrap(contentKey, using: crypto)))
        case .atModule(let module, let certificateHash):
            let call = ladderCall(
                SharedSecret(contentKey.copy()), iv: iv, use: use, certificateHash: certificateHash)
            do throws(LadderModuleError) {
                let answer = try await module.answer(call)
                guard leavesRoom(for: answer.contentKeyTag) else { throw .answerMalformed }
                return .module(answer)
            } catch {
                throw .module(error)
            }
        case .atLibrary: preconditionFailure("a library wraps no keys")
        }
    }

    /// Whether the tag that a module gives to the content key block differs from the tags of all other blocks of the
    /// CKC.
    private func leavesRoom(for contentKeyTag: UInt64) -> Bool {
        let isOwn = contentKeyTag != TLLVTag.contentKey && TLLVTag.carriedByCKC.contains(contentKeyTag)
        return !isOwn && !returnedTags.contains(contentKeyTag)
    }

    /// Checks that the SK..R1 block is genuine, for an SPC that gets no key, and returns the device's ID.
    ///
    /// With an external module or a library, this costs a call, because only that checks the integrity.
    package func verify(using crypto: CryptoContext) async throws(LadderError) -> DeviceID {
        if case .opened(let keys) = sessionLadder { return keys.deviceID }
        if let library { return try await ask(library, for: nil).deviceID }
        let key: SharedSecret
        let iv: Bytes16
        do throws(CryptoError) {
            key = SharedSecret(try crypto.randomSecret(count: 16))
            iv = try crypto.randomBytes16()
        } catch {
            throw .cryptography(error)
        }
        return try await wrap(key.bytes, iv: iv, for: .none, using: crypto).deviceID
    }
}
