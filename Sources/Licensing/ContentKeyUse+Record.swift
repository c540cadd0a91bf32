import ContentKeys
import Entitlements
import FairPlay

extension ContentKeyUse {
    /// What an external module is told of a key: what it is for, as far as its track says (protocol, section 3.5).
    init(_ key: ContentKeyAttributes) {
        guard key.trackLabel != nil else {
            self.init(kind: .unknown, allowsVideoSessionKey: false)
            return
        }
        switch key.contentType {
        case .audio: self.init(kind: .audio, allowsVideoSessionKey: false)
        case .sd, .hd, .uhd: self.init(kind: .video, allowsVideoSessionKey: key.scheme == .cbcs)
        }
    }
}

extension RequestedContent {
    init(_ key: ContentKeyAttributes) {
        self.init(
            contentID: key.contentID.text, keyID: key.keyID, trackLabels: key.track.policyLabels.map(\.text))
    }
}
