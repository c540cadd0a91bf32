import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes requests for the license server at a URL.
public struct LicenseServer: Equatable, Sendable {
    /// The URL before all paths, such as `https://keys.example.com`.
    public let base: URL
    /// How long one request may take, in seconds.
    public var timeout: TimeInterval = 10

    public init(base: URL) {
        self.base = base
    }

    /// Makes a request for the application certificate. The body of the answer is a certificate or a bundle of two, for
    /// AVFoundation.
    public func certificateRequest() -> URLRequest {
        URLRequest(url: base.appendingPathComponent("fps/certificate"), timeoutInterval: timeout)
    }

    /// Makes a request for a license, with an SPC of AVFoundation and a token of the app's own service.
    public func licenseRequest(_ spc: Data, for purpose: LicensePurpose, token: String) -> URLRequest {
        post(spc, to: "fps/license", query: purpose.query, token: token)
    }

    /// Makes a request for a challenge, with which the next report about a kept key proves that it is fresh.
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
        // Without a type, URLSession labels the body as a form. The server ignores the type, but proxies may not.
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        return request
    }
}

/// The purpose for which an SPC is posted. The SPC itself does not say all of it.
public enum LicensePurpose: Equatable, Sendable {
    /// Playback begins now.
    case streaming
    /// Playback goes on. The request has the session token of the previous license.
    case renewal
    /// The device is to keep the key.
    case offline
    /// The device is to keep the key instead of an older one. The id of the older license may be given.
    case offlineRenewal(of: String?)
    /// The SPC is a report about kept keys. The answer is JSON (`KeyReport`) and not a CKC.
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
