package import ByteCoding
import FairPlay
import HTTPMessages
import HTTPServing
import Licensing
import PlayerMessages
import Records
import RouteKit
import Telemetry

/// The answer to a request for licenses, in the shape that the player reads (clients, section 2).
///
/// Header fields, and JSON members if the shape has them, tell the app what it cannot read from the CKC. The fields
/// describe one license, so an answer with several results has none of them. Base64 is written straight into the body.
enum LicenseAnswer {
    /// Returns the answer to a request with these results.
    ///
    /// `results` has one element for each key of the request, in the request's order. It has exactly one element unless
    /// the shape has a result for each key. The status is 200, unless the shape has a single result and that key is
    /// refused: then the answer is the problem.
    static func response(
        to results: [KeyResult], as shape: AnswerShape, at now: WallTime, _ id: RequestID
    ) -> HTTPResponse {
        guard shape.hasResultForEachKey else { return response(to: results.first?.outcome, as: shape, at: now, id) }
        let body = body(of: results, as: shape, at: now.seconds)
        var fields = HTTPFields.answer(shape.contentType, id)
        if results.count == 1, case .license(let license) = results[0].outcome { append(license, to: &fields) }
        return HTTPResponse(status: .ok, fields: fields, body: body)
    }

    private static func response(
        to outcome: KeyOutcome?, as shape: AnswerShape, at now: WallTime, _ id: RequestID
    ) -> HTTPResponse {
        switch outcome {
        case .license(let license):
            var fields = HTTPFields.answer(shape.contentType, id)
            append(license, to: &fields)
            return HTTPResponse(status: .ok, fields: fields, body: body(of: license, as: shape, at: now))
        case .syncReport(let accepted): return SyncAnswer.response(to: accepted, now: now.seconds, id: id)
        case .playbackEnded: return PlaybackEndAnswer.response(at: now, id)
        case .refused(let problem): return problem.response(requestID: id, time: now)
        case nil: return Problem(.internalError).response(requestID: id, time: now)
        }
    }

    // MARK: One license

    private static func body(of license: IssuedLicense, as shape: AnswerShape, at now: WallTime) -> [UInt8] {
        let ckc = license.ckc
        switch shape {
        case .raw: return ckc
        case .base64: return text(ckc, "", "")
        case .ckc: return text(ckc, "<ckc>", "</ckc>")
        case .json:
            return JSONWriter.object(expectedSize: size(of: ckc) + 400) { writer in
                write(license, ckc: "ckc", token: "session_token", at: now, to: &writer)
            }
        case .nagra:
            return JSONWriter.object(expectedSize: size(of: ckc) + 400) { writer in
                write(license, ckc: "CkcMessage", token: "sessionToken", at: now, to: &writer)
            }
        case .kaltura:
            return JSONWriter.object(expectedSize: size(of: ckc)) { writer in
                writer.member("ckc", base64: ckc)
                writer.member("persistence_duration", license.facts.persistenceDuration(at: now.seconds))
            }
        case .getFairplayLicense:
            return JSONWriter.object(expectedSize: size(of: ckc)) { writer in
                writer.object("getFairplayLicenseResponse") { writer in writer.member("ckcResponse", base64: ckc) }
            }
        case .object(let member):
            guard let name = member.answerName else {
                return body(of: [KeyResult(.license(license))], as: .streamingKeys, at: now.seconds)
            }
            return JSONWriter.object(expectedSize: size(of: ckc)) { writer in writer.member(name, base64: ckc) }
        case .keyArray, .streamingKeys: return body(of: [KeyResult(.license(license))], as: shape, at: now.seconds)
        }
    }

