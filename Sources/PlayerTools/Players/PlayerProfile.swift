import Foundation
import PlayerMessages

/// The requests that a player sends, and the answers that it understands, as far as a license server can see them.
///
/// The rules are those of clients, sections 0 to 3. `source` names the row.
struct PlayerProfile: Sendable {
    /// The name of the player, with the version whose code was read or that was measured.
    let name: String
    /// The section of the cited article, and the row in it.
    let source: String
    var body: PlayerBody = .raw
    /// Whether one request has all keys. Otherwise the player sends one request for each key.
    var sendsKeysTogether = false
    /// The field `Content-Type`; nil if the player sends none.
    var contentType: String?
    var accept = "*/*"
    var token: TokenPlace = .bearer
    var assetID: AssetIDForm = .wholeURI
    var address: PlayerAddress = .license
    /// The value of `format` that the addresses of licenses and certificates need, so that the player can read the
    /// answers. Nil if they need none.
    var format: String?
    var statuses: AcceptedStatuses = .only200
    var answer: AnswerForm = .raw
    var certificate: CertificateForm = .der
    var retries: RetryRule = .none
}

/// The form in which the body has SPCs.
enum PlayerBody: Equatable, Sendable {
    /// The bytes of the SPC.
    case raw
    /// Base64 of the SPC, without anything else.
    case base64
    /// `spc=` and Base64.
    case form(FormSpelling, FormAsset)
    /// `spc=` and Base64, and then everything escaped: `spc%3D…`.
    case escapedForm
    /// `{"<member>": "<Base64>"}`.
    case object(RequestShape.ObjectMember, Base64Alphabet)
    /// `{"getFairplayLicense": {"spcMessage": …}}`.
    case getFairplayLicense
    /// `[{"keyID": …, "payload": …}]`, with all keys in one request.
    case keyArray
    /// `{"fairplay-streaming-request": {"streaming-keys": […]}}`, with all keys in one request.
    case streamingKeys

    enum Base64Alphabet: Equatable, Sendable {
        case standard
        /// With `-` and `_`, and with padding, as Shaka's `toBase64` writes it.
        case urlSafe
    }

    /// How the value `spc` is written.
    enum FormSpelling: Equatable, Sendable {
        /// Standard Base64 without escapes, so that a plus stays a plus.
        case plain
        /// Standard Base64, escaped by `encodeURIComponent`.
        case escaped
        /// URL-safe Base64.
        case urlSafe
        /// Standard Base64 with only `?=&+` escaped.
        case reactNative
    }

    /// How the asset id follows the SPC in a form.
    enum FormAsset: Equatable, Sendable {
        case none
        /// `&assetId=` and the asset id, escaped.
        case named
        /// `&` and the asset id, without a name.
        case bare
    }

    /// The daemon's name for the shape, as in its log and metrics.
    var shape: RequestShape {
        switch self {
        case .raw: .raw
        case .base64: .base64
        case .form, .escapedForm: .form
        case .object(let member, _): .object(member)
        case .getFairplayLicense: .getFairplayLicense
        case .keyArray: .keyArray
        case .streamingKeys: .streamingKeys
        }
    }
}

/// The place of the token in the request (entitlement, section 4.1).
enum TokenPlace: Equatable, Sendable {
    /// `Authorization: Bearer`, set by a filter or a setting of the app.
    case bearer
    /// The whole value of this header field.
    case header(String)
    /// The parameter of the query with this name.
    case query(String)
}

/// The address to which the request is sent.
enum PlayerAddress: Equatable, Sendable {
    /// The address of `--url`.
    case license
    /// `/hms/fp/rights/` beside it, or the key's own address with `https` in place of `skd`, if that has a token.
    case redemption
}

/// The statuses with which a player accepts an answer as a license.
enum AcceptedStatuses: Equatable, Sendable {
    case only200
    /// Those from 200 to 299 except 202.
    case shaka
    /// Those from 200 to 299.
    case successful
    /// All: the player ignores the status.
    case all

    func contains(_ status: Int) -> Bool {
        switch self {
        case .only200: status == 200
        case .shaka: (200..<300).contains(status) && status != 202
        case .successful: (200..<300).contains(status)
        case .all: true
        }
    }
}

/// The form in which a player reads the CKC from an answer.
enum AnswerForm: Equatable, Sendable {
    /// The bytes of the body, which must not be empty.
    case raw
    /// Shaka's `commonFairPlayResponse`: `<ckc>`, or JSON with `ckc`, `CkcMessage` or `License`, or otherwise the bytes
    /// of the body.
    case shaka
    /// Base64 after the tags `<ckc>` are removed. With `trims`, the player first removes white space at both ends.
    case tagsOrBase64(trims: Bool)
    /// Base64 from the first byte to the last, without white space.
    case strictBase64
    /// `{"ckc": Base64, "persistence_duration": seconds}`; a download needs more than 0 seconds.
    case kaltura
    /// This member of a JSON object, in Base64.
    case member(String)
    /// `{"getFairplayLicenseResponse": {"ckcResponse": Base64}}`.
    case getFairplayLicense
    /// `[{"keyID": …, "payload": Base64}]`, with `error` in place of `payload` for a refused key.
    case keyArray
    /// `{"fairplay-streaming-response": {"streaming-keys": [{"id", "status", "ckc"}]}}`.
    case streamingKeys
}

/// The form in which a player reads the application certificate.
enum CertificateForm: Equatable, Sendable {
    /// The bytes of one or two certificates in DER, which the player passes to the device unchanged.
    case der
    /// Base64 text of these bytes, which the player decodes.
    case base64

    /// The name of the form, for messages.
    var name: String {
        switch self {
        case .der: "DER"
        case .base64: "Base64"
        }
    }

    /// The bytes for the device from the body of an answer; nil if the body has another form.
    func read(_ body: [UInt8]) -> [UInt8]? {
        let certificates: [UInt8]? =
            switch self {
            case .der: body
            case .base64: String(validating: body, as: UTF8.self).flatMap { Data(base64Encoded: $0) }.map(Array.init)
            }
        return certificates.flatMap { $0.starts(with: [0x30, 0x82]) ? $0 : nil }
    }
}

/// How often a player sends a failed request again with the same SPC.
///
/// The tool itself sends each request once, and only reports the number.
enum RetryRule: Equatable, Sendable {
    case none
    /// Sends `count` copies without a pause if the status is 500 or more, or if there is no answer.
    case afterServerErrors(count: Int)
    /// Sends `count` copies, about a second apart, after every failure.
    case afterAnyFailure(count: Int)

    /// The number of copies that follow an answer with this status. Nil stands for no answer.
    func copies(after status: Int?) -> Int {
        switch self {
        case .none: 0
        case .afterServerErrors(let count): status.map { $0 >= 500 } ?? true ? count : 0
        case .afterAnyFailure(let count): count
        }
    }
}
