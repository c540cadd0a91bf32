package import HTTPServing
import KeyCrypto

/// What a listener's TLS files hold: certificates and keys that belong together.
package struct TLSMaterial: Sendable {
    package let identities: [TLSIdentity]
    /// Certificates in PEM.
    package let clientAuthorities: [UInt8]?
    /// Secrets of 32 bytes, the first of which makes session tickets; empty for keys of the process.
    let ticketSecrets: [SharedSecret]
    let options: TLSProtocolOptions

    /// Makes a context with the listener's own ticket keys, or with those of the process if it has none.
    ///
    /// Throws for keys that are too weak, for authorities that are not certificates, and for ciphers that OpenSSL does
    /// not have.
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

    /// Nil if one of the files was reported.
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
            report("\(path).\(error.field)", .tls(error))
            return nil
        }
    }

    /// What OpenSSL has against it shows only when a context is made.
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
