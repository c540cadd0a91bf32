import ByteCoding
import ContentKeys
import Foundation
import Testing

@testable import KeyCrypto
@testable import PackagerAPI

/// Encrypted keys are opened with the recipient's private key (packagers, section 1.5). `Tests/Interop/test_cpix.py`
/// opens such an answer with another implementation.
@Suite struct KeyDeliveryTests {
    private static let name = "v2_vod_fairplay_encrypted_delivery"
    private let request: CPIXRequest
    private let answer: MarkupElement

    init() throws {
        let text = try Documents.text(Self.name)
        request = try CPIXRequest(parsing: Array(text.utf8), version: .v20)
        answer = try Documents.answer(text)
    }

    /// Decrypts a value that was encrypted for the recipient by RSA-OAEP with SHA-1.
    private func opened(_ base64: String) throws -> [UInt8] {
        let key = try RSAPrivateKey(parsing: Documents.bytes("packager_key.der"))
        let context = try #require(RSAOperationContext(key: key.key, padding: .sha1, decrypting: true))
        let output = SecretBytes(count: key.modulusSize)
        let ciphertext = try Base64.decode(base64)
        // The macro cannot contain this call, so the result is checked separately.
        let found = unsafe context.decrypt(ciphertext.span.bytes, into: output)
        let size = try #require(found)
        return Array(output.revealed().prefix(size))
    }

    @Test func namesAlgorithmsAndOrder() throws {
        let data = try #require(answer.all("DeliveryData").first)
        let children = data.children.compactMap { child -> String? in
            guard case .element(let element) = child else { return nil }
            return element.localName
        }
        #expect(children == ["DeliveryKey", "DocumentKey", "MACMethod"])
        #expect(
            data.all("DocumentKey").map { $0.attribute("Algorithm") } == ["http://www.w3.org/2001/04/xmlenc#aes256-cbc"]
        )
        #expect(
            data.all("MACMethod").map { $0.attribute("Algorithm") } == [
                "http://www.w3.org/2001/04/xmldsig-more#hmac-sha512"
            ])
        #expect(
            data.all("EncryptionMethod").map { $0.attribute("Algorithm") }
                == [String](repeating: "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p", count: 2))
        #expect(data.all("DocumentKey")[0].all("Secret").count == 1)
        #expect(data.all("MACMethod")[0].elements("Key", in: CPIXNamespace.cpix).count == 1)
        #expect(data.all("X509Certificate").count == 1)
    }

    @Test func encryptsEachKeyForTheRecipient() throws {
        let documentKey = try opened(answer.all("DocumentKey")[0].all("CipherValue")[0].text)
        let macKey = try opened(answer.all("MACMethod")[0].all("CipherValue")[0].text)
        #expect(documentKey.count == 32)
        #expect(macKey.count == 64)
        let keys = answer.all("ContentKey")
        #expect(keys.count == 2)
        for (element, key) in zip(keys, Documents.keys(for: request)) {
            let value = try Base64.decode(element.all("CipherValue")[0].text)
            #expect(value.count == 48)
            let iv = Bytes16(value, at: 0)
            let expected = try AES256CBC.encrypt(key.key.bytes, key: SecretBytes(copying: documentKey), iv: iv)
            #expect(Array(value.dropFirst(16)) == expected)
            let code = try HMACSHA512.code(for: value, key: SecretBytes(copying: macKey))
            #expect(element.all("ValueMAC").map(\.text) == [Base64.encode(code)])
            #expect(
                element.all("EncryptionMethod").map { $0.attribute("Algorithm") } == [
                    "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
                ])
            // The IV of the samples is public. It is not the key and not the IV of this encryption.
            let explicit = try #require(element.attribute("explicitIV").flatMap { try? Base64.decode($0) })
            #expect(explicit == key.iv.bytes)
            #expect(explicit != key.key.bytes.revealed())
            #expect(explicit != iv.bytes)
        }
    }

    @Test func holdsNoKeyInTheClear() throws {
        let answer = try CPIXAnswer(to: request, keys: Documents.keys(for: request), urls: .standard)
        let text = String(decoding: answer.bytes, as: UTF8.self)
        #expect(!text.contains("PlainValue"))
        for key in Documents.keys(for: request) {
            #expect(!text.contains(Base64.encode(key.key.bytes.revealed())))
            #expect(!text.lowercased().contains(Hexadecimal.encode(key.key.bytes.revealed())))
        }
    }

    /// Keys, IVs and RSA paddings are new each time.
    @Test func neverEncryptsAlikeTwice() throws {
        let other = try Documents.answer(Documents.text(Self.name))
        let values = (answer.all("CipherValue") + other.all("CipherValue")).map(\.text)
        #expect(values.count == 8)
        #expect(Set(values).count == 8)
    }

    @Test func encryptsForEachRecipient() throws {
        let document = try Documents.text(Self.name)
        let start = try #require(document.range(of: "<cpix:DeliveryData "))
        let end = try #require(document.range(of: "</cpix:DeliveryData>"))
        let recipient = String(document[start.lowerBound..<end.upperBound])
        let two = try Documents.answer(document.replacing(recipient, with: recipient + recipient))
        #expect(two.all("DeliveryData").count == 2)
        let keys = try two.all("DocumentKey").map { try opened($0.all("CipherValue")[0].text) }
        #expect(keys.count == 2 && keys[0] == keys[1])
    }

    @Test(arguments: [(1024, false), (2048, true), (3072, true)])
    func takesRecipientsWithSoundKeys(bits: Int, isTaken: Bool) throws {
        let key = try RSAPrivateKey.generate(bits: bits)
        let contents = SelfSignedContents(commonName: "packager", notBefore: 1_700_000_000, notAfter: 2_000_000_000)
        let certificate = Base64.encode(try Certificate.makeSelfSigned(contents, for: key).der)
        let document = try Documents.text(Self.name).replacing(
            /<ds:X509Certificate>[^<]*/, with: "<ds:X509Certificate>\n\(certificate)\n")
        #expect(Documents.refusal(document) == (isTaken ? nil : .recipientCertificate))
    }
}
