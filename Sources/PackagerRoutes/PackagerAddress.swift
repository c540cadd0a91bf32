package import ContentKeys
package import PackagerAPI

/// An address of packagers. Its methods are not for web pages, so it refuses OPTIONS too.
package enum PackagerAddress: Sendable {
    case speke(SPEKERoute)
    /// Keys of any content, by POST.
    case keys
    /// The keys of one content, by GET.
    case keysOfContent(ContentID)

    /// The methods of the address, as a refusal names them.
    package var methods: String {
        switch self {
        case .speke(let route): route.methods
        case .keys: "POST"
        case .keysOfContent: "GET, HEAD"
        }
    }
}

/// The rules for requests of packagers. A reload replaces them.
package struct PackagerRules: Sendable {
    /// The packagers that may ask for content keys.
    package var directory: PackagerDirectory = .empty
    /// The host and port of the license server for players, for key URLs that name it.
    package var keyAuthority: String?

    package init(directory: PackagerDirectory = .empty, keyAuthority: String? = nil) {
        self.directory = directory
        self.keyAuthority = keyAuthority
    }
}
