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

/// `/v1/revocations` of the admin listener: lists revocations (GET), adds one (POST), and lifts one (DELETE). GET with
/// the query of DELETE lists that one, if it holds.
package final class RevocationEndpoint: Sendable {
    package static let path = "/v1/revocations"
    package static let methods = "GET, HEAD, POST, DELETE"

    /// The most revocations in a list. `latchkey revocations list` prints all of them.
    private static let listLengthMaximum = 1000

    private let desk: RevocationDesk
    private let keeper: any RevocationsInForce
    private let refusals: Refusals
    private let clock: any WallClock

    package init(
        desk: RevocationDesk, keeper: any RevocationsInForce, refusals: Refusals, clock: any WallClock
    ) {
        self.desk = desk
        self.keeper = keeper
        self.refusals = refusals
        self.clock = clock
    }

    /// Answers a request that is already known to come from an administrator.
    ///
    /// `issuers` are the issuers whose tokens are accepted. `actor` is the administrator's name for the ledger.
    package func answer(_ request: HTTPRequest, by actor: String, issuers: Set<String>, id: RequestID) -> HTTPAnswer {
        let now = clock.wallTime.seconds
        do throws(RevocationFault) {
            switch request.method {
            case .get, .head:
                let target =
                    request.parameters.count > 0
                    ? try RevocationTarget(query: request.parameters, issuers: issuers) : nil
                return .later { [self] _ in await list(target, now, id) }
            case .post:
                let order = try RevocationOrder(parsing: request.body, issuers: issuers, now: now)
                return .later { [self] _ in await add(order, by: actor, now: now, id) }
            case .delete:
                let target = try RevocationTarget(query: request.parameters, issuers: issuers)
                return .later { [self] _ in await lift(target, by: actor, now: now, id) }
            default:
                let problem = Problem(.methodNotAllowed, method: request.method, allowedMethods: Self.methods)
                return .now(refuse(problem, "", id))
            }
        } catch {
            let cause = error.description
            return .now(refuse(Problem(.requestInvalid, detail: cause), cause, id))
        }
    }

    private func list(_ target: RevocationTarget?, _ now: Int64, _ id: RequestID) async -> HTTPResponse {
        do throws(StoreError) {
            let newest =
                if let target { try await desk.known(target, at: now).map { [$0] } ?? [] } else {
                    try await desk.newest(limit: Self.listLengthMaximum + 1)
                }
            let endTime = min(now, keeper.endTime)
            let holding = newest.filter { revocation in revocation.until.map { endTime < $0 } ?? true }
            let shown = holding.sorted(by: Revocation.isListedBefore).prefix(Self.listLengthMaximum)
            return .json(id) { writer in
                writer.objects("revocations", shown) { $1.write(to: &$0) }
                writer.member("isComplete", newest.count <= Self.listLengthMaximum)
            }
        } catch {
            return refuse(Problem(for: .store(error)), "store: \(error)", id)
        }
    }

    /// Adds a revocation, which is in force on this node before the answer.
    ///
    /// The member `isShared` says whether it is in the database that all nodes share.
    private func add(
        _ order: RevocationOrder, by actor: String, now: Int64, _ id: RequestID
    ) async -> HTTPResponse {
        do throws(StoreError) {
            let added = try await desk.add(order, by: actor, now: now) { await keeper.hold($0) }
            return .json(id) { writer in
                added.revocation.write(to: &writer)
                writer.member("isShared", added.isShared)
            }
        } catch {
            return refuse(Problem(for: .store(error)), "store: \(error)", id)
        }
    }

    private func lift(
        _ target: RevocationTarget, by actor: String, now: Int64, _ id: RequestID
    ) async -> HTTPResponse {
        do throws(StoreError) {
            guard let lifted = try await desk.lift(target, by: actor, now: now) else {
                return refusals.absence("Nothing of this kind and value is revoked", id: id)
            }
            await keeper.release(lifted)
            return .json(id) { lifted.write(to: &$0) }
        } catch {
            return refuse(Problem(for: .store(error)), "store: \(error)", id)
        }
    }

    private func refuse(_ problem: Problem, _ cause: String, _ id: RequestID) -> HTTPResponse {
        refusals.response(
            to: "revocation_refused", problem, because: RefusalCause(cause.isEmpty ? problem.code.title : cause), id: id
        )
    }
}

extension RevocationTarget {
    /// Reads the parameters `kind`, `value` and `issuer`, each of which may be given at most once.
    fileprivate init(query pairs: QueryPairs, issuers: Set<String>) throws(RevocationFault) {
        func text(_ name: String) throws(RevocationFault) -> String? {
            let values = pairs.values(name)
            guard values.count <= 1 else { throw .bodyMalformed }
            guard let value = values.first else { return nil }
            guard let text = String(validating: value, as: UTF8.self) else { throw .bodyMalformed }
            return text
        }
        try self.init(
            kind: try text("kind") ?? "", issuer: try text("issuer"), value: try text("value") ?? "", issuers: issuers)
    }
}
