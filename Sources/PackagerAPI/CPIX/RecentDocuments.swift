package import ContentKeys
import Glibc
import Synchronization

/// Remembers recent documents of packagers after they were parsed.
///
/// A packager sends the same document many times: for each of its encoders, after each restart, and until a period
/// ends. A remembered document need not be parsed again. It holds no secret, and depends on nothing but its bytes. The
/// packager's permissions and the keys are looked up each time.
package final class RecentDocuments: Sendable {
    /// The default for the total size of all remembered bodies, in bytes. Their parsed trees take about ten times as
    /// much.
    package static let sizeDefault = 1_048_576

    private struct Name: Hashable {
        let version: SPEKEVersion
        let body: [UInt8]

        /// Compares with `memcmp`, because Swift would compare and hash an array byte by byte. That would take longer
        /// than all other steps together.
        static func == (first: Name, second: Name) -> Bool {
            guard first.version == second.version, first.body.count == second.body.count else { return false }
            let count = first.body.count
            // Safe: both arrays have `count` bytes, and the pointers are used only within the call.
            return unsafe first.body.withUnsafeBytes { first in
                unsafe second.body.withUnsafeBytes { second in
                    guard let first = first.baseAddress, let second = second.baseAddress else { return true }
                    return unsafe memcmp(first, second, count) == 0
                }
            }
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(version)
            // Safe: the hasher reads the bytes only within the call.
            unsafe body.withUnsafeBytes { bytes in unsafe hasher.combine(bytes: bytes) }
        }
    }

    private struct Generations {
        var younger: [Name: ReadDocument] = [:]
        var older: [Name: ReadDocument] = [:]
        /// The total size of the bodies in the younger half, in bytes.
        var youngerSize = 0
    }

    private let halfSize: Int
    private let generations = Mutex(Generations())

    package init(size: Int = sizeDefault) {
        halfSize = size / 2
    }

    /// Returns the parsed request of a body. Throws the same errors as `CPIXRequest`. A refused document is not
    /// remembered.
    package func document(_ body: [UInt8], version: SPEKEVersion) throws(CPIXError) -> ReadDocument {
        let name = Name(version: version, body: body)
        if let known = remembered(name) { return known }
        let document = ReadDocument(try CPIXRequest(parsing: body, version: version))
        remember(document, as: name)
        return document
    }

    /// Returns the document if it is remembered, and otherwise nil.
    package func remembered(_ body: [UInt8], version: SPEKEVersion) -> ReadDocument? {
        remembered(Name(version: version, body: body))
    }

    private func remembered(_ name: Name) -> ReadDocument? {
        let (younger, older) = generations.withLock { generations in
            let younger = generations.younger[name]
            return (younger, younger == nil ? generations.older[name] : nil)
        }
        if let older { remember(older, as: name) }
        return younger ?? older
    }

    /// Remembers a document. When the younger half is full, the older half is forgotten. A document that is larger than
    /// a half is not remembered.
    private func remember(_ document: ReadDocument, as name: Name) {
        guard name.body.count <= halfSize else { return }
        generations.withLock { generations in
            if generations.youngerSize + name.body.count > halfSize {
                generations.older = generations.younger
                generations.younger = [:]
                generations.youngerSize = 0
            }
            generations.youngerSize += name.body.count
            generations.younger[name] = document
        }
    }
}

/// A parsed request, and the latest answer to it without the keys.
package final class ReadDocument: Sendable {
    package let request: CPIXRequest
    /// What the request asks for.
    package let order: KeyOrder
    /// The content id of the request.
    package let contentID: ContentID
    /// Whether the request asks for encrypted keys, so that each answer is different.
    package let isEncrypted: Bool
    private let draft = Mutex<CPIXAnswerDraft?>(nil)
    private let standing = Mutex<StandingAnswer?>(nil)

    init(_ request: CPIXRequest) {
        self.request = request
        order = KeyOrder(request)
        contentID = request.contentID
        isEncrypted = !request.recipients.isEmpty
    }

    /// Returns the answer with these keys. Throws the same errors as `CPIXAnswer`.
    package func answer(
        keys: [PackagedKey], urls: SKDTemplate, authority: String? = nil
    ) throws(CPIXError) -> CPIXAnswer {
        // Each encryption uses fresh random keys, so no draft can be used again.
        guard !isEncrypted else {
            return try CPIXAnswer(to: request, keys: keys, urls: urls, authority: authority)
        }
        return CPIXAnswer(bytes: try draft(keys: keys, urls: urls, authority: authority).filled(with: keys))
    }

    private func draft(
        keys: [PackagedKey], urls: SKDTemplate, authority: String?
    ) throws(CPIXError) -> CPIXAnswerDraft {
        if let known = draft.withLock({ $0 }), known.fits(keys, urls: urls, authority: authority) { return known }
        let made = try CPIXAnswerDraft(to: request, keys: keys, urls: urls, authority: authority)
        draft.withLock { $0 = made }
        return made
    }

    // MARK: - The same answer again

    /// The answer with the keys of a delivery that may be repeated. `answerAgain` gives it again. Throws as
    /// `CPIXAnswer` does. Not for encrypted keys.
    package func answer(
        _ delivery: any RepeatableDelivery, to packager: Packager, urls: SKDTemplate, authority: String?
    ) throws(CPIXError) -> CPIXAnswer {
        precondition(!isEncrypted, "each encryption has fresh keys")
        let keys = delivery.keys.map(PackagedKey.init)
        let draft = try draft(keys: keys, urls: urls, authority: authority)
        let answer = StandingAnswer(delivery: delivery, packager: packager, keys: keys, draft: draft)
        standing.withLock { $0 = answer }
        return answer.filled
    }

    /// The answer that this packager got last, if its delivery may be repeated; counts one delivery.
    package func answerAgain(to packager: Packager, urls: SKDTemplate, authority: String?) -> CPIXAnswer? {
        guard let answer = standing.withLock({ $0 }), answer.packager === packager,
            answer.draft.fits(urls: urls, authority: authority), answer.delivery.countOneMore()
        else { return nil }
        return answer.filled
    }

    /// An answer to one packager.
    private struct StandingAnswer: Sendable {
        let delivery: any RepeatableDelivery
        let packager: Packager
        let keys: [PackagedKey]
        let draft: CPIXAnswerDraft

        var filled: CPIXAnswer { CPIXAnswer(bytes: draft.filled(with: keys)) }
    }
}

/// Keys that a client was given, and may be given again without a look at what it asks for.
package protocol RepeatableDelivery: AnyObject, Sendable {
    var keys: [ContentKeyRecord] { get }

    /// Counts one more delivery of the same keys to the same client. Returns false if they must be asked for again.
    /// Does not wait.
    func countOneMore() -> Bool
}
