import ByteCoding
import CommandLineKit
import CommandSupport
import FairPlay
import Foundation
import KeyCrypto
import ServiceConfiguration

/// What Apple, an authority and the token issuer have delivered, recognised by what is in the files of a folder, and
/// not by their names.
struct DeliveredFiles {
    /// The files for the places of the set-up.
    private(set) var files: [SetupFile] = []
    /// What became of each file of the folder, a line each.
    private(set) var report: [String] = []
    /// The library and the certificates.json of an SDK folder.
    private(set) var sdk: (library: String, certificates: String)?
    /// The algorithm of the issuer's public key.
    private(set) var tokenAlgorithm: String?
    private var used: Set<String> = []

    /// The most files of a folder, and the largest one in bytes.
    private static let countMaximum = 100
    private static let sizeMaximum = 1 << 20

    /// A file that was read.
    private struct Source {
        let name: String
        let contents: KeyMaterialFile
    }

    /// Reads the folder. `passphrase` is asked for each encrypted file that the last one does not open.
    ///
    /// Throws `failed` if two files claim the same place and differ, for example certificates of two deployments.
    init(
        from folder: String, passphrase: (_ file: String, _ isWrong: Bool) throws(CommandError) -> SharedSecret
    ) throws(CommandError) {
        let names = try Self.names(in: folder)
        try findSDK(in: folder, names)
        var sources: [Source] = []
        var secret: (name: String, digits: [UInt8])?
        var lastPassphrase: SharedSecret?
        for name in names where !used.contains(name) {
            if let obstacle = Self.obstacle(to: "\(folder)/\(name)", name) {
                report.append("\(name): not used, because \(obstacle)")
                continue
            }
            let bytes = try CommandFile.read("\(folder)/\(name)", sizeMaximum: Self.sizeMaximum).revealed()
            if let found = Self.applicationSecret(bytes) {
                let digits = Array((Hexadecimal.encode(found.revealed()) + "\n").utf8)
                let what = "the application secret (ASk)"
                if let secret {
                    guard secret.digits == digits else { throw Self.conflict(secret.name, name, what) }
                    note(name, what, sameAs: secret.name)
                } else {
                    add("fairplay/application-secret.hex", digits, isSecret: true, from: name, what)
                    secret = (name, digits)
                }
                continue
            }
            let contents = try Self.read(bytes, named: name, &lastPassphrase, passphrase)
            if contents.isEmpty {
                report.append("\(name): not used, because \(Self.kind(of: bytes))")
            } else {
                sources.append(Source(name: name, contents: contents))
            }
        }
        try takeFairPlay(from: sources)
        try takeTLS(from: sources)
        try takeIssuer(from: sources)
        for source in sources where !used.contains(source.name) {
            report.append("\(source.name): not used, because \(whyUnused(source.contents, among: sources))")
        }
    }

    func has(_ path: String) -> Bool { files.contains { $0.path == path } }

    private mutating func add(
        _ path: String, _ contents: [UInt8], isSecret: Bool, from name: String, _ what: String
    ) {
        files.append(SetupFile(path: path, contents: contents, isSecret: isSecret))
        report.append("\(name): \(what), now \(path)")
        used.insert(name)
    }

    /// Reports a copy of something that another file has too.
    private mutating func note(_ name: String, _ what: String, sameAs other: String) {
        report.append("\(name): \(what), the same as in \(other)")
        used.insert(name)
    }

    private static func conflict(_ one: String, _ other: String, _ what: String) -> CommandError {
        .failed(
            "\(one) and \(other) both hold \(what), and they differ; leave the files of one deployment in the folder")
    }

    // MARK: - Reading

