package import KeyCrypto

/// A service that is called, and how.
package struct HTTPCallSettings: Sendable {
    /// Which addresses the service's name may lead to.
    package enum Reach: Equatable, Sendable {
        /// The public internet alone.
        case publicAddresses
        /// Any address: the operator has named the host as one inside.
        case anyAddress
        /// This machine alone.
        case loopback
    }

    /// A certificate and its key, both in PEM, by which the service knows this server.
    package struct Identity: Sendable {
        package let certificates: SharedSecret
        package let privateKey: SharedSecret

        package init(certificates: SharedSecret, privateKey: SharedSecret) {
            self.certificates = certificates
            self.privateKey = privateKey
        }
    }

    package let url: String
    package let reach: Reach
    /// Authorities in PEM that alone may vouch for the service; nil for those of the system.
    package var authorities: [UInt8]?
    package var identity: Identity?
    /// From the question to the whole answer, waiting for a place included.
    package var timeout: Duration = .milliseconds(800)
    package var answerSizeMaximum = 64 * 1024
    /// How many calls may be under way at once, unless configured: at 100 ms each they are 640 in a second.
    package static let callMaximumDefault = 64

    /// How many calls may be under way at once, each on a connection of its own, and how many more may wait.
    package var callMaximum = callMaximumDefault
    package var waitingMaximum = 256

    package init(url: String, reach: Reach) {
        self.url = url
        self.reach = reach
    }
}

/// Why a call brought no answer.
package enum HTTPCallError: Error, Equatable, Sendable {
    /// As many calls wait as may: the fault is not the service's.
    case busy
    case timedOut
    /// The name leads to an address that the service may not have.
    case addressForbidden
    /// The name, the connection or TLS failed; the number is libcurl's.
    case failed(code: UInt32)
    /// Another status than 200; a redirection is one of these, and is not followed.
    case status(Int)
    case answerTooLarge
    /// The server goes down.
    case stopped
}
