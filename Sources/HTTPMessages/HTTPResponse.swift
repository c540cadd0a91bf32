import ByteCoding

/// A response of a handler.
///
/// The connection adds `Date`, `Content-Length` and `Connection`. Fields with these names, `Transfer-Encoding`,
/// `Keep-Alive` and `Upgrade` in `fields` are not sent.
package struct HTTPResponse: Equatable, Sendable {
    package var status: HTTPStatus
    package var fields: HTTPFields
    /// The body, which is not sent for HEAD, 204 and 304.
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

/// How a response is written, depending on the state of the connection.
package struct HTTPResponsePlan: Equatable, Sendable {
    /// The `Connection` field of the response (RFC 9112 section 9.3).
    package enum Connection: Equatable, Sendable {
        /// No field: an HTTP/1.1 connection stays open by default.
        case unmentioned
        /// `keep-alive`, which an HTTP/1.0 client asked for.
        case keepAlive
        /// `close`.
        case close
    }

    /// How the client finds the end of the body.
    package enum Framing: Equatable, Sendable {
        /// By its length, which the head names.
        case length
        /// Each piece of the body is a chunk. An empty chunk is the last one (RFC 9112 section 7.1).
        case chunked
        /// The body ends when the connection closes, because the client knows no chunks.
        case untilClose
    }

    /// Whether only the length of the body is sent, because the method was HEAD.
    package let omitsBody: Bool
    package var connection: Connection
    package var framing = Framing.length

    package init(omitsBody: Bool, connection: Connection) {
        self.omitsBody = omitsBody
        self.connection = connection
    }
}

extension HTTPResponsePlan.Framing {
    /// Appends a piece of a streamed body. After the last piece, the body has ended.
    package func append(_ piece: [UInt8], isLast: Bool, to output: inout [UInt8]) {
        switch self {
        case .length, .untilClose:
            output += piece
        case .chunked:
            if !piece.isEmpty {
                output.append(contentsOf: String(piece.count, radix: 16).utf8)
                output.append(utf8Of: "\r\n")
                output += piece
                output.append(utf8Of: "\r\n")
            }
            if isLast { output.append(utf8Of: "0\r\n\r\n") }
        }
    }
}

extension HTTPResponse {
    /// Appends the response as HTTP/1.1 bytes, head and body in one piece.
    ///
    /// `date` is the value of the `Date` field, 29 bytes (`HTTPDate`).
    package func append(to output: inout [UInt8], plan: HTTPResponsePlan, date: [UInt8]) {
        output.reserveCapacity(output.count + 256 + fields.storage.count + body.count)
        appendStatusLine(to: &output)
        output.append(utf8Of: "Date: ")
        output.append(contentsOf: date)
        if !status.forbidsBody {
            switch plan.framing {
            case .length:
                output.append(utf8Of: "\r\nContent-Length: ")
                output.append(decimal: UInt64(body.count))
            case .chunked: output.append(utf8Of: "\r\nTransfer-Encoding: chunked")
            case .untilClose: break
            }
        }
        switch plan.connection {
        case .unmentioned: break
        case .keepAlive: output.append(utf8Of: "\r\nConnection: keep-alive")
        case .close: output.append(utf8Of: "\r\nConnection: close")
        }
        output.append(utf8Of: "\r\n")
        appendFields(to: &output)
        output.append(utf8Of: "\r\n")
        if !plan.omitsBody && !status.forbidsBody && plan.framing == .length { output.append(contentsOf: body) }
    }

    /// The interim response 100, which tells the client to send its body (RFC 9110 section 15.2.1).
    package static let interimContinue = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private func appendStatusLine(to output: inout [UInt8]) {
        output.append(utf8Of: "HTTP/1.1 ")
        output.append(decimal: UInt64(status.code))
        output.append(0x20)
        output.append(utf8Of: status.reasonPhrase)
        output.append(utf8Of: "\r\n")
    }

    private func appendFields(to output: inout [UInt8]) {
        guard !fields.areLines else { return output.append(contentsOf: fields.storage) }
        for entry in fields.entries where !fields.belongsToConnection(entry) {
            output.append(contentsOf: fields.storage[entry.name])
            output.append(utf8Of: ": ")
            output.append(contentsOf: fields.storage[entry.value])
            output.append(utf8Of: "\r\n")
        }
    }
}

extension HTTPFields {
    /// Whether only the connection may send this field, and not a handler.
    func belongsToConnection(_ entry: Entry) -> Bool {
        switch entry.name.count {
        case 4: storage.span.matchesIgnoringCase("date".utf8, in: entry.name)
        case 7: storage.span.matchesIgnoringCase("upgrade".utf8, in: entry.name)
        case 10:
            storage.span.matchesIgnoringCase("connection".utf8, in: entry.name)
                || storage.span.matchesIgnoringCase("keep-alive".utf8, in: entry.name)
        case 14: storage.span.matchesIgnoringCase("content-length".utf8, in: entry.name)
        case 17: storage.span.matchesIgnoringCase("transfer-encoding".utf8, in: entry.name)
        default: false
        }
    }
}
