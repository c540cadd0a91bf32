import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A licence as the server gave it: the CKC for AVFoundation, and what AVFoundation does not tell an app.
public struct License: Equatable, Sendable {
    /// What `AVContentKeyResponse(fairPlayStreamingKeyResponseData:)` takes.
    public let ckc: Data
    /// Names the licence in the server's record, for support and for `LicensePurpose.offlineRenewal`.
    public let id: String?
    /// `session`, `lease`, `rental`, `persistent` and so on.
    public let type: String?
    /// How long the licence is good, in seconds from its issue; nil if it has no end. The device's own clock may be
    /// wrong.
    public let life: TimeInterval?
    /// When to renew, in seconds from the arrival of this answer; nil if there is nothing to renew.
    public let renewalDelay: TimeInterval?
    /// What the next renewal presents in the place of the token.
    public let sessionToken: String?

    /// Reads the answer to a request for a licence.
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

/// What a device has reported of a key that it keeps, as the server read it.
public struct KeyReport: Equatable, Sendable, Decodable {
    /// How long the key is still good, in seconds; nil if it has no end, 0 if it has ended.
    public let expiresInSeconds: Int?
    /// Whether the report was made for the challenge that the server gave, and is no old one.
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

/// A number from the server that makes the next report of a kept key a fresh one.
public struct Challenge: Equatable, Sendable {
    /// Eight bytes, as `AVContentKeySessionServerPlaybackContextOption.serverChallenge` wants them.
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
    /// A whole number of seconds; nil if the field is absent or says something else.
    func seconds(_ name: String) -> TimeInterval? {
        value(forHTTPHeaderField: name).flatMap { Int64($0) }.map { TimeInterval($0) }
    }
}
