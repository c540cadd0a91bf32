import AVFoundation

/// Gets the keys of films without the client kit. It does not renew leases, and repeats no request.
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
        Task {
            do {
                let ckc = try await license(for: keyRequest)
                keyRequest.processContentKeyResponse(AVContentKeyResponse(fairPlayStreamingKeyResponseData: ckc))
            } catch {
                failed(error)
                keyRequest.processContentKeyResponseError(error)
            }
        }
    }

    private func license(for keyRequest: AVContentKeyRequest) async throws -> Data {
        guard let uri = keyRequest.identifier as? String, uri.hasPrefix("skd://") else { throw URLError(.badURL) }
        let certificate = try await send(URLRequest(url: server.appendingPathComponent("fps/certificate")))
        let spc = try await keyRequest.makeStreamingContentKeyRequestData(
            forApp: certificate, contentIdentifier: Data(uri.dropFirst("skd://".count).utf8),
            options: [AVContentKeyRequestProtocolVersionsKey: [1]])
        var request = URLRequest(url: server.appendingPathComponent("fps/license"))
        request.httpMethod = "POST"
        request.httpBody = spc
        request.setValue("Bearer \(try await token(uri))", forHTTPHeaderField: "Authorization")
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        return try await send(request)
    }

    private func send(_ request: URLRequest) async throws -> Data {
        let (body, response) = try await urlSession.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        guard response.statusCode == 200 else {
            throw Refusal(
                status: response.statusCode, code: response.value(forHTTPHeaderField: "X-Error-Code"),
                requestID: response.value(forHTTPHeaderField: "X-Request-Id"))
        }
        return body
    }
}
