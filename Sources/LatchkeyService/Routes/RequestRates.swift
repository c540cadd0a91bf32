import Entitlements
import EventLoops
import Licensing
import POSIXSockets
import ServiceConfiguration
import Telemetry

/// How often licences may be asked for: in all, from one address, and for one subject.
///
/// The address is asked first, because that costs nothing; the subject only once a signature vouches for it. Both are refused at once: who
/// exceeds them alone is the cause. What all together exceed is nobody's fault, so there requests wait for their turn.
final class RequestRates: Sendable {
    /// How many addresses and subjects are remembered.
    static let capacity = 65_536

    private let all: OverallRate
    private let addresses: RateLimiter<IPAddress>?
    private let subjects: RateLimiter<Subject>?

    private struct Subject: Hashable {
        let issuer: String
        let name: String
    }

    init(
        _ rates: Configuration.Rates, overload: OverloadLimits = OverloadLimits(),
        counts: OverloadCounts = OverloadCounts(), clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        all = OverallRate(rates.all, limits: overload, counts: counts, clock: clock)
        addresses = rates.perAddress.map { RateLimiter($0, capacity: Self.capacity, clock: clock) }
        subjects = rates.perSubject.map { RateLimiter($0, capacity: Self.capacity, clock: clock) }
    }

    /// Before anything else is looked at. Returns how long to wait, or nil.
    func admit(from address: IPAddress?) -> Duration? {
        guard let addresses, let address else { return nil }
        return addresses.take(address.subscriber)
    }

    /// Once the token is verified, so that strangers use up nobody's rate. A token without a subject has none to count.
    ///
    /// A renewal may go on where new licences have used up the rate: a picture that runs should not stop because others begin.
    func admit(_ claims: Claims, isRenewal: Bool) -> Duration? {
        guard let subjects, let name = claims.subject else { return nil }
        return subjects.take(Subject(issuer: claims.issuer, name: name), urgent: isRenewal)
    }

    /// The rate of all together, before RSA is bought: waits for a turn, renewals first. Throws `overloaded` past the deadline.
    func enter(isRenewal: Bool, on loop: LoopContext) async throws(LicenseError) {
        guard await all.enter(isRenewal: isRenewal, on: loop) else { throw .overloaded }
    }
}
