import KeyCrypto
import TestSupport
import Testing

@Suite struct Ed25519Tests {
    private let message = Array("header.payload".utf8)

    /// RFC 8037, appendix A.4 and A.5.
    @Test func verifiesAPublishedSignature() throws {
        let key = try Ed25519PublicKey(
            point: hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))
        let input = Array("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".utf8)
        let code = hex(
            "860c98d2297f3060a33f42739672d61b53cf3adefed3d3c672f320dc021b411e9d59b8628dc351e248b88b29468e0e41855b0fb7d8"
                + "3bb15be902bfccb8cd0a02")
        #expect(key.isValidSignature(code[...], for: input[...]))
        #expect(!key.isValidSignature(code[...], for: input.dropLast()))
    }

    @Test func verifiesItsOwnSignaturesAndNoOthers() throws {
        let key = try Ed25519PrivateKey.generate()
        let code = try key.signature(for: message)
        let read = try Ed25519PublicKey(parsing: key.publicKey.publicPEM())
        let again = try Ed25519PrivateKey(parsing: key.privatePEM().revealed())
        #expect(try again.signature(for: message) == code)
        #expect(read.isValidSignature(code[...], for: message[...]))
        for index in code.indices {
            var altered = code
            altered[index] ^= 1
            #expect(!read.isValidSignature(altered[...], for: message[...]))
        }
        for bytes in [[], Array(code.dropLast()), code + [0], [UInt8](repeating: 0, count: 64)] {
            #expect(!read.isValidSignature(bytes[...], for: message[...]))
        }
    }

    @Test func refusesOtherKinds() throws {
        let es256 = try ES256PrivateKey.generate()
        #expect(throws: CryptoError.self) { try Ed25519PublicKey(parsing: es256.publicKey.publicPEM()) }
        #expect(throws: CryptoError.self) { try Ed25519PrivateKey(parsing: es256.privatePEM().revealed()) }
        #expect(throws: CryptoError.wrongSize(expected: 32, actual: 31)) {
            try Ed25519PublicKey(point: [UInt8](repeating: 1, count: 31))
        }
    }
}

@Suite struct RS256Tests {
    private let message = Array("header.payload".utf8)

    /// RFC 7515, appendix A.2.
    @Test func verifiesAPublishedSignature() throws {
        let modulus = hex(
            "a1f8160ae2e3c9b465ce8d2d656263362b927dbe29e1f02477fc1625cc90a136e38bd93497c5b6ea63dd7711e67c7429f956b0fb"
                + "8a8f089adc4b69893cc1333f53edd019b87784252fec914fe4857769594bea4280d32c0f55bf62944f130396bc6e9bdf6ebdd2bd"
                + "a3678eeca0c668f701b38dbffb38c8342ce2fe6d27fade4a5a4874979dd4b9cf9adec4c75b05852c2c0f5ef8a5c1750392f944e8"
                + "ed64c110c6b647609aa4783aeb9c6c9ad755313050638b83665c6f6f7a82a396702a1f641b82d3ebf2392219491fb686872c5716"
                + "f50af8358d9a8b9d17c340728f7f87d89a18d8fcab67ad84590c2ecf759339363c07034d6f606f9e21e05456cae5e9a1")
        let key = try RS256PublicKey(modulus: modulus, exponent: [1, 0, 1])
        let input = Array(
            ("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkz"
                + "ODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ").utf8)
        let code = hex(
            "702e218943e88fd11eb5d82dbf7845f34106ae1b81fff7731116add1717d83656d420afd3c96eedd73a2663e5166687b000b8722"
                + "6e0187ed1073f945e582adfcef16d85a798ee8c66ddb3db8975b17d09402beedd5d9d97007108db28160d5f8040ca7445762b81f"
                + "be7ff9d92e0ae76f24f25b33bbe6f44ae61eb1040acb20044d3ef9128ed40130795bd4bd3b41eecad066ab651981fde48df77f37"
                + "2dc38b9fafdd3befb18b5da3cc3c2eb02f9e3a41d612caad15911273a05f23b9e838faaf849d698429ef5a1e88798236c3d40e60"
                + "4522a544c8f27a7a2db80663d16cf7caea56de405cb2215a45b2c25566b55ac1a748a070dfc8a32a469543d019eefb47")
        #expect(key.isValidSignature(code[...], for: input[...]))
    }

