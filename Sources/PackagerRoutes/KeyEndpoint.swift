import Administration
import ByteCoding
import ContentKeys
import Entitlements
import EventLoops
import HTTPMessages
import HTTPServing
import Licensing
import PackagerAPI
import RouteKit
import Telemetry

/// `/v1/keys` of the public listener, for packagers that do not speak SPEKE.
///
/// POST makes or finds keys of a content. GET at `/v1/keys/{contentId}` returns existing keys in a packager's format.
struct KeyEndpoint: Sendable {
    static let path = "/v1/keys"

    let service: PackagerService

    /// Answers a request. `contentID` is the content in the path; nil for the path without a content.
    func answer(
        _ request: HTTPRequest, about contentID: ContentID?, under rules: PackagerRules, id: RequestID,
        on loop: LoopContext
    ) -> HTTPAnswer {
        let context = PackagerService.Context(id: id, interface: .keys, startedAt: loop.now)
        let methods = contentID == nil ? "POST" : "GET, HEAD"
        let authority = rules.keyAuthority
        let packager: Packager
        let work: @Sendable () async throws(PackagerFailure) -> PackagerService.Served
        do throws(PackagerFailure) {
            packager = try service.sender(of: request, under: rules)
            do throws(PackagerFailure) {
                try service.admit(packager)
                switch (contentID, request.method) {
                case (nil, .post):
                    let order = try Self.order(in: request)
                    try Self.check(order, packager)
                    try wrap(
                        { (error: KeyExportError) in PackagerFailure(error).about(order.contentID) },
                        try order.checkURLs(service.parts.urls, authority: authority))
                    work = { () async throws(PackagerFailure) in
                        try await create(order, packager, authority: authority, context)
                    }
                case (let contentID?, .get), (let contentID?, .head):
                    let query = try KeyQuery(request.parameters, about: contentID)
                    guard packager.permits(.read, of: contentID) else {
                        throw .forbidden(.read, of: contentID, to: packager)
                    }
                    guard query.format.isPublic || !packager.requiresEncryptedDelivery else {
                        throw .encryptionRequired(of: packager)
                    }
                    let isHead = request.method == .head
                    work = { () async throws(PackagerFailure) in
                        try await give(query, isHead: isHead, packager, authority: authority, context)
                    }
                default:
                    throw PackagerFailure(
                        .methodNotAllowed, "This address takes only \(methods)", found: request.method.rawValue,
                        expected: methods)
                }
            } catch {
                var failure = error.about(contentID)
                failure.packager = packager
                throw failure
            }
        } catch {
            service.note(error, context)
            return .now(refuse(error, methods: methods, context))
        }
        return .later { loop in
            await service.serve(packager, context, on: loop, refuse: { refuse($0, methods: methods, context) }, work)
        }
    }

    /// The refusal of a request that does not come from a packager; nil if it comes from a packager.
    func refusal(
        ofHead request: HTTPRequest, at address: PackagerAddress, under rules: PackagerRules, id: RequestID,
        on loop: LoopContext
    ) -> HTTPResponse? {
        do throws(PackagerFailure) {
            _ = try service.sender(of: request, under: rules)
            return nil
        } catch {
            let context = PackagerService.Context(id: id, interface: .keys, startedAt: loop.now)
            service.note(error, context)
            return refuse(error, methods: address.methods, context)
        }
    }

    // MARK: - Orders

    private static func order(in request: HTTPRequest) throws(PackagerFailure) -> KeyOrder {
        guard request.body.count <= KeyOrder.jsonSizeMaximum else {
            throw PackagerFailure(
                .bodyTooLarge, "The body has more than \(KeyOrder.jsonSizeMaximum) bytes",
                found: "\(request.body.count) bytes", expected: "at most \(KeyOrder.jsonSizeMaximum)")
        }
        return try wrap(
            { (fault: KeyOrderFault) in
                PackagerFailure(
                    .requestInvalid, fault.description, found: fault.member.map { "the member \($0)" },
                    expected: fault.member == nil ? nil : fault.text, member: fault.member)
            }, try KeyOrder(parsing: request.body))
    }

    private static func check(_ order: KeyOrder, _ packager: Packager) throws(PackagerFailure) {
        guard packager.permits(.read, of: order.contentID) else {
            throw .forbidden(.read, of: order.contentID, to: packager)
        }
        guard !order.imports || packager.permits(.import, of: order.contentID) else {
            throw .forbidden(
                .import, of: order.contentID, to: packager, "This packager may not import keys of its own")
        }
        guard !packager.requiresEncryptedDelivery else {
            throw .encryptionRequired(of: packager).about(order.contentID)
        }
    }

    private func create(
        _ order: KeyOrder, _ packager: Packager, authority: String?, _ context: PackagerService.Context
    ) async throws(PackagerFailure) -> PackagerService.Served {
        var client = service.client(packager, context.id, manner: "keys json", order.contentID)
        // A packager that may import keys may also store them, even without the scope `create`.
        if order.importsAll { client.mayCreate = true }
        let keys: [DeliveredKey]
        do throws(KeyDeskError) {
            keys = try await service.parts.desk.provide(order, to: client, now: service.clock.wallTime.seconds)
        } catch {
            throw PackagerFailure(error, of: order.contentID, to: packager)
        }
        let export = try wrap(
            { (error: KeyExportError) in PackagerFailure(error).about(order.contentID) },
            try KeyExport(keys.map(\.record), urls: service.parts.urls, authority: authority))
        let body = JSONWriter.object { writer in
            export.writeMembers(to: &writer, outcomes: keys.map(\.outcome.rawValue))
        }
        return PackagerService.Served(
            response: HTTPResponse(status: .ok, fields: .answer("application/json", context.id), body: body),
            contentID: order.contentID, outcomes: keys.map(\.outcome))
    }

