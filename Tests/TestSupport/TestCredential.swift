package import DeviceSimulation
package import FairPlay
package import KeyCrypto

/// A credential that is made once per test process, and devices with the same secret.
package struct TestCredential: Sendable {
    /// The credential, which serves version 3 too.
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
                ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(copying: applicationSecret))),
            servesVersion3: true)
    }

    package func makeDevice(_ version: SPCVersion, using crypto: CryptoContext) throws -> SimulatedDevice {
        SimulatedDevice(
            certificate: version == .v1 ? certificate1024 : certificate2048,
            ladder: try ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(copying: applicationSecret)),
            using: crypto)
    }
}
