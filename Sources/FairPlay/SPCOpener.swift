package import ByteCoding
package import KeyCrypto

/// Opens SPCs on one loop: makes an `SPC` from an envelope and its unwrapped session key.
///
/// If anything after the certificate hash is wrong, all later steps still run with a decoy payload, and one error is
/// thrown at the end. So the answer does not tell whether a wrapped key was valid, and its time hardly does. With an
/// invalid key, and with a valid key that the sender does not know, the payload is unreadable in the same way, and the
/// same steps run. Their times still differ by some microseconds (architecture, "The uniform refusal"). A sender that
/// knows the payload key can make the payload longer and so the refusal slower, but learns nothing new from that.
package final class SPCOpener {
    private let crypto: CryptoContext
    private let decoyBytes: [UInt8]
    private let decoy: SPCPayload

    package init(using crypto: CryptoContext) throws(CryptoError) {
        self.crypto = crypto
        decoyBytes = try DecoyPayload.make(using: crypto)
        var fault: TLLVError?
        let blocks = TLLVBlocks(parsing: decoyBytes, elseDecoy: [], fault: &fault).blocks
        decoy = SPCPayload(decoyBytes, blocks: blocks, servedVersions: [1])
        precondition(fault == nil && decoy.fault == nil, "the decoy is a valid payload")
    }

    /// Returns the job that unwraps the wrapped key of `envelope` with `key`.
    package func unwrapJob(for envelope: SPCEnvelope, with key: CredentialKey) throws(SPCError) -> RSAUnwrapJob {
        try wrap(
            SPCError.internalFailure,
            RSAUnwrapJob(
                key: key.privateKey, padding: envelope.version.padding, message: envelope.message,
                range: envelope.wrappedKey, decoy: try crypto.randomSecret(count: RSAUnwrapJob.sessionKeySize)))
    }

    /// Opens the payload with the key of `job`. With an external module or a library, the SK..R1 block stays closed.
    ///
    /// `servedVersions` are the protocol versions in the playlists' `KEYFORMATVERSIONS`. Throws `rejected` or
    /// `internalFailure`.
    package func open(
        _ envelope: SPCEnvelope, with key: CredentialKey, unwrapped job: RSAUnwrapJob, servedVersions: Set<UInt32>
    ) throws(SPCError) -> SPC {
        let payload: SPCPayload
        let sessionLadder: SPC.SessionLadder
        var rejection: SPCRejection? = job.isGenuine ? nil : .sessionKey
        do throws(CryptoError) {
            payload = try readPayload(
                of: envelope, key: job.sessionKey, servedVersions: servedVersions, rejection: &rejection)
            switch key.ladder {
            case .applicationSecret(let ladder):
                sessionLadder = .opened(try openSessionKeys(of: payload, with: ladder, rejection: &rejection))
            case .module(let module):
                sessionLadder = .atModule(module, certificateHash: key.sha1.bytes)
            case .library(let library):
                sessionLadder = .atLibrary(LibraryOfSPC(library: library, message: envelope.message))
            }
        } catch {
            throw .internalFailure(error)
        }
        if let rejection { throw .rejected(rejection) }
        return SPC(
            version: envelope.version, certificateHash: envelope.certificateHash, payload: payload,
            sessionLadder: sessionLadder)
    }

    private func readPayload(
        of envelope: SPCEnvelope, key: borrowing SecretBytes, servedVersions: Set<UInt32>,
        rejection: inout SPCRejection?
    ) throws(CryptoError) -> SPCPayload {
        let plain = try decryptPayload(of: envelope, key: key, rejection: &rejection)
        var fault: TLLVError?
        let blocks = TLLVBlocks(parsing: plain, elseDecoy: decoyBytes, fault: &fault).blocks
        let payload = SPCPayload(
            fault == nil ? plain : decoyBytes, blocks: blocks, servedVersions: servedVersions)
        if rejection == nil { rejection = fault.map { .framing($0) } ?? payload.fault }
        return payload
    }

    /// Returns the decrypted payload; the decoy if the authentication tag is wrong.
    ///
    /// The tag of version 3 is checked before anything is decrypted.
    private func decryptPayload(
        of envelope: SPCEnvelope, key: borrowing SecretBytes, rejection: inout SPCRejection?
    ) throws(CryptoError) -> [UInt8] {
        switch envelope.protection {
        case .none(let iv):
            return try crypto.decryptCBC(envelope.message, in: envelope.payload, key: key, iv: iv)
        case .authenticated(let tag):
            let keys = try AuthenticatedPayloadKeys(master: key, using: crypto)
            guard try keys.authenticates(envelope, by: tag, using: crypto) else {
                if rejection == nil { rejection = .authenticationTag }
                return decoyBytes
            }
            return try crypto.decryptCBC(envelope.message, in: envelope.payload, key: keys.payload, iv: keys.iv)
        }
    }

    /// Opens the SK..R1 block of the payload, or of the decoy if the payload was rejected before.
    private func openSessionKeys(
        of payload: SPCPayload, with ladder: ApplicationSecretKeyLadder, rejection: inout SPCRejection?
    ) throws(CryptoError) -> SessionKeys {
        let source = rejection == nil ? payload : decoy
        let keys = try ladder.open(
            source.bytes, sessionKeyBlock: source.sessionKeyBlock, r2: source.r2, using: crypto)
        let isIntact = keys.hasIntegrity(source.bytes[source.integrity])
        if !isIntact, rejection == nil { rejection = .integrity }
        return keys
    }
}

