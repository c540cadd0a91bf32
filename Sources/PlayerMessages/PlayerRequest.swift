package import ByteCoding

/// What a player asks in one request: licences for one or more SPCs.
///
/// Only the form was read. Each SPC is what the player sent as one, and `FairPlay` decides whether it is one.
package struct PlayerRequest: Sendable {
    /// The most SPCs in one request. A film has about six keys; Apple's own clients send up to eight.
    package static let keyCountMaximum = 16

    /// The largest name of an SPC in bytes of UTF-8, so that an answer is not much larger than its request. Players
    /// send ids of 16 to 36 bytes in Base64.
    package static let labelSizeMaximum = 1024

    package let shape: RequestShape
    /// In the order of the request; at least one. More than one only in shapes with a result for each key.
    package let keys: [RequestedKey]
    /// A token within the body, where some players put it.
    package let token: String?
    /// Whether a part of a form has no name. Players that send such a form take bare Base64 alone.
    package let hasUnnamedPart: Bool

    package init(
        shape: RequestShape, keys: [RequestedKey], token: String? = nil, hasUnnamedPart: Bool = false
    ) {
        self.shape = shape
        self.keys = keys
        self.token = token
        self.hasUnnamedPart = hasUnnamedPart
    }
}

/// One SPC, and the name by which the player knows its result.
package struct RequestedKey: Sendable {
    package let spc: [UInt8]
    /// What the body calls the asset beside the SPC. The asset id within the SPC decides.
    package let assetHint: String?
    /// As the player wrote it; its result repeats it unchanged. Nil in shapes with one SPC and no name for it.
    package let label: JSONNode?
    /// Apple's member `offline`: whether the player wants to keep this key.
    package let isOffline: Bool

    package init(spc: [UInt8], assetHint: String? = nil, label: JSONNode? = nil, isOffline: Bool = false) {
        self.spc = spc
        self.assetHint = assetHint
        self.label = label
        self.isOffline = isOffline
    }
}

/// What the body of a request for licences is.
package enum PlayerMessage: Sendable {
    case request(PlayerRequest)
    /// A property list of expired sessions ("secure stop"; clients, section 4d): binary, or XML.
    case sessionReport([UInt8])
}
