package import ByteCoding
package import DeviceSimulation
package import FairPlay
package import KeyCrypto

/// A credential made once per test process, and devices that share its secret.
package struct TestCredential: Sendable {
    package let credential: Credential
    package let certificate1024: Certificate
    package let certificate2048: Certificate
    package let applicationSecret: [UInt8]

    package static let shared: Result<TestCredential, any Error> = Result { try TestCredential(name: "test") }

    package init(name: String, applicationSecret: [UInt8] = Array(0x10...0x1F)) throws {
        let key1024 = try RSAPrivateKey.generate(bits: 1024)
        let key2048 = try RSAPrivateKey.generate(bits: 2048)
        self.applicationSecret = applicationSecret
        certificate1024 = try .makeDevelopment(for: key1024, commonName: "\(name) 1024", now: 1_700_000_000)
        certificate2048 = try .makeDevelopment(for: key2048, commonName: "\(name) 2048", now: 1_700_000_000)
        credential = try Credential(
            name: name, pair1024: .init(certificate: certificate1024, privateKey: key1024),
            pair2048: .init(certificate: certificate2048, privateKey: key2048),
            ladder: .applicationSecret(
                ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(copying: applicationSecret))))
    }

    package func makeDevice(_ version: SPCVersion, using crypto: CryptoContext) throws -> SimulatedDevice {
        SimulatedDevice(
            certificate: version == .v1 ? certificate1024 : certificate2048,
            ladder: try ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(copying: applicationSecret)),
            using: crypto)
    }
}

/// The server's side of one loop, as the licence pipeline has it.
package struct TestServer {
    package let crypto: CryptoContext
    package let credentials: CredentialSet
    package let opener: SPCOpener
    package let operations = RSAOperationCount()
    private let unwrapper: OpenSSLRSAUnwrapper

    package init(_ credentials: [Credential], servedVersions: Set<UInt32> = [1]) throws {
        crypto = try CryptoContext()
        self.credentials = try CredentialSet(credentials)
        opener = try SPCOpener(using: crypto, servedVersions: servedVersions)
        unwrapper = OpenSSLRSAUnwrapper(counting: operations)
    }

    package func open(_ message: [UInt8]) throws(SPCError) -> SPC {
        let envelope = try SPCEnvelope(parsing: message, served: credentials.servedVersions)
        let key = try credentials.key(for: envelope)
        let job = try opener.unwrapJob(for: envelope, with: key)
        unwrapper.unwrap([job])
        return try opener.open(envelope, with: key, unwrapped: job)
    }

    /// The CKC with a content key (16 bytes) for the device of an SPC.
    package func answer(
        _ spc: SPC, contentKey: [UInt8], iv: Bytes16 = .zero, terms: LicenseTerms = LicenseTerms()
    ) throws -> [UInt8] {
        try CKCWriter.write(for: spc, contentKey: wrap(contentKey, iv: iv, for: spc), terms: terms, using: crypto)
    }

    /// A content key (16 bytes) as the ladder of a credential with an application secret wraps it.
    package func wrap(_ contentKey: [UInt8], iv: Bytes16 = .zero, for spc: SPC) throws -> WrappedContentKey {
        guard let keys = spc.sessionKeys else { throw TestServerError.sessionKeysAtModule }
        return .here(keys, iv: iv, wrapped: try keys.wrap(SecretBytes(copying: contentKey), using: crypto))
    }
}

package enum TestServerError: Error {
    case sessionKeysAtModule
}
