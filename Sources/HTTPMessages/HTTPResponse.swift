/// A response as a handler gives it.
///
/// The connection adds `Date`, `Content-Length` and `Connection`; fields of these names, `Transfer-Encoding`,
/// `Keep-Alive` and `Upgrade` are not sent from `fields`.
package struct HTTPResponse: Equatable, Sendable {
    package var status: HTTPStatus
    package var fields: HTTPFields
    /// Not sent for HEAD, 204 and 304.
    package var body: [UInt8]
    /// Whether the connection ends after this response, even if the client asks to keep it.
    package var closesConnection: Bool

    package init(
        status: HTTPStatus, fields: HTTPFields = HTTPFields(), body: [UInt8] = [], closesConnection: Bool = false
    ) {
        self.status = status
        self.fields = fields
        self.body = body
        self.closesConnection = closesConnection
    }
}
