import ByteCoding
import Entitlements
import EventLoops
import KeyCrypto
import Synchronization
import Testing

@testable import Licensing

/// How the signatures of a loop are grouped, with a backend that notes its batches.
@Suite struct SignatureQueueTests {
    /// Full groups come first. The rest waits until a poll brings nothing new, and then is a group too.
    @Test(arguments: [(1, [1]), (2, [2]), (7, [7]), (8, [8]), (9, [8, 1]), (20, [8, 8, 4])])
    func makesGroups(count: Int, groups: [Int]) async throws {
        let stand = try SignatureStand()
        await stand.check(try (0..<count).map { try stand.token($0) })
        #expect(stand.notes.batches == groups)
        for number in 0..<count { #expect(stand.isRefused(try stand.token(number)) == (number % 3 == 2)) }
    }

    /// The next signature is checked after a group was.
    @Test func goesOn() async throws {
        let stand = try SignatureStand()
        for number in 0..<3 { await stand.check([try stand.token(number)]) }
        #expect(stand.notes.batches == [1, 1, 1])
    }

    /// What is not collected is left to the verification of the token.
    @Test func checksNothingIfBatchesGainNothing() async throws {
        let stand = try SignatureStand(gainsFromBatches: false)
        await stand.check([try stand.token(2)])
        #expect(stand.notes.batches == [])
        #expect(!stand.isRefused(try stand.token(2)))
    }
}

/// A loop with a queue, and an issuer of tokens. The backend calls the signature of every third token invalid.
private final class SignatureStand: Sendable {
    let notes = SignatureNotes()
    private let checksLeft = Countdown()
    private let group: EventLoopGroup
    private let queues: LoopLocal<SignatureQueue>
    private let cache: VerifiedTokenCache
    private let key: ES256PrivateKey
    private static let now: Int64 = 1_750_000_000

    init(gainsFromBatches: Bool = true) throws {
        group = try EventLoopGroup(count: 1, computing: true)
        queues = LoopLocal { [notes] loop in
            SignatureQueue(verifier: NotingVerifier(gainsFromBatches, notes), on: loop)
        }
        key = try ES256PrivateKey.generate()
        let issuer = Issuer(
            name: "issuer", audience: "latchkey", keys: [VerificationKey(id: "k", es256: key.publicKey)])
        cache = VerifiedTokenCache(verifier: TokenVerifier(issuers: try IssuerSet([issuer])))
    }

    deinit {
        group.stop(within: .seconds(10))
    }

    /// A good token. The same number gives the same token.
    func token(_ number: Int) throws -> [UInt8] {
        try notes.token(number) {
            let payload =
                #"{"iss":"issuer","aud":"latchkey","sub":"a","jti":"\#(number)","iat":\#(Self.now),"#
                + #""exp":\#(Self.now + 300),"rights":[{"content":"movie"}]}"#
            let signed =
                Base64URL.encode(Array(#"{"alg":"ES256","kid":"k"}"#.utf8)) + "." + Base64URL.encode(payload.utf8)
            return Array((signed + "." + Base64URL.encode(try key.signature(for: Array(signed.utf8)))).utf8)
        }
    }

    /// Hands in all tokens in one turn of the loop, and waits until their signatures were checked.
    func check(_ tokens: [[UInt8]]) async {
        let loop = group.loops[0]
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            checksLeft.start(tokens.count) { continuation.resume() }
            // The closures do not hold this object, because a loop cannot stop itself.
            loop.execute { [queues, checksLeft, cache] in
                for token in tokens {
                    loop.spawn {
                        if let crypto = try? CryptoContext(),
                            let pending = cache.pendingSignature(of: token, now: Self.now, crypto: crypto)
                        {
                            await loop.value(of: queues).check(pending, for: cache)
                        }
                        checksLeft.count()
                    }
                }
            }
        }
    }

    /// Whether the token is refused for its signature.
    func isRefused(_ token: [UInt8]) -> Bool {
        do {
            _ = try cache.verify(token, now: Self.now, crypto: try CryptoContext())
            return false
        } catch {
            return error as? EntitlementError == .signatureInvalid
        }
    }
}

/// The batches of a backend, and the tokens that were made.
private final class SignatureNotes: Sendable {
    private struct State {
        var batches: [Int] = []
        var checkCount = 0
        var tokens: [Int: [UInt8]] = [:]
    }

    private let state = Mutex(State())

    var batches: [Int] { state.withLock { $0.batches } }

    func token(_ number: Int, _ make: () throws -> [UInt8]) throws -> [UInt8] {
        if let known = state.withLock({ $0.tokens[number] }) { return known }
        let made = try make()
        state.withLock { $0.tokens[number] = made }
        return made
    }

    /// Notes a batch, and returns its verdicts.
    func verdicts(ofBatch count: Int) -> [Bool] {
        state.withLock { state in
            state.batches.append(count)
            defer { state.checkCount += count }
            return (0..<count).map { (state.checkCount + $0) % 3 != 2 }
        }
    }
}

/// A backend with groups of eight, which looks at no signature.
private final class NotingVerifier: ES256Verifier {
    let groupSize = 8
    let gainsFromBatches: Bool
    private let notes: SignatureNotes

    init(_ gainsFromBatches: Bool, _ notes: SignatureNotes) {
        self.gainsFromBatches = gainsFromBatches
        self.notes = notes
    }

    func verify(_ checks: [ES256Check]) -> [Bool?] { notes.verdicts(ofBatch: checks.count) }
}
