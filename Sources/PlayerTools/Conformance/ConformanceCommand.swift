import ByteCoding
package import CommandLineKit
import CommandSupport
import FairPlay
import Foundation
import KeyCrypto

extension Command {
    /// `latchkey conformance`
    package static let conformance = Command(
        "conformance",
        summary: "Prove a FairPlay key server from outside, with SPCs of a test credential",
        details: """
            Sends \(ConformanceCase.all.count) SPCs, each for one rule: every kind of license in every version, unknown blocks,
            sizes at their limits, and malformed ones. It opens the CKCs as a device does and compares content key,
            initialization vector, R1, terms and returned blocks. Refusals must be equal whatever the fault, and no answer may
            show a secret. The server can be any key server: ask it by --url, or give the library of an SDK by --library.

            The server under test needs a test credential and test keys, which --write writes to a folder, together with all
            SPCs of a fixed seed. They are published, so configure no server of viewers with them. A run makes new SPCs from a
            random seed, which it prints; --seed repeats it.

            Each kind of license has an asset of its own, conformance-streaming and so on. A server that decides by tokens gets
            them from a folder (--tokens), one file for each kind: \(ConformanceKind.allCases.map(\.rawValue).joined(separator: ", ")).
            A lease has 600 s, a rental 86400 s, offline keys 2592000 s before and 172800 s after the first play. What has no
            token is reported as not run, and not as passed.

            A case that "differs" is a right of the server, with the reason. The exit status is 0 if nothing failed and
            something was run. No output has a key, a token or an SPC. This is no approval by Apple.
            """,
        examples: [
            "latchkey conformance --write conformance",
            "latchkey conformance --url http://127.0.0.1:8080 --tokens tokens",
            "latchkey conformance --url http://127.0.0.1:8080/fps/rest/getLicense --form json --spc-version 1 --json",
            "latchkey conformance --library libfpssdk.so --certificates conformance/certificates.json",
        ],
        options: ConformanceCommand.options,
        run: { arguments, context throws(CommandError) in
            if let folder = arguments.value(ConformanceCommand.write) {
                let others = ConformanceCommand.options.filter { $0.name != ConformanceCommand.write.name }
                if let other = others.first(where: arguments.isSet) {
                    throw .usage("--write sends nothing, so \(other.name) is not for it")
                }
                try ConformanceVectors.write(to: folder)
                return try context.print(
                    "\(folder): the credential, keys.jsonl, and cases.json with \(ConformanceCase.all.count) SPCs")
            }
            try await ConformanceCommand(arguments, context).run()
        })
}

struct ConformanceCommand {
    static let write = CommandOption(
        "--write", .value("FOLDER"),
        help: "write the credential, the keys and the SPCs to a new folder, and send nothing")
    private static let url = CommandOption(
        "--url", .value("URL"), help: "the server, or its license route if that is not /fps/license")
    private static let library = CommandOption(
        "--library", .value("FILE"), help: "the library of an SDK; latchkeyd must be in the folder of this program")
    private static let certificates = CommandOption(
        "--certificates", .value("FILE"), help: "with --library: its certificates.json, with the test credential")
    private static let inputs = CommandOption(
        "--inputs", .value("FOLDER"),
        help: "with --library: also try every *.json in this folder, the SDK's test inputs")
    private static let form = CommandOption(
        "--form", .value("FORM"),
        help: "how an SPC is sent: raw, base64, form, json, json:MEMBER or streaming-keys; raw unless given")
    private static let token = CommandOption(
        "--token", .secret("TOKEN"), help: "the bearer token for the kinds of --kinds")
    private static let tokens = CommandOption(
        "--tokens", .value("FOLDER"), help: "a folder with a token for each kind, in a file with the kind's name")
    private static let kinds = CommandOption(
        "--kinds", .value("KIND,KIND|all"),
        help: "the kinds that this server gives without --tokens; streaming unless given")
    private static let version = CommandOption(
        "--spc-version", .value("1,2,3"), help: "the versions of SPC that the server serves; all unless given")
    private static let header = CommandOption(
        "--header", .value("LINE"), help: "a further header field of each request, as \"Name: value\"", repeats: true)
    private static let seed = CommandOption(
        "--seed", .value("HEX"), help: "make the SPCs of an earlier run again; 32 hexadecimal digits")
    private static let report = CommandOption(
        "--report", .value("FILE"), help: "write the JSON object of --json to this file")

