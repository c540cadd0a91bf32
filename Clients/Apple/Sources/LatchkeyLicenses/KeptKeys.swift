/// Decides for each request whether the device uses the key that it keeps, or asks the server for a new one.
///
/// The old key stays in use until the new one is stored. Only a key that the device has called expired is not used
/// again.
public struct KeptKeys: Sendable {
    /// What to do with a request for a key.
    public enum Step: Equatable, Sendable {
        /// Answer with the stored key.
        case use
        /// Ask the server for the first key, and then call `finished`.
        case get
        /// Ask the server for another key in place of the stored one, and then call `finished`.
        case renew
        /// Another request asks the server already. Answer with its result.
        case join
    }

    private var asked: Set<String> = []
    private var expired: Set<String> = []
    private var underWay: Set<String> = []

    public init() {}

    /// The app wants another key in place of the stored one. Returns false if a request for one is under way.
    public mutating func ask(for keyURI: String) -> Bool {
        guard !underWay.contains(keyURI) else { return false }
        asked.insert(keyURI)
        return true
    }

    /// The device or the server has said that the stored key has expired.
    public mutating func hasExpired(_ keyURI: String) {
        expired.insert(keyURI)
    }

    /// The step to take for a request.
    public mutating func step(for keyURI: String, isStored: Bool) -> Step {
        let mustRenew = expired.contains(keyURI)
        if isStored, !mustRenew, underWay.contains(keyURI) || asked.remove(keyURI) == nil { return .use }
        guard underWay.insert(keyURI).inserted else { return .join }
        asked.remove(keyURI)
        return isStored ? .renew : .get
    }

    /// Whether the server is asked for this key, and the answer is still wanted.
    public func isUnderWay(_ keyURI: String) -> Bool {
        underWay.contains(keyURI)
    }

    /// The request to the server has ended. After a failure, returns whether the stored key may still be used.
    public mutating func finished(_ keyURI: String, hasNewKey: Bool) -> Bool {
        underWay.remove(keyURI)
        if hasNewKey { expired.remove(keyURI) }
        return !expired.contains(keyURI)
    }

    /// The stored key was deleted. The answer to a request that is under way is not stored.
    public mutating func forget(_ keyURI: String) {
        asked.remove(keyURI)
        expired.remove(keyURI)
        underWay.remove(keyURI)
    }
}
