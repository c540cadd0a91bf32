import ByteCoding
import KeyCrypto
import Testing

@Suite struct SHA256DigestTests {
    /// FIPS 180-2, appendix B; the first is the digest of no byte.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func isThatOfTheStandard(text: String, expected: String) throws {
        #expect(try Hexadecimal.encode(SHA256Digest.of(Array(text.utf8))) == expected)
    }

    @Test(arguments: [1, 3, 63, 64, 65, 999])
    func doesNotDependOnTheParts(size: Int) throws {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let digest = try SHA256Digest()
        for start in stride(from: 0, to: bytes.count, by: size) {
            try digest.update(bytes[start..<min(start + size, bytes.count)])
        }
        #expect(try digest.finish() == SHA256Digest.of(bytes))
    }
}
