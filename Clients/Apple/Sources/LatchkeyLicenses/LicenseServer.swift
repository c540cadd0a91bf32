import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Where a licence server is, and how its requests are written.
public struct LicenseServer: Equatable, Sendable {
    /// The address that all paths follow, such as `https://keys.example.com`.
    public let base: URL
    /// How long one request may take, in seconds.
    public var timeout: TimeInterval = 10

    public init(base: URL) {
        self.base = base
    }

    /// Asks for the application certificate. The answer's body is the certificate that AVFoundation wants, or the
    /// bundle of both.
    public func certificateRequest() -> URLRequest {
        URLRequest(url: base.appendingPathComponent("fps/certificate"), timeoutInterval: timeout)
    }

    /// Asks for a licence, with an SPC as AVFoundation has made it and the token of the app's own service.
    public func licenseRequest(_ spc: Data, for purpose: LicensePurpose, token: String) -> URLRequest {
        post(spc, to: "fps/license", query: purpose.query, token: token)
    }

    /// Asks for a challenge, with which the next report of a kept key shows that it is fresh.
    public func challengeRequest(token: String) -> URLRequest {
        post(Data(), to: "fps/challenge", query: [], token: token)
    }

    private func post(_ body: Data, to path: String, query: [URLQueryItem], token: String) -> URLRequest {
        var url = base.appendingPathComponent(path)
        if !query.isEmpty, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) {
            parts.queryItems = query
            url = parts.url ?? url
        }
        var request = URLRequest(url: url, timeoutInterval: timeout)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        // Without a type URLSession says that the body is a form. The server looks at the body itself, but proxies may
        // not.
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        return request
    }
}

/// What an SPC is posted for. The SPC itself does not say it all.
public enum LicensePurpose: Equatable, Sendable {
    /// Playback that begins now.
    case streaming
    /// Playback that goes on, with the session token of the licence before.
    case renewal
    /// A key that the device keeps.
    case offline
    /// A kept key in the place of another one, whose licence id may be known.
    case offlineRenewal(of: String?)
    /// A report about kept keys. The answer is JSON (`KeyReport`) and no CKC.
    case report

    var query: [URLQueryItem] {
        switch self {
        case .streaming, .report: []
        case .renewal: [URLQueryItem(name: "renew", value: "true")]
        case .offline: [URLQueryItem(name: "offline", value: "1")]
        case .offlineRenewal(let previous):
            [URLQueryItem(name: "offline", value: "1"), URLQueryItem(name: "renew", value: "true")]
                + (previous.map { [URLQueryItem(name: "previous", value: $0)] } ?? [])
        }
    }
}
