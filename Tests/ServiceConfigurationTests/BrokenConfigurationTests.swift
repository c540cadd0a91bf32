import ByteCoding
import ContentKeys
import Foundation
import TestSupport
import Testing

@testable import ServiceConfiguration

/// A configuration with a single fault, and the problem that must be reported.
struct BrokenConfiguration: CustomTestStringConvertible, Sendable {
    enum Kind: Equatable, Sendable {
        case unknownKey(nearest: String?)
        case missing
        case wrongType(JSONTypeName)
        case invalidValue
        case duplicate(of: String)
        case pathsOverlap(with: String)
        case incomplete(without: String)
        case conflict(with: String)
        case noneOf([String])
    }

    let text: String
    let path: String
    let line: Int
    let kind: Kind

    init(_ text: String, _ path: String, line: Int, _ kind: Kind) {
        self.text = text
        self.path = path
        self.line = line
        self.kind = kind
    }

    var testDescription: String { "\(path): \(kind)" }

    private static func rest(_ rest: String, _ path: String, _ kind: Kind) -> BrokenConfiguration {
        BrokenConfiguration(ConfigurationText.make(rest: rest), path, line: 6, kind)
    }

    private static func paths(_ entries: String, _ path: String, _ kind: Kind) -> BrokenConfiguration {
        rest("licensePaths: [\(entries)]", "licensePaths\(path)", kind)
    }

