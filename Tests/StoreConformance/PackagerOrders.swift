package import ByteCoding
package import ContentKeys
import TestSupport
import Testing

/// Two packagers choose ids, periods and withdrawals at random. No order of one packager may change what the asset ids
/// of the other one give.
package enum PackagerOrders {
    package typealias Store = ContentKeyStore & KeyProvider & LivePeriodStore

    /// The ids of one round, which no other round uses.
    private struct Names {
        /// For each packager, its contents.
        var contents: [[ContentID]] = [[], []]
        /// Key ids that either packager may choose. Most of them spell a content of one of the packagers.
        var keyIDs: [KeyID] = []

        init(using random: inout SeededGenerator) throws {
            for form in 0..<22 {
                let digits = (0..<8).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
                let keyID = try #require(KeyID(bytes: random.bytes(count: 16)))
                let base64 = Base64.encode(keyID.bytes)
                let (text, spelling): (String, [UInt8]) =
                    switch form % 11 {
                    case 0: (keyID.description, keyID.bytes)
                    case 1: (keyID.description.uppercased(), keyID.bytes)
                    case 2: (keyID.hexadecimal, keyID.bytes)
                    case 3: (base64, keyID.bytes)
                    case 4: (base64.replacing("=", with: "").replacing("+", with: "-"), keyID.bytes)
                    case 5: ("\(keyID):00112233445566778899aabbccddeeff", keyID.bytes)
                    case 6: ("b/movie-" + digits, Array("b/movie-\(digits)".utf8))
                    case 7: (digits, digits.utf8.flatMap { [$0, 0] })
                    case 8: ("mo" + digits, Array("skd://mo\(digits)".utf8))
                    case 9: ("movi" + digits, Array("cid=movi\(digits)".utf8))
                    default: ("vod/\(keyID)", keyID.bytes)
                    }
                contents[Int.random(in: 0...1, using: &random)].append(try ContentID(text))
                keyIDs.append(try #require(KeyID(bytes: spelling)))
                if form % 4 == 0 { keyIDs.append(try #require(KeyID(bytes: random.bytes(count: 16)))) }
            }
        }
    }

    /// What a packager has stored.
    private struct Holdings {
        var contents: Set<ContentID> = []
        var keys: [KeyID: ContentID] = [:]

        /// The asset ids of the packager: its contents and its keys, in the forms that players use.
        func assetIDs() throws -> [AssetID] {
            var found: [[UInt8]] = []
            for contentID in contents {
                let text = contentID.text
                for form in [text, "skd://" + text, "SKD:" + text, "cid=" + text, "x?contentId=" + text] {
                    found += [Array(form.utf8), form.utf8.flatMap { [$0, 0] }]
                }
            }
            for keyID in keys.keys {
                found.append(keyID.bytes)
                for form in [
                    "\(keyID)", "skd://\(keyID)", keyID.hexadecimal.uppercased(), Base64.encode(keyID.bytes),
                    "keys.example.com/license/\(keyID)", "x?kid=\(keyID)&cid=\(keys[keyID]?.text ?? "")",
                ] { found.append(Array(form.utf8)) }
            }
            return try found.map { try AssetID(bytes: $0) }
        }
    }

    /// Places `count` random orders. `open` opens one empty database, and `set` withdraws or restores a key.
    package static func run(
        count: Int, open: () throws -> any Store, set: (ContentKeyState, KeyID) async throws -> Void
    ) async throws {
        var random = SeededGenerator.announced("orders of two packagers")
        let store = try open()
        var (storedCount, spelledCount, farCount, placed) = (0, 0, 0, 0)
        var number: UInt64 = 0
        while placed < count {
            let names = try Names(using: &random)
            var holdings = [Holdings(), Holdings()]
            var given: [[AssetID: String]] = [[:], [:]]
            for packager in 0...1 {
                for contentID in names.contents[packager].prefix(2) {
                    #expect(try await store.set(LiveContent(contentID, window: 2)))
                }
            }
            for _ in 0..<min(50, count - placed) {
                placed += 1
                let packager = Int.random(in: 0...1, using: &random)
                guard let contentID = names.contents[packager].randomElement(using: &random) else { continue }
                let kind = Int.random(in: 0..<10, using: &random)
                if kind < 7 {
                    number += 1
                    let source = try SampleKeys.record(number)
                    let isNamed = Bool.random(using: &random)
                    let chosen = isNamed ? names.keyIDs.randomElement(using: &random) : nil
                    let periods: [UInt32?] = [nil, nil, 1, 2, 3, 200, 1_000_000]
                    let attributes = ContentKeyAttributes(
                        keyID: chosen ?? source.keyID, contentID: contentID,
                        periodIndex: periods.randomElement(using: &random) ?? nil, createdAt: 0)
                    let record = try ContentKeyRecord(attributes: attributes, key: source.key, iv: source.iv)
                    do throws(KeyProvisionError) {
                        let wish = KeyWish(record: record, identity: isNamed ? .keyID : .track)
                        for key in try await store.provide([wish]) where key.isNew {
                            holdings[packager].contents.insert(contentID)
                            holdings[packager].keys[key.record.keyID] = contentID
                            storedCount += 1
                        }
                    } catch .store(.keyIDSpellsContent) {
                        spelledCount += 1
                    } catch .store(.periodTooFar) {
                        farCount += 1
                    } catch {
                        guard case .conflict = error else { throw error }
                    }
                } else if kind < 9, let keyID = holdings[packager].keys.keys.sorted().randomElement(using: &random) {
                    do throws(any Error) {
                        try await set(Bool.random(using: &random) ? .withdrawn : .live, keyID)
                    } catch let error as StoreError {
                        guard case .keyIDSpellsContent = error else { throw error }
                    }
                } else {
                    let start = Int64.random(in: 0...2_000, using: &random)
                    let period = KnownPeriod(index: .random(in: 1...3, using: &random), start: start)
                    try await store.note([period], of: contentID)
                }
                let other = 1 - packager
                let changed = try await answers(to: holdings[other], of: store)
                #expect(changed == given[other], "order \(placed) of packager \(packager) for \(contentID)")
                given[packager] = try await answers(to: holdings[packager], of: store)
                given[other] = changed
            }
        }
        // Otherwise the orders would not have met. A few orders need not have a period that is too far.
        #expect(storedCount > count / 10 && spelledCount > 0 && (farCount > 0 || count < 1000))
    }

    /// What the packager's asset ids give: a key and whether its period is served, several keys, or nothing.
    private static func answers(to holdings: Holdings, of store: any Store) async throws -> [AssetID: String] {
        var answers: [AssetID: String] = [:]
        var served: [ContentID: PeriodWindow] = [:]
        for contentID in holdings.contents {
            served[contentID] = try await store.livePeriods(of: contentID)?.window(at: 1_000...1_000)
        }
        for assetID in try holdings.assetIDs() {
            do throws(StoreError) {
                let key = try await store.record(for: AssetReference(assetID))?.attributes
                let refusal = key.flatMap { key in
                    key.periodIndex.flatMap { served[key.contentID]?.refusal(of: $0, key.contentID) }
                }
                answers[assetID] = "\(key.map { "\($0.keyID)" } ?? "none") \(refusal.map { "\($0)" } ?? "")"
            } catch {
                answers[assetID] = "\(error)"
            }
        }
        return answers
    }
}
