import HTTPServing

/// Something about a TLS certificate that works, and will not for long.
package enum TLSWarning: Equatable, Sendable {
    /// It ended at this time (seconds since 1970): clients refuse it.
    case ended(at: Int64)
    /// It ends in so many days.
    case ends(days: Int64)

    /// How long before its end a certificate is warned about, in seconds: 30 days.
    private static let notice: Int64 = 30 * 86_400

    /// The warning about a certificate that ends at this time, if there is one at `now`.
    init?(end: Int64, now: Int64) {
        // An end that cannot be read is in the distant past.
        if end <= now {
            self = .ended(at: end)
        } else if end - now <= Self.notice {
            self = .ends(days: (end - now) / 86_400)
        } else {
            return nil
        }
    }
}

extension TLSWarning: CustomStringConvertible {
    package var description: String {
        switch self {
        case .ended: "its TLS certificate has ended, and clients refuse it"
        case .ends(let days): "its TLS certificate ends in \(days) days"
        }
    }
}

extension LoadedConfiguration {
    /// Every certificate that has ended or ends soon, with its listener's path; `now` is in seconds since 1970.
    package func tlsWarnings(now: Int64) -> [(listener: String, warning: TLSWarning)] {
        [("public", publicListeners), ("admin", adminListeners)].flatMap { name, listeners in
            listeners.enumerated().flatMap { index, listener in
                (listener.tls?.identities ?? []).compactMap { TLSWarning(end: $0.notAfter, now: now) }
                    .map { ("listeners.\(name)[\(index)]", $0) }
            }
        }
    }
}
