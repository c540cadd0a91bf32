import Entitlements
import EventLoops
import KeyCrypto

/// Collects the ES256 signatures of the tokens that one loop's requests bring, and has them checked in groups on the
/// thread beside the loop (`LoopContext.compute`).
///
/// A check ahead only saves time: if a signature was not checked here, OpenSSL checks it when its token is verified. So
/// nothing waits for long, and nothing is refused here.
final class SignatureQueue: @unchecked Sendable {
    // Safe to send: only its loop uses it. The backend's `verify` is called on the thread beside the loop alone.

    @safe
    private struct Waiter {
        let signature: PendingSignature
        let tokens: VerifiedTokenCache
        let continuation: UnsafeContinuation<Void, Never>
    }

    /// What the thread checks at once. Safe to send: the continuations are resumed on the loop.
    private struct Group: @unchecked Sendable {
        let waiters: [Waiter]
    }

    /// The most signatures that may wait. Their checks take about 20 ms.
    private static let waitingMaximum = 1024

    private let verifier: any ES256Verifier
    private let loop: LoopContext
    private var waiters: [Waiter] = []
    private var isComputing = false

    init(verifier: any ES256Verifier, on loop: LoopContext) {
        self.verifier = verifier
        self.loop = loop
        loop.atTurnEnd { [unowned self] turn in run(turn) }
    }

    /// Whether it is worth to collect signatures.
    var isCollecting: Bool { verifier.gainsFromBatches && waiters.count < Self.waitingMaximum }

    /// Checks a signature together with others, and lets `tokens` know the verdict. Returns on the same loop.
    func check(_ signature: PendingSignature, for tokens: VerifiedTokenCache) async {
        guard isCollecting else { return }
        // Resumed exactly once: the code that takes a waiter out resumes it, and `run` is called at the end of every
        // turn in which one waits.
        unsafe await withUnsafeContinuation { continuation in
            unsafe waiters.append(Waiter(signature: signature, tokens: tokens, continuation: continuation))
        }
    }

    private func run(_ turn: TurnEnd) -> TurnEndVerdict {
        while !waiters.isEmpty, !isComputing {
            // A group that is not full waits for more until a poll brings none. A single signature does not wait.
            if (2..<verifier.groupSize).contains(waiters.count), !turn.isQuiet { return .pollAgain }
            compute(Group(waiters: Array(waiters.prefix(verifier.groupSize))))
        }
        return .done
    }

    private func compute(_ group: Group) {
        isComputing = true
        waiters.removeFirst(group.waiters.count)
        loop.compute { [self] in
            verifier.verify(group.waiters.map(\.signature.check))
        } then: { [self] verdicts in
            isComputing = false
            for (waiter, verdict) in zip(group.waiters, verdicts) {
                if let verdict { waiter.tokens.settle(waiter.signature, isValid: verdict) }
                unsafe waiter.continuation.resume()
            }
        }
    }
}
