import Administration
import ByteCoding
import HTTPMessages
import HTTPServing
import ServiceConfiguration
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Which role may send which request to an admin listener.
@Suite struct AdminAddressTests {
    /// The permission of each path and method, as security/administrators.md has it.
    private static let permissions: [String: AdminPermission] = [
        "GET /metrics": .scrape, "POST /v1/explain": .explain, "GET /v1/refusals/{requestId}": .look,
        "GET /v1/revocations": .look, "POST /v1/revocations": .revoke, "DELETE /v1/revocations": .revoke,
        "GET /v1/devices": .look, "DELETE /v1/devices": .release, "GET /v1/playbacks": .look,
        "DELETE /v1/playbacks": .release, "GET /v1/rentals": .look, "DELETE /v1/rentals": .release,
        "POST /v1/drain": .operate, "POST /v1/ready": .operate, "GET /v1/status": .watch, "GET /v1/history": .watch,
        "GET /v1/device-kinds": .watch, "GET /v1/events": .watch, "GET /v1/refusals": .look, "GET /v1/ledger": .look,
        "GET /v1/contents": .look, "GET /v1/contents/{contentId}/keys": .look,
    ]
    /// What needs no permission, and who may use it.
    private static let others: [String: AdminAccess] = [
        "GET /livez": .everyone, "GET /readyz": .everyone, "GET /openapi.json": .everyAdministrator,
        "GET /v1/whoami": .everyAdministrator, "POST /v1/session": .everyone, "DELETE /v1/session": .everyAdministrator,
        "GET /": .everyone, "GET /page/{file}": .everyone, "GET /help/{file}": .everyone,
    ]
    private static let permissionsOfRoles: [AdminRole: Set<AdminPermission>] = [
        .metrics: [.scrape, .watch], .support: [.watch, .look, .explain, .release],
        .security: [.watch, .look, .explain, .revoke], .admin: Set(AdminPermission.allCases),
    ]

    /// Every method of every address has an access, and the table above has no other.
    @Test func eachAddressHasTheAccessOfTheTable() {
        var found: [String: AdminAccess] = [:]
        for (path, address) in AdminAddress.all {
            for method in HTTPMethod.allCases where method != .head {
                found["\(method.rawValue) \(path)"] = address.access(for: method)
            }
            #expect(address.access(for: .head) == address.access(for: .get))
        }
        #expect(found == Self.permissions.mapValues { .permission($0) }.merging(Self.others) { first, _ in first })
    }

    @Test(arguments: AdminRole.allCases)
    func eachRoleHasThePermissionsOfTheTable(role: AdminRole) throws {
        let expected = try #require(Self.permissionsOfRoles[role])
        #expect(role.permissions == expected)
        for permission in AdminPermission.allCases {
            #expect(permission.roles.contains(role) == role.permissions.contains(permission))
        }
    }

    @Test func severalRolesAllowWhatEachOfThemAllows() {
        let roles: Set<AdminRole> = [.metrics, .support]
        #expect(roles.permissions == [.scrape, .watch, .look, .explain, .release])
        #expect(roles.words == ["metrics", "support"])
    }

    /// The routes themselves decide as the table says, for every pair of a role and a request.
    @Test(arguments: AdminRole.allCases)
    func theRoutesFollowTheTable(role: AdminRole) async throws {
        let secret = "a secret of one role"
        let fixture = try RoutesFixture(
            administrators: AdminCredentials(tokens: [RoutesFixture.token("one", secret, roles: [role])]))
        let allowed = try #require(Self.permissionsOfRoles[role])
        for (path, address) in AdminAddress.all {
            for method in HTTPMethod.allCases {
                let response = await fixture.askAdmin(
                    method, path.replacing("{requestId}", with: "0000000000000000"),
                    ["Host": "localhost", "Authorization": "Bearer \(secret)"])
                let code = response.fields["X-Error-Code"]
                let name = "\(role.rawValue): \(method.rawValue) \(path): \(code ?? "none")"
                switch address.access(for: method) {
                case nil: #expect(code == "method_not_allowed", "\(name)")
                case .everyone, .everyAdministrator:
                    #expect(code != "admin_role_missing" && code != "method_not_allowed", "\(name)")
                case .permission(let permission):
                    #expect((code == "admin_role_missing") == !allowed.contains(permission), "\(name)")
                    #expect(code != "admin_token_invalid", "\(name)")
                    guard code == "admin_role_missing" else { continue }
                    #expect(response.status == .forbidden, "\(name)")
                    let detail = try #require(try JSONReader.parse(response.body).object?["detail"]?.string)
                    for role in AdminRole.allCases {
                        #expect(detail.contains(role.rawValue) == permission.roles.contains(role), "\(detail)")
                    }
                }
            }
        }
    }

    /// A sender without a credential hears 401 first, whatever the address demands.
    @Test func strangersHearNothingOfRoles() async throws {
        let fixture = try RoutesFixture()
        for (path, address) in AdminAddress.all {
            for method in HTTPMethod.allCases {
                guard case .permission = address.access(for: method) else { continue }
                for fields: HTTPFields in [[:], ["Authorization": "Bearer wrong"], ["Cookie": "latchkey_admin=x"]] {
                    let response = await fixture.askAdmin(method, path, fields)
                    let code = response.fields["X-Error-Code"]
                    #expect(code == "admin_token_invalid" || code == "rate_limited", "\(method) \(path)")
                }
            }
        }
    }

    /// Without credentials every process may read, and none may change anything.
    @Test func anOpenListenerReadsAlone() async throws {
        let fixture = try RoutesFixture(adminToken: nil)
        for (path, address) in AdminAddress.all {
            for method in HTTPMethod.allCases {
                guard case .permission(let permission) = address.access(for: method) else { continue }
                let response = await fixture.askAdmin(method, path)
                let isAllowed = [.scrape, .watch, .look, .explain].contains(permission)
                #expect((response.status != .unauthorized) == isAllowed, "\(method) \(path)")
            }
        }
    }

    @Test(arguments: [
        ("/v1/refusals/0123456789abcdef", true), ("/v1/refusals/", false), ("/v1/refusals/a/b", false),
        ("/v1/refusals", true), ("/v1/Session", false), ("/v1/session/", false), ("/v1/session", true),
    ])
    func findsAddressesByTheirWholePath(path: String, isThere: Bool) {
        #expect((AdminAddress(path: path) != nil) == isThere)
    }
}
