import ByteCoding
import ContentKeys
import Records

/// The body of `POST /fps/licenses/query`: asks about licenses by their ids, or about the licenses for assets.
enum LicenseQuery: Equatable, Sendable {
    case licenses([LicenseID?], texts: [String])
    case assets([Asset])

    /// The most licenses or assets that one request may name.
    static let countMaximum = 32
    private static let limits = JSONLimits(sizeMaximum: 16_384, depthMaximum: 3)

    struct Asset: Equatable, Sendable {
        /// The asset id as the request has it.
        let text: String
        let assetID: AssetID
        private let candidates: [AssetCandidate]

        init?(_ text: String, _ forms: AssetForms = .none) {
            guard let assetID = try? AssetID(bytes: Array(text.utf8)) else { return nil }
            self.text = text
            self.assetID = assetID
            candidates = AssetReference(assetID, forms).candidates
        }

        /// Whether an entry of the ledger is about the asset.
        func isMeant(by entry: LedgerEntry) -> Bool {
            candidates.contains { candidate in
                switch candidate {
                case .alias: false
                case .keyID(let keyID): entry.keyID == keyID
                case .contentID(let contentID): entry.content?.hasSameUTF8(as: contentID.text) ?? false
                // The ledger does not have the track.
                case .track(let track): entry.content?.hasSameUTF8(as: track.contentID.text) ?? false
                }
            }
        }
    }

    /// Nil unless the body is an object with one member, `licenses` or `assets`, that is a list with 1 to
    /// `countMaximum` texts.
    init?(_ body: [UInt8], _ forms: AssetForms = .none) {
        guard let object = (try? JSONReader.parse(body, limits: Self.limits))?.object, object.members.count == 1,
            let member = object.members.first, let elements = member.node.array,
            (1...Self.countMaximum).contains(elements.count)
        else { return nil }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count, texts.allSatisfy({ (1...200).contains($0.utf8.count) }) else { return nil }
        switch member.name {
        case "licenses": self = .licenses(texts.map { LicenseID(text: $0) }, texts: texts)
        case "assets":
            let assets = texts.compactMap { Asset($0, forms) }
            guard assets.count == texts.count else { return nil }
            self = .assets(assets)
        default: return nil
        }
    }
}
