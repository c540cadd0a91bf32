package import ByteCoding
package import HTTPMessages
package import HTTPServing

extension HTTPResponse {
    /// An answer with one JSON object of about this many bytes, for one client.
    package static func json(
        _ id: RequestID, expectedSize: Int = 256, _ write: (inout JSONWriter) -> Void
    ) -> HTTPResponse {
        HTTPResponse(
            status: .ok, fields: .answer("application/json", id),
            body: JSONWriter.object(expectedSize: expectedSize, write))
    }
}