    // MARK: - Pages

    private func give(
        _ query: KeyQuery, isHead: Bool, _ packager: Packager, authority: String?, _ context: PackagerService.Context
    ) async throws(PackagerFailure) -> PackagerService.Served {
        let client = service.client(
            packager, context.id, manner: "keys \(query.format.rawValue)", query.page.contentID)
        let page: KeyPage
        do throws(KeyDeskError) {
            // Playlist lines contain no key, and neither does an answer without a body, so nothing is recorded.
            page = try await service.parts.desk.page(
                query.page, to: client, recorded: !isHead && !query.format.isPublic,
                now: service.clock.wallTime.seconds)
        } catch {
            throw PackagerFailure(error, of: query.page.contentID, to: packager)
        }
        let next = page.next.map { query.target(after: $0) }
        let body = try wrap(
            { (error: KeyExportError) in PackagerFailure(error).about(query.page.contentID) },
            try self.body(of: page, query, authority))
        var fields = HTTPFields.answer(query.format.contentType, context.id)
        if let next { fields.append("Link", "<\(next)>; rel=\"next\"") }
        return PackagerService.Served(
            response: HTTPResponse(status: .ok, fields: fields, body: body), contentID: query.page.contentID,
            outcomes: isHead ? [] : page.keys.map { _ in .found })
    }

    private func body(
        of page: KeyPage, _ query: KeyQuery, _ authority: String?
    ) throws(KeyExportError) -> [UInt8] {
        if page.keys.isEmpty, query.format == .json, query.page.after != nil || page.next != nil {
            return Self.emptyPage(of: query.page.contentID, next: page.next)
        }
        let export = try KeyExport(page.keys, urls: service.parts.urls, authority: authority)
        guard query.format == .json else { return try export.document(query.format) }
        return JSONWriter.object { writer in
            export.writeMembers(to: &writer)
            writer.member("next", page.next?.description)
        }
    }

    private static func emptyPage(of contentID: ContentID, next: KeyID?) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("contentId", contentID.text)
            writer.array("keys") { _ in }
            writer.member("next", next?.description)
        }
    }

    // MARK: - Refusals

    private func refuse(
        _ failure: PackagerFailure, methods: String, _ context: PackagerService.Context
    ) -> HTTPResponse {
        var problem = Problem(
            failure.code, retryAfterSeconds: failure.retryAfterSeconds,
            allowedMethods: failure.code == .methodNotAllowed ? methods : nil)
        problem.detail = failure.text
        if let member = failure.member { problem.facts = [("member", .word(member))] }
        var response = problem.response(requestID: context.id, time: service.clock.wallTime)
        if failure.code == .packagerInvalid {
            response.fields.append("WWW-Authenticate", PackagerCredentials.challenges[0])
        }
        return response
    }
}

/// The query of `GET /v1/keys/{contentId}`: only known parameters, and each at most once.
private struct KeyQuery: Sendable {
    let format: KeyExportFormat
    let page: KeyPageQuery
    private let pairs: [(name: String, value: String)]

    private static let names = ["format", "track", "period", "after", "limit"]

    init(_ parsed: QueryPairs, about contentID: ContentID) throws(PackagerFailure) {
        var pairs: [(name: String, value: String)] = []
        for name in Self.names {
            let values = parsed.values(name)
            guard values.count <= 1 else { throw Self.fault(name, "is given more than once") }
            guard let value = values.first else { continue }
            guard let text = String(validating: value, as: UTF8.self) else { throw Self.fault(name, "is not UTF-8") }
            pairs.append((name, text))
        }
        guard parsed.count == pairs.count else {
            throw PackagerFailure(
                .requestInvalid, "The query has a parameter that is not one of " + Self.names.joined(separator: ", "))
        }
        self.pairs = pairs
        func text(_ name: String) -> String? { pairs.first { $0.name == name }?.value }
        guard let format = KeyExportFormat(rawValue: text("format") ?? KeyExportFormat.json.rawValue) else {
            let formats = KeyExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw Self.fault("format", "is not one of \(formats)")
        }
        self.format = format
        var page = KeyPageQuery(contentID: contentID)
        if let label = text("track") {
            guard let label = try? TrackLabel(label) else { throw Self.fault("track", "is not a label of a track") }
            page.trackLabel = label
        }
        if let period = text("period") {
            guard let period = UInt32(period) else { throw Self.fault("period", "is not the number of a key period") }
            page.periodIndex = period
        }
        if let after = text("after") {
            guard let after = try? KeyID(parsing: after) else { throw Self.fault("after", "is not a key id") }
            page.after = after
        }
        if let limit = text("limit") {
            guard let limit = Int(limit), (1...KeyPageQuery.limitMaximum).contains(limit) else {
                throw Self.fault("limit", "is not a number from 1 to \(KeyPageQuery.limitMaximum)")
            }
            page.limit = limit
        }
        self.page = page
    }

    /// The target of the next page, relative to the server.
    func target(after keyID: KeyID) -> String {
        let path = "\(KeyEndpoint.path)/\(PercentEncoding.encode(page.contentID.text))"
        let kept = pairs.filter { $0.name != "after" }.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }
        return path + "?" + (kept + ["after=\(keyID)"]).joined(separator: "&")
    }

    private static func fault(_ name: String, _ what: String) -> PackagerFailure {
        PackagerFailure(.requestInvalid, "The query's \(name) \(what)", member: name)
    }
}
