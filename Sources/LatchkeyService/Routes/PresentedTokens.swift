import Entitlements
import HTTPMessages
import HTTPServing
import Synchronization

/// Finds the token of a request by the sources of the configuration that is in force.
final class PresentedTokens: Sendable {
    private let finder: Mutex<TokenFinder>

    init(_ finder: TokenFinder = TokenFinder()) {
        self.finder = Mutex(finder)
    }

    /// For requests that arrive from now on.
    func replaceFinder(with finder: TokenFinder) {
        self.finder.withLock { $0 = finder }
    }

    /// Nil where the request presents none. Throws `tokenAmbiguous` and `tokenMalformed`.
    func token(of request: HTTPRequest) throws(EntitlementError) -> PresentedToken? {
        let finder = finder.withLock { $0 }
        let fields = request.fields
        return try finder.token(
            in: TokenCarriers(fieldValues: { fields.values(of: $0) }, query: request.query))
    }
}
