import ByteCoding
import FairPlay

extension CredentialWarning: CustomStringConvertible {
    /// The text for the log and for people. It follows the name of the credential.
    package var description: String {
        switch self {
        case .certificateExpired(let bits, let notAfter):
            "the \(bits)-bit certificate ended on \(Self.date(notAfter)); it is served all the same"
        case .certificateExpiring(let bits, let notAfter):
            "the \(bits)-bit certificate ends on \(Self.date(notAfter)); it will be served all the same"
        case .sdkVersionUnknown(let version):
            "the 2048-bit certificate was issued for SDK version \(version), and this version of Latchkey knows those up to"
                + " \(SDKVersion.newestKnownMajor); look for a newer one"
        case .sdkVersionUnreadable: "the SDK version in the 2048-bit certificate cannot be read"
        case .developmentMaterial: "it is development material, for this machine and for tests"
        case .teamsDiffer(let small, let large):
            "the 1024-bit certificate is for the team \(VisibleText.shown(small)) (OU), and the 2048-bit certificate for the"
                + " team \(VisibleText.shown(large)); take both from one deployment"
        }
    }

    /// The code for programs. It never changes between versions.
    package var code: String {
        switch self {
        case .certificateExpired: "certificate_expired"
        case .certificateExpiring: "certificate_expiring"
        case .sdkVersionUnknown: "sdk_version_unknown"
        case .sdkVersionUnreadable: "sdk_version_unreadable"
        case .developmentMaterial: "development_material"
        case .teamsDiffer: "teams_differ"
        }
    }

    private static func date(_ seconds: Int64) -> String {
        UnixTime(seconds: seconds)?.description ?? "a day beyond all calendars"
    }
}