    @Test func verifiesItsOwnSignaturesAndNoOthers() throws {
        let key = try RSAPrivateKey.generate(bits: 2048)
        let code = try key.rs256Signature(for: message)
        let read = try RS256PublicKey(parsing: key.rs256PublicKey().publicPEM())
        #expect(code.count == 256)
        #expect(read.isValidSignature(code[...], for: message[...]))
        #expect(!read.isValidSignature(code[...], for: message.dropLast()))
        for index in stride(from: 0, to: code.count, by: 17) {
            var altered = code
            altered[index] ^= 0x40
            #expect(!read.isValidSignature(altered[...], for: message[...]))
        }
        for bytes in [[], Array(code.dropLast()), code + [0], [UInt8](repeating: 0, count: 256)] {
            #expect(!read.isValidSignature(bytes[...], for: message[...]))
        }
    }

    @Test func refusesShortModuliAndOtherKinds() throws {
        #expect(throws: CryptoError.self) { try RSAPrivateKey.generate(bits: 1024).rs256PublicKey() }
        let es256 = try ES256PrivateKey.generate().publicKey.publicPEM()
        #expect(throws: CryptoError.self) { try RS256PublicKey(parsing: es256) }
    }

    /// With exponent 1, anyone can "sign" without a private key: the signature is the padded digest itself.
    @Test(arguments: [[1], [2], [0], [0, 0, 1]] as [[UInt8]])
    func refusesExponentsThatAreNotOddOrTooSmall(exponent: [UInt8]) {
        let modulus = [UInt8](repeating: 0xC1, count: 256)
        #expect(throws: CryptoError.self) { try RS256PublicKey(modulus: modulus, exponent: exponent) }
    }

    @Test(arguments: [127, 128, 255, 1025])
    func refusesModuliOfOtherSizes(size: Int) {
        let modulus = [UInt8](repeating: 0xC1, count: size)
        #expect(throws: CryptoError.self) { try RS256PublicKey(modulus: modulus, exponent: [1, 0, 1]) }
    }
}

@Suite struct BareKeyTests {
    /// RFC 7515, appendix A.3: the same key as coordinates and as SubjectPublicKeyInfo.
    @Test func takesTheCoordinatesOfAPoint() throws {
        let x = hex("7fcdce2770f6c45d4183cbee6fdb4b7b580733357be9ef13bacf6e3c7bd15445")
        let y = hex("c7f144cd1bbd9b7e872cdfedb9eeb9f4b3695d6ea90b24ad8a4623288588e5ad")
        let encoded = hex("3059301306072a8648ce3d020106082a8648ce3d03010703420004") + x + y
        #expect(try ES256PublicKey(x: x, y: y).publicPEM() == ES256PublicKey(parsing: encoded).publicPEM())
        #expect(throws: CryptoError.self) { try ES256PublicKey(x: y, y: x) }
        #expect(throws: CryptoError.wrongSize(expected: 32, actual: 31)) {
            try ES256PublicKey(x: Array(x.dropLast()), y: y)
        }
    }

    /// A sealed message is bound to its header and its nonce.
    @Test func sealsAMessageUnderItsHeader() throws {
        let key = try AES256GCMKey(SecretBytes.random(count: 32))
        let message = try key.sealMessage(SecretBytes(copying: [1, 2, 3]), header: [9, 8])
        #expect(message.count == 2 + 12 + 3 + 16)
        #expect(try key.openMessage(message, headerSize: 2).revealed() == [1, 2, 3])
        for index in message.indices {
            var altered = message
            altered[index] ^= 1
            #expect(throws: CryptoError.authenticationFailed) { _ = try key.openMessage(altered, headerSize: 2) }
        }
        for size in 0..<message.count {
            #expect(throws: CryptoError.authenticationFailed) {
                _ = try key.openMessage(Array(message.prefix(size)), headerSize: 2)
            }
        }
    }
}
