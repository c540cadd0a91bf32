import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// An example of how a license is made, from the bytes of an SPC to the bytes of a CKC.
@Suite struct FairPlayExampleTests {
    @Test func opensAnSPCAndWritesACKC() throws {
        let vector = try #require(try OwnVectors.answered().first { $0.name == "v2-lease" })
        let credentials = try CredentialSet([OwnVectors.credential()])
        let crypto = try CryptoContext()
        let opener = try SPCOpener(using: crypto)

        // The container names its version and certificate, which select the private key. Nothing is decrypted yet.
        let envelope = try SPCEnvelope(parsing: hex(vector.spc), served: credentials.servedVersions)
        let key = try credentials.key(for: envelope)

        // RSA unwraps the session key. The jobs of many requests can run as one batch.
        let job = try opener.unwrapJob(for: envelope, with: key)
        OpenSSLRSAUnwrapper(counting: RSAOperationCount()).unwrap([job])
        let spc = try opener.open(envelope, with: key, unwrapped: job, servedVersions: [1])
        #expect(Array(spc.assetID) == Array("movie-1".utf8))

        // The device must be able to keep the terms. The content key is wrapped only for this device.
        let terms = LicenseTerms(validity: .duration(.lease(try #require(LicenseSeconds(300)))))
        try terms.check(for: spc.device, by: DevicePolicy())
        let contentKey = hex("3c5153cdf6e9b1c1d5a4a7f8a1b2c3d4")
        let sessionKeys = try #require(spc.sessionKeys)
        let wrapped = try sessionKeys.wrap(SecretBytes(copying: contentKey), using: crypto)
        let ckc = try CKCWriter.write(
            for: spc, contentKey: .here(sessionKeys, iv: .zero, wrapped: wrapped), terms: terms, using: crypto)

        // The device opens the answer.
        let secrets = try vector.secrets.requestSecrets(vector.expected.request)
        let license = try CKCOpener(secrets: secrets, using: crypto).open(ckc)
        #expect(license.contentKey.bytes.revealed() == contentKey && license.terms == terms)
    }
}