/// Makes the payload that is used in place of an unreadable one: well formed, of a usual size, with random contents.
enum DecoyPayload {
    /// Together with the nine required blocks, there are 18 blocks, as devices send.
    private static let unknownBlockCount = 9

    static func make(using crypto: CryptoContext) throws(CryptoError) -> [UInt8] {
        let version: [UInt8] = [0, 0, 0, 1]
        var writer = TLLVWriter(using: crypto)
        for _ in 0..<unknownBlockCount {
            // A random tag is unknown to this server, like many tags that devices send.
            let tag = try crypto.randomBytes16()
            try writer.write(tag.high, tag.bytes, extraBlocks: 1)
        }
        try writer.write(TLLVTag.sessionKeyBlock, random(SessionKeys.encryptedSize, crypto), extraBlocks: 1)
        try writer.write(TLLVTag.sessionKeyIntegrity, random(16, crypto), extraBlocks: 1)
        try writer.write(TLLVTag.antiReplaySeed, random(16, crypto), extraBlocks: 1)
        try writer.write(TLLVTag.r2, random(SPCPayload.r2Size, crypto), extraBlocks: 1)
        try writer.write(TLLVTag.tagReturnRequest, tags([TLLVTag.assetID, TLLVTag.transactionID]), extraBlocks: 1)
        try writer.write(TLLVTag.assetID, random(18, crypto), extraBlocks: 1)
        try writer.write(TLLVTag.transactionID, random(8, crypto), extraBlocks: 1)
        try writer.write(TLLVTag.protocolVersionsSupported, version, extraBlocks: 1)
        try writer.write(TLLVTag.protocolVersionUsed, version, extraBlocks: 1)
        return writer.payload.bytes
    }

    private static func random(_ count: Int, _ crypto: CryptoContext) throws(CryptoError) -> [UInt8] {
        Array(try crypto.randomBytes(count: count))
    }

    private static func tags(_ tags: [UInt64]) -> [UInt8] {
        var writer = ByteWriter(capacity: tags.count * 8)
        for tag in tags { writer.write(tag) }
        return writer.bytes
    }
}

/// The keys of an SPC of version 3. Each one is the AES-ECB encryption of a fixed seed under the master key (protocol,
/// section 1.2).
///
/// The rules come from one source only: no public vector of version 3 exists.
package struct AuthenticatedPayloadKeys: ~Copyable {
    package static let payloadSeed = Bytes16(high: 0x70d1_e6c3_4f07_e849, low: 0xb3a6_2434_0f4f_176d)
    package static let ivSeed = Bytes16(high: 0xc11b_3ed1_a380_3f4e, low: 0x1322_a088_0314_5ac6)
    package static let authenticationSeed = Bytes16(high: 0x96d3_435f_6ef0_8d7d, low: 0x121f_a86b_253e_4ac9)

    package let payload: SecretBytes
    package let iv: Bytes16
    private let authentication: SecretBytes

    /// Derives the keys. `master` has 16 bytes.
    package init(master: borrowing SecretBytes, using crypto: CryptoContext) throws(CryptoError) {
        let payload = try crypto.deriveKey(from: Self.payloadSeed, key: master)
        let iv = try crypto.deriveKey(from: Self.ivSeed, key: master).revealedBytes16()
        let authentication = try crypto.deriveKey(from: Self.authenticationSeed, key: master)
        self.payload = payload
        self.iv = iv
        self.authentication = authentication
    }

    /// Returns the authentication tag: the AES-CMAC of the wrapped key, the certificate hash, the payload's length in
    /// 16 bytes and the encrypted payload.
    ///
    /// The tag does not cover version, reserved word and transport identifier.
    package borrowing func tag(
        wrappedKey: ArraySlice<UInt8>, certificateHash: [UInt8], payload: ArraySlice<UInt8>,
        using crypto: CryptoContext
    ) throws(CryptoError) -> [UInt8] {
        let length = Bytes16(high: 0, low: UInt64(payload.count))
        return try crypto.cmac(
            of: [wrappedKey, certificateHash[...], length.bytes[...], payload], key: authentication)
    }

    /// Whether `tag` is the right tag for the envelope. The comparison takes constant time.
    borrowing func authenticates(
        _ envelope: SPCEnvelope, by tag: Bytes16, using crypto: CryptoContext
    ) throws(CryptoError) -> Bool {
        let own = try self.tag(
            wrappedKey: envelope.message[envelope.wrappedKey], certificateHash: envelope.certificateHash.bytes,
            payload: envelope.message[envelope.payload], using: crypto)
        return ConstantTime.areEqual(own[...], tag.bytes[...])
    }
}
