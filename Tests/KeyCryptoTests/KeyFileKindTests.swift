import KeyCrypto
import Testing

@Suite struct KeyFileKindTests {
    /// `openssl req -new -newkey ed25519 -nodes -subj /CN=x`
    private static let request = """
        -----BEGIN CERTIFICATE REQUEST-----
        MIGLMD8CAQAwDDEKMAgGA1UEAwwBeDAqMAUGAytlcAMhADM3ekayAJX/KX+yBKVu
        9IlXY77EPCEUoXKjUzemVyaSoAAwBQYDK2VwA0EAxZKQk/4EAqay97QZuJ8YU0XZ
        OgJ1PEslNSJq56WsdeFf1qsrxzEp8+oAui7y5OIKkmG/5KIa+AG4UghHJnQLCg==
        -----END CERTIFICATE REQUEST-----
        """

    /// `openssl ecparam -name secp384r1 -genkey -noout | openssl ec -pubout`
    private static let p384 = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEHIyU4gOW3IYogAU0px0TYfIng4odP+MV
        A2R6QYUcV1OYCCjk22botsD5OACDxDDjCUewW7x/0oCGdhM7a8GwJ+Re9hCbaa4p
        ibIuBKNNvTxiCvCpXS9loscEKedvmCWe
        -----END PUBLIC KEY-----
        """

    @Test func namesARequest() {
        #expect(KeyFileKind(Array(Self.request.utf8)) == .certificateRequest)
    }

    @Test func namesCurveAndSizeOfAPublicKey() throws {
        let rsa = try RSAPrivateKey.generate(bits: 1024)
        #expect(KeyFileKind(Array(Self.p384.utf8)) == .publicKey("an EC key on the curve secp384r1"))
        #expect(KeyFileKind(try rsa.privatePEM().revealed()) == .privateKey)
        #expect(
            KeyFileKind(try ES256PrivateKey.generate().publicKey.publicPEM())
                == .publicKey("an EC key on the curve prime256v1"))
    }

    /// PKCS#12 begins with its version, in DER and with an indefinite length.
    @Test(arguments: [[0x30, 0x82, 0x01, 0x00, 2, 1, 3, 0x30], [0x30, 0x80, 2, 1, 3, 0x30], [0x30, 0x10, 2, 1, 3]])
    func namesAKeyStore(bytes: [UInt8]) {
        #expect(KeyFileKind(bytes) == .keyStore)
        #expect("\(KeyFileKind.keyStore)".contains("openssl pkcs12"))
    }

    @Test func namesAnArchiveAndTextOfAnEditor() {
        #expect(KeyFileKind([0x50, 0x4B, 3, 4, 20, 0]) == .zipArchive)
        #expect(KeyFileKind([0xFF, 0xFE, 0x61, 0, 0x62, 0]) == .utf16Text)
        #expect(KeyFileKind([0xFE, 0xFF, 0, 0x61, 0, 0x62]) == .utf16Text)
        #expect(KeyFileKind([0xFF, 0xFE, 0x61, 1, 0x62, 0]) == nil)
    }

    @Test func namesTheBeginningOfAFile() throws {
        let key = try RSAPrivateKey.generate(bits: 1024)
        let der = try Certificate.makeDevelopment(for: key, commonName: "x", now: 1_800_000_000).der
        #expect(KeyFileKind(Array(der.dropLast())) == .cutOff)
        #expect(KeyFileKind(Array(Self.p384.utf8.prefix(100))) == .cutOff)
        #expect(KeyFileKind([0x30, 0x82, 0x00, 0x50] + [UInt8](repeating: 0, count: 0x50)) == nil)
    }

    @Test(arguments: [
        [], [0x30], [0x30, 0x84], [0x30, 0x82, 1, 0, 2, 1, 0], Array("text".utf8), [0x30, 0xFF, 2, 1, 3],
    ])
    func knowsNothingElse(bytes: [UInt8]) {
        #expect(KeyFileKind(bytes) == nil)
    }
}
