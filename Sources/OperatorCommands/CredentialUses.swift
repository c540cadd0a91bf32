import CommandLineKit
import CommandSupport
import HTTPCalls
import ServiceConfiguration

/// What a daemon that runs has counted for each credential, by the credential's name.
struct CredentialUses {
    struct Use: Equatable {
        /// The SPCs that have named the credential since the daemon started.
        var requestCount: UInt64 = 0
        /// In seconds since 1970; nil if no SPC has named it.
        var lastUse: Int64?
    }

    private let uses: [String: Use]

    /// Reads the two metrics in Prometheus' text format; other lines are skipped.
    init(metrics text: String) {
        var uses: [String: Use] = [:]
        for line in text.split(separator: "\n") {
            guard let sample = Sample(line) else { continue }
            switch sample.metric {
            case "latchkey_credential_requests_total":
                uses[sample.credential, default: Use()].requestCount = UInt64(sample.value)
            case "latchkey_credential_last_use_timestamp_seconds":
                uses[sample.credential, default: Use()].lastUse = Int64(sample.value)
            default: break
            }
        }
        self.uses = uses
    }

    /// Nil for a credential that the daemon does not have.
    subscript(name: String) -> Use? { uses[name] }

    /// Asks the admin listener of the configuration, or the one that the arguments name.
    static func ask(
        _ arguments: Arguments, configuration path: String, _ context: CommandContext
    ) throws(CommandError) -> CredentialUses {
        let file = try OpenedLedger.configuration(path, context)
        let client = try AdminClient(arguments, file, context, for: .scrape)
        do throws(AdminClient.Failure) {
            let answer = try client.get("/metrics")
            guard answer.status == 200 else {
                throw AdminClient.Failure(text: "\(client.name) answers with status \(answer.status)")
            }
            return CredentialUses(metrics: String(decoding: answer.body, as: UTF8.self))
        } catch {
            throw .failed(error.text)
        }
    }

    /// A line such as `name{credential="main"} 5`. Names of credentials have no character that is escaped.
    private struct Sample {
        let metric: Substring
        let credential: String
        let value: Double

        init?(_ line: Substring) {
            let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0].hasSuffix("{credential="), parts[2].hasPrefix("} "),
                let value = Double(parts[2].dropFirst(2)), (0...Double(1 << 53)).contains(value)
            else { return nil }
            metric = parts[0].dropLast("{credential=".count)
            credential = String(parts[1])
            self.value = value
        }
    }
}
