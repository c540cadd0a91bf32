import AVFoundation

/// Gets the keys of films and renews their leases, without the client kit. It repeats no request.
final class FilmKeys: NSObject, AVContentKeySessionDelegate {
    /// A refusal of the server.
    struct Refusal: Error, Equatable {
        let status: Int
        let code: String?
        let requestID: String?
    }

    var urlSession = URLSession(configuration: .ephemeral)
    private let server: URL
    private let token: (_ keyURI: String) async throws -> String
    private let failed: (any Error) -> Void
    private let keySession = AVContentKeySession(keySystem: .fairPlayStreaming)
    @MainActor private var certificate: Data?
    /// The newest session token of each key URI.
    @MainActor private var sessionTokens: [String: String] = [:]

    init(
        server: URL, token: @escaping (_ keyURI: String) async throws -> String, failed: @escaping (any Error) -> Void
    ) {
        (self.server, self.token, self.failed) = (server, token, failed)
        super.init()
        keySession.setDelegate(self, queue: DispatchQueue(label: "film.keys"))
    }

    /// Call this before playback begins.
    func add(_ asset: AVURLAsset) {
        keySession.addContentKeyRecipient(asset)
    }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
        Task { await answer(keyRequest, isRenewal: false) }
    }

    /// AVFoundation calls this after `renewExpiringResponseData(for:)`.
    func contentKeySession(
        _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest
    ) {
        Task { await answer(keyRequest, isRenewal: true) }
    }

    @MainActor private func answer(_ keyRequest: AVContentKeyRequest, isRenewal: Bool) async {
        do {
            let (ckc, response) = try await license(for: keyRequest, isRenewal: isRenewal)
            keyRequest.processContentKeyResponse(AVContentKeyResponse(fairPlayStreamingKeyResponseData: ckc))
            planRenewal(of: keyRequest, after: response)
        } catch {
            failed(error)
            keyRequest.processContentKeyResponseError(error)
        }
    }

    @MainActor private func license(
        for keyRequest: AVContentKeyRequest, isRenewal: Bool
    ) async throws -> (Data, HTTPURLResponse) {
        guard let uri = keyRequest.identifier as? String, uri.hasPrefix("skd://") else { throw URLError(.badURL) }
        if certificate == nil {
            certificate = try await send(URLRequest(url: server.appendingPathComponent("fps/certificate"))).0
        }
        let spc = try await keyRequest.makeStreamingContentKeyRequestData(
            forApp: certificate ?? Data(), contentIdentifier: Data(uri.dropFirst("skd://".count).utf8),
            options: [AVContentKeyRequestProtocolVersionsKey: [1]])
        let sessionToken = isRenewal ? sessionTokens[uri] : nil
        let bearer = if let sessionToken { sessionToken } else { try await token(uri) }
        let url = server.appendingPathComponent("fps/license").absoluteString + (isRenewal ? "?renew=true" : "")
        var request = URLRequest(url: URL(string: url)!)
        request.httpMethod = "POST"
        request.httpBody = spc
        request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization")
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        let (ckc, response) = try await send(request)
        sessionTokens[uri] = response.value(forHTTPHeaderField: "X-Session-Token")
        return (ckc, response)
    }

    /// Waits until the server wants the renewal. Only times of the server are compared, because the device's clock may
    /// be wrong.
    private func planRenewal(of keyRequest: AVContentKeyRequest, after response: HTTPURLResponse) {
        let times = ["X-License-Issued", "X-License-Renew-After"].compactMap { name in
            response.value(forHTTPHeaderField: name).flatMap(UInt64.init)
        }
        guard times.count == 2, times[1] >= times[0] else { return }
        let seconds = max(1, times[1] - times[0])
        Task { [weak self] in
            try await Task.sleep(nanoseconds: seconds * 1_000_000_000)
            self?.keySession.renewExpiringResponseData(for: keyRequest)
        }
    }

    private func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (body, response) = try await urlSession.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        guard response.statusCode == 200 else {
            throw Refusal(
                status: response.statusCode, code: response.value(forHTTPHeaderField: "X-Error-Code"),
                requestID: response.value(forHTTPHeaderField: "X-Request-Id"))
        }
        return (body, response)
    }
}
