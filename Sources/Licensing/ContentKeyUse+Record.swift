import ContentKeys
import FairPlay

extension ContentKeyUse {
    /// What an external module is told of a key.
    init(_ key: ContentKeyAttributes) {
        self.init(kind: .unknown, allowsVideoSessionKey: false)
    }
}
