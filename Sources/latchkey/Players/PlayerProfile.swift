import Foundation
import PlayerMessages

/// What a player sends and what it understands, as far as a licence server can see it.
///
/// The rules are those of clients, sections 0 to 3; `source` names the row.
struct PlayerProfile: Sendable {
    /// What it is, with the version that was read or measured.
    let name: String
    /// The section of the article that is cited, and the row in it.
    let source: String
    var body: PlayerBody = .raw
    /// Whether one request carries all keys; else the player sends one request for each.
    var sendsKeysTogether = false
    /// Nil: it sends none.
    var contentType: String?
    var accept = "*/*"
    var token: TokenPlace = .bearer
    var assetID: AssetIDForm = .wholeURI
    var address: PlayerAddress = .license
    /// What the addresses of licences and certificates must say besides, so that the answers have the form that it
    /// reads.
    var format: String?
    var statuses: AcceptedStatuses = .only200
    var answer: AnswerForm = .raw
    var certificate: CertificateForm = .der
    var retries: RetryRule = .none
}

/// How the body carries SPCs.
enum PlayerBody: Equatable, Sendable {
    /// The bytes of the SPC.
    case raw
    /// Its Base64, and nothing else.
    case base64
    /// `spc=` and Base64.
    case form(FormSpelling, FormAsset)
    /// The same with everything escaped once more: `spc%3D…`.
    case escapedForm
    /// `{"<member>": "<Base64>"}`.
    case object(RequestShape.ObjectMember, Base64Alphabet)
    /// `{"getFairplayLicense": {"spcMessage": …}}`.
    case getFairplayLicense
    /// `[{"keyID": …, "payload": …}]`, all keys at once.
    case keyArray
    /// `{"fairplay-streaming-request": {"streaming-keys": […]}}`, all keys at once.
    case streamingKeys

    enum Base64Alphabet: Equatable, Sendable {
        case standard
        /// With `-` and `_`, and with padding, as Shaka's `toBase64` writes it.
        case urlSafe
    }

    /// How the value `spc` is written.
    enum FormSpelling: Equatable, Sendable {
        /// Standard Base64 as it is: a plus stays a plus.
        case plain
        /// Standard Base64 by `encodeURIComponent`.
        case escaped
        case urlSafe
        /// Standard Base64 with only `?=&+` escaped.
        case reactNative
    }

    /// What follows the SPC in a form.
    enum FormAsset: Equatable, Sendable {
        case none
        /// `&assetId=` and the asset id, escaped.
        case named
        /// `&` and the asset id, without a name.
        case bare
    }

    /// The daemon's own name of the shape, which its log and metrics have too.
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

/// Where the token goes (entitlement, section 4.1).
enum TokenPlace: Equatable, Sendable {
    /// `Authorization: Bearer`, by a filter or a setting of the app.
    case bearer
    /// The whole value of this header field.
    case header(String)
    /// This name in the query.
    case query(String)
}

/// Where the request goes.
enum PlayerAddress: Equatable, Sendable {
    /// The address that --url gives.
    case license
    /// `/hms/fp/rights/` beside it; or the key's own address with `https` for `skd`, if that carries a token.
    case redemption
}

/// The statuses with which a player takes an answer for a licence.
enum AcceptedStatuses: Equatable, Sendable {
    case only200
    /// Those from 200 to 299 except 202.
    case shaka
    /// Those from 200 to 299.
    case successful
    /// It does not look.
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

/// How a player gets the CKC out of an answer.
enum AnswerForm: Equatable, Sendable {
    /// The body as it is; it must not be empty.
    case raw
    /// Shaka's `commonFairPlayResponse`: `<ckc>`, or JSON with `ckc`, `CkcMessage` or `License`, or else the body as it
    /// is.
    case shaka
    /// Text without the tags `<ckc>`, then Base64. `trims`: white space around it is taken off first.
    case tagsOrBase64(trims: Bool)
    /// Base64 that begins at the first byte and ends at the last.
    case strictBase64
    /// `{"ckc": Base64, "persistence_duration": seconds}`; a download needs more than 0 seconds.
    case kaltura
    /// This member of a JSON object, in Base64.
    case member(String)
    /// `{"getFairplayLicenseResponse": {"ckcResponse": Base64}}`.
    case getFairplayLicense
    /// `[{"keyID": …, "payload": Base64}]` with `error` in the place of `payload` for a key that is denied.
    case keyArray
    /// `{"fairplay-streaming-response": {"streaming-keys": [{"id", "status", "ckc"}]}}`.
    case streamingKeys
}

/// The form in which a player takes the application certificate.
enum CertificateForm: Equatable, Sendable {
    /// The bytes of one or two certificates in DER, which it hands to the device as they are.
    case der
    /// Base64 text of them, which it decodes.
    case base64

    /// In words.
    var name: String {
        switch self {
        case .der: "DER"
        case .base64: "Base64"
        }
    }

    /// What the device gets of a body; nil if the body has another form.
    func read(_ body: [UInt8]) -> [UInt8]? {
        let certificates: [UInt8]? =
            switch self {
            case .der: body
            case .base64: String(validating: body, as: UTF8.self).flatMap { Data(base64Encoded: $0) }.map(Array.init)
            }
        return certificates.flatMap { $0.starts(with: [0x30, 0x82]) ? $0 : nil }
    }
}

/// How often a player sends a failed request again, with the same SPC. The tool sends each once, and only says so.
enum RetryRule: Equatable, Sendable {
    case none
    /// At once, so many times, if the status is 500 or more or no answer came.
    case afterServerErrors(count: Int)
    /// So many times, about a second apart, after every failure.
    case afterAnyFailure(count: Int)

    /// How many copies follow an answer with this status; nil stands for no answer.
    func copies(after status: Int?) -> Int {
        switch self {
        case .none: 0
        case .afterServerErrors(let count): status.map { $0 >= 500 } ?? true ? count : 0
        case .afterAnyFailure(let count): count
        }
    }
}
