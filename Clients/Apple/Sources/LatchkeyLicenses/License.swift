import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A license from the server: the CKC for AVFoundation, and facts that AVFoundation does not tell an app.
public struct License: Equatable, Sendable {
    /// The CKC, for `AVContentKeyResponse(fairPlayStreamingKeyResponseData:)`.
    public let ckc: Data
    /// The id of the license in the server's ledger, for support and for `LicensePurpose.offlineRenewal`.
    public let id: String?
    /// The type of the license: `session`, `lease`, `rental`, `persistent` and so on.
    public let type: String?
    /// How long the license is valid, in seconds from its issue; nil if it has no end. It is not a date, because the
    /// device's clock may be wrong.
    public let life: TimeInterval?
    /// When to renew, in seconds from the arrival of this answer; nil if there is nothing to renew.
    public let renewalDelay: TimeInterval?
    /// The session token, which the next renewal presents instead of the token.
    public let sessionToken: String?

    /// Reads the answer to a request for a license.
    public init(_ body: Data, _ response: URLResponse) throws(LicenseFailure) {
        let fields = try successfulFields(body, response)
        // A CKC has a header of 28 bytes, and its version is 1 or 2. Anything else is a page of a proxy, or another
        // form of answer.
        guard body.count > 28, body.prefix(3).allSatisfy({ $0 == 0 }), (1...2).contains(body[body.startIndex + 3])
        else {
            throw LicenseFailure.notALicense
        }
        ckc = body
        id = fields.value(forHTTPHeaderField: "X-License-Id")
        type = fields.value(forHTTPHeaderField: "X-License-Type")
        sessionToken = fields.value(forHTTPHeaderField: "X-Session-Token")
        let issued = fields.seconds("X-License-Issued")
        life = Self.distance(from: issued, to: fields.seconds("X-License-Expires"))
        renewalDelay = Self.distance(from: issued, to: fields.seconds("X-License-Renew-After")).map { max(1, $0) }
    }

    private static func distance(from start: TimeInterval?, to end: TimeInterval?) -> TimeInterval? {
        guard let start, let end, end >= start else { return nil }
        return end - start
    }
}

/// A device's report about a key that it keeps, as the server has read it.
public struct KeyReport: Equatable, Sendable, Decodable {
    /// How long the key is still valid, in seconds; nil if it has no end, 0 if it has expired.
    public let expiresInSeconds: Int?
    /// Whether the report has the challenge that the server issued, so that it is fresh.
    public let challengeAccepted: Bool

    /// Reads the answer to a report.
    public init(_ body: Data, _ response: URLResponse) throws(LicenseFailure) {
        _ = try successfulFields(body, response)
        do {
            self = try JSONDecoder().decode(KeyReport.self, from: body)
        } catch {
            throw LicenseFailure.notALicense
        }
    }
}

/// A challenge from the server. With it, the next report about a kept key proves that it is fresh.
public struct Challenge: Equatable, Sendable {
    /// The eight bytes for `AVContentKeySessionServerPlaybackContextOption.serverChallenge`.
    public let value: Data

    /// Reads the answer to a request for a challenge.
    public init(_ body: Data, _ response: URLResponse) throws(LicenseFailure) {
        struct Answer: Decodable {
            let challenge: String
        }
        _ = try successfulFields(body, response)
        guard let answer = try? JSONDecoder().decode(Answer.self, from: body), answer.challenge.utf8.count == 16,
            let number = UInt64(answer.challenge, radix: 16)
        else { throw LicenseFailure.notALicense }
        value = withUnsafeBytes(of: number.bigEndian) { Data($0) }
    }
}

private func successfulFields(_ body: Data, _ response: URLResponse) throws(LicenseFailure) -> HTTPURLResponse {
    guard let response = response as? HTTPURLResponse else { throw LicenseFailure.notALicense }
    guard response.statusCode == 200 else { throw LicenseFailure.refused(LicenseProblem(body, response)) }
    return response
}

extension HTTPURLResponse {
    /// The whole number of seconds in a header field; nil if the field is missing or has another value.
    func seconds(_ name: String) -> TimeInterval? {
        value(forHTTPHeaderField: name).flatMap { Int64($0) }.map { TimeInterval($0) }
    }
}
