import FairPlay
package import Licensing
package import Records
package import RouteKit
package import Telemetry

/// Counts the requests of players. Labels are closed sets: no subject, asset or device is ever one.
package final class PlayerMetrics: Sendable {
    /// Licenses by SPC version.
    package let issuedVersion1: Counter
    package let issuedVersion2: Counter
    package let issuedVersion3: Counter
    package let repeatedLicenses: Counter
    package let refusals: MetricFamily<ProblemCode, Counter>
    package let licenseDuration: Histogram
    package let devices: DeviceTally
    private let syncReports: Counter
    private let requests: MetricFamily<RequestLabels, Counter>
    /// The counter that most requests use, looked up once.
    private let issuedRaw: Counter
    private let sessionReports: MetricFamily<ReportOutcome, Counter>

    package init(in registry: MetricsRegistry) {
        let issued = registry.counters(
            "latchkey_licenses_issued_total", help: "Licenses that were issued, by SPC version.", by: IssuedLabels.self)
        issuedVersion1 = issued[.version1]
        issuedVersion2 = issued[.version2]
        issuedVersion3 = issued[.version3]
        syncReports = registry.counter(
            "latchkey_sync_reports_total", help: "Accepted reports of devices about their stored keys.")
        repeatedLicenses = registry.counter(
            "latchkey_licenses_repeated_total",
            help: "Of the issued licenses, those that were answers to copies of a request.")
        requests = registry.counters(
            "latchkey_license_requests_total",
            help: "SPCs, and requests refused as a whole, by the shape of their request and their outcome.",
            by: RequestLabels.self)
        issuedRaw = requests[RequestLabels(.raw, .issued)]
        sessionReports = registry.counters(
            "latchkey_session_reports_total",
            help: "Playback sessions that devices report as ended, and reports that name none, by outcome.",
            by: ReportOutcome.self)
        refusals = registry.counters(
            "latchkey_licenses_refused_total", help: "License requests that were refused, by code.",
            by: ProblemCode.self)
        devices = DeviceTally(in: registry)
        licenseDuration = registry.histogram(
            "latchkey_license_duration_seconds",
            help: "Time from a whole license request to its license.", bounds: Histogram.requestDurationBounds)
    }

    func issued(
        _ version: SPCVersion, _ form: MessageForm, to device: DeviceSummary, isRepeated: Bool, after duration: Duration
    ) {
        (form == .raw ? issuedRaw : requests[RequestLabels(form, .issued)]).increment()
        // A copy of a request tells nothing new of its device.
        if isRepeated { repeatedLicenses.increment() } else { devices.noteLicense(device) }
        switch version {
        case .v1: issuedVersion1.increment()
        case .v2: issuedVersion2.increment()
        case .v3: issuedVersion3.increment()
        }
        licenseDuration.observe(duration)
    }

    func acceptedSyncReport(_ form: MessageForm) {
        syncReports.increment()
        accepted(form)
    }

    /// Counts an SPC that was answered without a license, because it asks for none.
    func accepted(_ form: MessageForm) {
        requests[RequestLabels(form, .accepted)].increment()
    }

    /// Counts a refusal; of `device`, if its SPC was opened.
    package func refused(_ code: ProblemCode, _ form: MessageForm, of device: DeviceSummary? = nil) {
        refused(code)
        if let device { devices.noteRefusal(device) }
        requests[RequestLabels(form, .refused)].increment()
    }

    /// Counts a refusal at an address that takes no SPCs.
    package func refused(_ code: ProblemCode) {
        refusals[code].increment()
    }

    func noted(_ outcome: ReportOutcome) {
        sessionReports[outcome].increment()
    }
}

private struct RequestLabels: MetricLabels {
    enum Outcome: String, CaseIterable {
        case issued, accepted, refused
    }

    static let labelNames = ["shape", "outcome"]
    static let allCases = MessageForm.allCases.flatMap { form in Outcome.allCases.map { RequestLabels(form, $0) } }

    let form: MessageForm
    let outcome: Outcome

    init(_ form: MessageForm, _ outcome: Outcome) {
        self.form = form
        self.outcome = outcome
    }

    var labelValues: [String] { [form.rawValue, outcome.rawValue] }
}

private enum IssuedLabels: String, MetricLabels {
    case version1 = "1"
    case version2 = "2"
    case version3 = "3"

    static let labelNames = ["spc_version"]
}

extension ProblemCode: MetricLabels {
    package static let labelNames = ["code"]
}
