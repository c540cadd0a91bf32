import Foundation

/// What the SPC says of the key, from the key URI of the playlist: the URI without its scheme, as Apple's samples do.
///
/// Nil if the URI does not begin with `skd://` or has nothing after it. The server also reads the whole URI.
public func assetID(ofKeyURI uri: String) -> Data? {
    let scheme = "skd://"
    guard uri.lowercased().hasPrefix(scheme), uri.count > scheme.count else { return nil }
    return Data(uri.dropFirst(scheme.count).utf8)
}
