import ByteCoding
import FairPlay
import KeyCrypto
import ServiceConfiguration

/// The public facts about a credential, as text and as JSON.
struct CredentialReport {
    private let credential: Credential
    let warnings: [CredentialWarning]

    /// What the daemon has counted; nil if it was not asked.
    private let use: CredentialUses.Use?

    /// `now` is in seconds since 1970.
    init(_ credential: Credential, now: Int64, use: CredentialUses.Use? = nil) {
        self.credential = credential
        self.use = use
        warnings = credential.warnings(now: now)
    }

    var name: String { credential.name }

    // MARK: Text

    var text: String {
        let lines =
            certificates.map { "  \($0.name): \(Self.validity($0.certificate))\(Self.sdkVersion($0.certificate))" }
            + keys.map(Self.line) + useLines + warnings.map { "  warning: \($0)" }
        return (["\(name): \(kind.words)\(stage)"] + lines).joined(separator: "\n")
    }

    /// Nothing for the usual one.
    private var stage: String {
        switch credential.stage {
        case .staged: ", staged: apps get its certificates by name alone"
        case .serving: ""
        case .draining: ", draining: no app gets its certificates"
        }
    }

    private var useLines: [String] {
        guard let use else { return [] }
        guard let last = Self.time(use.lastUse) else { return ["  named by no SPC since the daemon started"] }
        return ["  named by \(use.requestCount) SPCs since the daemon started, last at \(last)"]
    }

    private var certificates: [(name: String, certificate: Certificate)] {
        [
            (CredentialKey.Subject.certificate1024.words, credential.certificate1024),
            (CredentialKey.Subject.certificate2048.words, credential.certificate2048),
        ].compactMap { name, certificate in certificate.map { (name, $0) } }
    }

    /// The keys in the order of their SPC versions.
    private var keys: [CredentialKey] {
        SPCVersion.allCases.flatMap { version in credential.keys.filter { $0.version == version } }
    }

    private static func validity(_ certificate: Certificate) -> String {
        "valid from \(time(certificate.notBefore) ?? "?") to \(time(certificate.notAfter) ?? "?")"
    }

    private static func sdkVersion(_ certificate: Certificate) -> String {
        certificate.sdkVersion.version.map { ", SDK version \($0)" } ?? ""
    }

    private static func line(_ key: CredentialKey) -> String {
        "  SPC version \(key.version.rawValue), \(key.hash.algorithm.words) of the \(key.subject.words): \(key.hash)"
            + " (opened with the \(key.privateKey.modulusSize * 8)-bit key)"
    }

    // MARK: JSON

    func write(_ writer: inout JSONWriter) {
        writer.member("name", name)
        writer.member("kind", kind.rawValue)
        writer.member("stage", credential.stage.rawValue)
        writer.member("spcVersion3", credential.servesVersion3)
        if let use {
            writer.member("requests", use.requestCount)
            writer.member("lastUse", Self.time(use.lastUse))
        }
        writer.objects("certificates", certificates) { Self.write($1.certificate, to: &$0) }
        writer.objects("hashes", keys) { Self.write($1, to: &$0) }
        writer.objects("warnings", warnings) { write($1, to: &$0) }
    }

    func write(_ warning: CredentialWarning, to writer: inout JSONWriter) {
        writer.member("credential", name)
        writer.member("code", warning.code)
        writer.member("message", warning.description)
    }

    private static func write(_ certificate: Certificate, to writer: inout JSONWriter) {
        writer.member("bits", certificate.keyBits)
        writer.member("notBefore", time(certificate.notBefore))
        writer.member("notAfter", time(certificate.notAfter))
        writer.member("sdkVersion", certificate.sdkVersion.version?.description)
    }

    private static func write(_ key: CredentialKey, to writer: inout JSONWriter) {
        writer.member("hash", key.hash.description)
        writer.member("algorithm", key.hash.algorithm.words)
        writer.member("of", key.subject.rawValue)
        writer.member("spcVersion", UInt64(key.version.rawValue))
        writer.member("keyBits", key.privateKey.modulusSize * 8)
    }

    private static func time(_ seconds: Int64?) -> String? {
        seconds.flatMap { UnixTime(seconds: $0)?.description }
    }

    // MARK: Kinds

    private enum Kind: String {
        case applicationSecret
        case fixedDASk
        case module
        case sdk

        var words: String {
            switch self {
            case .applicationSecret: "application secret"
            case .fixedDASk: "fixed DASk, for test vectors"
            case .module: "external module"
            case .sdk: "SDK library"
            }
        }
    }

    private var kind: Kind {
        switch credential.ladder {
        case .applicationSecret(let ladder):
            switch ladder.kind {
            case .applicationSecret: .applicationSecret
            case .fixedDASk: .fixedDASk
            }
        case .module: .module
        case .library: .sdk
        }
    }
}

extension CredentialKey.Subject {
    /// The certificate or the bundle, for people.
    var words: String {
        switch self {
        case .certificate1024: "1024-bit certificate"
        case .certificate2048: "2048-bit certificate"
        case .bundle: "bundle"
        }
    }
}

extension CertificateHash.Algorithm {
    fileprivate var words: String {
        switch self {
        case .sha1: "SHA-1"
        case .sha256: "SHA-256"
        }
    }
}
