import ByteCoding
import CommandLineKit
import HTTPCalls
import HTTPMessages
import KeyCrypto
import ServiceConfiguration

/// Looks at a daemon that runs: what its admin listener says, and what its public listeners serve.
struct DaemonChecks {
    let client: AdminClient
    let loaded: LoadedConfiguration
    let environment: [String: String]

    var findings: [DoctorFinding] {
        let answer: HTTPRoundTripAnswer
        do throws(AdminClient.Failure) {
            answer = try client.get("/metrics")
        } catch {
            return [
                .bad(
                    "daemon", error.text, remedy: "look at systemctl status latchkey, or name the listener by --server")
            ]
        }
        guard answer.status == 200 else {
            return [
                .bad(
                    "daemon", "\(client.name) answers with status \(answer.status)",
                    remedy: Self.remedy(for: answer.status))
            ]
        }
        let metrics = ScrapedMetrics(answer.body)
        return [.good("daemon", "\(client.name) answers")] + readiness + judge(metrics) + preflights
            + servedCertificates
    }

    private static func remedy(for status: Int) -> String {
        switch status {
        case 401: "the daemon has another admin token than the configuration: reload it, or give --token"
        case 403: "no role of the admin token allows to read metrics: give one with the role metrics by --token"
        case 429:
            "the admin token is wrong, and this machine has sent many wrong ones: reload the daemon, or give --token;"
                + " or the daemon has no room for the request"
        default: "is it the admin listener of Latchkey?"
        }
    }

    private var readiness: [DoctorFinding] {
        guard let answer = try? client.get("/readyz") else { return [] }
        let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").joined(separator: "; ")
        if answer.status == 200, !lines.contains("degraded") { return [.good("daemon.ready", lines)] }
        return [
            .bad("daemon.ready", lines, remedy: "the event `degraded` in the log has the cause of each part")
        ]
    }

    /// What browsers ask for and do not get. Such a browser sends no request, so no refusal shows it.
    private var preflights: [DoctorFinding] {
        guard let answer = try? client.get("/v1/status"), answer.status == 200,
            let found = (try? JSONReader.parse(answer.body))?.object?["refusedPreflights"]?.array
        else { return [] }
        let findings = found.prefix(Self.preflightCountMaximum).compactMap { node -> DoctorFinding? in
            guard let preflight = node.object, let text = preflight["text"]?.string,
                let remedy = preflight["remedy"]?.string, let count = preflight["count"]?.number?.signed
            else { return nil }
            let times = count == 1 ? "once" : "\(count) times"
            return .warning("daemon.cors", VisibleText.shown("\(text) (\(times))"), remedy: VisibleText.shown(remedy))
        }
        let rest = found.count - Self.preflightCountMaximum
        guard rest > 0 else { return findings }
        return findings + [
            .warning(
                "daemon.cors", "browsers ask for \(rest) more that they do not get",
                remedy: "GET /v1/status of the admin listener lists all (refusedPreflights)")
        ]
    }

    private static let preflightCountMaximum = 8

    private func judge(_ metrics: ScrapedMetrics) -> [DoctorFinding] {
        [memory(metrics), descriptors(metrics), clock(metrics), reload(metrics)].compactMap(\.self)
    }

    private func memory(_ metrics: ScrapedMetrics) -> DoctorFinding? {
        metrics["latchkey_memory_locked"].map { locked in
            locked == 1
                ? .good("daemon.memory", "keys at rest are locked in memory")
                : .bad(
                    "daemon.memory", "keys at rest are not locked in memory, and may be swapped",
                    remedy: "the event `memory_not_locked` in the log has the limit (LimitMEMLOCK) and what to do")
        }
    }

