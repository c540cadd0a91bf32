import Foundation

/// The asset id for an SPC: the key URI of the playlist without its scheme, as in Apple's samples.
///
/// Returns nil if the URI does not begin with `skd://` or `skd:`, or has nothing after it. The server also accepts the
/// whole URI.
public func assetID(ofKeyURI uri: String) -> Data? {
    let lowercased = uri.lowercased()
    guard let scheme = ["skd://", "skd:"].first(where: lowercased.hasPrefix), uri.count > scheme.count else {
        return nil
    }
    return Data(uri.dropFirst(scheme.count).utf8)
}