    private static func names(in folder: String) throws(CommandError) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw .failed("cannot read the folder \(folder): \(SystemText.lastError)")
        }
        guard names.count <= countMaximum else {
            throw .failed("\(folder) has more than \(countMaximum) files; name a folder with the delivered files alone")
        }
        return names.sorted()
    }

    /// Why the file is not read; nil if it can be.
    private static func obstacle(to path: String, _ name: String) -> String? {
        if name.hasPrefix(".") { return "its name begins with a dot" }
        var status = stat()
        // Safe: the C string is valid until the call returns.
        guard unsafe stat(path, &status) == 0 else {
            let isLink = errno == ENOENT || errno == ELOOP
            return isLink ? "it is a link to a file that is not there" : "it cannot be read: \(SystemText.lastError)"
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG where status.st_size == 0: return "it is empty"
        case S_IFREG where Int(status.st_size) > sizeMaximum: return "it has more than \(sizeMaximum) bytes"
        case S_IFREG: return nil
        case S_IFDIR: return "it is a folder, and files in folders are not read"
        default: return "it is not a regular file"
        }
    }

    private static func read(
        _ bytes: [UInt8], named name: String, _ last: inout SharedSecret?,
        _ ask: (_ file: String, _ isWrong: Bool) throws(CommandError) -> SharedSecret
    ) throws(CommandError) -> KeyMaterialFile {
        var isAsked = false
        while true {
            do throws(CryptoError) {
                return try KeyMaterialFile(parsing: bytes, passphrase: last)
            } catch .passphraseMissing, .passphraseWrong {
                last = try ask(name, isAsked)
                isAsked = true
            } catch {
                throw .failed("\(name): \(error)")
            }
        }
    }

    /// The application secret in any form that the configuration reads. A text of 16 characters is none.
    private static func applicationSecret(_ bytes: [UInt8]) -> SecretBytes? {
        let isText = bytes.allSatisfy { (0x20..<0x7F).contains($0) || (0x09...0x0D).contains($0) }
        if isText, bytes.count == SecretArgument.blockSize { return nil }
        return EncodedSecret.decode(SecretBytes(copying: bytes), size: SecretArgument.blockSize)
    }

    private static func kind(of bytes: [UInt8]) -> String {
        if let kind = KeyFileKind(bytes) { return "it is \(kind)" }
        let form = EncodedSecret.form(of: SecretBytes(copying: bytes))
        return "it is no certificate, key or application secret: \(form)"
    }

    // MARK: - What belongs together

    private mutating func findSDK(in folder: String, _ names: [String]) throws(CommandError) {
        let path = FilePath.absolute(folder)
        guard names.contains("certificates.json") else { return }
        let libraries = names.filter { $0.hasSuffix(".so") && $0 != "libfpscrypto.so" }
        guard let library = libraries.first, libraries.count == 1 else {
            throw .failed("certificates.json is in \(folder), but not one library that was built from the SDK")
        }
        sdk = ("\(path)/\(library)", "\(path)/certificates.json")
        let parts = ["certificates.json", library] + names.filter { $0 == "libfpscrypto.so" }
        report.append("\(parts.joined(separator: ", ")): the SDK, used where it is")
        used.formUnion(parts)
    }

    /// A certificate, and the file that it is in.
    private struct Candidate {
        let name: String
        let certificate: HeldCertificate
    }

    /// Returns the certificates that `isWanted` accepts.
    ///
    /// A certificate that may issue others is among them only if no other one is, and only together with its private
    /// key: `openssl req -x509` marks what it makes as an authority's.
    private static func candidates(
        in sources: [Source], _ isWanted: (HeldCertificate) -> Bool
    ) -> [Candidate] {
        var leaves: [Candidate] = []
        var authorities: [Candidate] = []
        for source in sources {
            for certificate in source.contents.certificates where isWanted(certificate) {
                let candidate = Candidate(name: source.name, certificate: certificate)
                if !certificate.isAuthority {
                    leaves.append(candidate)
                } else if sources.contains(where: { $0.contents.privateKey.map(certificate.belongs(to:)) ?? false }) {
                    authorities.append(candidate)
                }
            }
        }
        return leaves.isEmpty ? authorities : leaves
    }

    /// Returns the first candidate, and reports its copies. Throws `failed` if another candidate differs.
    private mutating func single(
        of candidates: [Candidate], _ what: String
    ) throws(CommandError) -> Candidate? {
        guard let first = candidates.first else { return nil }
        for other in candidates.dropFirst() {
            guard other.certificate.der == first.certificate.der else {
                throw Self.conflict(first.name, other.name, what)
            }
            if other.name != first.name { note(other.name, what, sameAs: first.name) }
        }
        return first
    }

    /// Certificates that name no host, with keys of 1024 and 2048 bits, and their private keys.
    private mutating func takeFairPlay(from sources: [Source]) throws(CommandError) {
        guard sdk == nil else { return }
        // Devices hash a bundle as a whole. So a file with both certificates comes before copies of one of them.
        let bundles = sources.filter { source in
            let found = source.contents.certificates.filter(\.isFairPlay)
            return found.count == 2 && Set(found.map(\.rsaBits)) == [1024, 2048]
        }
        let bundleNames = Set(bundles.map(\.name))
        let ordered = bundles + sources.filter { !bundleNames.contains($0.name) }
        var found: [Candidate] = []
        for bits in [1024, 2048] {
            let candidates = Self.candidates(in: ordered) { $0.isFairPlay && $0.rsaBits == bits }
            let what = "the FairPlay certificate of \(bits) bits"
            if let candidate = try single(of: candidates, what) { found.append(candidate) }
        }
        if found.count == 2, found[0].name == found[1].name, bundleNames.contains(found[0].name) {
            let bundle = found.flatMap(\.certificate.der)
            add("fairplay/bundle.bin", bundle, isSecret: false, from: found[0].name, "both FairPlay certificates")
        } else {
            for candidate in found {
                let bits = candidate.certificate.rsaBits ?? 0
                add(
                    "fairplay/certificate-\(bits).der", candidate.certificate.der, isSecret: false,
                    from: candidate.name, "the FairPlay certificate of \(bits) bits")
            }
        }
        let teams = found.compactMap(\.certificate.organizationalUnit)
        if teams.count == 2, teams[0] != teams[1] {
            report.append("warning: \(CredentialWarning.teamsDiffer(teams[0], teams[1]))")
        }
        for candidate in found {
            let bits = candidate.certificate.rsaBits ?? 0
            try takeKey(
                of: candidate.certificate, from: sources, to: "fairplay/private-key-\(bits).pem",
                "the private key of the FairPlay certificate of \(bits) bits")
        }
    }

    private mutating func takeKey(
        of certificate: HeldCertificate, from sources: [Source], to path: String, _ what: String
    ) throws(CommandError) {
        var taken: String?
        for source in sources {
            guard let key = source.contents.privateKey, certificate.belongs(to: key) else { continue }
            if let taken {
                note(source.name, what, sameAs: taken)
            } else {
                add(path, try Self.pem(key), isSecret: true, from: source.name, what)
                taken = source.name
            }
        }
    }

    /// The certificate that names hosts, those of its issuers, and its private key.
    private mutating func takeTLS(from sources: [Source]) throws(CommandError) {
        let what = "the TLS certificate"
        let candidates = Self.candidates(in: sources) { $0.isForServer }
        guard let found = try single(of: candidates, what) else { return }
        let authorities = sources.flatMap { source in
            source.contents.certificates.filter(\.isAuthority).map { Candidate(name: source.name, certificate: $0) }
        }
        var chain = [found]
        while chain.count < 8, let last = chain.last?.certificate, !last.isIssued(by: last),
            let issuer = authorities.first(where: { last.isIssued(by: $0.certificate) })
        {
            chain.append(issuer)
        }
        // Clients have the root themselves.
        var root: Candidate?
        if chain.count > 1, let last = chain.last, last.certificate.isIssued(by: last.certificate) {
            root = chain.removeLast()
        }
        let pem = chain.map { Self.pem($0.certificate.der) }.joined()
        add("tls/certificate.pem", Array(pem.utf8), isSecret: false, from: found.name, what)
        for issuer in chain.dropFirst() where issuer.name != found.name {
            report.append("\(issuer.name): the certificate of an issuer of \(what), now in tls/certificate.pem")
            used.insert(issuer.name)
        }
        if let root, !used.contains(root.name) {
            report.append("\(root.name): not used, because it is the root of \(what), which clients have themselves")
            used.insert(root.name)
        }
        try takeKey(
            of: found.certificate, from: sources, to: "tls/private-key.pem", "the private key of the TLS certificate")
    }

    private mutating func takeIssuer(from sources: [Source]) throws(CommandError) {
        let certificates = sources.flatMap(\.contents.certificates)
        var taken: (name: String, pem: [UInt8])?
        for source in sources {
            guard let key = source.contents.publicKey, let algorithm = key.tokenAlgorithm,
                !certificates.contains(where: { $0.belongs(to: key) })
            else { continue }
            let what = "the public key of the token issuer, for \(algorithm)"
            let pem = try wrap(
                { (error: CryptoError) in CommandError.failed("\(source.name): \(error)") }, try key.publicPEM())
            if let taken {
                guard taken.pem == pem else { throw Self.conflict(taken.name, source.name, what) }
                note(source.name, what, sameAs: taken.name)
            } else {
                tokenAlgorithm = algorithm
                add("issuers/portal.pem", pem, isSecret: false, from: source.name, what)
                taken = (source.name, pem)
            }
        }
    }

    // MARK: - What is left

    private func whyUnused(_ contents: KeyMaterialFile, among sources: [Source]) -> String {
        if let key = contents.publicKey { return whyUnused(publicKey: key, among: sources) }
        if let certificate = contents.certificates.first { return whyUnused(certificate) }
        guard let key = contents.privateKey else { return "nothing here belongs to it" }
        if let owner = sources.first(where: { $0.contents.certificates.contains { $0.belongs(to: key) } }) {
            return "it is the private key of the certificate in \(owner.name), which is not used either"
        }
        let isIssuer = sources.contains { $0.contents.publicKey?.hasSamePublicPart(as: key) ?? false }
        guard isIssuer || (key.tokenAlgorithm != nil && !has("issuers/portal.pem")) else {
            return "nothing here belongs to it"
        }
        let fault = ConfigurationFault.privateKeyForVerifying
        return isIssuer ? "\(fault)" : "nothing here belongs to it; if the token issuer signs with it: \(fault)"
    }

    private func whyUnused(publicKey key: HeldKey, among sources: [Source]) -> String {
        if let owner = sources.first(where: { $0.contents.certificates.contains { $0.belongs(to: key) } }) {
            return "it is the public key of the certificate in \(owner.name), and tokens need a key of their own"
        }
        return "it is \(key.summary), public part, and the key of a token issuer is a P-256 key (ES256), an Ed25519 key"
            + " (EdDSA) or an RSA key of 2048 to 8192 bits (RS256)"
    }

    private func whyUnused(_ certificate: HeldCertificate) -> String {
        if certificate.isFairPlay, sdk != nil { return "certificates.json names the FairPlay certificates of the SDK" }
        if certificate.isAuthority {
            return "it is the certificate of an authority (CA:TRUE), whose private key is not here, or another"
                + " certificate was taken; no certificate that was taken was issued by it"
        }
        return "its certificate, of \(certificate.keySummary), is neither for TLS, which needs the names of hosts"
            + " (subjectAltName), nor for FairPlay, which needs an RSA key of 1024 or 2048 bits"
    }

    private static func pem(_ key: HeldKey) throws(CommandError) -> [UInt8] {
        try wrap(
            { (error: CryptoError) in CommandError.failed("a private key cannot be written: \(error)") },
            try key.privatePEM()
        ).revealed()
    }

    /// A certificate as PEM: Base64 in lines of 64 characters (RFC 7468).
    private static func pem(_ der: [UInt8]) -> String {
        var text = "-----BEGIN CERTIFICATE-----\n"
        var rest = Base64.encode(der)[...]
        while !rest.isEmpty {
            text += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END CERTIFICATE-----\n"
    }
}

extension HeldCertificate {
    fileprivate var isFairPlay: Bool { !isForServer && (rsaBits == 1024 || rsaBits == 2048) }
}
