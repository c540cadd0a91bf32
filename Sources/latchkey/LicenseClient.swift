import ByteCoding
import CommandLineKit
import Foundation
import FoundationNetworking
import Synchronization

/// A server's answer to a licence request.
struct ReceivedLicense: Sendable {
    let status: Int
    let requestID: String?
    /// The licence's id; like the other facts from header fields, nil if the server does not send it.
    var licenseID: String?
    /// The time from which the app should renew the licence, in seconds since 1970.
    var renewAfter: String?
    /// The session token, which renews the licence in place of the token.
    var sessionToken: String?
    /// The code of a refusal.
    var errorCode: String?
    let body: [UInt8]
}

/// Sends requests as an app does: by POST, with a bearer token.
///
/// It follows no redirection, so that the token reaches no other server. For addresses of this machine it uses no
/// proxy.
enum LicenseClient {
    private static let timeoutSeconds: TimeInterval = 30
    /// The size of the largest answer that is read, in bytes. A CKC or a problem has less than a thousand bytes, and a
    /// report of 250 keys about ten thousand.
    static let bodySizeMaximum = 256 << 10

    /// Sends a raw SPC. The answer is a CKC, or JSON for a sync SPC.
    static func post(
        spc: [UInt8], to url: URL, token: String, accepting type: String = "application/octet-stream"
    ) async throws(CommandError) -> ReceivedLicense {
        try await post(spc, as: "application/octet-stream", to: url, token: token, accepting: type)
    }

    /// Sends only the token, to get a challenge.
    static func postNothing(to url: URL, token: String) async throws(CommandError) -> ReceivedLicense {
        try await post([], as: nil, to: url, token: token, accepting: "application/json")
    }

    private static func post(
        _ body: [UInt8], as type: String?, to url: URL, token: String, accepting accepted: String
    ) async throws(CommandError) -> ReceivedLicense {
        bypassProxy(for: url)
        var request = URLRequest(url: url, timeoutInterval: timeoutSeconds)
        request.httpMethod = "POST"
        request.httpBody = Data(body)
        if let type { request.setValue(type, forHTTPHeaderField: "Content-Type") }
        request.setValue(accepted, forHTTPHeaderField: "Accept")
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let result = await Exchange().run(request)
        switch result {
        case .success(let answer): return answer
        case .failure(let error): throw .failed(explanation(of: error, url))
        }
    }

    private static func bypassProxy(for url: URL) {
        guard let host = url.host, LicenseURL.isLoopback(url) else { return }
        // Safe: no other thread reads the environment yet.
        unsafe setenv("no_proxy", host, 1)
    }

    private static func explanation(of error: URLError, _ url: URL) -> String {
        let server = LicenseURL.hostAndPort(url)
        return switch error.code {
        case .cannotConnectToHost:
            "nothing answers at \(server); is latchkeyd running, and is this the address that it logs as listening?"
        case .cannotFindHost, .dnsLookupFailed: "there is no host with the name \(url.host ?? "")"
        case .timedOut: "\(server) did not answer within \(Int(timeoutSeconds)) s"
        case .networkConnectionLost: "\(server) closed the connection before it had answered"
        case .dataLengthExceedsMaximum:
            "the answer of \(server) is larger than \(bodySizeMaximum) bytes, and so cannot be a licence"
        default: "the request to \(server) failed: \(error.localizedDescription) (\(error.code.rawValue))"
        }
    }
}

/// One request and its answer.
private final class Exchange: NSObject, URLSessionDataDelegate, Sendable {
    private struct State {
        var body: [UInt8] = []
        var isTooLarge = false
        var continuation: CheckedContinuation<Result<ReceivedLicense, URLError>, Never>?
    }

    private let state = Mutex(State())

    func run(_ request: URLRequest) async -> Result<ReceivedLicense, URLError> {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        return await withCheckedContinuation { continuation in
            state.withLock { $0.continuation = continuation }
            session.dataTask(with: request).resume()
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            state.isTooLarge = state.isTooLarge || state.body.count + data.count > LicenseClient.bodySizeMaximum
            if !state.isTooLarge { state.body += data }
            return state.isTooLarge
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        state.withLock { state in
            state.continuation?.resume(returning: Self.result(of: task, error, state))
            state.continuation = nil
        }
    }

    private static func result(
        of task: URLSessionTask, _ error: (any Error)?, _ state: State
    ) -> Result<ReceivedLicense, URLError> {
        if state.isTooLarge { return .failure(URLError(.dataLengthExceedsMaximum)) }
        if let error { return .failure(error as? URLError ?? URLError(.unknown)) }
        guard let response = task.response as? HTTPURLResponse else { return .failure(URLError(.badServerResponse)) }
        return .success(
            ReceivedLicense(
                status: response.statusCode, requestID: response.value(forHTTPHeaderField: "X-Request-Id"),
                licenseID: response.value(forHTTPHeaderField: "X-License-Id"),
                renewAfter: response.value(forHTTPHeaderField: "X-License-Renew-After"),
                sessionToken: response.value(forHTTPHeaderField: "X-Session-Token"),
                errorCode: response.value(forHTTPHeaderField: "X-Error-Code"), body: state.body))
    }
}

/// A refusal by the server as one line: status, stable code, request id, and the advice in the answer.
struct LicenseProblem: CustomStringConvertible {
    private static let lengthMaximum = 300

    let description: String
    /// The stable code, if the answer has one.
    let code: String?
    /// The cause and the advice, in whole sentences; empty if the answer has none.
    let advice: String

    init(_ answer: ReceivedLicense) {
        // Another server may send anything. An answer that is not a problem document adds no details.
        let object = (try? JSONReader.parse(answer.body))?.object
        let text = { (name: String) in object?[name]?.string.map(Self.printable) }
        var parts = ["the server answered with status \(answer.status)"]
        code = answer.errorCode.map(Self.printable) ?? text("code")
        if let code { parts.append("code \(code)") }
        if let requestID = answer.requestID.map(Self.printable) ?? text("request_id") {
            parts.append("request id \(requestID)")
        }
        let sentences = [text("detail") ?? text("title"), text("hint")].compactMap(\.self)
        advice = sentences.isEmpty ? Self.advice(for: answer.status) : sentences.joined(separator: " ")
        description = parts.joined(separator: ", ") + (advice.isEmpty ? "" : ": \(advice)")
    }

    private static func advice(for status: Int) -> String {
        switch status {
        case 300..<400: "it redirects, and redirects are not followed; give the address of the licence route itself"
        case 404: "is this the address of a licence route?"
        default: ""
        }
    }

    /// The text without control characters, which a terminal would obey, and at most 300 characters of it.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { !$0.properties.generalCategory.isControl }
        return String(String.UnicodeScalarView(scalars).prefix(lengthMaximum))
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isControl: Bool {
        [.control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse].contains(self)
    }
}
