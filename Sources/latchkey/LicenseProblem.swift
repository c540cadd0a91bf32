import ByteCoding

/// A refusal of the server in one line: status, stable code, request id, and what to do, if the answer says so.
struct LicenseProblem: CustomStringConvertible {
    private static let lengthMaximum = 300

    let description: String
    /// The stable code, if the answer has one.
    let code: String?
    /// What it is and what to do, in whole sentences; empty if the answer does not say it.
    let advice: String

    init(_ answer: ReceivedLicense) {
        // Anything may come from a server that is not ours: what is no problem document has nothing to tell.
        let object = (try? JSONReader.parse(answer.body))?.object
        let text = { (name: String) in object?[name]?.string.map(Self.printable) }
        var parts = ["the server answered with status \(answer.status)"]
        code = answer.errorCode.map(Self.printable) ?? text("code")
        if let code { parts.append("code \(code)") }
        if let requestID = answer.requestID.map(Self.printable) ?? text("request_id") {
            parts.append("request id \(requestID)")
        }
        let sentences = [text("detail") ?? text("title"), text("hint")].compactMap(\.self)
        advice = sentences.isEmpty ? Self.advice(for: answer.status) : sentences.joined(separator: " ")
        description = parts.joined(separator: ", ") + (advice.isEmpty ? "" : ": \(advice)")
    }

    private static func advice(for status: Int) -> String {
        switch status {
        case 300..<400: "it redirects, which is not followed; give the address of the licence route itself"
        case 404: "is this the address of a licence route?"
        default: ""
        }
    }

    /// Without what a terminal would obey.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { !$0.properties.generalCategory.isControl }
        return String(String.UnicodeScalarView(scalars).prefix(lengthMaximum))
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isControl: Bool {
        [.control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse].contains(self)
    }
}
