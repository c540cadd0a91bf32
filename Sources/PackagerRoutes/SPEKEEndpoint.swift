import Administration
import ByteCoding
import CommandLineKit
import ContentKeys
package import EventLoops
package import HTTPMessages
package import HTTPServing
import Licensing
package import PackagerAPI
import RouteKit
import ServiceConfiguration
import Telemetry

/// SPEKE v1, v2.0 and v2.1 (packagers, section 1): takes a CPIX document, and returns the same document with keys.
///
///     head: credential, rate, version, content type -> body: size -> document -> packager's contents and pins
///         -> keys, with their rows in the ledger -> filled document
///
/// The body is parsed only if a packager has sent it. Errors are texts, in SPEKE's own words if SPEKE has a text for
/// the error. Parsing and writing to the ledger happen on the thread of packagers. A document that is repeated often
/// needs neither, and is answered on the loop of its connection.
package struct SPEKEEndpoint: Sendable {
    /// The size of the largest document, in bytes. It applies even if `limits.bodySizeMaximum` is smaller.
    package static let bodySizeMaximum = 256 * 1024

    /// The size of the largest document, in bytes, that is answered on a loop on which viewers wait.
    private static let bodySizeOnLoopMaximum = 16 * 1024

    /// The sizes of bodies that the public listener must accept, by path.
    package static let bodySizesByPath = Dictionary(
        uniqueKeysWithValues: BuiltInPath.allCases.map(\.rawValue).filter { path in
            guard case .copyProtection? = SPEKERoute(path: path) else { return false }
            return true
        }.map { ($0, bodySizeMaximum) })

    /// The name of this server in the field `X-Speke-User-Agent` of answers.
    private static let server = "Latchkey/\(LatchkeyVersion.current)"

    /// The header fields that every answer has, by version.
    private static let constantFields = Dictionary(
        uniqueKeysWithValues: SPEKEVersion.allCases.map { version in
            var fields: HTTPFields = ["Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"]
            for field in SPEKEHeader.answerFields(version, server: server) { fields.append(field.name, field.value) }
            return (version, fields)
        })

    /// What every document that is answered has.
    private static let constantFieldsOfDocuments = constantFields.mapValues { fields in
        var fields = fields
        fields.append("Content-Type", SPEKEHeader.answerContentType)
        return fields
    }

    package let service: PackagerService

    package func answer(
        _ request: HTTPRequest, to route: SPEKERoute, under rules: PackagerRules, id: RequestID, on loop: LoopContext
    ) -> HTTPAnswer {
        let named = request.fields[SPEKEHeader.version]
        var version = Self.presumedVersion(named, route)
        let context = PackagerService.Context(
            id: id, interface: PackagerMetrics.Interface(version), startedAt: loop.now)
        let packager: Packager
        do throws(PackagerFailure) {
            packager = try service.sender(of: request, under: rules)
            do throws(PackagerFailure) {
                try service.admit(packager)
                try Self.checkMethod(of: request, route)
                version = try Self.version(named, of: request, route)
                if case .heartbeat = route { return .now(heartbeat(version, packager, context, on: loop)) }
                try Self.checkBody(of: request)
                let authority = rules.keyAuthority
                if let served = try serveAgain(request, version, to: packager, authority: authority, context) {
                    return .now(service.note(served, to: packager, context, on: loop))
                }
            } catch {
                var failure = error
                failure.packager = packager
                throw failure
            }
        } catch {
            service.note(error, context)
            return .now(refuse(error, version, to: route, id))
        }
        return .later { [self, version] loop in
            await service.serve(
                packager, context, on: loop, refuse: { refuse($0, version, to: route, id) },
                { () async throws(PackagerFailure) in
                    try await serve(request, version, to: packager, authority: rules.keyAuthority, context)
                })
        }
    }

    /// The refusal of a request that does not come from a packager; nil if it comes from a packager.
    package func refusal(
        ofHead request: HTTPRequest, to route: SPEKERoute, under rules: PackagerRules, id: RequestID,
        on loop: LoopContext
    ) -> HTTPResponse? {
        let version = Self.presumedVersion(request.fields[SPEKEHeader.version], route)
        do throws(PackagerFailure) {
            _ = try service.sender(of: request, under: rules)
            return nil
        } catch {
            service.note(error, .init(id: id, interface: .init(version), startedAt: loop.now))
            return refuse(error, version, to: route, id)
        }
    }

    // MARK: - The document

    private func serve(
        _ request: HTTPRequest, _ version: SPEKEVersion, to packager: Packager, authority: String?,
        _ context: PackagerService.Context
    ) async throws(PackagerFailure) -> PackagerService.Served {
        let received = try wrap(
            { (error: CPIXError) in
                let failure = PackagerFailure(error)
                // A malformed document would only fail again.
                if case .document = error { return failure }
                return failure.about(CPIXRequest.contentID(namedIn: request.body, version: version))
            }, try service.parts.documents.document(request.body, version: version))
        try Self.check(received, packager)
        if received.request.systems.contains(.fairPlay) {
            try wrap(
                { (error: KeyExportError) in
                    PackagerFailure(error).with(.cpixRejected).about(received.contentID)
                }, try received.order.checkURLs(service.parts.urls, authority: authority))
        }
        let client = client(received, packager, context)
        let keys: [DeliveredKey]
        do throws(KeyDeskError) {
            keys = try await service.parts.desk.provide(
                received.order, to: client, now: service.clock.wallTime.seconds)
        } catch {
            if case .conflict(let keyID, .otherIV) = error {
                throw PackagerFailure(CPIXError.ivConflict(keyID: keyID)).about(received.contentID)
            }
            let failure = PackagerFailure(error, of: received.contentID, to: packager)
            // SPEKE has a single status, 422, for a document that cannot be answered.
            throw failure.code == .keyConflict ? failure.with(.cpixRejected) : failure
        }
        return try fill(
            received, with: keys, version, authority: authority, context)
    }

    /// The same result as `serve` has, without leaving the loop.
    ///
    /// Nil unless the document is still in memory and this packager has got its keys often. Nil for encrypted delivery
    /// too: each encryption needs fresh keys, and takes too long for a loop.
    private func serveAgain(
        _ request: HTTPRequest, _ version: SPEKEVersion, to packager: Packager, authority: String?,
        _ context: PackagerService.Context
    ) throws(PackagerFailure) -> PackagerService.Served? {
        guard request.body.count <= Self.bodySizeOnLoopMaximum,
            let received = service.parts.documents.remembered(request.body, version: version), !received.isEncrypted
        else { return nil }
        try Self.check(received, packager)
        guard let answer = try answerAgain(received, packager, authority: authority, context) else { return nil }
        return PackagerService.Served(
            response: Self.response(answer, version, context.id), contentID: received.contentID,
            repeated: received.order.keys.count)
    }

    private func answerAgain(
        _ received: ReadDocument, _ packager: Packager, authority: String?, _ context: PackagerService.Context
    ) throws(PackagerFailure) -> CPIXAnswer? {
        let urls = service.parts.urls
        if let answer = received.answerAgain(to: packager, urls: urls, authority: authority) { return answer }
        let client = client(received, packager, context)
        guard let delivery = service.parts.desk.provideAgain(received.order, to: client) else { return nil }
        return try wrap(
            { (error: CPIXError) in PackagerFailure(error).about(received.contentID) },
            try received.answer(delivery, to: packager, urls: urls, authority: authority))
    }

    private func client(
        _ document: ReadDocument, _ packager: Packager, _ context: PackagerService.Context
    ) -> KeyDesk.Client {
        let way = context.interface.rawValue
        return service.client(
            packager, context.id, manner: document.isEncrypted ? way + " encrypted" : way, document.contentID)
    }

    private func fill(
        _ received: ReadDocument, with keys: [DeliveredKey], _ version: SPEKEVersion, authority: String?,
        _ context: PackagerService.Context
    ) throws(PackagerFailure) -> PackagerService.Served {
        let answer = try wrap(
            { (error: CPIXError) in PackagerFailure(error).about(received.contentID) },
            try received.answer(
                keys: keys.map { PackagedKey($0.record) }, urls: service.parts.urls, authority: authority))
        return PackagerService.Served(
            response: Self.response(answer, version, context.id), contentID: received.contentID,
            outcomes: keys.map(\.outcome))
    }

    /// Throws if the packager may not have the keys that the document asks for, or not in this form.
    private static func check(_ document: ReadDocument, _ packager: Packager) throws(PackagerFailure) {
        guard packager.permits(.read, of: document.contentID) else {
            throw .forbidden(.read, of: document.contentID, to: packager)
        }
        guard document.isEncrypted else {
            guard !packager.requiresEncryptedDelivery else {
                throw .encryptionRequired(of: packager).about(document.contentID)
            }
            return
        }
        for recipient in document.request.recipients where !packager.accepts(recipient: recipient.certificate) {
            throw .unpinned(recipient.certificate, of: packager).about(document.contentID)
        }
    }

    // MARK: - The head

    private static func checkMethod(of request: HTTPRequest, _ route: SPEKERoute) throws(PackagerFailure) {
        let isServed =
            switch route {
            case .copyProtection: request.method == .post
            case .heartbeat: request.method.isRead
            }
        guard isServed else {
            throw PackagerFailure(
                .methodNotAllowed, "This address takes only \(route.methods)", found: request.method.rawValue,
                expected: route.methods)
        }
    }

    /// The version of a request. `named` is the version in the header field.
    private static func version(
        _ named: String?, of request: HTTPRequest, _ route: SPEKERoute
    ) throws(PackagerFailure) -> SPEKEVersion {
        guard request.fields.count(of: SPEKEHeader.version) <= 1 else {
            throw PackagerFailure(CPIXError.unsupportedSPEKEVersion).finding("\(SPEKEHeader.version) more than once")
        }
        return try wrap(
            { (error: CPIXError) in
                PackagerFailure(error).finding("\(SPEKEHeader.version): \(named ?? "none"), at \(request.path)")
            }, try route.version(headerValue: named))
    }

    /// The version that decides the fields of the answer, before the server has checked that header and path agree.
    private static func presumedVersion(_ named: String?, _ route: SPEKERoute) -> SPEKEVersion {
        if let version = try? SPEKEVersion(headerValue: named), version != .v1 { return version }
        if case .copyProtection(let version?) = route { return version }
        return .v1
    }

    private static func checkBody(of request: HTTPRequest) throws(PackagerFailure) {
        guard request.body.count <= bodySizeMaximum else {
            throw PackagerFailure(
                .bodyTooLarge, "The document has more than \(bodySizeMaximum) bytes",
                found: "\(request.body.count) bytes", expected: "at most \(bodySizeMaximum)")
        }
        guard let type = request.fields["Content-Type"], SPEKEHeader.isReadable(contentType: type) else {
            throw PackagerFailure(
                .mediaTypeUnsupported, "Send the document as application/xml in UTF-8",
                found: request.fields["Content-Type"] ?? "no Content-Type",
                expected: "application/xml or text/xml, in UTF-8"
            )
        }
    }

    // MARK: - Answers

    private static func response(_ answer: CPIXAnswer, _ version: SPEKEVersion, _ id: RequestID) -> HTTPResponse {
        var fields = HTTPFields(roomForFields: 8, bytes: 320)
        fields.append(contentsOf: constantFieldsOfDocuments[version] ?? HTTPFields())
        fields.append("X-Request-Id", id.text)
        return HTTPResponse(status: .ok, fields: fields, body: answer.bytes)
    }

    private func heartbeat(
        _ version: SPEKEVersion, _ packager: Packager, _ context: PackagerService.Context, on loop: LoopContext
    ) -> HTTPResponse {
        service.parts.metrics.asked(packager.name, context.interface, .served)
        return HTTPResponse(
            status: .ok, fields: Self.fields("text/plain; charset=utf-8", version, context.id),
            body: Array(SPEKERoute.heartbeatText.utf8))
    }

    private func refuse(
        _ failure: PackagerFailure, _ version: SPEKEVersion, to route: SPEKERoute, _ id: RequestID
    ) -> HTTPResponse {
        var fields = Self.fields("text/plain; charset=utf-8", version, id)
        fields.append("X-Error-Code", failure.code.rawValue)
        if let wait = failure.retryAfterSeconds { fields.append("Retry-After", String(wait)) }
        if failure.code == .packagerInvalid {
            for challenge in PackagerCredentials.challenges { fields.append("WWW-Authenticate", challenge) }
        }
        if failure.code == .methodNotAllowed { fields.append("Allow", route.methods) }
        return HTTPResponse(status: failure.code.status, fields: fields, body: Array(failure.text.utf8))
    }

    private static func fields(_ contentType: String, _ version: SPEKEVersion, _ id: RequestID) -> HTTPFields {
        var fields = HTTPFields(roomForFields: 8, bytes: 320)
        fields.append(contentsOf: constantFields[version] ?? HTTPFields())
        fields.append("Content-Type", contentType)
        fields.append("X-Request-Id", id.text)
        return fields
    }
}

extension SPEKERoute {
    /// The methods of the address, as a refusal names them.
    package var methods: String {
        switch self {
        case .copyProtection: "POST"
        case .heartbeat: "GET, HEAD"
        }
    }
}

extension PackagerMetrics.Interface {
    fileprivate init(_ version: SPEKEVersion) {
        self =
            switch version {
            case .v1: .speke1
            case .v20: .speke20
            case .v21: .speke21
            }
    }
}
