package import ContentKeys

/// A media playlist that a multivariant playlist names, in one line or in several.
package struct PlaylistReference: Equatable, Sendable {
    /// As it stands there.
    package let address: String
    /// The first line that names it.
    package let line: Int
    /// What it is for, as far as the lines tell it: the class of the pictures, or sound.
    package fileprivate(set) var contentTypes: Set<ContentType>
}

extension MultivariantPlaylist {
    /// In the order of their first lines. Two spellings of an address are two references.
    package var references: [PlaylistReference] {
        var named = streams.map { ($0.address, $0.line, $0.contentType) }
        for rendition in renditions {
            if let address = rendition.address { named.append((address, rendition.line, rendition.contentType)) }
        }
        var places: [[UInt8]: Int] = [:]
        var references: [PlaylistReference] = []
        for (address, line, type) in named.sorted(by: { $0.1 < $1.1 }) where !address.isEmpty {
            let types = Set([type].compactMap { $0 })
            if let place = places[Array(address.utf8)] {
                references[place].contentTypes.formUnion(types)
            } else {
                places[Array(address.utf8)] = references.count
                references.append(PlaylistReference(address: address, line: line, contentTypes: types))
            }
        }
        return references
    }
}
