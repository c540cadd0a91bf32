/// Why a body is not a request for a license, as far as its form shows it.
///
/// The cases name mistakes that integrators really make (clients, sections 0 and 2), so that the answer can say what
/// arrived. No case contains any part of the body.
package enum PlayerMessageError: Error, Equatable, Sendable {
    /// There is no body.
    case empty
    /// A certificate in DER or PEM, which the app should have given to the device.
    case certificate
    /// An SPC that was encoded in Base64 twice.
    case doubleBase64
    /// Text in UTF-16: the app encoded a string where it should have sent bytes or UTF-8.
    case utf16
    /// A license, as `<ckc>` or under its name in JSON.
    case license
    /// An HLS playlist.
    case playlist
    /// An HTML or XML page.
    case page
    /// A token (a JWT, or an ExpressPlay token) where the SPC should be.
    case token
    /// A form without a value `spc`.
    case formWithoutSPC
    /// A multipart body without a part `spc`, or whose parts do not end.
    case multipartWithoutSPC
    /// JSON that is not well formed.
    case invalidJSON
    /// JSON in which an object has two members of one name.
    case repeatedMember
    /// JSON without a member that has an SPC.
    case jsonWithoutSPC
    /// SPCs under more than one name or in more than one part.
    case ambiguous
    /// More than one token.
    case ambiguousToken
    /// A value that should be Base64 but is not.
    case invalidBase64
    /// More SPCs than one request may have.
    case tooManyKeys(maximum: Int)
    /// The name of an SPC is too long to be repeated in its result. `maximum` is in bytes.
    case labelTooLong(maximum: Int)
    /// None of the known forms.
    case unrecognised

    /// What arrived, as the end of the sentence "The body is …".
    package var received: String {
        switch self {
        case .empty: "empty"
        case .certificate: "a certificate"
        case .doubleBase64: "an SPC that was encoded in Base64 twice"
        case .utf16: "text in UTF-16"
        case .license: "a license (CKC)"
        case .playlist: "an HLS playlist"
        case .page: "an HTML or XML page"
        case .token: "a token"
        case .formWithoutSPC: "a form without a value named spc"
        case .multipartWithoutSPC: "a multipart body without a complete part named spc"
        case .invalidJSON: "JSON that is not well formed"
        case .repeatedMember: "JSON in which an object has a member twice"
        case .jsonWithoutSPC: "JSON without a member that has an SPC"
        case .ambiguous: "a request that names its SPC twice"
        case .ambiguousToken: "a request with more than one token"
        case .invalidBase64: "a request whose SPC is not Base64"
        case .tooManyKeys(let maximum): "a request with more than \(maximum) SPCs"
        case .labelTooLong(let maximum): "a request with a key id of more than \(maximum) bytes"
        case .unrecognised: "neither an SPC nor a known form of one"
        }
    }

    /// What the integrator should do, as a whole sentence.
    package var remedy: String {
        switch self {
        case .empty: "Send the SPC that the player gave you as the body of the POST."
        case .certificate:
            "Give the certificate to the player (it makes the SPC with it), and send the SPC that the player returns."
        case .doubleBase64: "Encode the SPC once, or send its bytes as they are."
        case .utf16: "Send the bytes of the SPC as they are, or its Base64 in UTF-8."
        case .license: "Send the SPC that the player gave you; the license is this server's answer to it."
        case .playlist: "Send the SPC that the player gave you, and not the playlist."
        case .page: "Look at the URL that the app loads: a page took the place of the SPC."
        case .token: "Send the token in the header Authorization: Bearer, and the SPC as the body."
        case .formWithoutSPC: "Name the value spc: spc=<Base64 of the SPC>."
        case .multipartWithoutSPC: "Name the part spc, and end the body with the last boundary."
        case .invalidJSON: "Send an object such as {\"spc\": \"<Base64 of the SPC>\"}."
        case .repeatedMember: "Give each member of an object once."
        case .jsonWithoutSPC: "Send an object such as {\"spc\": \"<Base64 of the SPC>\"}."
        case .ambiguous: "Send the SPC once."
        case .ambiguousToken: "Send one token."
        case .invalidBase64: "Encode the SPC in Base64, with either alphabet."
        case .tooManyKeys: "Send the SPCs in several requests."
        case .labelTooLong: "Name the keys by shorter ids; the answer repeats them."
        case .unrecognised: "Send the bytes of the SPC as they are."
        }
    }
}
