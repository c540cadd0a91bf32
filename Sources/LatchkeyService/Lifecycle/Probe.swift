import ByteCoding
import CommandLineKit
import HTTPCalls
import ServiceConfiguration

/// Asks the daemon that runs with a configuration how it is, for health checks of containers, which have no other
/// program for that.
struct Probe {
    private static let timeout: Duration = .seconds(5)

    private let address: LocalAddress
    private let path: String

    /// - Parameter asksForReadiness: Whether the daemon must want requests, and not only live.
    init(_ configuration: Configuration, asksForReadiness: Bool) throws(CommandError) {
        guard let listener = configuration.listeners.admin.first else {
            throw .failed("the probe asks an admin listener, and the configuration has none")
        }
        guard let address = LocalAddress(listener) else {
            throw .failed("the probe cannot know the address of \(listener.address): give the admin listener a port")
        }
        self.address = address
        path = asksForReadiness ? "/readyz" : "/livez"
    }

    /// Throws unless the answer is 200.
    func run() throws(CommandError) {
        var settings = HTTPRoundTripSettings()
        settings.proxy = .none
        settings.timeout = Self.timeout
        settings.unixSocket = address.unixSocket
        let server = address.unixSocket.map { "unix:" + $0 } ?? address.base
        let request = HTTPRoundTripRequest(.get, address.base + path)
        let answer = try wrap(
            { [settings] (error: HTTPRoundTripError) in CommandError.failed(error.text(about: server, settings)) },
            try HTTPRoundTrip.perform(request, settings))
        guard answer.status == 200 else { throw .failed("\(server): \(path) has status \(answer.status)") }
    }
}
