import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import PackagerAPI
import ServiceConfiguration

extension Command {
    static let exportKeys = Command(
        "export",
        summary: "Write the keys of a content in a packager's format",
        details: """
            The formats are those of GET /v1/keys/{contentId}?format=. Every format except hls has keys and vectors in clear, so it
            needs --reveal, and the configuration must allow that (keys.allowReveal). The ledger records each key before it is
            written. Withdrawn keys are left out. A format with room for one key needs --track or --period if several keys match.
            """,
        examples: [
            "latchkey keys export --config latchkey.json5 --content movie-1 --format hls",
            "latchkey keys export --config latchkey.json5 --content movie-1 --track HD --format shaka --reveal",
        ],
        options: [
            .config, KeyArguments.content, KeyExportArguments.format, KeyExportArguments.track,
            KeyArguments.onlyPeriod, KeyExportArguments.reveal,
        ],
        run: { arguments, context throws(CommandError) in
            try await KeyExportArguments(arguments).run(context)
        })
}

/// The options of `latchkey keys export`, and its work.
private struct KeyExportArguments {
    static let format = CommandOption(
        "--format", .value("NAME"),
        help: "the format: " + KeyExportFormat.allCases.map(\.rawValue).joined(separator: ", "), isRequired: true)
    static let track = CommandOption("--track", .value("LABEL"), help: "only keys with this label")
    static let reveal = CommandOption(
        "--reveal", .flag, help: "write keys and vectors in clear; keys.allowReveal must allow it")

    /// The most keys in one export: 16 pages of what a packager gets by HTTP.
    private static let countMaximum = 1024

    private let configuration: String
    private let contentID: ContentID
    private let format: KeyExportFormat
    private let trackLabel: TrackLabel?
    private let periodIndex: UInt32?
    private let isRevealed: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        configuration = try arguments.required(.config)
        contentID = try KeyArguments.contentID(arguments.required(KeyArguments.content))
        guard let format = KeyExportFormat(rawValue: try arguments.required(Self.format)) else {
            let names = KeyExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("--format takes one of \(names)")
        }
        self.format = format
        trackLabel = try arguments.value(Self.track).map { text throws(CommandError) in
            guard let label = try? TrackLabel(text) else {
                throw .usage("--track takes 1 to 64 printable ASCII characters without space")
            }
            return label
        }
        periodIndex = try arguments.number(KeyArguments.period, in: 0...UInt32.max)
        isRevealed = arguments.isSet(Self.reveal)
        guard isRevealed || format.isPublic else {
            throw .usage("the format \(format.rawValue) has keys in clear: add --reveal")
        }
    }

    func run(_ context: CommandContext) async throws(CommandError) {
        let store = try OpenedKeyStore(configuration: configuration, context)
        if !format.isPublic { try KeyReveal.requireClearPermission(by: store.file) }
        let records = try await records(in: store)
        let document = try document(of: records, store)
        if !format.isPublic {
            try KeyReveal.writeDown(records, detail: "export \(format.rawValue)", store.file, context)
        }
        try context.printPart(document)
    }

    private func records(in store: OpenedKeyStore) async throws(CommandError) -> [ContentKeyRecord] {
        let maintenance = try store.maintenance()
        var keyIDs: [KeyID] = []
        try await store.forEachPage(of: contentID) { page in
            keyIDs += page.filter(isWanted).map(\.keyID)
        }
        guard keyIDs.count <= Self.countMaximum else {
            throw .failed("more than \(Self.countMaximum) keys match; add --track or --period")
        }
        var records: [ContentKeyRecord] = []
        for keyID in keyIDs {
            let found = try await OpenedKeyStore.attempt { () async throws(StoreError) in
                try await maintenance.key(keyID)
            }
            if let found { records.append(found.record) }
        }
        return records
    }

    private func isWanted(_ key: ContentKeyAttributes) -> Bool {
        guard key.state == .live else { return false }
        if let trackLabel, key.trackLabel != trackLabel { return false }
        if let periodIndex, key.periodIndex != periodIndex { return false }
        return true
    }

    private func document(
        of records: [ContentKeyRecord], _ store: OpenedKeyStore
    ) throws(CommandError) -> [UInt8] {
        let settings = store.file.configuration
        do throws(KeyExportError) {
            let export = try KeyExport(records, urls: settings.keys.skdTemplate, authority: settings.publicAuthority)
            return try export.document(format)
        } catch {
            throw .failed(Self.explain(error))
        }
    }

    private static func explain(_ error: KeyExportError) -> String {
        switch error {
        case .noKey: "the content has no live key that matches"
        case .oneKeyOnly: "this format has room for one key, but several match; add --track or --period"
        case .schemeNotPlayed(let keyID, let scheme):
            "this format is for FairPlay, which does not play \(scheme.rawValue), the scheme of the key \(keyID)"
        case .contract: "these keys cannot be in one CPIX document; add --track or --period"
        case .sharedURL: "keys.skdTemplate gives two of these keys the same URL, so players would confuse them"
        case .url: "keys.skdTemplate gives no URL for one of these keys"
        case .severalContents: "the keys are of several contents"
        }
    }
}
