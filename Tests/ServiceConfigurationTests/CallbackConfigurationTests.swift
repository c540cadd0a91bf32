import Entitlements
import HTTPCalls
import Licensing
import TestSupport
import Testing

@testable import ServiceConfiguration

@Suite struct CallbackConfigurationTests {
    private func callback(_ fields: String) throws -> Configuration.Callback? {
        try ConfigurationText.parse(ConfigurationText.make(entitlement: "callback: { \(fields) },")).configuration
            .entitlement.callback
    }

    private func problems(_ fields: String) -> [String] {
        ConfigurationText.problems(ConfigurationText.make(entitlement: "callback: { \(fields) },")).map(\.path)
    }

    @Test func isNotThereUnlessItIsConfigured() throws {
        #expect(try ConfigurationText.parse(ConfigurationText.make()).configuration.entitlement.callback == nil)
    }

    @Test func hasDefaultsForAllButTheURL() throws {
        let callback = try #require(try callback(#"url: "https://portal.example/entitle""#))
        #expect(callback.url.text == "https://portal.example/entitle")
        #expect(callback.url.host == "portal.example")
        #expect(callback.reach == .publicAddresses)
        #expect(callback.name == "callback" && callback.sources == [.headers])
        #expect(callback.timeout == .milliseconds(800) && callback.failure == .closed)
        #expect(callback.memory == CallbackMemory.Limits() && callback.breaker == CircuitBreaker.Limits())
        #expect(callback.rate == Rate(perSecond: 1000, burst: 2000))
        #expect(callback.ratePerAddress == Rate(perSecond: 10, burst: 50))
        #expect(callback.callMaximum == 64 && callback.waitingMaximum == 256)
    }

    @Test func readsEveryField() throws {
        let callback = try #require(
            try callback(
                #"""
                url: "https://Portal.Internal:8443/entitle", hosts: ["portal.internal"], name: "portal",
                sources: ["query", "headers"], timeout: "200ms", fail: "grace", secret: "secrets/a",
                identity: { certificate: "tls/a.pem", privateKey: "tls/b.pem" }, authorities: "tls/c.pem",
                memory: { allowed: "0s", denials: 1, denied: "1m" }, breaker: { failures: 1, open: "1s" },
                rates: { all: { perSecond: 5 }, perAddress: { perSecond: 1, burst: 1 } }, workers: 2, waitingMaximum: 8
                """#))
        #expect(callback.reach == .anyAddress && callback.url.host == "portal.internal")
        #expect(callback.name == "portal" && callback.sources == [.query, .headers])
        #expect(callback.timeout == .milliseconds(200) && callback.failure == .grace)
        #expect(callback.secret != nil && callback.identity != nil && callback.authorities != nil)
        #expect(
            callback.memory
                == CallbackMemory.Limits(allowedSeconds: 0, denialMaximum: 1, deniedSeconds: 60))
        #expect(callback.breaker == CircuitBreaker.Limits(failureMaximum: 1, openNanoseconds: 1_000_000_000))
        #expect(callback.rate == Rate(perSecond: 5, burst: 10))
        #expect(callback.ratePerAddress == Rate(perSecond: 1, burst: 1))
        #expect(callback.callMaximum == 2 && callback.waitingMaximum == 8)
    }

    @Test(arguments: [
        (#"url: "http://127.0.0.1:8000/a", hosts: ["127.0.0.1"]"#, HTTPCallSettings.Reach.loopback),
        (#"url: "http://localhost:8000/a", hosts: ["localhost"]"#, .loopback),
        (#"url: "http://[::1]:8000/a", hosts: ["::1"]"#, .loopback),
        (#"url: "https://10.0.0.7/a", hosts: ["10.0.0.7"]"#, .anyAddress),
        (#"url: "https://10.0.0.7/a""#, .publicAddresses),
        (#"url: "https://portal.example/a", hosts: ["other.example"]"#, .publicAddresses),
    ])
    func knowsWhereTheServiceMayBe(fields: String, reach: HTTPCallSettings.Reach) throws {
        #expect(try callback(fields)?.reach == reach)
    }

    @Test(arguments: [
        "", #"url: "ftp://portal.example/""#, #"url: "https://""#, #"url: "https://user@portal.example/""#,
        #"url: "https://portal.example/?a=b""#, #"url: "https://portal.example:0/""#,
        #"url: "https://portal.example:99999/""#, #"url: "https://[10.0.0.1]/""#, #"url: "https://por tal/""#,
        // Requests without TLS are only for this machine, and only if `hosts` lists it.
        #"url: "http://portal.example/", hosts: ["portal.example"]"#, #"url: "http://127.0.0.1/""#,
        #"url: "http://10.0.0.1/", hosts: ["10.0.0.1"]"#,
    ])
    func refusesAServiceThatCannotBeMeant(fields: String) {
        #expect(problems(fields) == ["entitlement.callback.url"])
    }

    @Test(arguments: [
        (#"timeout: "1ms""#, "timeout"), (#"fail: "open""#, "fail"), ("workers: 0", "workers"),
        (#"sources: []"#, "sources"), (#"hosts: ["a b"]"#, "hosts[0]"), ("memory: { denials: 0 }", "memory.denials"),
        ("breaker: { failures: 0 }", "breaker.failures"), ("redirects: 3", "redirects"),
    ])
    func refusesValuesOutOfRange(fields: String, path: String) {
        #expect(problems(#"url: "https://portal.example/", "# + fields) == ["entitlement.callback.\(path)"])
    }
}
