import TestSupport
import Testing

@testable import Telemetry

@Suite struct MetricsRegistryTests {
    enum Result: String, MetricLabels {
        case issued
        case refused

        static let labelNames = ["result"]
    }

    struct Request: MetricLabels {
        let method: String
        let code: String

        static let labelNames = ["method", "code"]
        static let allCases = [Request(method: "GET", code: "200"), Request(method: "POST", code: "422")]
        var labelValues: [String] { [method, code] }
    }

    @Test func rendersTheTextFormat() {
        let registry = MetricsRegistry()
        let licenses = registry.counters("latchkey_licenses_total", help: "Licenses by result.", by: Result.self)
        let requests = registry.counters("latchkey_http_requests_total", help: "Requests.", by: Request.self)
        let depth = registry.gauge("latchkey_rsa_queue_depth", help: "Waiting\noperations \\ \"now\".")
        registry.information(
            "latchkey_certificate_info", help: "Name.", labels: [(name: "name", value: "a\"b\\c\nd")])
        let duration = registry.histogram(
            "latchkey_request_duration_seconds", help: "Duration.", bounds: [0.0005, 0.25, 1])
        registry.information(
            "latchkey_build_info", help: "Build.",
            labels: [(name: "version", value: "1.0"), (name: "commit", value: "é")])
        registry.sample("latchkey_ratio", help: "Ratio.") { 0.1 }
        registry.sample("latchkey_missing", help: "Not there.") { nil }
        registry.sample("latchkey_seconds_total", help: "Seconds.", isCounter: true) { 1e300 }
        registry.sample("latchkey_limit", help: "Limit.") { .infinity }

        licenses[.issued].increment(by: 3)
        requests[Request(method: "POST", code: "422")].increment()
        depth.set(-2)
        duration.observe(0.0005)
        duration.observe(0.5)
        duration.observe(7)

        #expect(
            registry.render() == #"""
                # HELP latchkey_licenses_total Licenses by result.
                # TYPE latchkey_licenses_total counter
                latchkey_licenses_total{result="issued"} 3
                latchkey_licenses_total{result="refused"} 0
                # HELP latchkey_http_requests_total Requests.
                # TYPE latchkey_http_requests_total counter
                latchkey_http_requests_total{method="GET",code="200"} 0
                latchkey_http_requests_total{method="POST",code="422"} 1
                # HELP latchkey_rsa_queue_depth Waiting\noperations \\ "now".
                # TYPE latchkey_rsa_queue_depth gauge
                latchkey_rsa_queue_depth -2
                # HELP latchkey_certificate_info Name.
                # TYPE latchkey_certificate_info gauge
                latchkey_certificate_info{name="a\"b\\c\nd"} 1
                # HELP latchkey_request_duration_seconds Duration.
                # TYPE latchkey_request_duration_seconds histogram
                latchkey_request_duration_seconds_bucket{le="0.0005"} 1
                latchkey_request_duration_seconds_bucket{le="0.25"} 1
                latchkey_request_duration_seconds_bucket{le="1"} 2
                latchkey_request_duration_seconds_bucket{le="+Inf"} 3
                latchkey_request_duration_seconds_sum 7.5005
                latchkey_request_duration_seconds_count 3
                # HELP latchkey_build_info Build.
                # TYPE latchkey_build_info gauge
                latchkey_build_info{version="1.0",commit="é"} 1
                # HELP latchkey_ratio Ratio.
                # TYPE latchkey_ratio gauge
                latchkey_ratio 0.1
                # HELP latchkey_seconds_total Seconds.
                # TYPE latchkey_seconds_total counter
                latchkey_seconds_total 1e+300
                # HELP latchkey_limit Limit.
                # TYPE latchkey_limit gauge
                latchkey_limit +Inf

                """#)
        #expect(MetricsRegistry.contentType == "text/plain; version=0.0.4; charset=utf-8")
    }

    @Test func aHistogramKeepsItsLabelsBeforeTheBound() {
        let histogram = Histogram(bounds: [8])
        histogram.observe(9)
        var text = PrometheusText()
        text.append(
            MetricEntry(
                name: "latchkey_lanes", kind: .histogram, help: "Lanes.",
                series: [MetricSeries(labels: [("result", "refused")], source: .histogram(histogram))]))
        let lines = text.text.split(separator: "\n").filter { $0.contains("refused") }
        #expect(
            lines == [
                #"latchkey_lanes_bucket{result="refused",le="8"} 0"#,
                #"latchkey_lanes_bucket{result="refused",le="+Inf"} 1"#,
                #"latchkey_lanes_sum{result="refused"} 9"#, #"latchkey_lanes_count{result="refused"} 1"#,
            ])
    }

    @Test func anEmptyRegistryIsAnEmptyText() {
        #expect(MetricsRegistry().render().isEmpty)
    }

    @Test(.tags(.startsProcesses)) func aNameTakenTwiceEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            let registry = MetricsRegistry()
            _ = registry.gauge("latchkey_depth", help: "Depth.")
            _ = registry.gauge("latchkey_depth", help: "Depth.")
        }
    }

    @Test(.tags(.startsProcesses)) func aCounterWithoutItsSuffixEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            _ = MetricsRegistry().counter("latchkey_licenses", help: "Licenses.")
        }
    }
}
