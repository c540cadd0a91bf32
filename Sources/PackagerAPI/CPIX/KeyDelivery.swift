import ByteCoding
import ContentKeys
import KeyCrypto

/// Hands keys to recipients so that only they can read them (packagers, section 1.5).
///
/// A document key and a MAC key are made for one answer, and encrypted to each recipient with RSA-OAEP. Content keys
/// are encrypted with the document key. The IV of a content key stays readable: it is public.
struct KeyDelivery: ~Copyable {
    private static let wrapping = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"
    private static let cipher = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
    private static let authentication = "http://www.w3.org/2001/04/xmldsig-more#hmac-sha512"
    private static let macKeySize = 64

    private let documentKey: SecretBytes
    private let macKey: SecretBytes

    /// Fresh keys. Throws `randomnessUnavailable`.
    init() throws(CryptoError) {
        let documentKey = try SecretBytes.random(count: AES256CBC.keySize)
        let macKey = try SecretBytes.random(count: Self.macKeySize)
        self.documentKey = documentKey
        self.macKey = macKey
    }

    /// Gives a `DeliveryData` its `DocumentKey` and `MACMethod`, behind its `DeliveryKey` as the schema has it.
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

    /// What `pskc:Secret` of a content key holds: `iv (16) ‖ ciphertext (32)` and its authentication code.
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
