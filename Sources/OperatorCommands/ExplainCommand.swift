import Administration
import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import Entitlements
import FairPlay
import KeyCrypto
import Licensing
import POSIXSockets
import Records
import ServiceConfiguration

extension Command {
    private static let spc = CommandOption(
        "--spc", .value("FILE"),
        help: "the SPC of a request, as raw bytes; with it, content, device and terms are explained too")
    private static let offline = CommandOption(
        "--offline", .flag, help: "explain a license that the device stores, as a request with ?offline=1 asks for it")
    private static let address = CommandOption(
        "--address", .value("IP"), help: "the client's address, if the token has rules about it")

    private static let country = CommandOption(
        "--country", .value("CODE"), help: "the client's country, as ISO 3166-1 writes it: two capital letters")

    /// `latchkey token explain`
    static let explainToken = Command(
        "explain",
        summary: "Show every check of a token, and with an SPC the license that it would get",
        details: """
            Makes the daemon's decision with the same code, and shows for each check whether it passed, and if not, why. With an
            SPC it also shows the terms for the device, and the true cause of a refusal for which the daemon only says
            spc_rejected. It issues no license and counts nothing. It looks up revocations and rentals in the store, but names
            uses, devices and playbacks without looking them up. A check that has not passed shows the values that it found and
            those that it expects, even if the token's signature is wrong. The exit status is 1 for a refusal. A running daemon
            does the same for POST /v1/explain on its admin listener.
            """,
        examples: [
            "latchkey token explain viewer.jwt --config latchkey.json5",
            "latchkey token explain - --config latchkey.json5 --spc request.spc --json",
        ],
        operands: [CommandOperand("FILE", help: "the token, or \"-\" for standard input")],
        options: [.config, spc, offline, address, country, .json],
        run: { arguments, context throws(CommandError) in
            let use: LicenseUse? = arguments.isSet(offline) ? .offline : nil
            let subject = LicenseExplainer.Subject(
                token: try readToken(arguments, context), message: try readMessage(arguments, context), use: use,
                origin: RequestOrigin(address: try readAddress(arguments), country: try readCountry(arguments)))
            let explainer = try await makeExplainer(
                configuration: try arguments.required(.config), looksUpKeys: subject.message != nil, context)
            let report = try await wrapAsync(
                { (error: CryptoError) in CommandError.failed("OpenSSL failed (\(error))") },
                try ExplanationReport(await explainer.explain(subject, now: context.now)))
            try context.printResult(report.text, or: report.write, arguments)
            if report.isAllowed == false { throw .failed("the request would be refused") }
        })

    /// Reads the token, without line ends and blanks after it, which editors and shells add.
    private static func readToken(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) -> [UInt8] {
        let bytes = try CommandFile.readOperand(try arguments.operand(0), context)
        let end = bytes.lastIndex { ![0x0A, 0x0D, 0x20].contains($0) }.map { $0 + 1 } ?? 0
        return Array(bytes[..<end])
    }

    private static func readMessage(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) -> [UInt8]?
    {
        guard let path = arguments.value(spc) else { return nil }
        return try CommandFile.readOperand(path, context)
    }

    private static func readAddress(_ arguments: Arguments) throws(CommandError) -> IPAddress? {
        guard let text = arguments.value(address) else { return nil }
        guard let address = IPAddress(text) else { throw .usage("--address takes an IPv4 or IPv6 address") }
        return address
    }

    private static func readCountry(_ arguments: Arguments) throws(CommandError) -> CountryCode? {
        guard let text = arguments.value(country) else { return nil }
        guard let country = CountryCode(text) else { throw .usage("--country takes two capital letters") }
        return country
    }

    private static func makeExplainer(
        configuration path: String, looksUpKeys: Bool, _ context: CommandContext
    ) async throws(CommandError) -> LicenseExplainer {
        let file = try OpenedLedger.configuration(path, context)
        let loaded = try wrap(
            CommandError.configuration, try LoadedConfiguration.load(file, environment: context.environment))
        for source in loaded.keySources {
            context.note(
                "note: only a running daemon has the keys of \(source.issuer) from \(source.url); ask it with"
                    + " POST /v1/explain on its admin listener")
        }
        let revocations = try await OpenedRecords.view(of: file, context)
        let keys: any ContentKeySource =
            looksUpKeys ? try OpenedKeyStore(configuration: path, context) : NoContentKeys()
        return LicenseExplainer(
            rules: LicenseRules(loaded),
            keys: RecentContentKeys(source: keys, forms: loaded.configuration.assetForms), revocations: revocations,
            operations: RSAOperationCount(),
            rentals: { claims, content, now async throws(StoreError) in
                try await rental(of: claims, content, now: now, configuration: path, context)
            })
    }

    /// Looks up a rental. Called only for a token with a rental, so that the database is opened only then.
    ///
    /// Throws if the database cannot be opened; the explanation then says that the rental is not known.
    private static func rental(
        of claims: Claims, _ content: ContentID, now: Int64, configuration path: String, _ context: CommandContext
    ) async throws(StoreError) -> RentalStanding.Memory? {
        let records: OpenedRecords
        do throws(CommandError) {
            records = try OpenedRecords(try OpenedLedger.configuration(path, context), context)
        } catch {
            throw .unavailable(.unreachable)
        }
        return try await DecisionRecorder(
            store: NoDecisions(), pseudonyms: records.pseudonyms, accounts: records.accountStore
        ).rental(of: claims, content, now: now)
    }
}

/// A store that commits nothing, because an explanation must not change any count.
private struct NoDecisions: DecisionStore {
    func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        throw .unavailable(.notWritable)
    }
}

/// A source without keys, for an explanation without an SPC. No database is opened for it.
private struct NoContentKeys: ContentKeySource {
    func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? { nil }
}
