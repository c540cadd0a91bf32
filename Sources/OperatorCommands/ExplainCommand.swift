import Administration
import ByteCoding
import CommandLineKit
import ContentKeys
import Entitlements
import FairPlay
import KeyCrypto
import Licensing
import POSIXSockets
import Records
import ServiceConfiguration

extension Command {
    private static let config = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration", isRequired: true)
    private static let spc = CommandOption(
        "--spc", .value("FILE"),
        help: "the SPC of a request, as raw bytes: then content, device and terms are explained too")
    private static let offline = CommandOption(
        "--offline", .flag, help: "explain a licence that the device keeps, as ?offline=1 asks for one")
    private static let address = CommandOption(
        "--address", .value("IP"), help: "the client's address, where the token has rules about it")

    private static let country = CommandOption(
        "--country", .value("CODE"), help: "the client's country, as ISO 3166-1 writes it: two capital letters")

    /// `latchkey token explain`
    static let explainToken = Command(
        "explain",
        summary: "Show every check of a token, and with an SPC the licence that would come of it",
        details: """
            Goes through the daemon's decision with the same code, and shows for each check whether it passed, and why not. With an
            SPC it also shows what the device would be told, and the true cause where the daemon only says spc_rejected. Nothing is
            issued, and nothing is spent. What is counted in the store (uses, devices, playbacks) is named and not looked up;
            what is revoked, and what is remembered of a rental, is looked up. A check that has not passed shows the values
            that it found and those that it expects, also of a token without a good signature. The exit status is 1 for a
            refusal. A running daemon does the same by POST /v1/explain on its admin listener.
            """,
        examples: [
            "latchkey token explain viewer.jwt --config latchkey.json5",
            "latchkey token explain - --config latchkey.json5 --spc request.spc --json",
        ],
        operands: [CommandOperand("FILE", help: "the token, or \"-\" for standard input")],
        options: [config, spc, offline, address, country, .json],
        run: { arguments, context throws(CommandError) in
            let use: LicenseUse? = arguments.isSet(offline) ? .offline : nil
            let subject = LicenseExplainer.Subject(
                token: try readToken(arguments, context), message: try readMessage(arguments, context), use: use,
                origin: RequestOrigin(address: try readAddress(arguments), country: try readCountry(arguments)))
            let explainer = try await makeExplainer(
                configuration: try arguments.required(config), looksUpKeys: subject.message != nil, context)
            let report = try await wrapAsync(
                { (error: CryptoError) in CommandError.failed("OpenSSL failed (\(error))") },
                try ExplanationReport(await explainer.explain(subject, now: context.now)))
            if arguments.isSet(.json) {
                try context.printObject(report.write)
            } else {
                try context.print(report.text)
            }
            if report.isAllowed == false { throw .failed("the request would be refused") }
        })

    /// Without the line feed that an editor or a shell puts behind it.
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
        let file = try wrap(
            CommandError.configuration, try ConfigurationFile(path: path, environment: context.environment))
        let loaded = try wrap(
            CommandError.configuration, try LoadedConfiguration.load(file, environment: context.environment))
        let revocations = try await OpenedRecords.view(of: file, context)
        let keys: any ContentKeySource =
            looksUpKeys ? try OpenedKeyStore(configuration: path, context) : NoContentKeys()
        return LicenseExplainer(
            rules: LicenseRules(loaded), keys: RecentContentKeys(source: keys), revocations: revocations,
            operations: RSAOperationCount(),
            rentals: { claims, content, now async throws(StoreError) in
                try await rental(of: claims, content, now: now, configuration: path, context)
            })
    }

    /// Opened only for a token with a rental. A database that cannot be opened leaves the rental unknown.
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

/// An explanation decides nothing.
private struct NoDecisions: DecisionStore {
    func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        throw .unavailable(.notWritable)
    }
}

/// If no SPC names a key, no database is opened.
private struct NoContentKeys: ContentKeySource {
    func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? { nil }
}