    static let options =
        [
            url, form, token, tokens, kinds, header, library, certificates, inputs, version, seed, write, report,
        ] + ClientNetwork.options + [.json]

    private let arguments: Arguments
    private let context: CommandContext
    private let seed: [UInt8]
    private let tokens: [ConformanceKind: String]
    private let askedKinds: Set<ConformanceKind>
    private let askedVersions: Set<SPCVersion>

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        self.arguments = arguments
        self.context = context
        guard arguments.isSet(Self.url) != arguments.isSet(Self.library) else {
            throw .usage("give either \(Self.url.usage) or \(Self.library.usage), or \(Self.write.usage)")
        }
        for option in [Self.certificates, Self.inputs] where arguments.isSet(option) && arguments.isSet(Self.url) {
            throw .usage("\(option.name) needs --library")
        }
        for option in [Self.form, Self.token, Self.tokens, Self.header]
        where arguments.isSet(option) && arguments.isSet(Self.library) {
            throw .usage("\(option.name) needs --url")
        }
        let given = try arguments.bytes(Self.seed, size: 16)
        seed = if let given { given } else { try wrap(CommandError.noRandomBytes, try RandomBytes.generate(count: 16)) }
        let words = (arguments.value(Self.version) ?? "1,2,3").split(separator: ",")
        askedVersions = Set(words.compactMap { UInt32($0).flatMap(SPCVersion.init(rawValue:)) })
        guard askedVersions.count == words.count, !words.isEmpty else {
            throw .usage("--spc-version takes 1, 2 or 3, or several of them with commas between them")
        }
        tokens = try Self.tokens(arguments, context)
        let kinds = try Self.kinds(arguments)
        askedKinds = arguments.isSet(Self.tokens) ? Set(tokens.keys) : kinds
    }

    private static func kinds(_ arguments: Arguments) throws(CommandError) -> Set<ConformanceKind> {
        let text = arguments.value(kinds) ?? (arguments.isSet(library) ? "all" : "streaming")
        if text == "all" { return Set(ConformanceKind.allCases) }
        let words = text.split(separator: ",")
        let kinds = Set(words.compactMap { ConformanceKind(rawValue: String($0)) })
        guard kinds.count == words.count, !words.isEmpty else {
            let names = ConformanceKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("--kinds takes \"all\", or names with commas between them: \(names)")
        }
        return kinds
    }

    private static func tokens(
        _ arguments: Arguments, _ context: CommandContext
    ) throws(CommandError) -> [ConformanceKind: String] {
        var tokens: [ConformanceKind: String] = [:]
        if let text = arguments.value(token) {
            let shared = try SecretArgument.token(token, text, context)
            for kind in ConformanceKind.allCases { tokens[kind] = shared }
        }
        guard let folder = arguments.value(Self.tokens) else { return tokens }
        guard tokens.isEmpty else { throw .usage("give either --token or --tokens") }
        for kind in ConformanceKind.allCases {
            let path = "\(folder)/\(kind.rawValue)"
            guard FileManager.default.fileExists(atPath: path) else { continue }
            tokens[kind] = try SecretArgument.token(Self.tokens, "@\(path)", context)
        }
        guard !tokens.isEmpty else { throw .failed("\(folder) has no file with the name of a kind, such as streaming") }
        return tokens
    }

    func run() async throws(CommandError) {
        if let path = arguments.value(Self.report) { try Self.checkReport(path) }
        var report: ConformanceReport
        if let path = arguments.value(Self.library) {
            let library = try ConformanceLibrary(path, certificates: arguments.required(Self.certificates))
            defer { library.stop() }
            report = try await run(library)
            if let folder = arguments.value(Self.inputs) {
                report.results += try await ConformanceInputs(library: library).results(in: folder)
            }
        } else {
            report = try await runOverHTTP()
        }
        try context.printResult(report.text, or: report.write, arguments)
        if let path = arguments.value(Self.report) {
            let bytes = JSONWriter.object { report.write(to: &$0) } + [UInt8(ascii: "\n")]
            try CommandFile.write(bytes, to: path, isSecret: false)
        }
        guard report.count(.failed) == 0 else {
            throw .failed("\(report.count(.failed)) of \(report.results.count) cases failed")
        }
        guard report.holds else { throw .failed("nothing was run") }
    }

    /// Throws if a report cannot be written, so that no run is in vain.
    private static func checkReport(_ path: String) throws(CommandError) {
        let type = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
        guard type ?? .typeRegular == .typeRegular || type == .typeSymbolicLink else {
            throw .failed("\(path) is not a regular file")
        }
        let part = "\(path).\(UInt32.random(in: .min ... .max)).part"
        try wrap(CommandError.newFile, try NewFile.write([], to: part, mode: 0o600))
        try? FileManager.default.removeItem(atPath: part)
    }

    /// Throws if the file of --ca has no certificate. libcurl would say it for each SPC, and only with TLS.
    private func checkAuthorities() throws(CommandError) {
        guard let path = arguments.value(ClientNetwork.authorities) else { return }
        let text = String(decoding: try CommandFile.read(path).revealed(), as: UTF8.self)
        let marks = ["", "TRUSTED ", "X509 "].map { "-----BEGIN \($0)CERTIFICATE-----" }
        let digits = marks.lazy.compactMap { text.range(of: $0) }.first.map {
            text[$0.upperBound...].prefix { $0 != "-" }
        }
        guard let digits, (try? Base64.decode(digits.filter { !$0.isWhitespace }))?.first == 0x30 else {
            throw .failed("the file of --ca has no certificates in PEM")
        }
    }

    private func runOverHTTP() async throws(CommandError) -> ConformanceReport {
        let word = arguments.value(Self.form) ?? "raw"
        guard let form = ConformanceForm(word) else {
            throw .usage("--form takes raw, base64, form, json, json:MEMBER or streaming-keys")
        }
        for line in arguments.values(Self.header) where !line.contains(":") || line.contains(where: \.isNewline) {
            throw .usage("--header takes a line as \"Name: value\"")
        }
        try checkAuthorities()
        let server = ConformanceServer(
            network: try ClientNetwork(arguments), address: try LicenseURL.parse(arguments.required(Self.url)),
            form: form, tokens: tokens, fields: arguments.values(Self.header))
        let reason = arguments.isSet(Self.tokens) ? "no token" : "not named by --kinds"
        return try await run(kinds: unavailable(reason) { _ in nil }, versions: [:], mayDiffer: nil) { question in
            server.answer(question)
        }
    }

    private func run(_ library: ConformanceLibrary) async throws(CommandError) -> ConformanceReport {
        let versions = Dictionary(
            uniqueKeysWithValues: SPCVersion.allCases.filter { !library.versions.contains($0) }.map {
                ($0, "the file of certificates has no test certificate for SPCs of version \($0.rawValue)")
            })
        let kinds = unavailable("not named by --kinds") { kind in
            kind.libraryTerms(for: nil) == nil ? "the requests of an SDK cannot say \(kind.rawValue)" : nil
        }
        return try await run(
            kinds: kinds, versions: versions,
            cases: [ConformanceCase.unknownAsset: "a library is given the key, and looks for no asset"],
            mayDiffer: "the statuses of a library go to its server, which must answer them equally"
        ) { question in await library.answer(question) }
    }

    /// The kinds that are not run, with the reason.
    private func unavailable(
        _ reason: String, _ further: (ConformanceKind) -> String?
    ) -> [ConformanceKind: String] {
        var reasons: [ConformanceKind: String] = [:]
        for kind in ConformanceKind.allCases {
            reasons[kind] = askedKinds.contains(kind) ? further(kind) : "\(kind.rawValue): \(reason)"
        }
        return reasons
    }

    private func run(
        kinds: [ConformanceKind: String], versions: [SPCVersion: String], cases: [String: String] = [:],
        mayDiffer: String?,
        _ ask: @escaping ConformanceAsk
    ) async throws(CommandError) -> ConformanceReport {
        var versions = versions
        for version in SPCVersion.allCases where !askedVersions.contains(version) {
            versions[version] = "not named by --spc-version"
        }
        var progress = CommandProgress(context, unit: "cases", total: ConformanceCase.all.count)
        defer { progress.clear() }
        do throws(CryptoError) {
            return try await ConformanceRun(
                seed: seed, now: UInt32(clamping: context.now), unavailableKinds: kinds,
                unavailableVersions: versions, unavailableCases: cases, refusalsMayDiffer: mayDiffer, ask: ask
            ).run { progress.show($0) }
        } catch {
            throw .cryptography(error)
        }
    }
}