    private static func text(_ ckc: [UInt8], _ start: String, _ end: String) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(Base64.encodedSize(of: ckc.count) + start.utf8.count + end.utf8.count)
        body.append(contentsOf: start.utf8)
        Base64.append(ckc, to: &body)
        body.append(contentsOf: end.utf8)
        return body
    }

    /// Room for a CKC and short names around it.
    private static func size(of ckc: [UInt8]) -> Int { Base64.encodedSize(of: ckc.count) + 80 }

    private static func write(
        _ license: IssuedLicense, ckc: String, token: String, at now: WallTime, to writer: inout JSONWriter
    ) {
        writer.member(ckc, base64: license.ckc)
        if let sessionToken = license.sessionToken { writer.member(token, sessionToken) }
        writer.object("license") { writer in license.facts.write(to: &writer) }
        writer.member("server_time", Problem.format(now))
    }

    private static func append(_ license: IssuedLicense, to fields: inout HTTPFields) {
        let facts = license.facts
        fields.append("X-License-Id", facts.id.description)
        fields.append("X-License-Type", facts.type)
        fields.append("X-License-Issued", String(facts.issuedAt))
        if let expiresAt = facts.expiresAt { fields.append("X-License-Expires", String(expiresAt)) }
        if let renewAfter = facts.renewAfter { fields.append("X-License-Renew-After", String(renewAfter)) }
        if let token = license.sessionToken { fields.append("X-Session-Token", token) }
    }

    // MARK: A result for each key

    /// `now` is in seconds since 1970.
    private static func body(of results: [KeyResult], as shape: AnswerShape, at now: Int64) -> [UInt8] {
        var writer = JSONWriter(expectedSize: 64 + results.count * 1400)
        if shape == .keyArray {
            writer.array { writer in
                for result in results { writer.object { writer in writeArrayEntry(result, to: &writer) } }
            }
        } else {
            writer.object { writer in
                writer.object("fairplay-streaming-response") { writer in
                    writer.array("streaming-keys") { writer in
                        for result in results {
                            writer.object { writer in writeStreamingKey(result, at: now, to: &writer) }
                        }
                    }
                }
            }
        }
        return writer.bytes
    }

    /// A browser reads a payload or an error number, and nothing else. So a sync report and an ended playback, which
    /// have no license, are errors in this shape.
    private static func writeArrayEntry(_ result: KeyResult, to writer: inout JSONWriter) {
        if let label = result.label {
            writer.name("keyID")
            writer.node(label)
        }
        switch result.outcome {
        case .license(let license): writer.member("payload", base64: license.ckc)
        case .syncReport, .playbackEnded: writer.member("error", noLicense)
        case .refused(let problem): writer.member("error", status(of: problem))
        }
    }

    /// Writes times as seconds from `now`, because the demonstration page of hls.js reads them so.
    private static func writeStreamingKey(_ result: KeyResult, at now: Int64, to writer: inout JSONWriter) {
        if let label = result.label {
            writer.name("id")
            writer.node(label)
        }
        switch result.outcome {
        case .license(let license):
            let facts = license.facts
            writer.member("status", 0)
            writer.member("ckc", base64: license.ckc)
            if let renewAfter = facts.renewAfter { writer.member("renew-after", max(0, renewAfter - now)) }
            if let lease = facts.lease {
                writer.member("lease-expiry-time", max(0, facts.issuedAt + Int64(lease) - now))
            }
            // Latchkey's own member: a header field could not say which of several keys the token belongs to.
            if let token = license.sessionToken { writer.member("session-token", token) }
        case .syncReport(let accepted):
            writer.member("status", 0)
            SyncAnswer.write(accepted, now: now, to: &writer)
        case .playbackEnded:
            writer.member("status", 0)
            writer.member("playback", PlaybackEndAnswer.word)
        case .refused(let problem): writer.member("status", status(of: problem))
        }
    }

    /// The number for "no license for this key", as for `content_mismatch`.
    private static let noLicense: Int64 = -42604

    private static func status(of problem: Problem) -> Int64 { problem.code.appleStatus ?? noLicense }
}

extension RequestShape.ObjectMember {
    /// The name of the member of the answer that has the CKC; nil if the answer is not a flat object.
    ///
    /// Players that send `licenseChallenge`, as the documentation of hls.js shows, read Apple's
    /// `fairplay-streaming-response`.
    fileprivate var answerName: String? {
        switch self {
        // Brightcove's players get the raw bytes, unless they accept only JSON.
        case .spc, .serverPlaybackContext: "ckc"
        case .spcMessage: "ckcMessage"
        case .capitalSpcMessage: "CkcMessage"
        case .spcData: "ckcData"
        case .payload: "payload"
        case .licenseChallenge: nil
        }
    }
}

extension LicenseFacts {
    /// The longest duration that every player can read, in seconds: about 68 years.
    ///
    /// It stands for "no limit", because Kaltura's players refuse 0 for a persistent license.
    static let persistenceDurationMaximum = Int64(Int32.max)

    /// The seconds from `now` during which a stored key may begin to play; 0 for a license that is not persistent.
    func persistenceDuration(at now: Int64) -> Int64 {
        guard isPersistent else { return 0 }
        guard let storageExpiresAt else { return Self.persistenceDurationMaximum }
        return min(max(1, storageExpiresAt - now), Self.persistenceDurationMaximum)
    }

    /// Writes the members that describe a license. A limit that the license does not have is null.
    package func write(to writer: inout JSONWriter) {
        writer.member("id", id.description)
        writer.member("type", type)
        writer.member("issued_at", issuedAt)
        let numbers: [(String, Int64?)] = [
            ("expires_at", expiresAt), ("renew_after", renewAfter), ("lease", lease.map { Int64($0) }),
            ("rental", rental.map { Int64($0) }), ("storage_expires_at", storageExpiresAt),
            ("playback", playback.map { Int64($0) }),
        ]
        for (name, number) in numbers { writer.member(name, number) }
        writer.member("persistent", isPersistent)
    }
}

/// The outcome for one SPC of a request.
enum KeyOutcome: Sendable {
    case license(IssuedLicense)
    /// The SPC was a sync SPC. The answer repeats its report, and has no key.
    case syncReport(AcceptedSyncReport)
    /// The device reports that this playback has stopped. The answer has no key.
    case playbackEnded(EndedPlayback)
    case refused(Problem)
}

/// The outcome for one SPC, and the player's name for that SPC.
struct KeyResult: Sendable {
    /// The name as the player wrote it; the answer repeats it unchanged. Nil in shapes with a single SPC, which has no
    /// name.
    let label: JSONNode?
    let outcome: KeyOutcome

    init(label: JSONNode? = nil, _ outcome: KeyOutcome) {
        self.label = label
        self.outcome = outcome
    }
}

/// The answer to an SPC by which the device reports that playback has stopped: JSON, and no CKC.
enum PlaybackEndAnswer {
    /// The value of the member `playback`.
    static let word = "ended"

    static func response(at now: WallTime, _ id: RequestID) -> HTTPResponse {
        let body = JSONWriter.object { writer in
            writer.member("playback", word)
            writer.member("server_time", Problem.format(now))
        }
        return HTTPResponse(status: .ok, fields: .answer("application/json", id), body: body)
    }
}
