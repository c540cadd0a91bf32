import ByteCoding
import ContentKeys
import KeyCrypto

/// Encrypts keys so that only the recipients can read them (packagers, section 1.5).
///
/// A document key and a MAC key are made for one answer, and encrypted to each recipient with RSA-OAEP. Content keys
/// are encrypted with the document key. The IV of a content key is not encrypted, because it is public.
struct KeyDelivery: ~Copyable {
    private static let wrapping = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"
    private static let cipher = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
    private static let authentication = "http://www.w3.org/2001/04/xmldsig-more#hmac-sha512"
    private static let macKeySize = 64

    private let documentKey: SecretBytes
    private let macKey: SecretBytes

    /// Makes a random document key and a random MAC key. Throws `randomnessUnavailable`.
    init() throws(CryptoError) {
        let documentKey = try SecretBytes.random(count: AES256CBC.keySize)
        let macKey = try SecretBytes.random(count: Self.macKeySize)
        self.documentKey = documentKey
        self.macKey = macKey
    }

    /// Adds `DocumentKey` and `MACMethod` to a `DeliveryData`, after its `DeliveryKey` as the schema demands.
    func fill(_ element: inout MarkupElement, for recipient: DeliveryRecipient, _ plan: NamePlan) throws(CryptoError) {
        let key = recipient.certificate.publicKey
        let documentValue = plan.encrypted(Self.wrapping, try key.encrypt(documentKey, padding: .sha1))
        let macValue = plan.encrypted(Self.wrapping, try key.encrypt(macKey, padding: .sha1))
        let secret = plan.element("Secret", in: CPIXNamespace.pskc, [.element(documentValue)])
        let data = plan.element("Data", in: CPIXNamespace.cpix, [.element(secret)])
        element.remove("DocumentKey", in: CPIXNamespace.cpix)
        element.remove("MACMethod", in: CPIXNamespace.cpix)
        let added = [
            plan.element(
                "DocumentKey", in: CPIXNamespace.cpix,
                attributes: [MarkupAttribute(name: "Algorithm", value: Self.cipher)], [.element(data)]),
            plan.element(
                "MACMethod", in: CPIXNamespace.cpix,
                attributes: [MarkupAttribute(name: "Algorithm", value: Self.authentication)],
                [.element(plan.element("Key", in: CPIXNamespace.cpix, [.element(macValue)]))]),
        ]
        let place = element.children.lastIndex { child in
            guard case .element(let element) = child else { return false }
            return element.isNamed("DeliveryKey", in: CPIXNamespace.cpix)
        }
        element.children.insert(contentsOf: added.map { .element($0) }, at: (place ?? -1) + 1)
    }

    /// The content of a content key's `pskc:Secret`: `iv (16) ‖ ciphertext (32)`, and their authentication code.
    func secret(_ key: ContentKey, _ plan: NamePlan) throws(CryptoError) -> [MarkupNode] {
        let iv = try RandomBytes.generate16()
        let ciphertext = iv.bytes + (try AES256CBC.encrypt(key.bytes, key: documentKey, iv: iv))
        let code = try HMACSHA512.code(for: ciphertext, key: macKey)
        return [
            .element(plan.encrypted(Self.cipher, ciphertext)),
            .element(plan.element("ValueMAC", in: CPIXNamespace.pskc, [.text(Base64.encode(code))])),
        ]
    }
}

extension NamePlan {
    /// A `pskc:EncryptedValue`.
    fileprivate func encrypted(_ algorithm: String, _ ciphertext: [UInt8]) -> MarkupElement {
        let value = element("CipherValue", in: CPIXNamespace.encryption, [.text(Base64.encode(ciphertext))])
        return element(
            "EncryptedValue", in: CPIXNamespace.pskc,
            [
                .element(
                    element(
                        "EncryptionMethod", in: CPIXNamespace.encryption,
                        attributes: [MarkupAttribute(name: "Algorithm", value: algorithm)])),
                .element(element("CipherData", in: CPIXNamespace.encryption, [.element(value)])),
            ])
    }
}
