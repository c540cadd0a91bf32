package import HTTPMessages

extension HTTPMethod {
    /// Whether the method only reads.
    package var isRead: Bool { self == .get || self == .head }
}
