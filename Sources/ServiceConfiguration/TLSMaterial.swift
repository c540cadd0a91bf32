package import HTTPServing
import KeyCrypto

/// The contents of a listener's TLS files. Certificates and keys belong together.
package struct TLSMaterial: Sendable {
    package let identities: [TLSIdentity]
    /// The certificates in PEM of the authorities for client certificates; nil if clients need no certificate.
    package let clientAuthorities: [UInt8]?
    /// Secrets of 32 bytes for session tickets. The first one makes new tickets. Empty for random keys of the process.
    let ticketSecrets: [SharedSecret]
    let options: TLSProtocolOptions

    /// Makes a context with the listener's own ticket keys, or with those of the process if the listener has none.
    ///
    /// Throws for keys that are too weak, for authorities that are not certificates, and for ciphers that OpenSSL does
    /// not know.
    package func makeContext(
        processTickets: TLSTicketKeys, offersHTTP2: Bool = false
    ) throws(TLSError) -> TLSContext {
        let tickets = ticketSecrets.isEmpty ? processTickets : try TLSTicketKeys(secrets: ticketSecrets)
        return try TLSContext(
            identities: identities, clientAuthorities: clientAuthorities, tickets: tickets, offersHTTP2: offersHTTP2,
            options: options)
    }
}

extension ConfigurationLoader {
    /// Reads the TLS files of the listener at this path; nil if there are none, or if a fault was reported.
    mutating func tlsMaterial(_ files: Configuration.TLSFiles?, _ path: String) -> TLSMaterial? {
        guard let files else { return nil }
        var identities: [TLSIdentity] = []
        for (index, pair) in files.identities.enumerated() {
            let pairPath = index == 0 ? "\(path).tls" : "\(path).tls.additional[\(index - 1)]"
            if let identity = tlsIdentity(pair, pairPath) { identities.append(identity) }
        }
        let authorities = files.clientCA.flatMap { publicFile($0, "\(path).tls.clientCA")?.revealed() }
        let secrets = ticketSecrets(files.ticketKeys, "\(path).tls.ticketKeys")
        guard identities.count == files.identities.count, files.clientCA == nil || authorities != nil, let secrets
        else { return nil }
        let material = TLSMaterial(
            identities: identities, clientAuthorities: authorities, ticketSecrets: secrets, options: files.options)
        return isUsable(material, "\(path).tls") ? material : nil
    }

    /// Reads the secrets of session tickets. Returns nil if a problem was reported.
    private mutating func ticketSecrets(_ sources: [SecretSource], _ path: String) -> [SharedSecret]? {
        var secrets: [SharedSecret] = []
        for (index, source) in sources.enumerated() {
            guard let bytes = secret(source, size: 32, "\(path)[\(index)]") else { return nil }
            secrets.append(SharedSecret(bytes))
        }
        return secrets
    }

    private mutating func tlsIdentity(_ pair: Configuration.KeyPair, _ path: String) -> TLSIdentity? {
        let chain = publicFile(pair.certificate, "\(path).certificate")
        let key = secret(pair.privateKey, "\(path).privateKey")
        guard let chain, let key else { return nil }
        do throws(TLSError) {
            return try TLSIdentity(chain: chain.revealed(), privateKey: key)
        } catch {
            report("\(path).\(error.field)", .tls(error), about: error.field == "privateKey" ? key : chain)
            return nil
        }
    }

    /// Checks the material by making a context, because only then OpenSSL reports some faults.
    private mutating func isUsable(_ material: TLSMaterial, _ path: String) -> Bool {
        do throws(TLSError) {
            _ = try material.makeContext(processTickets: try TLSTicketKeys())
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
        case .noCipherList: "cipherList"
        case .noCipherSuites: "cipherSuites"
        }
    }
}
