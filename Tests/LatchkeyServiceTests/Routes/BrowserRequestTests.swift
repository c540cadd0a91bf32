import HTTPMessages
import HTTPServing
import POSIXSockets
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct BrowserRequestTests {
    private static let tls = HTTPPeer(
        address: .internet(.v4(1), port: 1), listener: "admin", tls: TLSFacts(version: .version13, isResumed: false))
    private static let plain = HTTPPeer(address: .internet(.v4(1), port: 1), listener: "admin")
    private static let proxied = HTTPPeer(
        address: .internet(.v4(1), port: 1), listener: "admin", isBehindTrustedProxy: true)

    private func isAccepted(_ method: HTTPMethod, _ fields: HTTPFields, from peer: HTTPPeer = plain) -> Bool {
        BrowserRequest.fault(in: RoutesFixture.request(method, "/v1/drain", fields, from: peer)) == nil
    }

    @Test(arguments: [
        ("http://localhost:9443", true), ("HTTP://LOCALHOST:9443", true), ("https://localhost:9443", false),
        ("http://localhost", false), ("http://localhost:9444", false), ("http://127.0.0.1:9443", false),
        ("null", false),
        ("", false), ("http://localhost:9443/", false), ("http://localhost:9443@evil.example", false),
    ])
    func anOriginIsTheAddressOfTheServer(origin: String, isOwn: Bool) {
        let fields: HTTPFields = ["Host": "localhost:9443", "Origin": origin]
        #expect(isAccepted(.post, fields) == isOwn)
        #expect(isAccepted(.delete, fields) == isOwn)
        // A browser adds the origin to a read only for a page of another one.
        #expect(isAccepted(.get, fields) == isOwn && isAccepted(.head, fields) == isOwn)
        #expect(isAccepted(.get, ["Host": "localhost:9443"]))
    }

    @Test func theSchemeFits() {
        let fields: HTTPFields = ["Host": "keys.internal", "Origin": "https://keys.internal"]
        #expect(isAccepted(.post, fields, from: Self.tls))
        #expect(!isAccepted(.post, fields, from: Self.plain))
        // A proxy that does not name the scheme may have either.
        #expect(isAccepted(.post, fields, from: Self.proxied))
        for (value, isRight) in [("https", true), ("http, HTTPS", true), ("http", false), ("https,http", false)] {
            var named = fields
            named.append("X-Forwarded-Proto", value)
            #expect(isAccepted(.post, named, from: Self.proxied) == isRight, "\(value)")
            // No other client may name it.
            #expect(!isAccepted(.post, named, from: Self.plain), "\(value)")
        }
    }

    @Test(arguments: [
        ("same-origin", true, true), ("none", true, false), ("same-site", false, false), ("cross-site", false, false),
        ("", false, false), ("Same-Origin", false, false),
    ])
    func sitesMayReadOrChange(site: String, mayRead: Bool, mayChange: Bool) {
        let fields: HTTPFields = ["Host": "localhost", "Sec-Fetch-Site": site]
        #expect(isAccepted(.get, fields) == mayRead && isAccepted(.head, fields) == mayRead)
        #expect(isAccepted(.post, fields) == mayChange && isAccepted(.delete, fields) == mayChange)
    }

    @Test func everyFieldCounts() {
        let twoOrigins: HTTPFields = [
            "Host": "localhost", "Origin": "http://localhost", "Origin": "http://evil.example",
        ]
        #expect(!isAccepted(.post, twoOrigins))
        let twoSites: HTTPFields = [
            "Host": "localhost", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Site": "cross-site",
        ]
        #expect(!isAccepted(.post, twoSites) && !isAccepted(.get, twoSites))
        #expect(!isAccepted(.post, ["Origin": "http://localhost"]), "without Host nothing is the own origin")
        #expect(isAccepted(.post, [:]), "a program sends neither")
    }
}

@Suite struct AdminCookieTests {
    @Test func hasTheAttributesThatKeepItToThisServer() throws {
        let id = try AdminSessionID.random()
        #expect(
            AdminCookie.beginning(id, isSecure: false)
                == "latchkey_admin=\(id.cookieValue); Path=/; HttpOnly; SameSite=Strict")
        #expect(
            AdminCookie.beginning(id, isSecure: true)
                == "__Host-latchkey_admin=\(id.cookieValue); Path=/; HttpOnly; SameSite=Strict; Secure")
        #expect(AdminCookie.removing(isSecure: true).hasSuffix("; Secure; Max-Age=0"))
    }

    @Test func isFoundAmongOthers() throws {
        let id = try AdminSessionID.random()
        let own = "latchkey_admin=\(id.cookieValue)"
        func digest(_ fields: HTTPFields, isSecure: Bool = false) -> [UInt8]? {
            guard case .one(let found) = AdminCookie.presented(in: fields, isSecure: isSecure) else { return nil }
            return found.digest
        }
        #expect(digest(["Cookie": own]) == id.digest)
        #expect(digest(["Cookie": "a=b; \(own);c=d"]) == id.digest)
        #expect(digest(["Cookie": "a=b", "Cookie": own, "Cookie": own]) == id.digest, "as HTTP/2 may send cookies")
        #expect(digest(["Cookie": own], isSecure: true) == nil, "over HTTPS only the name with the prefix counts")
        #expect(digest(["Cookie": "__Host-" + own]) == nil)
        #expect(digest(["Cookie": "__Host-" + own], isSecure: true) == id.digest)
        let other = try AdminSessionID.random().cookieValue
        #expect(digest(["Cookie": "\(own); latchkey_admin=\(other)"]) == nil)
        #expect(digest(["Cookie": "latchkey_admin="]) == nil && digest([:]) == nil)
    }
}
