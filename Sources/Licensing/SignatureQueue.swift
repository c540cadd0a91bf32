import Entitlements
import EventLoops
import KeyCrypto

/// Collects the ES256 signatures of the tokens that one loop's requests bring within a turn, and has them checked in
/// groups at the turn's end.
///
/// Belongs to its loop. Each turn end checks one group, and resumes its requests before the next group. A check ahead
/// only saves time: if a signature was not checked here, OpenSSL checks it when its token is verified. So nothing waits
/// for long, and nothing is refused here.
final class SignatureQueue {
    @safe
    private struct Waiter {
        let signature: PendingSignature
        let tokens: VerifiedTokenCache
        let continuation: UnsafeContinuation<Void, Never>
    }

    /// The most signatures that may wait. Their checks take about 20 ms.
    private static let waitingMaximum = 1024

    private let verifier: any ES256Verifier
    private var waiters: [Waiter] = []

    init(verifier: any ES256Verifier, on loop: LoopContext) {
        self.verifier = verifier
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
        guard !waiters.isEmpty else { return .done }
        // A group that is not full waits for more until a poll brings none. A single signature does not wait.
        if (2..<verifier.groupSize).contains(waiters.count), !turn.isQuiet { return .pollAgain }
        let group = waiters.prefix(verifier.groupSize)
        waiters.removeFirst(group.count)
        for (waiter, verdict) in zip(group, verifier.verify(group.map(\.signature.check))) {
            if let verdict { waiter.tokens.settle(waiter.signature, isValid: verdict) }
        }
        for waiter in group { unsafe waiter.continuation.resume() }
        return waiters.isEmpty ? .done : .workLeft
    }
}
