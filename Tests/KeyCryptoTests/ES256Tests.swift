import KeyCrypto
import TestSupport
import Testing

@Suite struct ES256Tests {
    private let key: ES256PrivateKey
    private let message = Array("header.payload".utf8)
    private let signature: [UInt8]

    init() throws {
        key = try ES256PrivateKey.generate()
        signature = try key.signature(for: message)
    }

    @Test func verifiesItsOwnSignatures() throws {
        #expect(signature.count == ES256PublicKey.signatureSize)
        #expect(key.publicKey.isValidSignature(signature[...], for: message[...]))
        let read = try ES256PublicKey(parsing: key.publicKey.publicPEM())
        #expect(read.isValidSignature(signature[...], for: message[...]))
        let again = try ES256PrivateKey(parsing: key.privatePEM().revealed())
        #expect(read.isValidSignature(try again.signature(for: message)[...], for: message[...]))
    }

    /// RFC 7515, appendix A.3.
    @Test func verifiesAPublishedSignature() throws {
        let published = try ES256PublicKey(
            parsing: hex(
                "3059301306072a8648ce3d020106082a8648ce3d030107034200047fcdce2770f6c45d4183cbee6fdb4b7b580733357b"
                    + "e9ef13bacf6e3c7bd15445c7f144cd1bbd9b7e872cdfedb9eeb9f4b3695d6ea90b24ad8a4623288588e5ad"))
        let input = Array(
            ("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTk"
                + "zODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ").utf8)
        let code = hex(
            "0ed1215379636c483c2f7f155807d402a3b228033af97c7e17819ac3169ea665c50a07d38c3c70e5d8f12daf084a5480"
                + "a66590c5f293509a8f3f7f8a83a354d5")
        #expect(published.isValidSignature(code[...], for: input[...]))
    }

    @Test func refusesEveryFlippedBit() {
        for index in signature.indices {
            var altered = signature
            altered[index] ^= 1
            #expect(!key.publicKey.isValidSignature(altered[...], for: message[...]))
        }
        #expect(!key.publicKey.isValidSignature(signature[...], for: message.dropLast()))
    }

    /// The verdict is certain: OpenSSL does not fail.
    @Test func refusesZeroAndOtherSizes() {
        let large = [UInt8](repeating: 0xFF, count: 32)
        let (r, s, zero) = (signature.prefix(32), signature.suffix(32), [UInt8](repeating: 0, count: 32))
        let bad = [
            [], zero + zero, zero + s, r + zero, large + s, r + large, large + large, Array(signature.dropLast()),
            signature + [0],
        ]
        for bytes in bad { #expect(key.publicKey.verify(bytes[...], for: message[...]) == false) }
    }

    @Test func refusesOtherKinds() throws {
        let rsa = try RSAPrivateKey.generate(bits: 1024).privatePEM().revealed()
        #expect(throws: CryptoError.self) { try ES256PrivateKey(parsing: rsa) }
        #expect(throws: CryptoError.self) { try ES256PublicKey(parsing: Array("not a key".utf8)) }
    }
}
