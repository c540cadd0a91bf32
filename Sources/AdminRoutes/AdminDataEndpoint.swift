package import Administration
import ByteCoding
import ContentKeys
import EventLoops
import HTTPMessages
package import HTTPServing
import Licensing
package import Records
package import RouteKit
import StorageSQLite
package import Telemetry

/// Serves what operators read: the state of the node, the plots, the refusals, the ledger, the contents and the keys.
///
/// The caller has checked that the sender may read it.
package final class AdminDataEndpoint: Sendable {
    /// The parts that know it. A reload replaces none of them.
    package struct Parts: Sendable {
        package let status: StatusSource
        package let history: History
        package let devices: DeviceHistory
        package let events: EventStreams
        package let pages: LedgerPageQueue
        package let contents: ContentDesk
        package let pseudonyms: Pseudonymizer

        package init(
            status: StatusSource, history: History, devices: DeviceHistory, events: EventStreams,
            pages: LedgerPageQueue, contents: ContentDesk, pseudonyms: Pseudonymizer
        ) {
            self.status = status
            self.history = history
            self.devices = devices
            self.events = events
            self.pages = pages
            self.contents = contents
            self.pseudonyms = pseudonyms
        }
    }

    private static let refusalLimits = 1...200
    private static let refusalLimitDefault = 50

    private let parts: Parts
    private let recent: RecentRefusals
    private let refusals: Refusals
    private let clock: any WallClock

    package init(_ parts: Parts, recent: RecentRefusals, refusals: Refusals, clock: any WallClock) {
        self.parts = parts
        self.recent = recent
        self.refusals = refusals
        self.clock = clock
    }

    /// Answers a request by GET or HEAD.
    ///
    /// - Parameters:
    ///   - actor: The name of the sender's credential.
    ///   - mayRead: Whether the sender is still an operator who may read this. A stream of events calls it again and
    ///     again.
    package func answer(
        _ request: HTTPRequest, at data: AdminData, by actor: String, names: AccountNames, id: RequestID,
        whileAllowed mayRead: @escaping @Sendable () -> Bool
    ) -> HTTPAnswer {
        do throws(AdminDataFault) {
            switch data {
            case .status:
                _ = try query(request, [])
                return .now(.json(id, expectedSize: 1024, parts.status.report().write))
            case .history: return .now(try history(request, id))
            case .deviceKinds:
                _ = try query(request, [])
                return .now(.json(id, expectedSize: 2048, parts.devices.write))
            case .events: return try events(request, by: actor, id, mayRead)
            case .refusals: return .now(try recentRefusals(request, id))
            case .ledger: return try ledger(request, names, id)
            case .contents: return try contents(request, id)
            case .contentKeys: return try keys(request, id)
            }
        } catch {
            return .now(refuse(error, id))
        }
    }

    private func query(_ request: HTTPRequest, _ names: [String]) throws(AdminDataFault) -> AdminQuery {
        try wrap(AdminDataFault.query, try AdminQuery(request.parameters, known: names))
    }

    // MARK: Plots

    private func history(_ request: HTTPRequest, _ id: RequestID) throws(AdminDataFault) -> HTTPResponse {
        let query = try query(request, ["since"])
        // A browser sends the number that it has computed, which may have a fraction.
        let since = try wrap(AdminDataFault.query) { () throws(AdminQueryFault) in
            try query.value("since") { text in Double(text).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil } }
        }
        return .json(id, expectedSize: 64 * 1024) { [history = parts.history] in history.write(since: since, to: &$0) }
    }

    private func events(
        _ request: HTTPRequest, by actor: String, _ id: RequestID, _ mayRead: @escaping @Sendable () -> Bool
    ) throws(AdminDataFault) -> HTTPAnswer {
        _ = try query(request, [])
        guard parts.events.hasRoom(for: actor) else { throw .tooManyOwnReaders }
        guard parts.events.hasRoom else { throw .tooManyReaders }
        return .stream(HTTPResponse(status: .ok, fields: .answer("text/event-stream", id))) { [events = parts.events] in
            events.begin($0, for: actor, whileAllowed: mayRead)
        }
    }

    // MARK: Refusals

    private func recentRefusals(_ request: HTTPRequest, _ id: RequestID) throws(AdminDataFault) -> HTTPResponse {
        let query = try query(request, ["limit", "before", "code", "series"])
        let (limit, before, code, series) = try wrap(AdminDataFault.query) { () throws(AdminQueryFault) in
            (
                try query.number("limit", Self.refusalLimits) ?? Self.refusalLimitDefault,
                try query.number("before", 0...UInt64.max),
                try query.value("code") { (1...64).contains($0.utf8.count) ? $0 : nil },
                try query.value("series", RefusalSeries.init)
            )
        }
        let page = recent.page(limit: limit, before: before, code: code)
        let entries = page.entries.filter { series?.counts($0) ?? true }
        return .json(id, expectedSize: 32 * 1024) { writer in
            writer.objects("refusals", entries) { RefusalReport($1).write(to: &$0) }
            writer.member("next", page.next.map { String($0) })
        }
    }

    // MARK: The ledger

    private func ledger(
        _ request: HTTPRequest, _ names: AccountNames, _ id: RequestID
    ) throws(AdminDataFault) -> HTTPAnswer {
        let query = try query(request, LedgerFilter.parameters + ["limit", "after"])
        let (limit, before) = try wrap(AdminDataFault.query) { () throws(AdminQueryFault) in
            (
                try query.number("limit", LedgerPageQueue.limits) ?? LedgerPageQueue.limitDefault,
                try query.number("after", 1...Int64.max)
            )
        }
        let search = try wrap(AdminDataFault.filter) { () throws(LedgerFilterFault) in
            try LedgerFilter.query(names: names, parts.pseudonyms) { name in query.text(name) }
        }
        return .later { [self] loop in
            do throws(LedgerPageQueue.Failure) {
                let page = try await parts.pages.page(of: search, before: before, limit: limit, on: loop)
                let node = parts.pages.node.text
                return .json(id, expectedSize: 32 * 1024) { writer in
                    writer.objects("entries", page.finds) { $1.write(to: &$0, node: node) }
                    writer.member("order", "newestFirst")
                    writer.member("next", page.next.map { String($0) })
                    writer.member("isComplete", page.next == nil)
                }
            } catch {
                return refuse(error == .busy ? .ledgerBusy : .ledgerUnreadable, id)
            }
        }
    }

    // MARK: Contents

    private func contents(_ request: HTTPRequest, _ id: RequestID) throws(AdminDataFault) -> HTTPAnswer {
        let query = try query(request, ["limit", "after", "prefix"])
        let (limit, last, prefix) = try wrap(AdminDataFault.query) { () throws(AdminQueryFault) in
            (
                try query.number("limit", ContentDesk.contentLimits) ?? ContentDesk.contentLimitDefault,
                try query.value("after") { try? ContentID($0) },
                try query.value("prefix") { $0.isEmpty ? $0 : (try? ContentID($0))?.text } ?? ""
            )
        }
        return .later { [self] _ in
            await answer(id) { () async throws(StoreError) in
                let page = try await parts.contents.contents(after: last, prefix: prefix, limit: limit)
                return .json(id, expectedSize: 16 * 1024, page.write)
            }
        }
    }

    private func keys(_ request: HTTPRequest, _ id: RequestID) throws(AdminDataFault) -> HTTPAnswer {
        guard let contentID = AdminData.contentID(in: request.path).flatMap(Self.contentID) else {
            throw .noSuchContent
        }
        let query = try query(request, ["limit", "after"])
        let (limit, last) = try wrap(AdminDataFault.query) { () throws(AdminQueryFault) in
            (
                try query.number("limit", ContentDesk.keyLimits) ?? ContentDesk.keyLimitDefault,
                try query.value("after") { try? KeyID(parsing: $0) }
            )
        }
        let now = clock.wallTime.seconds
        return .later { [self] _ in
            await answer(id) { () async throws(StoreError) in
                guard let page = try await parts.contents.keys(of: contentID, after: last, limit: limit, now: now)
                else { return refuse(.noSuchContent, id) }
                return .json(id, expectedSize: 32 * 1024, page.write)
            }
        }
    }

    private static func contentID(_ part: Substring) -> ContentID? {
        PercentEncoding.decode(Array(part.utf8)).flatMap { try? ContentID(bytes: $0) }
    }

    // MARK: Answers

    private func answer(
        _ id: RequestID, _ body: () async throws(StoreError) -> HTTPResponse
    ) async -> HTTPResponse {
        do throws(StoreError) {
            return try await body()
        } catch {
            return refuse(.store(error), id)
        }
    }

    private func refuse(_ fault: AdminDataFault, _ id: RequestID) -> HTTPResponse {
        if case .noSuchContent = fault { return refusals.absence("No content of this id has a key", id: id) }
        return refusals.response(to: "admin_read_refused", fault.problem, because: RefusalCause(fault.cause), id: id)
    }
}