    private static func listener(_ fields: String, _ path: String, _ kind: Kind) -> BrokenConfiguration {
        rest(
            #"listeners: { public: [{ address: "127.0.0.1:1", \#(fields) }] }"#, "listeners.public[0].\(path)", kind)
    }

    private static func credential(
        _ changes: (String, String), _ path: String, _ kind: Kind
    ) -> BrokenConfiguration {
        let credential = ConfigurationText.credential.replacingOccurrences(of: changes.0, with: changes.1)
        return BrokenConfiguration(ConfigurationText.make(credential: credential), path, line: 2, kind)
    }

    private static func key(_ changes: (String, String), _ path: String, _ kind: Kind) -> BrokenConfiguration {
        let key = ConfigurationText.key.replacingOccurrences(of: changes.0, with: changes.1)
        return BrokenConfiguration(ConfigurationText.make(key: key), path, line: 4, kind)
    }

    private static func module(_ fields: String, _ path: String, _ kind: Kind) -> BrokenConfiguration {
        credential(
            (#"applicationSecret: "fairplay/application-secret.hex""#, "module: { \(fields) }"),
            "fairplay.credentials[0].module\(path)", kind)
    }

    private static func sdk(_ fields: String, _ path: String, _ kind: Kind) -> BrokenConfiguration {
        credential((ConfigurationText.credential, #"name: "a", \#(fields)"#), "fairplay.credentials[0]\(path)", kind)
    }

    static let table: [BrokenConfiguration] = [
        // The configuration as a whole.
        BrokenConfiguration("\n[]", "configuration", line: 2, .wrongType(.array)),
        BrokenConfiguration(
            "{ fairplay: {},\nentitlement: { issuers: [{ issuer: \"i\", keys: [{ \(ConfigurationText.key) }] }] } }",
            "fairplay.credentials", line: 1, .missing),
        rest("fairPlay2: {}", "fairPlay2", .unknownKey(nearest: "fairplay")),
        rest("completelyDifferent: 1", "completelyDifferent", .unknownKey(nearest: nil)),
        rest("listeners: 5", "listeners", .wrongType(.number)),
        rest("node: null", "node", .wrongType(.null)),
        rest(#"node: "two words""#, "node", .invalidValue),
        rest(#"node: """#, "node", .invalidValue),

        // The accelerator.
        rest(#"crypto: { accelerator: "on" }"#, "crypto.accelerator", .invalidValue),
        rest(#"crypto: { accelerator: "libcrypto_mb.so" }"#, "crypto.accelerator", .invalidValue),
        rest(#"crypto: { accelerator: "" }"#, "crypto.accelerator", .invalidValue),
        rest("crypto: { accelerator: true }", "crypto.accelerator", .wrongType(.boolean)),
        rest(#"crypto: { accellerator: "off" }"#, "crypto.accellerator", .unknownKey(nearest: "accelerator")),

        // Pages of other origins.
        rest(#"cors: { origins: ["https://a.example/"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["a.example"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["https://A.example"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["*", "null"] }"#, "cors.origins", .invalidValue),
        rest(#"cors: { origins: ["https://*"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["https://*.example"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["https://*example.com"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["https://*..example.com"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["https://a.*.example.com"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["*.example.com"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["capacitor://"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["capacitor://*.example.com"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["file://localhost"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["https://a.example:443"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["https://*.example.com:443"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["http://a.example:80"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["app://localhost/"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["APP://localhost"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["1app://localhost"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["://localhost"] }"#, "cors.origins[0]", .invalidValue),
        rest(#"cors: { origins: ["null", "null"] }"#, "cors.origins[1]", .duplicate(of: "cors.origins[0]")),
        rest("cors: { allowCredentials: true }", "cors.allowCredentials", .invalidValue),
        rest(#"cors: { allowedHeaders: ["a b"] }"#, "cors.allowedHeaders[0]", .invalidValue),
        rest(#"cors: { allowedHeaders: ["*"] }"#, "cors.allowedHeaders[0]", .invalidValue),
        rest(#"cors: { allowedHeaders: ["a:"] }"#, "cors.allowedHeaders[0]", .invalidValue),

        // Listeners.
        rest("listeners: { public: [] }", "listeners.public", .invalidValue),
        rest("listeners: { public: {} }", "listeners.public", .wrongType(.object)),
        rest("listeners: { public: [{}] }", "listeners.public[0].address", .missing),
        rest(#"listeners: { public: ["127.0.0.1:1"] }"#, "listeners.public[0]", .wrongType(.string)),
        rest(
            #"listeners: { public: [{ address: "127.0.0.1:1" }, { address: "localhost:1" }] }"#,
            "listeners.public[1].address", .invalidValue),
        rest(
            #"listeners: { public: [{ address: "127.0.0.1:1", tokenFile: "x" }] }"#, "listeners.public[0].tokenFile",
            .unknownKey(nearest: nil)),
        rest(
            #"listeners: { admin: [{ address: "127.0.0.1:65536" }] }"#, "listeners.admin[0].address", .invalidValue),
        rest(
            #"listeners: { admin: [{ adress: "x", address: "127.0.0.1:1" }] }"#, "listeners.admin[0].adress",
            .unknownKey(nearest: "address")),
        rest(
            #"listeners: { admin: [{ address: "127.0.0.1:1", tokenFile: "" }] }"#, "listeners.admin[0].tokenFile",
            .invalidValue),
        rest(
            #"listeners: { public: [{ address: "unix:relative" }] }"#, "listeners.public[0].address", .invalidValue),
        rest(#"listeners: { public: [{ address: "systemd:" }] }"#, "listeners.public[0].address", .invalidValue),
        rest(#"listeners: { public: [{ address: "systemd:a:b" }] }"#, "listeners.public[0].address", .invalidValue),
        listener(#"tls: true"#, "tls", .wrongType(.boolean)),
        listener(#"tls: { certificate: "c" }"#, "tls.privateKey", .missing),
        listener(#"tls: { privateKey: "k" }"#, "tls.certificate", .missing),
        listener(#"tls: { certificate: "c", privateKey: "k", additional: [] }"#, "tls.additional", .invalidValue),
        listener(
            #"tls: { certificate: "c", privateKey: "k", additional: [{ certificate: "c" }] }"#,
            "tls.additional[0].privateKey", .missing),
        listener(
            #"tls: { certificate: "c", privateKey: "k", clientca: "a" }"#, "tls.clientca",
            .unknownKey(nearest: "clientCA")),
        listener(#"proxyProtocol: 1"#, "proxyProtocol", .wrongType(.number)),
        listener(#"proxyProtocol: true"#, "proxyProtocol", .incomplete(without: "trustedProxies")),
        listener(#"trustedProxies: []"#, "trustedProxies", .invalidValue),
        listener(#"trustedProxies: ["10.0.0.1/8"]"#, "trustedProxies[0]", .invalidValue),
        listener(#"trustedProxies: ["proxy.example"]"#, "trustedProxies[0]", .invalidValue),
        listener(
            #"trustedProxies: ["unix", "unix"]"#, "trustedProxies[1]",
            .duplicate(of: "listeners.public[0].trustedProxies[0]")),
        listener(#"allowPlaintext: "yes""#, "allowPlaintext", .wrongType(.string)),
        listener(#"socketMode: "660""#, "socketMode", .invalidValue),
        listener(#"socketMode: "0680""#, "socketMode", .invalidValue),
        listener(#"socketMode: 432"#, "socketMode", .wrongType(.number)),
        rest(#"publicURL: "keys.example.com""#, "publicURL", .invalidValue),
        rest(#"publicURL: "https://keys.example.com/?a""#, "publicURL", .invalidValue),
        rest(#"publicURL: "https:///path""#, "publicURL", .invalidValue),

        // FairPlay.
        credential(
            (#"name: "main""#, #"nam: "x", name: "main""#), "fairplay.credentials[0].nam", .unknownKey(nearest: "name")),
        credential((#"name: "main","#, ""), "fairplay.credentials[0].name", .missing),
        credential(
            (#"privateKey1024: "fairplay/private-key-1024.pem","#, ""), "fairplay.credentials[0].certificate1024",
            .incomplete(without: "privateKey1024")),
        credential(
            (#"certificate2048: "fairplay/certificate-2048.der","#, ""), "fairplay.credentials[0].privateKey2048",
            .incomplete(without: "certificate2048")),
        credential(
            ("applicationSecret:", #"fixedDASk: "x", applicationSecret:"#), "fairplay.credentials[0].fixedDASk",
            .conflict(with: "applicationSecret")),
        credential(
            (#", applicationSecret: "fairplay/application-secret.hex""#, ""), "fairplay.credentials[0]",
            .noneOf(["applicationSecret", "module", "sdk", "fixedDASk"])),
        credential(
            ("fairplay/application-secret.hex", "credential:../x"), "fairplay.credentials[0].applicationSecret",
            .invalidValue),
        credential(
            (ConfigurationText.credential, #"name: "a", applicationSecret: "x""#), "fairplay.credentials[0]",
            .noneOf(["certificateBundle", "certificate1024", "certificate2048"])),
        credential(
            (ConfigurationText.credential, "\(ConfigurationText.credential) }, { \(ConfigurationText.credential)"),
            "fairplay.credentials[1].name", .duplicate(of: "fairplay.credentials[0].name")),
        credential(
            (#"name: "main","#, #"name: "main", stage: "off","#), "fairplay.credentials[0].stage", .invalidValue),
        credential((#"name: "main","#, #"name: "main", stage: "staged","#), "fairplay.credentials", .invalidValue),
        credential((#"name: "main","#, #"name: "main", stage: "draining","#), "fairplay.credentials", .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(fairplay: "protocolVersions: [1, 1]"), "fairplay.protocolVersions[1]", line: 3,
            .duplicate(of: "fairplay.protocolVersions[0]")),
        BrokenConfiguration(
            ConfigurationText.make(fairplay: "protocolVersions: []"), "fairplay.protocolVersions", line: 3,
            .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(fairplay: "protocolVersions: [0]"), "fairplay.protocolVersions[0]", line: 3,
            .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(fairplay: #"allowTestCredentials: "yes""#), "fairplay.allowTestCredentials", line: 3,
            .wrongType(.string)),
        BrokenConfiguration(
            ConfigurationText.make(fairplay: "spcVersion3: 1"), "fairplay.spcVersion3", line: 3, .wrongType(.number)),
        credential(
            ("applicationSecret:", #"spcVersion3: "yes", applicationSecret:"#), "fairplay.credentials[0].spcVersion3",
            .wrongType(.string)),
        credential(
            (
                ConfigurationText.credential,
                #"name: "a", certificate1024: "a", privateKey1024: "b", spcVersion3: true, applicationSecret: "s""#
            ), "fairplay.credentials[0].spcVersion3", .incomplete(without: "certificate2048")),

        // Bundles, passphrases and modules.
        credential(
            (#"certificate2048: "fairplay/certificate-2048.der""#, #"certificateBundle: "x""#),
            "fairplay.credentials[0].certificate1024", .conflict(with: "certificateBundle")),
        credential(
            (
                ConfigurationText.credential,
                #"name: "a", certificateBundle: "x", privateKey1024: "b", applicationSecret: "s""#
            ), "fairplay.credentials[0].certificateBundle", .incomplete(without: "privateKey2048")),
        credential(
            (
                ConfigurationText.credential,
                #"name: "a", certificateBundle: "x", privateKey2048: "b", applicationSecret: "s""#
            ), "fairplay.credentials[0].certificateBundle", .incomplete(without: "privateKey1024")),
        credential(
            ("applicationSecret:", #"privateKeyPassphrase: "", applicationSecret:"#),
            "fairplay.credentials[0].privateKeyPassphrase", .invalidValue),
        credential(
            ("applicationSecret:", #"module: { library: "l", data: "d" }, applicationSecret:"#),
            "fairplay.credentials[0].module", .conflict(with: "applicationSecret")),
        module(#"data: "d""#, ".library", .missing),
        module(#"library: "l""#, ".data", .missing),
        module(#"library: "", data: "d""#, ".library", .invalidValue),
        module(#"library: ["l"], data: "d""#, ".library", .wrongType(.array)),
        module(#"library: "l", data: "credential:a/b""#, ".data", .invalidValue),
        module(#"library: "l", data: "d", workers: 0"#, ".workers", .invalidValue),
        module(#"library: "l", data: "d", workers: 257"#, ".workers", .invalidValue),
        module(#"library: "l", data: "d", callDeadline: "9ms""#, ".callDeadline", .invalidValue),
        module(#"library: "l", data: "d", callDeadline: "61s""#, ".callDeadline", .invalidValue),
        module(#"library: "l", data: "d", memoryLimit: 67108863"#, ".memoryLimit", .invalidValue),
        module(#"library: "l", data: "d", memoryLimit: "64M""#, ".memoryLimit", .wrongType(.string)),
        module(#"library: "l", data: "d", user: "two words""#, ".user", .invalidValue),
        module(#"library: "l", data: "d", worker: 2"#, ".worker", .unknownKey(nearest: "workers")),
        credential(
            (#"applicationSecret: "fairplay/application-secret.hex""#, "module: true"),
            "fairplay.credentials[0].module",
            .wrongType(.boolean)),

        // SDK libraries.
        sdk(#"sdk: { certificates: "c" }"#, ".sdk.library", .missing),
        sdk(#"sdk: { library: "l" }"#, ".sdk.certificates", .missing),
        sdk(#"sdk: { library: "l", certificates: "" }"#, ".sdk.certificates", .invalidValue),
        sdk(#"sdk: { library: 1, certificates: "c" }"#, ".sdk.library", .wrongType(.number)),
        sdk(#"sdk: { library: "l", certificates: "c", workers: 0 }"#, ".sdk.workers", .invalidValue),
        sdk(#"sdk: { library: "l", certificates: "c", user: "two words" }"#, ".sdk.user", .invalidValue),
        sdk(
            #"sdk: { library: "l", certificates: "c", data: "d" }"#, ".sdk.data", .unknownKey(nearest: nil)),
        sdk("sdk: []", ".sdk", .wrongType(.array)),
        sdk(
            #"applicationSecret: "s", sdk: { library: "l", certificates: "c" }"#, ".sdk",
            .conflict(with: "applicationSecret")),
        sdk(
            #"sdk: { library: "l", certificates: "c" }, module: { library: "l", data: "d" }"#, ".sdk",
            .conflict(with: "module")),
        sdk(
            #"certificateBundle: "b", sdk: { library: "l", certificates: "c" }"#, ".certificateBundle",
            .conflict(with: "sdk")),
        sdk(
            #"certificate1024: "b", sdk: { library: "l", certificates: "c" }"#, ".certificate1024",
            .conflict(with: "sdk")),
        sdk(
            #"privateKey2048: "b", sdk: { library: "l", certificates: "c" }"#, ".privateKey2048",
            .conflict(with: "sdk")),

        // Keys and storage.
        rest(#"keys: { keyEncryptionKey: ["x"] }"#, "keys.keyEncryptionKey", .wrongType(.array)),
        rest(#"keys: { keyEncryptionKey: "environment:" }"#, "keys.keyEncryptionKey", .invalidValue),
        rest(#"keys: { skdTemplate: "https://{kid}" }"#, "keys.skdTemplate", .invalidValue),
        rest(#"keys: { skdTemplate: "skd://kid" }"#, "keys.skdTemplate", .invalidValue),
        rest(#"keys: { skdTemplate: "skd://{track}/{iv}" }"#, "keys.skdTemplate", .invalidValue),
        rest(#"keys: { skdTemplate: "skd://{kid}/{nonsense}" }"#, "keys.skdTemplate", .invalidValue),
        rest(#"keys: { skdTemplate: "uuids" }"#, "keys.skdTemplate", .invalidValue),
        rest(#"keys: { skdTemplate: "ezdrm" }"#, "keys.skdTemplate", .incomplete(without: "publicURL")),
        rest(#"keys: { skdTemplate: "skd://{kid}\"" }"#, "keys.skdTemplate", .invalidValue),
        rest(#"keys: { skdTemplate: "skd://{contentId}-{track}" }"#, "keys.skdTemplate", .invalidValue),
        rest(#"keys: { skdTemplate: "skd://h?kid=1&c={contentId}&t={track}" }"#, "keys.skdTemplate", .invalidValue),
        rest(#"assetIDs: "skd://{kid}""#, "assetIDs", .wrongType(.string)),
        rest(#"assetIDs: ["skd://{content}", "skd://*"]"#, "assetIDs[1]", .invalidValue),
        rest(#"assetIDs: ["skd://{content}*"]"#, "assetIDs[0]", .invalidValue),
        rest(#"assetIDs: ["skd://{name}"]"#, "assetIDs[0]", .invalidValue),
        rest(#"assetIDs: ["skd://{kid}", "skd://{kid}"]"#, "assetIDs[1]", .duplicate(of: "assetIDs[0]")),
        rest(
            "assetIDs: [\((0...AssetForms.countMaximum).map { "\"skd://h\($0)/{kid}\"" }.joined(separator: ","))]",
            "assetIDs", .invalidValue),
        rest(#"storage: { url: "postgres://x" }"#, "storage.url", .invalidValue),
        rest(#"storage: { url: "sqlite:" }"#, "storage.url", .invalidValue),

        // Further paths of licenses.
        paths(#"{ path: "fps/license" }"#, "[0].path", .invalidValue),
        paths(#"{ path: "/{kid}" }"#, "[0].path", .invalidValue),
        paths(#"{ path: "/a/*/b" }"#, "[0].path", .invalidValue),
        paths(#"{ path: "/a/{kid}/{assetId}" }"#, "[0].path", .invalidValue),
        paths(#"{ path: 7 }"#, "[0].path", .wrongType(.number)),
        paths("{ }", "[0].path", .missing),
        paths("7", "[0]", .wrongType(.number)),
        paths(#"{ path: "/a", serves: "keys" }"#, "[0].serves", .invalidValue),
        paths(#"{ path: "/a", dialect: "axinom" }"#, "[0].dialect", .invalidValue),
        paths(#"{ path: "/a", answer: "xml" }"#, "[0].answer", .invalidValue),
        paths(#"{ path: "/a", answer: "raw", serves: "certificate" }"#, "[0].answer", .conflict(with: "serves")),
        paths(#"{ path: "/a", certificateFormat: "pem" }"#, "[0].certificateFormat", .incomplete(without: "serves")),
        paths(
            #"{ path: "/a", serves: "both", certificateFormat: "der" }"#, "[0].certificateFormat", .invalidValue),
        paths(#"{ path: "/a", answers: "raw" }"#, "[0].answers", .unknownKey(nearest: "answer")),
        paths(
            #"{ path: "/fps/license" }"#, "[0].path", .pathsOverlap(with: "the built-in path /fps/license")),
        paths(#"{ path: "/fps/{x}" }"#, "[0].path", .pathsOverlap(with: "the built-in path /fps/license")),
        paths(#"{ path: "/*/token" }"#, "[0].path", .pathsOverlap(with: "the built-in path /hms/fp/token")),
        paths(#"{ path: "/a" }, { path: "/a" }"#, "[1].path", .pathsOverlap(with: "licensePaths[0].path")),
        paths(#"{ path: "/a/{x}" }, { path: "/a/b" }"#, "[1].path", .pathsOverlap(with: "licensePaths[0].path")),
        paths(#"{ path: "/hms/{x}/rights/" }"#, "[0].path", .pathsOverlap(with: "expressPlay.redeemPaths")),

        // Entitlement.
        key((#"algorithm: "ES256""#, #"algorithm: "none""#), "entitlement.issuers[0].keys[0].algorithm", .invalidValue),
        key((#"kid: "k1","#, ""), "entitlement.issuers[0].keys[0].kid", .missing),
        key(
            (#"algorithm: "ES256""#, #"algorithm: "ES256", state: "retired""#), "entitlement.issuers[0].keys[0].state",
            .invalidValue),
        key(
            (#"algorithm: "ES256""#, #"algorithm: "ES256", state: "retiring""#), "entitlement.issuers[0].keys[0].state",
            .incomplete(without: "until")),
        key(
            (#"algorithm: "ES256""#, #"algorithm: "ES256", until: "2027-01-01T00:00:00Z""#),
            "entitlement.issuers[0].keys[0].until", .incomplete(without: "state")),
        key(
            (#"algorithm: "ES256""#, #"algorithm: "ES256", state: "retiring", until: "tomorrow""#),
            "entitlement.issuers[0].keys[0].until", .invalidValue),
        key(
            (#"kid: "k1", algorithm: "ES256""#, #"kid: "1", algorithm: "A256GCM""#), "entitlement.issuers[0].keys",
            .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(
                issuer: #"issuer: "i", dialect: "expressplay""#, key: #"kid: "01", algorithm: "A256GCM", key: "k""#),
            "entitlement.issuers[0].keys[0].kid", line: 4, .invalidValue),
        key(
            (ConfigurationText.key, "\(ConfigurationText.key) }, { \(ConfigurationText.key)"),
            "entitlement.issuers[0].keys[1].kid", .duplicate(of: "entitlement.issuers[0].keys[0].kid")),
        BrokenConfiguration(
            ConfigurationText.make(issuer: #"issuer: "i", dialect: "widevine""#), "entitlement.issuers[0].dialect",
            line: 4,
            .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(issuer: #"issuer: "i", maximumLife: "0s""#), "entitlement.issuers[0].maximumLife",
            line: 4, .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(issuer: #"issuer: "i", maximumLife: 3600"#), "entitlement.issuers[0].maximumLife",
            line: 4, .wrongType(.number)),
        BrokenConfiguration(
            ConfigurationText.make(entitlement: #"leeway: "61s""#), "entitlement.leeway", line: 5, .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(entitlement: #"leeway: "1500ms""#), "entitlement.leeway", line: 5, .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(entitlement: #"deviceLife: "59s""#), "entitlement.deviceLife", line: 5,
            .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(entitlement: #"deviceLife: "3651d""#), "entitlement.deviceLife", line: 5,
            .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(entitlement: #"leway: "5s""#), "entitlement.leway", line: 5,
            .unknownKey(nearest: "leeway")),

        BrokenConfiguration(
            ConfigurationText.make(entitlement: #"ignoredSources: ["bearer"]"#), "entitlement.ignoredSources[0]",
            line: 5,
            .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(entitlement: #"tokenHeaders: ["X Token"]"#), "entitlement.tokenHeaders[0]", line: 5,
            .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(entitlement: #"profiles: { HD: { leese: "5m" } }"#), "entitlement.profiles.HD.leese",
            line: 5, .unknownKey(nearest: "lease")),
        BrokenConfiguration(
            ConfigurationText.make(entitlement: #"profiles: { HD: { lease: "0s" } }"#), "entitlement.profiles.HD.lease",
            line: 5, .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(entitlement: #"profiles: { "a b": {} }"#), "entitlement.profiles.a b", line: 5,
            .invalidValue),
        BrokenConfiguration(
            ConfigurationText.make(entitlement: #"limitsForEveryLicense: { tracks: { HD: { hdcp: 1 } } }"#),
            "entitlement.limitsForEveryLicense.tracks.HD.hdcp", line: 5, .wrongType(.number)),

        // Limits and logging.
        rest("limits: { bodySizeMaximum: 1.5 }", "limits.bodySizeMaximum", .invalidValue),
        rest("limits: { bodySizeMaximum: -1 }", "limits.bodySizeMaximum", .invalidValue),
        rest("limits: { rates: { all: {} } }", "limits.rates.all.perSecond", .missing),
        rest("limits: { rates: { all: { perSecond: 0 } } }", "limits.rates.all.perSecond", .invalidValue),
        rest("limits: { memoryBudget: 1e99 }", "limits.memoryBudget", .invalidValue),
        rest(#"limits: { headDeadline: "5" }"#, "limits.headDeadline", .invalidValue),
        rest(#"limits: { headDeadline: "2h" }"#, "limits.headDeadline", .invalidValue),
        rest("limits: { bodySizeMax: 1 }", "limits.bodySizeMax", .unknownKey(nearest: "bodySizeMaximum")),
        rest(#"logging: { clientAddress: "some" }"#, "logging.clientAddress", .invalidValue),
        rest(#"logging: { level: "verbose" }"#, "logging.level", .invalidValue),
        rest("logging: { level: true }", "logging.level", .wrongType(.boolean)),
    ]
}

@Suite struct BrokenConfigurationTests {
    @Test(arguments: BrokenConfiguration.table)
    func saysWhatIsWrongAndWhere(broken: BrokenConfiguration) {
        let problems = ConfigurationText.problems(broken.text)
        #expect(problems.map(\.path) == [broken.path])
        #expect(problems.map { $0.position?.line } == [broken.line])
        #expect(problems.map { BrokenConfiguration.Kind($0.fault) } == [broken.kind])
    }

    @Test func reportsEveryProblemInTheOrderOfTheFile() throws {
        let text = """
            {
              logging: { level: 1 },
              fairplay: { credentials: [{ nam: "x" }] },
              entitlement: { leeway: "9h", issuers: [] },
              listeners: { public: [{ address: "x" }, { addres: "127.0.0.1:1" }] },
              colour: "red",
            }
            """
        let problems = ConfigurationText.problems(text, environment: ["LATCHKEY_NODE": ""])
        #expect(
            problems.map { "\($0.path) \($0.position?.line ?? 0)" } == [
                "logging.level 2",
                "fairplay.credentials[0].name 3", "fairplay.credentials[0] 3", "fairplay.credentials[0] 3",
                "fairplay.credentials[0].nam 3",
                "entitlement.leeway 4", "entitlement.issuers 4",
                "listeners.public[0].address 5", "listeners.public[1].address 5", "listeners.public[1].addres 5",
                "colour 6",
                "LATCHKEY_NODE 0",
            ])
    }

    @Test func aSectionThatIsNoObjectIsReportedOnce() {
        let text = "{ fairplay: 1, entitlement: { issuers: [true] } }"
        #expect(ConfigurationText.problems(text).map(\.path) == ["fairplay", "entitlement.issuers[0]"])
    }

    @Test func namesThatOnlyLookTheSameAreUnknown() {
        // U+212A, the Kelvin sign, is canonically equivalent to "K".
        let text = ConfigurationText.make(rest: "keys: { \"keyEncryption\u{212A}ey\": \"x\" }")
        #expect(ConfigurationText.problems(text).map(\.path) == ["keys.keyEncryption\u{212A}ey"])
    }

    @Test func messagesNameFileLineColumnPathAndRemedy() throws {
        let text = ConfigurationText.make(rest: #"lisseners: {}, limits: { connectionsMaximum: "many" }"#)
        let error = ConfigurationError.invalid(path: "etc/latchkey.json5", ConfigurationText.problems(text))
        #expect(
            error.description == """
                etc/latchkey.json5, line 6, column 3: lisseners: there is no such field; did you mean "listeners"?
                etc/latchkey.json5, line 6, column 48: limits.connectionsMaximum: expected a whole number from 1 to 1048576, such as 16384, \
                and found a string
                """)
    }

    @Test(arguments: [
        "101112131415161718191A1B1C1D1E1F", "EBESExQVFhcYGRobHB0eHw==", "-----BEGIN PRIVATE KEY-----\\nMIIE",
        "two words",
    ])
    func aSecretThatWasPastedIntoAFieldIsNotRepeated(secret: String) {
        let credential = ConfigurationText.credential.replacingOccurrences(
            of: "fairplay/application-secret.hex",
            with: secret.replacingOccurrences(of: "two words", with: "credential:two words"))
        let text = ConfigurationText.make(
            credential: credential,
            rest: "logging: { level: \"\(secret)\" }, storage: { url: \"\(secret)\" }, limits: [\"\(secret)\"]")
        let problems = ConfigurationText.problems(text)
        #expect(
            problems.map(\.path) == [
                "fairplay.credentials[0].applicationSecret", "logging.level", "storage.url", "limits",
            ])
        let shown = ConfigurationError.invalid(path: "c", problems).description + "\(problems)"
        #expect(!shown.contains(secret.prefix(20)))
    }
}

extension BrokenConfiguration.Kind {
    /// The kind of a fault of the text, or nil for a fault of another file.
    init?(_ fault: ConfigurationFault) {
        switch fault {
        case .unknownKey(let nearest): self = .unknownKey(nearest: nearest)
        case .retired: self = .unknownKey(nearest: nil)
        case .missing: self = .missing
        case .wrongType(let found, _, _): self = .wrongType(found)
        case .invalidValue, .databaseURL, .keyURI: self = .invalidValue
        case .duplicate(let other): self = .duplicate(of: other)
        case .pathsOverlap(let other): self = .pathsOverlap(with: other)
        case .incomplete(let other): self = .incomplete(without: other)
        case .conflict(let other): self = .conflict(with: other)
        case .noneOf(let names): self = .noneOf(names)
        case .file, .notASecret, .notACertificate, .severalCertificates, .notACertificateBundle, .notAPrivateKey,
            .passphraseMissing, .passphraseWrong, .notAPassphrase, .passphraseUnneeded, .wrongKeySize, .keyMismatch,
            .sameCertificate, .testCredentialForbidden, .notALibrary, .unknownUser, .notAVerificationKey,
            .privateKeyForVerifying, .issuer,
            .notAnAdminToken, .sealingKeyMissing, .notADatabasePassword, .cryptography, .tls, .plaintextBeyondLoopback,
            .developmentMaterialBeyondLoopback, .adminTokenMissing, .severalRecipients, .keySizeOutOfRange,
            .secretIsAToken, .wrongCertificateCount, .notJSON, .sameAddress:
            return nil
        }
    }
}
