import HTTPMessages
import HTTPServing

/// The description of the routes in OpenAPI 3.1, as JSON (the article "The API as OpenAPI").
///
/// It is the same in every installation: what is configured does not show. `openapi.json` beside this file is its
/// source, and `Scripts/embed-openapi` writes the texts.
enum APIDescription {
    /// Whose routes are described.
    enum Scope: Sendable {
        /// What strangers can reach. Nothing of admin listeners shows.
        case publicListener
        /// The routes of both listeners, for operators.
        case allListeners
    }

    static let path = "/openapi.json"

    private static let bodyOfPublicListener = Array(textOfPublicListener.utf8)
    private static let bodyOfAllListeners = Array(textOfAllListeners.utf8)

    /// All answers share the bytes of their body.
    static func response(_ scope: Scope, _ id: RequestID) -> HTTPResponse {
        let body =
            switch scope {
            case .publicListener: bodyOfPublicListener
            case .allListeners: bodyOfAllListeners
            }
        return HTTPResponse(status: .ok, fields: .answer("application/json", id), body: body)
    }
}
