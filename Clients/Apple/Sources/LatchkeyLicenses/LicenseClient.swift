import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Sends requests to a license server over one URLSession, which keeps its connection open between licenses.
public struct LicenseClient: Sendable {
    public let server: LicenseServer
    private let session: URLSession

    /// Makes a client. `session` should not cache, because a license is for one request only.
    public init(server: LicenseServer, session: URLSession = URLSession(configuration: .ephemeral)) {
        self.server = server
        self.session = session
    }

    /// Gets the application certificate for AVFoundation.
    public func certificate() async throws(LicenseFailure) -> Data {
        let (body, response) = try await send(server.certificateRequest())
        guard let response = response as? HTTPURLResponse else { throw LicenseFailure.notALicense }
        guard response.statusCode == 200 else { throw LicenseFailure.refused(LicenseProblem(body, response)) }
        // DER: a sequence of at most 65,535 bytes, which is all there. Anything else is a page of a proxy.
        let head = body.prefix(4).map { Int($0) }
        guard head.count == 4, head[0] == 0x30, head[1] == 0x82, body.count >= 4 + head[2] << 8 + head[3] else {
            throw LicenseFailure.notALicense
        }
        return body
    }

    /// Gets the license for an SPC.
    public func license(for spc: Data, _ purpose: LicensePurpose, token: String) async throws(LicenseFailure) -> License
    {
        let (body, response) = try await send(server.licenseRequest(spc, for: purpose, token: token))
        return try License(body, response)
    }

    /// Sends a device's report about a key that it keeps, and returns what the server has read in it.
    public func report(_ spc: Data, token: String) async throws(LicenseFailure) -> KeyReport {
        let (body, response) = try await send(server.licenseRequest(spc, for: .report, token: token))
        return try KeyReport(body, response)
    }

    /// Gets a challenge for the next report.
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
