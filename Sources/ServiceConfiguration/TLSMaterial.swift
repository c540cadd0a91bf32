package import HTTPServing
import KeyCrypto

/// What a listener's TLS files hold: certificates and keys that belong together.
package struct TLSMaterial: Sendable {
    package let identities: [TLSIdentity]
    /// Certificates in PEM.
    package let clientAuthorities: [UInt8]?

    /// Throws for keys that are too weak, and for authorities that are none.
    package func makeContext(tickets: TLSTicketKeys, offersHTTP2: Bool = false) throws(TLSError) -> TLSContext {
        try TLSContext(
            identities: identities, clientAuthorities: clientAuthorities, tickets: tickets, offersHTTP2: offersHTTP2)
    }
}

extension ConfigurationLoader {
    /// Reads the TLS files of the listener at this path; nil where there are none, or where something was reported.
    mutating func tlsMaterial(_ files: Configuration.TLSFiles?, _ path: String) -> TLSMaterial? {
        guard let files else { return nil }
        var identities: [TLSIdentity] = []
        for (index, pair) in files.identities.enumerated() {
            let pairPath = index == 0 ? "\(path).tls" : "\(path).tls.additional[\(index - 1)]"
            if let identity = tlsIdentity(pair, pairPath) { identities.append(identity) }
        }
        let authorities = files.clientCA.flatMap { publicFile($0, "\(path).tls.clientCA")?.revealed() }
        guard identities.count == files.identities.count, files.clientCA == nil || authorities != nil else {
            return nil
        }
        let material = TLSMaterial(identities: identities, clientAuthorities: authorities)
        return isUsable(material, "\(path).tls") ? material : nil
    }

    private mutating func tlsIdentity(_ pair: Configuration.KeyPair, _ path: String) -> TLSIdentity? {
        let chain = publicFile(pair.certificate, "\(path).certificate")
        let key = secret(pair.privateKey, "\(path).privateKey")
        guard let chain, let key else { return nil }
        do throws(TLSError) {
            return try TLSIdentity(chain: chain.revealed(), privateKey: key)
        } catch {
            report("\(path).\(error.field)", .tls(error))
            return nil
        }
    }

    /// What OpenSSL has against it shows only when a context is made.
    private mutating func isUsable(_ material: TLSMaterial, _ path: String) -> Bool {
        do throws(TLSError) {
            _ = try material.makeContext(tickets: try TLSTicketKeys())
            return true
        } catch {
            report("\(path).\(error.field)", .tls(error))
            return false
        }
    }
}

extension TLSError {
    /// The field that names the file at fault.
    fileprivate var field: String {
        switch self {
        case .notACertificateChain, .tooWeak, .operationFailed: "certificate"
        case .notAPrivateKey, .unsupportedKey, .keyMismatch: "privateKey"
        case .notAuthorities: "clientCA"
        }
    }
}
