import FairPlay

/// What the log says of a refusal: a text, and for a rejected SPC the TLLV tag and the number that it is about.
package struct RefusalCause: Sendable {
    package let text: String
    package let tag: UInt64
    package let number: UInt64

    package init(_ text: String) {
        self.text = text
        tag = 0
        number = 0
    }

    /// The same work for each rejection: see `SPCRejection.logged`.
    init(_ rejection: SPCRejection) {
        let logged = rejection.logged
        text = logged.name.description
        tag = logged.tag
        number = logged.number
    }
}
