package import Administration
import ByteCoding
import ContentKeys
import Entitlements
import EventLoops
import HTTPMessages
package import HTTPServing
import Licensing
import Records
package import RouteKit
package import Telemetry

/// `/v1/devices`, `/v1/playbacks` and `/v1/rentals` of the admin listener.
///
/// GET lists the stored devices, playbacks or rentals of a subject, in pages. DELETE removes, ends or forgets them. The
/// query names the subject: `subject` with `issuer`, or `cookie` with `customer`. GET takes `limit` and `after`. DELETE
/// takes `all=true`, or the name of one item as the list shows it.
package final class AccountEndpoint: Sendable {
    package static let methods = "GET, HEAD, DELETE"

    private let desk: AccountDesk
    private let refusals: Refusals
    private let clock: any WallClock

    package init(desk: AccountDesk, refusals: Refusals, clock: any WallClock) {
        self.desk = desk
        self.refusals = refusals
        self.clock = clock
    }

    /// Answers a request that is already known to come from an administrator. `actor` is the administrator's name for
    /// the ledger.
    package func answer(
        _ request: HTTPRequest, about kind: AccountKind, by actor: String, names: AccountNames, id: RequestID
    ) -> HTTPAnswer {
        let now = clock.wallTime.seconds
        do throws(AccountFault) {
            switch request.method {
            case .get, .head:
                let query = try AccountQuery(request.parameters, known: ["limit", "after"])
                let subject = try AccountSubject(names: names, query.text)
                let limit = try query.limit()
                let after = try query.text("after").map { text throws(AccountFault) in
                    try AccountPosition(text, of: kind)
                }
                return .later { [self] _ in
                    await list(kind, of: subject, after: after ?? .start, limit: limit, now: now, id)
                }
            case .delete:
                let query = try AccountQuery(request.parameters, known: ["all"] + kind.selectors.map(\.rawValue))
                let subject = try AccountSubject(names: names, query.text)
                let selection = try AccountSelection(of: kind, desk.pseudonyms, query.text)
                return .later { [self] _ in await change(kind, of: subject, selection, by: actor, now: now, id) }
            default:
                let problem = Problem(.methodNotAllowed, method: request.method, allowedMethods: Self.methods)
                return .now(refuse(problem, "", id))
            }
        } catch {
            let cause = error.description
            return .now(refuse(Problem(.requestInvalid, detail: cause), cause, id))
        }
    }

    private func list(
        _ kind: AccountKind, of subject: AccountSubject, after: AccountPosition, limit: Int, now: Int64,
        _ id: RequestID
    ) async -> HTTPResponse {
        do throws(StoreError) {
            let page = try await desk.page(of: kind, subject, after: after, limit: limit, now: now)
            return .json(id) { page.write(kind, to: &$0) }
        } catch {
            return refuse(Problem(for: .store(error)), "store: \(error)", id)
        }
    }

    /// Makes the change, which is in force on all nodes before the answer.
    private func change(
        _ kind: AccountKind, of subject: AccountSubject, _ selection: AccountSelection, by actor: String, now: Int64,
        _ id: RequestID
    ) async -> HTTPResponse {
        do throws(StoreError) {
            let changed = try await desk.change(kind, of: subject, selection, by: actor, now: now)
            guard !changed.isEmpty || selection == .all else {
                return refusals.absence("No item of this name is among the subject's \(kind.rawValue)", id: id)
            }
            return .json(id) { AccountPage(items: changed, next: nil).write(kind, to: &$0) }
        } catch {
            return refuse(Problem(for: .store(error)), "store: \(error)", id)
        }
    }

    private func refuse(_ problem: Problem, _ cause: String, _ id: RequestID) -> HTTPResponse {
        refusals.response(
            to: "account_refused", problem, because: RefusalCause(cause.isEmpty ? problem.code.title : cause), id: id)
    }
}

/// The parameters of a request about an account: only known ones, and each at most once.
private struct AccountQuery {
    private static let ofSubject = ["subject", "issuer", "cookie", "customer"]

    private let texts: [String: String]

    init(_ pairs: QueryPairs, known: [String]) throws(AccountFault) {
        let names = Self.ofSubject + known
        var texts: [String: String] = [:]
        var count = 0
        for name in names {
            let values = pairs.values(name)
            guard values.count <= 1 else { throw .parameterUnknown(name) }
            guard let value = values.first else { continue }
            guard let text = String(validating: value, as: UTF8.self) else { throw .parameterUnknown(name) }
            texts[name] = text
            count += 1
        }
        guard pairs.count == count else { throw .parameterUnknown("of this query") }
        self.texts = texts
    }

    func text(_ name: String) -> String? { texts[name] }

    func limit() throws(AccountFault) -> Int {
        guard let text = texts["limit"] else { return AccountDesk.pageSizeDefault }
        guard let limit = Int(text), (1...AccountDesk.pageSizeMaximum).contains(limit) else { throw .limitMalformed }
        return limit
    }
}
