import ByteCoding
import CommandLineKit
import Foundation
import HTTPCalls

/// A server's answer to a license request.
struct ReceivedLicense: Sendable {
    let status: Int
    let requestID: String?
    /// The license's id; like the other facts from header fields, nil if the server does not send it.
    var licenseID: String?
    /// The time from which the app should renew the license, in seconds since 1970.
    var renewAfter: String?
    /// The session token, which renews the license in place of the token.
    var sessionToken: String?
    /// The code of a refusal.
    var errorCode: String?
    let body: [UInt8]
}

/// Sends requests as an app does: by POST, with a bearer token.
struct LicenseClient {
    private let network: ClientNetwork
    private let bearer: String

    init(_ arguments: Arguments, bearer: String) throws(CommandError) {
        network = try ClientNetwork(arguments)
        self.bearer = bearer
    }

    /// Sends a raw SPC. The answer is a CKC, or JSON for a sync SPC.
    func post(
        spc: [UInt8], to url: URL, accepting type: String = "application/octet-stream"
    ) throws(CommandError) -> ReceivedLicense {
        try post(spc, to: url, fields: ["Content-Type: application/octet-stream", "Accept: \(type)"])
    }

    /// Sends only the token, to get a challenge.
    func postNothing(to url: URL) throws(CommandError) -> ReceivedLicense {
        try post([], to: url, fields: ["Accept: application/json"])
    }

    private func post(_ body: [UInt8], to url: URL, fields: [String]) throws(CommandError) -> ReceivedLicense {
        let request = HTTPRoundTripRequest(
            .post(body), url.absoluteString, fields: fields + ["Authorization: Bearer \(bearer)"])
        do throws(ClientNetworkError) {
            return ReceivedLicense(try network.perform(request, url))
        } catch {
            throw .failed(error.text)
        }
    }
}

extension ReceivedLicense {
    init(_ answer: HTTPRoundTripAnswer) {
        self.init(
            status: answer.status, requestID: answer.value(of: "X-Request-Id"),
            licenseID: answer.value(of: "X-License-Id"), renewAfter: answer.value(of: "X-License-Renew-After"),
            sessionToken: answer.value(of: "X-Session-Token"), errorCode: answer.value(of: "X-Error-Code"),
            body: answer.body)
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
        case 300..<400: "it redirects, and redirects are not followed; give the address of the license route itself"
        case 404: "is this the address of a license route?"
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
