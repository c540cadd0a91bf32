import DeviceSimulation
import FairPlay
import HTTPMessages
import HTTPServing
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// An operator takes a node out of service, and back.
@Suite struct DrainEndpointTests {
    private let fixture: RoutesFixture
    private let admin: HTTPFields = ["Authorization": "Bearer \(RoutesFixture.adminToken)"]

    init() throws {
        fixture = try RoutesFixture()
        fixture.health.setReady(true)
    }

    private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    private func lines(_ event: String) -> [String] { fixture.log.lines.filter { $0.contains(event) } }

    @Test func changesReadinessAloneAndNamesTheOperator() async throws {
        #expect(await fixture.ask(.get, "/readyz").status == .ok)
        let first = await fixture.askAdmin(.post, "/v1/drain", admin)
        #expect(first.status == .ok && text(first) == #"{"ready":false,"changed":true}"#)
        #expect(text(await fixture.askAdmin(.post, "/v1/drain", admin)) == #"{"ready":false,"changed":false}"#)

        let health = await fixture.ask(.get, "/readyz")
        #expect(health.status == .serviceUnavailable && text(health) == "not ready\n")
        let detailed = await fixture.askAdmin(.get, "/readyz")
        #expect(detailed.status == .serviceUnavailable)
        #expect(text(detailed) == "not ready\ndrained by token:tokenFile\n")
        #expect(try await fixture.metrics()["latchkey_drained"] == 1)
        #expect(try await fixture.metrics()["latchkey_ready"] == 0)
        #expect(await fixture.ask(.get, "/livez").status == .ok)
        let license = await fixture.license(try fixture.deviceRequest(.v1).message, token: try fixture.token())
        #expect(license.status == .ok)

        let last = await fixture.askAdmin(.post, "/v1/ready", admin)
        #expect(last.status == .ok && text(last) == #"{"ready":true,"changed":true}"#)
        #expect(text(await fixture.askAdmin(.post, "/v1/ready", admin)) == #"{"ready":true,"changed":false}"#)
        #expect(await fixture.ask(.get, "/readyz").status == .ok)
        #expect(try await fixture.metrics()["latchkey_drained"] == 0)
        #expect(try await fixture.metrics()["latchkey_ready"] == 1)

        let id = try #require(first.fields["X-Request-Id"])
        #expect(lines("drain_ordered").count == 1 && lines("drain_ended").count == 1)
        #expect(lines("drain_ordered").first?.contains(#""actor":"token:tokenFile","request_id":"\#(id)""#) == true)
    }

    @Test(arguments: ["/v1/drain", "/v1/ready"])
    func obeysAdministratorsAlone(path: String) async throws {
        _ = fixture.health.drain(by: "token:alice", at: fixture.clock.monotonicTime)
        let wrong: HTTPFields = ["Authorization": "Bearer \(RoutesFixture.adminToken)!"]
        #expect(await fixture.askAdmin(.post, path).status == .unauthorized)
        #expect(await fixture.askAdmin(.post, path, wrong).status == .unauthorized)
        #expect(await fixture.askAdmin(.get, path, admin).status == .methodNotAllowed)
        #expect(await fixture.ask(.post, path, admin).status == .notFound)
        // A listener without a token has no administrator.
        let open = try RoutesFixture(adminToken: nil)
        open.health.setReady(true)
        #expect(await open.askAdmin(.post, path).status == .unauthorized)
        #expect(await open.ask(.get, "/readyz").status == .ok)
        #expect(fixture.health.drain?.actor == "token:alice")
    }

    /// When the public listeners are closed, operators see health and metrics, and nothing that may have stopped.
    @Test func servesHealthAndMetricsToTheLast() async {
        fixture.health.setReady(false)
        fixture.health.beginEnd()
        #expect(await fixture.askAdmin(.get, "/livez", admin).status == .ok)
        #expect(await fixture.askAdmin(.get, "/readyz", admin).status == .serviceUnavailable)
        #expect(await fixture.askAdmin(.get, "/metrics", admin).status == .ok)
        for path in ["/v1/refusals/1", "/v1/revocations", "/v1/drain"] {
            #expect(await fixture.askAdmin(.post, path, admin).status == .serviceUnavailable)
        }
    }
}
