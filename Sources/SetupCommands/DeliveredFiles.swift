import ByteCoding
import CommandLineKit
import CommandSupport
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
    /// Throws `failed` if two files claim the same place, for example certificates of two deployments.
    init(
        from folder: String, passphrase: (_ file: String, _ isWrong: Bool) throws(CommandError) -> SharedSecret
    ) throws(CommandError) {
        var sources: [Source] = []
        var lastPassphrase: SharedSecret?
        for name in try Self.names(in: folder) {
            let bytes = try CommandFile.read("\(folder)/\(name)", sizeMaximum: Self.sizeMaximum).revealed()
            if let secret = Self.applicationSecret(bytes) {
                let digits = Array((Hexadecimal.encode(secret.revealed()) + "\n").utf8)
                try add("fairplay/application-secret.hex", digits, isSecret: true, name, "the application secret (ASk)")
                continue
            }
            let contents = try Self.read(bytes, name, &lastPassphrase, passphrase)
            if contents.isEmpty {
                report.append("\(name): not used, because it is \(Self.kind(of: bytes, name))")
            } else {
                sources.append(Source(name: name, contents: contents))
            }
        }
        try findSDK(in: folder)
        try takeFairPlay(from: sources)
        try takeTLS(from: sources)
        try takeIssuer(from: sources)
        for source in sources where !used.contains(source.name) {
            report.append("\(source.name): not used, because nothing here belongs to it")
        }
    }

    func has(_ path: String) -> Bool { files.contains { $0.path == path } }

    private mutating func add(
        _ path: String, _ contents: [UInt8], isSecret: Bool, _ name: String, _ what: String
    ) throws(CommandError) {
        guard !has(path) else {
            throw .failed("\(name) is \(what), and so is another file; leave the files of one deployment in the folder")
        }
        files.append(SetupFile(path: path, contents: contents, isSecret: isSecret))
        report.append("\(name): \(what), now \(path)")
        used.insert(name)
    }

    // MARK: - Reading

    private static func names(in folder: String) throws(CommandError) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw .failed("cannot read the folder \(folder): \(SystemText.lastError)")
        }
        let files = names.sorted().filter { name in
            var status = stat()
            // Safe: the C string is valid until the call returns.
            guard unsafe stat("\(folder)/\(name)", &status) == 0 else { return false }
            let isFile = status.st_mode & S_IFMT == S_IFREG && (1...sizeMaximum).contains(Int(status.st_size))
            return isFile && !name.hasPrefix(".")
        }
        guard files.count <= countMaximum else {
            throw .failed("\(folder) has more than \(countMaximum) files; name a folder with the delivered files alone")
        }
        return files
    }

    private static func read(
        _ bytes: [UInt8], _ name: String, _ last: inout SharedSecret?,
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

    private static func kind(of bytes: [UInt8], _ name: String) -> String {
        if name == "certificates.json" { return "read with its library" }
        return KeyFileKind(bytes).map(\.description) ?? "no certificate, key or application secret"
    }

    // MARK: - What belongs together

    private mutating func findSDK(in folder: String) throws(CommandError) {
        let path = FilePath.absolute(folder)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        guard names.contains("certificates.json") else { return }
        let libraries = names.filter { $0.hasSuffix(".so") && $0 != "libfpscrypto.so" }
        guard let library = libraries.first, libraries.count == 1 else {
            throw .failed("certificates.json is in \(folder), but not one library that was built from the SDK")
        }
        sdk = ("\(path)/\(library)", "\(path)/certificates.json")
        report.append("certificates.json, \(library): the SDK, used where it is")
    }

    /// Certificates that name no host and issue nothing, with keys of 1024 and 2048 bits, and their private keys.
    private mutating func takeFairPlay(from sources: [Source]) throws(CommandError) {
        guard sdk == nil else { return }
        for source in sources {
            let found = source.contents.certificates.filter(\.isFairPlay)
            if found.count == 2, Set(found.map(\.rsaBits)) == [1024, 2048] {
                let bundle = found.sorted { ($0.rsaBits ?? 0) < ($1.rsaBits ?? 0) }.flatMap(\.der)
                try add(
                    "fairplay/bundle.bin", bundle, isSecret: false, source.name, "both FairPlay certificates")
            } else {
                for certificate in found {
                    let bits = certificate.rsaBits ?? 0
                    try add(
                        "fairplay/certificate-\(bits).der", certificate.der, isSecret: false, source.name,
                        "the FairPlay certificate of \(bits) bits")
                }
            }
            for certificate in found {
                let bits = certificate.rsaBits ?? 0
                try takeKey(
                    of: certificate, from: sources, to: "fairplay/private-key-\(bits).pem",
                    "the private key of the FairPlay certificate of \(bits) bits")
            }
        }
        guard !has("fairplay/bundle.bin") || !files.contains(where: { $0.path.hasPrefix("fairplay/certificate-") })
        else {
            throw .failed("FairPlay certificates are in one file and in several; leave those of one deployment there")
        }
    }

    private mutating func takeKey(
        of certificate: HeldCertificate, from sources: [Source], to path: String, _ what: String
    ) throws(CommandError) {
        for source in sources {
            guard let key = source.contents.privateKey, certificate.belongs(to: key) else { continue }
            return try add(path, try Self.pem(key), isSecret: true, source.name, what)
        }
    }

    /// The certificate that names hosts, those of its issuers, and its private key.
    private mutating func takeTLS(from sources: [Source]) throws(CommandError) {
        let certificates = sources.flatMap(\.contents.certificates)
        for source in sources {
            for certificate in source.contents.certificates where certificate.isForServer && !certificate.isAuthority {
                var chain = [certificate]
                while chain.count < 8, let last = chain.last, !last.isIssued(by: last),
                    let issuer = certificates.first(where: { $0.isAuthority && last.isIssued(by: $0) })
                {
                    chain.append(issuer)
                }
                // Clients have the root themselves.
                if chain.count > 1, let last = chain.last, last.isIssued(by: last) { chain.removeLast() }
                let pem = chain.map { Self.pem($0.der) }.joined()
                try add("tls/certificate.pem", Array(pem.utf8), isSecret: false, source.name, "the TLS certificate")
                try takeKey(
                    of: certificate, from: sources, to: "tls/private-key.pem",
                    "the private key of the TLS certificate")
            }
        }
    }

    private mutating func takeIssuer(from sources: [Source]) throws(CommandError) {
        for source in sources {
            guard let key = source.contents.publicKey, let algorithm = key.tokenAlgorithm else { continue }
            tokenAlgorithm = algorithm
            let pem = try wrap(
                { (error: CryptoError) in CommandError.failed("\(source.name): \(error)") }, try key.publicPEM())
            try add(
                "issuers/portal.pem", pem, isSecret: false, source.name,
                "the public key of the token issuer, for \(algorithm)")
        }
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
    fileprivate var isFairPlay: Bool { !isForServer && !isAuthority && (rsaBits == 1024 || rsaBits == 2048) }
}
