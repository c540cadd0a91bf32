import ByteCoding
import ContentKeys
import Records

/// What `POST /fps/licenses/query` asks about: licences by their ids, or what was given for assets.
enum LicenseQuery: Equatable, Sendable {
    case licenses([LicenseID?], texts: [String])
    case assets([Asset])

    /// How many of either one request may name.
    static let countMaximum = 32
    private static let limits = JSONLimits(sizeMaximum: 16_384, depthMaximum: 3)

    struct Asset: Equatable, Sendable {
        /// As the request names it.
        let text: String
        let assetID: AssetID
        private let candidates: [AssetCandidate]

        init?(_ text: String) {
            guard let assetID = try? AssetID(bytes: Array(text.utf8)) else { return nil }
            self.text = text
            self.assetID = assetID
            candidates = AssetReference(assetID).candidates
        }

        /// Whether an entry of the ledger is about the asset.
        func isMeant(by entry: LedgerEntry) -> Bool {
            candidates.contains { candidate in
                switch candidate {
                case .alias: false
                case .keyID(let keyID): entry.keyID == keyID
                case .contentID(let contentID):
                    entry.content.map { $0.utf8.elementsEqual(contentID.text.utf8) } ?? false
                }
            }
        }
    }

    /// Nil unless the body is an object of one member that is such a list, which has something in it.
    init?(_ body: [UInt8]) {
        guard let object = (try? JSONReader.parse(body, limits: Self.limits))?.object, object.members.count == 1,
            let member = object.members.first, let elements = member.node.array,
            (1...Self.countMaximum).contains(elements.count)
        else { return nil }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count, texts.allSatisfy({ (1...200).contains($0.utf8.count) }) else { return nil }
        switch member.name {
        case "licenses": self = .licenses(texts.map { LicenseID(text: $0) }, texts: texts)
        case "assets":
            let assets = texts.compactMap { Asset($0) }
            guard assets.count == texts.count else { return nil }
            self = .assets(assets)
        default: return nil
        }
    }
}
