import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Sends requests to a licence server over one URLSession, whose connection stays open from one licence to the next.
public struct LicenseClient: Sendable {
    public let server: LicenseServer
    private let session: URLSession

    /// `session` should not cache: a licence is for one request alone.
    public init(server: LicenseServer, session: URLSession = URLSession(configuration: .ephemeral)) {
        self.server = server
        self.session = session
    }

    /// The application certificate, as AVFoundation wants it.
    public func certificate() async throws(LicenseFailure) -> Data {
        let (body, response) = try await send(server.certificateRequest())
        guard let response = response as? HTTPURLResponse else { throw LicenseFailure.notALicense }
        guard response.statusCode == 200 else { throw LicenseFailure.refused(LicenseProblem(body, response)) }
        return body
    }

    /// The licence for an SPC.
    public func license(for spc: Data, _ purpose: LicensePurpose, token: String) async throws(LicenseFailure) -> License
    {
        let (body, response) = try await send(server.licenseRequest(spc, for: purpose, token: token))
        return try License(body, response)
    }

    /// What a device reports of a key that it keeps.
    public func report(_ spc: Data, token: String) async throws(LicenseFailure) -> KeyReport {
        let (body, response) = try await send(server.licenseRequest(spc, for: .report, token: token))
        return try KeyReport(body, response)
    }

    /// A challenge for the next report.
    public func challenge(token: String) async throws(LicenseFailure) -> Challenge {
        let (body, response) = try await send(server.challengeRequest(token: token))
        return try Challenge(body, response)
    }

    private func send(_ request: URLRequest) async throws(LicenseFailure) -> (Data, URLResponse) {
        do {
            return try await session.data(for: request)
        } catch {
            throw LicenseFailure.unreachable
        }
    }
}
