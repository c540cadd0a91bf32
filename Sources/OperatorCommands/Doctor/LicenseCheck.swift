import CommandLineKit
import DeviceSimulation
import FairPlay
import HTTPCalls
import KeyCrypto
import ServiceConfiguration

/// Asks a daemon for a license as a device does, and opens it. The license has a row in the ledger like any other.
struct LicenseCheck {
    static let viewerToken = CommandOption(
        "--viewer-token", .secret("TOKEN"),
        help: "a token of a viewer; with it a license is asked for, which has a row in the ledger like any other")
    static let assetID = CommandOption(
        "--asset-id", .value("ID"), help: "what the license is asked for, such as skd://movie-1; needs --viewer-token")
    static let url = CommandOption(
        "--url", .value("URL"), help: "where licenses are asked for; unless given, publicURL and the standard route")
    /// The option of `AdminClient` with the same name, which has an effect here too.
    static let authorities = CommandOption(
        AdminClient.authorities.name, .value("FILE"),
        help: "authorities in PEM that alone may vouch for the admin listener and for --url")
    static let options = [authorities, viewerToken, assetID, url]

    private static let check = "license"

    let loaded: LoadedConfiguration
    let token: String
    let assetID: String
    let url: String
    var authorities: [UInt8]?
    /// Unix time in seconds.
    let now: Int64

    /// One finding for each credential that has an application secret, and each version of SPCs that it serves.
    var findings: [DoctorFinding] {
        let found = loaded.credentials.credentials.flatMap { credential -> [DoctorFinding] in
            let ladder: ApplicationSecretKeyLadder
            switch credential.ladder {
            case .applicationSecret(let secret): ladder = secret
            case .module:
                return [.skipped(Self.check, "\(credential.name): a simulated device cannot use its module")]
            case .library:
                return [.skipped(Self.check, "\(credential.name): a simulated device cannot use its SDK library")]
            }
            let certificates = [(SPCVersion.v1, credential.certificate1024), (.v2, credential.certificate2048)]
            return certificates.compactMap { version, certificate in
                certificate.map { ask(version, $0, ladder, credential: credential.name) }
            }
        }
        return found.isEmpty ? [.skipped(Self.check, "there is no credential")] : found
    }

    private func ask(
        _ version: SPCVersion, _ certificate: Certificate, _ ladder: ApplicationSecretKeyLadder,
        credential name: String
    ) -> DoctorFinding {
        let title = "\(name), SPC version \(version.rawValue)"
        let request: DeviceRequest
        let crypto: CryptoContext
        do throws(CryptoError) {
            crypto = try CryptoContext()
            var options = DeviceOptions(version: version, assetID: Array(assetID.utf8))
            // A lease is given only for a playback that the device reports.
            options.playbackState = MediaPlaybackState(
                createdAt: UInt32(clamping: now), state: .readyToStart, sessionID: try RandomBytes.generateUInt64())
            request = try SimulatedDevice(certificate: certificate, ladder: ladder, using: crypto).makeRequest(options)
        } catch {
            return .bad(Self.check, "\(title): OpenSSL made no SPC (\(error))", remedy: "latchkey credentials check")
        }
        let answer: HTTPRoundTripAnswer
        do throws(HTTPRoundTripError) {
            answer = try HTTPRoundTrip.perform(
                HTTPRoundTripRequest(
                    .post(request.message), url,
                    fields: [
                        "Authorization: Bearer \(token)", "Content-Type: application/octet-stream",
                        "Accept: application/octet-stream",
                    ]), settings)
        } catch {
            return .bad(Self.check, "\(title): \(error.text(about: url, settings))", remedy: Self.remedy(for: error))
        }
        guard answer.status == 200 else {
            let id = answer.value(of: "X-Request-Id") ?? "none"
            let code = answer.value(of: "X-Error-Code") ?? "none"
            return .bad(
                Self.check, "\(title): status \(answer.status), code \(code), request id \(id)",
                remedy: "latchkey why \(id)")
        }
        do throws(CKCFault) {
            _ = try CKCOpener(secrets: request.secrets, using: crypto).open(answer.body)
            return .good(Self.check, "\(title): a license, which a device would accept")
        } catch {
            return .bad(
                Self.check, "\(title): a device would refuse the answer (\(error))",
                remedy:
                    "the application secret and the certificate are not of one deployment, or another server answers")
        }
    }

    private static func remedy(for error: HTTPRoundTripError) -> String {
        switch error {
        case .certificateRefused:
            "name your authority by \(authorities.usage) if the certificate is of a private authority or self-signed;"
                + " otherwise compare the certificate and its name with --url"
        case .authoritiesUnusable: "name a file of certificates in PEM by \(authorities.usage)"
        case .hostUnknown, .proxyUnknown, .notConnected, .timedOut, .proxyRefused, .answerTooLarge, .closedEarly,
            .failed:
            "is --url what apps ask?"
        }
    }

    private var settings: HTTPRoundTripSettings {
        var settings = HTTPRoundTripSettings()
        settings.proxy = .none
        settings.timeout = .seconds(10)
        settings.authorities = authorities
        return settings
    }
}