/// Why an operator's request for data is refused.
private enum AdminDataFault: Error {
    case query(AdminQueryFault)
    case filter(LedgerFilterFault)
    case tooManyReaders
    case tooManyOwnReaders
    case ledgerBusy
    case ledgerUnreadable
    case noSuchContent
    case store(StoreError)

    /// For the log and the memory of refusals.
    var cause: String {
        switch self {
        case .query(let fault): fault.description
        case .filter(let fault): fault.description
        case .tooManyReaders: "\(EventStreams.readerCountMaximum) readers of events are served already"
        case .tooManyOwnReaders:
            "This credential has \(EventStreams.readersPerActorMaximum) open streams of events, and may have no more: "
                + "close a tab of the page, or another reader"
        case .ledgerBusy: "too many pages of the ledger are being read"
        case .ledgerUnreadable: "the ledger cannot be read"
        case .noSuchContent: "no content of this id has a key"
        case .store(let error): "store: \(error)"
        }
    }

    var problem: Problem {
        switch self {
        case .query, .filter: Problem(.requestInvalid, detail: cause)
        case .tooManyReaders: Problem(.overloaded, retryAfterSeconds: 10)
        case .tooManyOwnReaders: Problem(.rateLimited, detail: cause, retryAfterSeconds: 10)
        case .ledgerBusy, .ledgerUnreadable: Problem(.storageUnavailable, detail: cause, retryAfterSeconds: 2)
        case .noSuchContent: Problem(.notFound)
        case .store(let error): Problem(for: .store(error))
        }
    }
}
