package import Entitlements

/// What every request shape comes down to: one SPC and the token presented with it.
package struct LicenseRequest: Sendable {
    /// The SPC as it came, not yet looked at.
    package let message: [UInt8]
    /// Not yet verified; nil when none was presented.
    package let token: PresentedToken?
    /// What the app wants the licence for; an SPC cannot say it.
    package let use: LicenseUse
    package let origin: RequestOrigin
    /// Whether a playback that goes on asks: it goes first in a crowd, and is granted nothing more.
    package let isRenewal: Bool

    package init(
        message: [UInt8], token: PresentedToken?, use: LicenseUse = .streaming, origin: RequestOrigin = RequestOrigin(),
        isRenewal: Bool = false
    ) {
        self.message = message
        self.token = token
        self.use = use
        self.origin = origin
        self.isRenewal = isRenewal
    }
}
