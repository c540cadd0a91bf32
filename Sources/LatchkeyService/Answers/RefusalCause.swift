import FairPlay

/// What the log says of a refusal: a text, and for a rejected SPC the TLLV tag and the number that it is about.
struct RefusalCause: Sendable {
    let text: String
    let tag: UInt64
    let number: UInt64

    init(_ text: String) {
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
