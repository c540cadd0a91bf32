package import ByteCoding
package import FairPlay
package import KeyCrypto

/// The server's objects of one loop, as in the license pipeline.
package struct TestServer {
    package let crypto: CryptoContext
    package let credentials: CredentialSet
    package let opener: SPCOpener
    package let operations = RSAOperationCount()
    private let servedVersions: Set<UInt32>
    private let unwrapper: OpenSSLRSAUnwrapper

    package init(_ credentials: [Credential], servedVersions: Set<UInt32> = [1]) throws {
        try self.init(CredentialSet(credentials), servedVersions: servedVersions)
    }

    package init(_ credentials: CredentialSet, servedVersions: Set<UInt32> = [1]) throws {
        crypto = try CryptoContext()
        self.credentials = credentials
        opener = try SPCOpener(using: crypto)
        self.servedVersions = servedVersions
        unwrapper = OpenSSLRSAUnwrapper(counting: operations)
    }

    package func open(_ message: [UInt8]) throws(SPCError) -> SPC {
        let envelope = try SPCEnvelope(parsing: message, served: credentials.servedVersions)
        let key = try credentials.key(for: envelope)
        let job = try opener.unwrapJob(for: envelope, with: key)
        unwrapper.unwrap([job])
        return try opener.open(envelope, with: key, unwrapped: job, servedVersions: servedVersions)
    }

    /// Returns a CKC with a content key (16 bytes) for the device of an SPC. The SPC must be for a credential with an
    /// application secret. The terms are not checked.
    package func answer(
        _ spc: SPC, contentKey: [UInt8], iv: Bytes16 = .zero, terms: LicenseTerms = LicenseTerms()
    ) throws -> [UInt8] {
        guard let keys = spc.sessionKeys else { throw TestServerError.sessionKeysAtModule }
        let wrapped = try keys.wrap(SecretBytes(copying: contentKey), using: crypto)
        return try CKCWriter.write(
            for: spc, contentKey: .here(keys, iv: iv, wrapped: wrapped), terms: terms, using: crypto)
    }
}

package enum TestServerError: Error {
    /// The credential's ladder is an external module.
    case sessionKeysAtModule
}
