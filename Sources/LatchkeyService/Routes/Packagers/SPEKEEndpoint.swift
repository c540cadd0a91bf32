import Administration
import ByteCoding
import CommandLineKit
import EventLoops
import HTTPMessages
import HTTPServing
import Licensing
import PackagerAPI
import Telemetry

/// SPEKE v1, v2.0 and v2.1 (packagers, section 1): a CPIX document in, the same document with keys out.
///
///     head: credential, rate, version, content type -> body: size -> document -> packager's contents and pins
///         -> keys, with their rows in the ledger -> filled document
///
/// The body is parsed for packagers alone. Errors are texts, in SPEKE's own words where it has some.
struct SPEKEEndpoint: Sendable {
    /// The size of the largest document, in bytes. `limits.bodySizeMaximum` may be less.
    static let bodySizeMaximum = 256 * 1024

    /// How answers name this server, in `X-Speke-User-Agent`.
    private static let server = "Latchkey/\(LatchkeyVersion.current)"

    let service: PackagerService

    func answer(
        _ request: HTTPRequest, to route: SPEKERoute, under rules: LiveRules, id: RequestID, on loop: LoopContext
    ) -> HTTPAnswer {
        var version = Self.presumedVersion(of: request, route)
        let context = PackagerService.Context(
            id: id, interface: PackagerMetrics.Interface(version), startedAt: loop.now)
        let packager: Packager
        do throws(PackagerFailure) {
            packager = try service.sender(of: request, under: rules)
            do throws(PackagerFailure) {
                try service.admit(packager)
                try Self.checkMethod(of: request, route)
                version = try Self.version(of: request, route)
                if case .heartbeat = route { return .now(heartbeat(version, packager, context, on: loop)) }
                try Self.checkBody(of: request)
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
                    try await serve(request, version, packager, authority: rules.keyAuthority, context)
                })
        }
    }

    /// The refusal of a request that comes from no packager; nil for one of a packager.
    func refusal(
        ofHead request: HTTPRequest, to route: SPEKERoute, under rules: LiveRules, id: RequestID, on loop: LoopContext
    ) -> HTTPResponse? {
        let version = Self.presumedVersion(of: request, route)
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
        _ request: HTTPRequest, _ version: SPEKEVersion, _ packager: Packager, authority: String?,
        _ context: PackagerService.Context
    ) async throws(PackagerFailure) -> PackagerService.Served {
        let received = try wrap(
            { (error: CPIXError) in PackagerFailure(error) },
            try service.parts.documents.document(request.body, version: version))
        let document = received.request
        try Self.check(document, packager)
        let isEncrypted = !document.recipients.isEmpty
        let client = service.client(
            packager, context.id, manner: context.interface.rawValue + (isEncrypted ? " encrypted" : ""),
            document.contentID)
        let keys: [DeliveredKey]
        do throws(KeyDeskError) {
            keys = try await service.parts.desk.provide(
                KeyOrder(document), to: client, now: service.clock.wallTime.seconds)
        } catch {
            var failure = PackagerFailure(error)
            // SPEKE has one status for what is wrong with a request.
            if failure.code == .keyConflict { failure = PackagerFailure(.cpixRejected, failure.text) }
            throw failure
        }
        let answer = try wrap(
            { (error: CPIXError) in PackagerFailure(error) },
            try received.answer(
                keys: keys.map { PackagedKey($0.record) }, urls: service.parts.urls, authority: authority))
        var fields = Self.fields(SPEKEHeader.answerContentType, version, context.id)
        fields.append("X-Content-Type-Options", "nosniff")
        return PackagerService.Served(
            response: HTTPResponse(status: .ok, fields: fields, body: answer.bytes), contentID: document.contentID,
            outcomes: keys.map(\.outcome))
    }

    /// What this packager may have of what it asks for.
    private static func check(_ document: CPIXRequest, _ packager: Packager) throws(PackagerFailure) {
        guard packager.permits(.read, of: document.contentID) else { throw .contentForbidden }
        guard document.recipients.allSatisfy({ packager.accepts(recipient: $0.certificate) }) else {
            throw .unpinnedRecipient
        }
        guard !document.recipients.isEmpty || !packager.requiresEncryptedDelivery else { throw .encryptionRequired }
    }

    // MARK: - The head

    private static func checkMethod(of request: HTTPRequest, _ route: SPEKERoute) throws(PackagerFailure) {
        let isServed =
            switch route {
            case .copyProtection: request.method == .post
            case .heartbeat: request.method.isRead
            }
        guard isServed else {
            throw PackagerFailure(.methodNotAllowed, "This address takes \(route.methods) alone")
        }
    }

    private static func version(of request: HTTPRequest, _ route: SPEKERoute) throws(PackagerFailure) -> SPEKEVersion {
        let name = SPEKEHeader.version
        guard request.fields.count(of: name) <= 1 else { throw PackagerFailure(CPIXError.unsupportedSPEKEVersion) }
        return try wrap(
            { (error: CPIXError) in PackagerFailure(error) },
            try route.version(headerValue: request.fields[name]))
    }

    /// The version whose fields the answer has, before it is known that header and path agree.
    private static func presumedVersion(of request: HTTPRequest, _ route: SPEKERoute) -> SPEKEVersion {
        if let version = try? SPEKEVersion(headerValue: request.fields[SPEKEHeader.version]), version != .v1 {
            return version
        }
        if case .copyProtection(let version?) = route { return version }
        return .v1
    }

    private static func checkBody(of request: HTTPRequest) throws(PackagerFailure) {
        guard request.body.count <= bodySizeMaximum else {
            throw PackagerFailure(.bodyTooLarge, "The document has more than \(bodySizeMaximum) bytes")
        }
        guard let type = request.fields["Content-Type"], SPEKEHeader.isReadable(contentType: type) else {
            throw PackagerFailure(.mediaTypeUnsupported, "Send the document as application/xml in UTF-8")
        }
    }

    // MARK: - Answers

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
        fields.append("X-Content-Type-Options", "nosniff")
        fields.append("X-Error-Code", failure.code.rawValue)
        if let wait = failure.retryAfterSeconds { fields.append("Retry-After", String(wait)) }
        if failure.code == .packagerInvalid {
            for challenge in PackagerCredentials.challenges { fields.append("WWW-Authenticate", challenge) }
        }
        if failure.code == .methodNotAllowed { fields.append("Allow", route.methods) }
        return HTTPResponse(status: failure.code.status, fields: fields, body: Array(failure.text.utf8))
    }

    private static func fields(_ contentType: String, _ version: SPEKEVersion, _ id: RequestID) -> HTTPFields {
        var fields: HTTPFields = ["Content-Type": contentType, "Cache-Control": "no-store", "X-Request-Id": id.text]
        for field in SPEKEHeader.answerFields(version, server: server) { fields.append(field.name, field.value) }
        return fields
    }
}

extension SPEKERoute {
    fileprivate var methods: String {
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
