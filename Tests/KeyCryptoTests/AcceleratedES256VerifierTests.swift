import TestSupport
import Testing

@testable import KeyCrypto

/// The batches of signatures with an accelerator. The stand-in library checks in the place of crypto_mb.
@Suite(.tags(.startsProcesses)) struct AcceleratedES256VerifierTests {
    private let standIn: StandInAccelerator
    private let accelerator: CryptoAccelerator
    private let verifier: AcceleratedES256Verifier
    private let events = AcceleratorEvents()
    private let crypto: CryptoContext
    private let keys: [ES256PrivateKey]

    init() throws {
        standIn = try StandInAccelerator()
        accelerator = try standIn.start { [events] in events.append($0) }
        verifier = AcceleratedES256Verifier(accelerator)
        crypto = try CryptoContext()
        keys = [try ES256PrivateKey.generate(), try ES256PrivateKey.generate()]
    }

    /// A check of a signature that the two keys have made in turn. A forged one is of another message.
    private func check(_ number: Int, isForged: Bool = false) throws -> ES256Check {
        let key = keys[number % 2]
        let message = Array("header.payload\(number)".utf8)
        let signature = try key.signature(for: isForged ? message + [0] : message)
        return try #require(ES256Check(signature[...], for: message[...], by: key.publicKey, using: crypto))
    }

    /// A batch has seven. One of one or two goes to OpenSSL.
    @Test(arguments: [(0, 0), (1, 0), (2, 0), (3, 1), (7, 1), (8, 1), (9, 1), (10, 2), (14, 2), (20, 3)])
    func checksInBatches(count: Int, batches: Int) throws {
        let forged = Set([1, 4, 7, 13].filter { $0 < count })
        let checks = try (0..<count).map { try check($0, isForged: forged.contains($0)) }
        #expect(verifier.verify(checks) == (0..<count).map { !forged.contains($0) })
        #expect(standIn.takeCheckCount() == batches)
        #expect(accelerator.signatureBatchCount == UInt64(batches))
        let rest = count % 7 <= 2 ? count % 7 : 0
        #expect(accelerator.signatureCheckCount == UInt64(count - rest))
        #expect(events.all == [], "a forged signature is no wrong result")
    }

    /// No good token is refused because the accelerator is wrong, and such an accelerator is given up.
    @Test(arguments: [0, 3, 7]) func asksOpenSSLAboutInvalidOnes(lane: Int) throws {
        standIn.order(.refusedSignature, lane: lane)
        let checks = try (0..<7).map { try check($0) }
        // In one of eight batches, the lane has the forged signature.
        for _ in 0...CryptoAccelerator.wrongResultsMaximum {
            #expect(verifier.verify(checks) == [Bool](repeating: true, count: 7))
        }
        #expect(accelerator.wrongResultCount == CryptoAccelerator.wrongResultsMaximum)
        let refusal = AcceleratorRefusal.resultsWrong(count: CryptoAccelerator.wrongResultsMaximum)
        #expect(events.all == [.resultWrong(.es256), .givenUp(refusal)])
        #expect(!verifier.gainsFromBatches)
        _ = standIn.takeCheckCount()
        #expect(verifier.verify(checks) == [Bool](repeating: true, count: 7))
        #expect(standIn.takeCheckCount() == 0, "OpenSSL serves")
    }

    /// A library that begins to accept everything is given up with the first batch, which accepts no forged token.
    @Test(arguments: [3, 5, 7]) func givesUpALibraryThatAcceptsForgeries(count: Int) throws {
        let checks = try (0..<count).map { try check($0, isForged: $0 % 2 == 1) }
        let expected = (0..<count).map { $0 % 2 == 0 }
        #expect(verifier.verify(checks) == expected)
        standIn.order(.acceptedSignatures)
        #expect(verifier.verify(checks) == expected)
        #expect(events.all == [.givenUp(.forgeryAccepted)])
        #expect(!accelerator.isServing && !verifier.gainsFromBatches)
        #expect(accelerator.wrongResultCount == 1)
        _ = standIn.takeCheckCount()
        #expect(verifier.verify(checks) == expected)
        #expect(standIn.takeCheckCount() == 0, "OpenSSL serves")
    }

    /// Every lane has the forged signature at some time.
    @Test func movesTheForgery() throws {
        let checks = try (0..<7).map { try check($0) }
        for _ in 0..<20 { #expect(verifier.verify(checks) == [Bool](repeating: true, count: 7)) }
        #expect(events.all == [])
        #expect(standIn.takeForgedLanes() == Set(0..<8))
    }

    @Test func takesNoSignatureOfAnotherSize() {
        for size in [0, 63, 65, 72] {
            let signature = [UInt8](repeating: 1, count: size)
            #expect(ES256Check(signature[...], for: [1, 2, 3], by: keys[0].publicKey, using: crypto) == nil)
        }
    }

    /// The words that the accelerator gets are the point of the key: RFC 7515, appendix A.3.
    @Test func givesThePointOfTheKey() throws {
        let x = hex("7fcdce2770f6c45d4183cbee6fdb4b7b580733357be9ef13bacf6e3c7bd15445")
        let y = hex("c7f144cd1bbd9b7e872cdfedb9eeb9f4b3695d6ea90b24ad8a4623288588e5ad")
        let words = try ES256PublicKey(x: x, y: y).pointWords
        let bytes = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        #expect(bytes == Array(x.reversed()) + Array(y.reversed()))
    }
}