    private func descriptors(_ metrics: ScrapedMetrics) -> DoctorFinding? {
        guard let limit = metrics["process_max_fds"],
            let served = metrics[#"latchkey_http_connections_maximum{listener="public"}"#]
        else { return nil }
        let wanted = loaded.configuration.limits.http.connectionsMaximum * loaded.publicListeners.count
        let found = "\(Int(limit)) descriptors allow \(Int(served)) connections, of \(wanted) configured"
        guard Int(served) < wanted else { return .good("daemon.descriptors", found) }
        return .warning(
            "daemon.descriptors", found, remedy: "raise LimitNOFILE of the unit, or lower the limit of connections")
    }

    private func clock(_ metrics: ScrapedMetrics) -> DoctorFinding? {
        guard let trusted = metrics["latchkey_clock_trusted"] else { return nil }
        let offset = metrics["latchkey_clock_offset_seconds"] ?? 0
        let steps = Int(metrics["latchkey_clock_steps_total"] ?? 0)
        let found = "offset to the database \(offset) s, \(steps.counted("step")) since the start"
        if trusted != 1 {
            return .bad(
                "daemon.clock", "the daemon does not trust the clock: " + found,
                remedy: "set the clock right; latchkey clock show says more, and latchkey clock accept ends the wait")
        }
        if abs(offset) > 2 {
            return .bad("daemon.clock", found, remedy: "set the clocks of this node and of PostgreSQL by one source")
        }
        if steps > 0 {
            return .warning(
                "daemon.clock", found,
                remedy: "something steps the clock: the events `clock_stepped` say when, and by how much")
        }
        return .good("daemon.clock", found)
    }

    private func reload(_ metrics: ScrapedMetrics) -> DoctorFinding? {
        metrics["latchkey_config_last_reload_successful"].map { successful in
            successful == 1
                ? .good("daemon.reload", "the last reload, or the start, succeeded")
                : .bad(
                    "daemon.reload", "the last reload was refused, and the daemon goes on with what it had",
                    remedy: "latchkeyd --check=full names the fault")
        }
    }

    // MARK: Served certificates

    /// Each public listener with TLS is asked for its certificate, which must be the one that the configuration names.
    private var servedCertificates: [DoctorFinding] {
        loaded.configuration.listeners.public.enumerated().compactMap { index, listener in
            guard let files = listener.transport.tls?.identities.first else { return nil }
            let name = "tls.served"
            let place = "listeners.public[\(index)]"
            guard case .socket(let address) = listener.address, !"\(address)".hasSuffix(":0") else {
                return .skipped(name, "\(place) has no address that is known before it is opened")
            }
            guard let held = certificate(of: files) else {
                return .skipped(name, "\(place): the certificate cannot be read")
            }
            let served: [UInt8]?
            do throws(HTTPRoundTripError) {
                served = try HTTPRoundTrip.servedCertificate("https://\(reachable("\(address)"))/livez", settings)
            } catch {
                return .bad(
                    name, "\(place): \(error.text(about: "\(address)", settings))",
                    remedy: "does the daemon run with this file?")
            }
            guard let served, let leaf = TLSCertificateName(pem: served) else {
                return .bad(name, "\(place) presents no certificate", remedy: "is it a listener of this daemon?")
            }
            guard leaf == held else {
                return .bad(
                    name, "\(place) presents another certificate than the configuration names",
                    remedy: "reload the daemon: the file has changed since it was read")
            }
            return .good(name, "\(place) presents the certificate of the configuration")
        }
    }

    private func certificate(of files: Configuration.KeyPair) -> TLSCertificateName? {
        guard let chain = try? SecretFile.readPublic(files.certificate, environment: environment) else { return nil }
        return TLSCertificateName(pem: chain.revealed())
    }

    /// A listener on every address is reached on loopback.
    private func reachable(_ address: String) -> String {
        if address.hasPrefix("0.0.0.0:") { return "127.0.0.1" + address.dropFirst("0.0.0.0".count) }
        if address.hasPrefix("[::]:") { return "[::1]" + address.dropFirst("[::]".count) }
        return address
    }

    private var settings: HTTPRoundTripSettings {
        var settings = HTTPRoundTripSettings()
        settings.proxy = .none
        settings.timeout = .seconds(5)
        settings.offersHTTP2 = false
        return settings
    }
}

/// Tells certificates apart by the Base64 text of the first one of a chain.
private struct TLSCertificateName: Equatable {
    private let text: String

    /// Nil if there is no certificate.
    init?(pem: [UInt8]) {
        let lines = String(decoding: pem, as: UTF8.self).split(whereSeparator: \.isNewline).map {
            $0.drop { $0.isWhitespace }
        }
        guard let start = lines.firstIndex(of: "-----BEGIN CERTIFICATE-----"),
            let end = lines[start...].firstIndex(of: "-----END CERTIFICATE-----")
        else { return nil }
        text = lines[(start + 1)..<end].joined()
    }
}

/// The values of a scrape, by the names and labels as they are written.
private struct ScrapedMetrics {
    private var values: [Substring: Double] = [:]

    init(_ body: [UInt8]) {
        for line in String(decoding: body, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            values[line[..<space]] = value
        }
    }

    subscript(name: String) -> Double? { values[name[...]] }
}
