import EventLoops
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import POSIXSockets
import PlayerMessages
import Records
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct ServiceMetricsTests {
    private let metrics: ServiceMetrics
    private let peer = HTTPPeer(address: .internet(.v4(0x7f00_0001), port: 1), listener: "public")

    init() {
        metrics = ServiceMetrics(registry: MetricsRegistry(), rsaOperations: RSAOperationCount())
    }

    private func scrape() throws -> MetricsText { try MetricsText(parsing: metrics.registry.render()) }

    @Test(arguments: [(200, "2xx"), (204, "2xx"), (304, "3xx"), (400, "4xx"), (499, "4xx"), (500, "5xx"), (599, "5xx")])
    func sortsResponsesByClass(status: UInt16, label: String) throws {
        metrics.http.requestFinished(peer, method: .get, status: HTTPStatus(status), after: .milliseconds(1))
        for other in ["2xx", "3xx", "4xx", "5xx"] {
            #expect(try scrape()["latchkey_http_requests_total{class=\"\(other)\"}"] == (other == label ? 1 : 0))
        }
    }

    @Test func followsConnections() throws {
        metrics.http.connectionOpened(peer)
        metrics.http.connectionOpened(peer)
        metrics.http.connectionClosed(peer, after: .seconds(1))
        metrics.http.connectionRefused(nil, because: .outOfDescriptors)
        metrics.http.inputRefused(peer, .headTimeout)
        let text = try scrape()
        #expect(text["latchkey_http_connections"] == 1)
        #expect(text["latchkey_http_connections_refused_total{reason=\"descriptors\"}"] == 1)
        #expect(text["latchkey_http_inputs_refused_total"] == 1)
    }

    @Test(arguments: ConnectionAbuse.allCases)
    func countsAbuseByItsKind(abuse: ConnectionAbuse) throws {
        metrics.http.connectionAbused(peer, abuse)
        metrics.http.connectionAbused(peer, abuse)
        let counts = try scrape().values.filter { $0.key.hasPrefix("latchkey_http_connections_abused_total") }
        #expect(counts.count == ConnectionAbuse.allCases.count)
        #expect(
            counts.filter { $0.value > 0 } == ["latchkey_http_connections_abused_total{abuse=\"\(abuse.rawValue)\"}": 2]
        )
    }

    private static let phone: DeviceSummary = {
        var phone = DeviceSummary(versions: .init(used: 1, newest: 3))
        (phone.deviceClass, phone.securityLevel, phone.operatingSystem) = (2, .main, 17 << 16 | 4 << 8)
        return phone
    }()

    /// What devices state is counted in series of a fixed number, however many unknown devices there are.
    @Test func countsWhatDevicesState() throws {
        for number in 0..<UInt32(10_000) {
            var device = DeviceSummary(versions: .init(used: 1, newest: 1))
            (device.deviceClass, device.securityLevel) = (number * 7 + 6, .other(UInt64(number)))
            device.operatingSystem = number << 8
            metrics.player.refused(.securityLevel, .raw, of: device)
        }
        metrics.player.refused(.securityLevel, .raw, of: DeviceSummary(versions: .init(used: 1, newest: 1)))
        metrics.player.issued(.v1, .raw, to: Self.phone, isRepeated: false, after: .zero)
        metrics.player.issued(.v1, .raw, to: Self.phone, isRepeated: true, after: .zero)
        let counts = try scrape().values.filter { $0.key.hasPrefix("latchkey_requests_by_") }
        #expect(counts.count <= 50)
        let classes = counts.filter { $0.key.hasPrefix("latchkey_requests_by_device_class_total") }
        // 127, 128 and 255 are known classes.
        let other = (0..<UInt32(10_000)).map { $0 * 7 + 6 }.filter { DeviceSummary.classWords[$0] == nil }.count
        #expect(
            classes["latchkey_requests_by_device_class_total{device_class=\"other\",outcome=\"refused\"}"]
                == Double(other))
        #expect(classes["latchkey_requests_by_device_class_total{device_class=\"none\",outcome=\"refused\"}"] == 1)
        #expect(classes["latchkey_requests_by_device_class_total{device_class=\"mobile\",outcome=\"issued\"}"] == 1)
        #expect(counts["latchkey_requests_by_os_major_total{os_major=\"17\",outcome=\"issued\"}"] == 1)
        #expect(
            counts["latchkey_requests_by_security_level_total{security_level=\"main\",outcome=\"issued\"}"] == 1)
    }

    @Test func measuresLicenses() throws {
        metrics.player.issued(.v1, .raw, to: Self.phone, isRepeated: false, after: .milliseconds(3))
        metrics.player.issued(.v2, .form, to: Self.phone, isRepeated: true, after: .milliseconds(5))
        let text = try scrape()
        #expect(text["latchkey_license_duration_seconds_count"] == 2)
        #expect(text["latchkey_licenses_repeated_total"] == 1)
        #expect(text["latchkey_license_duration_seconds_bucket{le=\"+Inf\"}"] == 2)
        #expect(text["latchkey_license_duration_seconds_sum"].map { abs($0 - 0.008) < 1e-9 } == true)
    }

    /// Every request shape has its samples before the first request.
    @Test func countsRequestsByShape() throws {
        metrics.player.issued(.v1, .keyArray, to: Self.phone, isRepeated: false, after: .zero)
        metrics.player.refused(.spcMalformed, .unread)
        let requests = try scrape().values.filter { $0.key.hasPrefix("latchkey_license_requests_total") }
        for name in RequestShape.names + ["unread"] {
            for outcome in ["issued", "accepted", "refused"] {
                let isCounted = [["key_array", "issued"], ["unread", "refused"]].contains([name, outcome])
                let sample = "latchkey_license_requests_total{shape=\"\(name)\",outcome=\"\(outcome)\"}"
                #expect(requests[sample] == (isCounted ? 1 : 0))
            }
        }
        #expect(requests.count == 3 * (RequestShape.names.count + 1))
    }

    @Test(arguments: ProblemCode.allCases)
    func countsEveryRefusalUnderItsCode(code: ProblemCode) throws {
        metrics.player.refused(code)
        let refused = try scrape().values.filter { $0.key.hasPrefix("latchkey_licenses_refused_total") }
        #expect(refused.count == ProblemCode.allCases.count)
        #expect(
            refused.filter { $0.value > 0 }.keys.elementsEqual([
                "latchkey_licenses_refused_total{code=\"\(code.rawValue)\"}"
            ]))
    }
}
