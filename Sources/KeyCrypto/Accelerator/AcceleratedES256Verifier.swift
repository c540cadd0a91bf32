/// Checks ES256 signatures in batches: up to seven run side by side in an accelerator.
///
/// A full batch costs hardly more than a single check, so a batch of few goes to OpenSSL instead.
///
/// The accelerator is watched while it serves. OpenSSL checks what the accelerator finds invalid, so no good token is
/// refused because of a fault. The eighth lane, another one in each batch, has a forged signature. If the accelerator
/// finds it valid, OpenSSL checks the whole batch, and the accelerator is given up.
package final class AcceleratedES256Verifier: ES256Verifier {
    /// So many checks cost OpenSSL less than a batch costs the accelerator. Measured: 70 us for a check against 167 us
    /// for a batch.
    private static let openSSLMaximum = 2

    private let accelerator: CryptoAccelerator
    private let lanes: ES256Lanes
    /// A check that must fail; nil if OpenSSL could not make it, and then OpenSSL serves.
    private let forgery: ES256Check?
    /// The lane of the forgery in the next batch.
    private var forgedLane = 0

    package init(_ accelerator: CryptoAccelerator) {
        self.accelerator = accelerator
        lanes = ES256Lanes(accelerator.library)
        forgery = try? Self.makeForgery()
    }

    package var groupSize: Int { AcceleratorLibrary.laneCount - 1 }
    package var gainsFromBatches: Bool { forgery != nil && accelerator.isServing }

    package func verify(_ checks: [ES256Check]) -> [Bool?] {
        var verdicts = [Bool?](repeating: nil, count: checks.count)
        var accelerated: [Int] = []
        for (index, check) in checks.enumerated() {
            if check.key.fitsLanes { accelerated.append(index) } else { verdicts[index] = check.verify() }
        }
        for start in stride(from: 0, to: accelerated.count, by: groupSize) {
            let group = accelerated[start..<min(start + groupSize, accelerated.count)]
            for (index, verdict) in zip(group, verify(group: group.map { checks[$0] })) { verdicts[index] = verdict }
        }
        return verdicts
    }

    /// Checks as many signatures as a group has, with keys that the accelerator can use.
    private func verify(group: [ES256Check]) -> [Bool?] {
        guard group.count > Self.openSSLMaximum, accelerator.isServing, let forgery else {
            return group.map { $0.verify() }
        }
        accelerator.signatures.add(group.count)
        var batch = group
        let position = forgedLane % (group.count + 1)
        forgedLane = (forgedLane + 1) % AcceleratorLibrary.laneCount
        batch.insert(forgery, at: position)
        var found = lanes.verify(batch)
        guard !found.remove(at: position) else {
            accelerator.noteAcceptedForgery()
            return group.map { $0.verify() }
        }
        return zip(group, found).map { check, isValid in
            if isValid { return true }
            let verdict = check.verify()
            if verdict == true { accelerator.noteWrongResult(of: .es256) }
            return verdict
        }
    }

    /// A signature by a new key, of another message. Returns nil if it cannot be checked in a lane.
    private static func makeForgery() throws(CryptoError) -> ES256Check? {
        let (key, message) = (try ES256PrivateKey.generate(), try RandomBytes.generate(count: 32))
        let signature = try key.signature(for: message + [0])
        let forgery = ES256Check(signature[...], for: message[...], by: key.publicKey, using: try CryptoContext())
        return key.publicKey.fitsLanes && forgery?.verify() == false ? forgery : nil
    }
}
