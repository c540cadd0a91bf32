/// Why a text is not acceptable JSON, and where.
///
/// No case carries any part of the text, because the text may hold secrets.
package enum JSONError: Error, Equatable, Sendable {
    /// The text has more bytes than the limits allow; nothing of it was read.
    case tooLarge(size: Int, maximum: Int)

    /// The bytes from here on are not UTF-8.
    case invalidUTF8(at: TextPosition)

    /// The text ends within a value; the position is its end, or where a comment that never ends begins.
    case unexpectedEnd(at: TextPosition)

    /// The grammar has no place for this character.
    case unexpectedCharacter(at: TextPosition)

    /// The value is complete, and something other than white space follows.
    case trailingContent(at: TextPosition)

    /// This array or object is nested deeper than the limits allow.
    case tooDeep(at: TextPosition)

    /// The object has a member of this name already; the position is the second name.
    case duplicateMember(at: TextPosition)

    /// The text here begins like a number but is not one, or it is longer than a number may be.
    case invalidNumber(at: TextPosition)

    /// A string has a control character that is not escaped, or does not end on its line.
    case controlCharacter(at: TextPosition)

    /// There is no such escape sequence, or it names half a surrogate pair.
    case invalidEscape(at: TextPosition)
}

extension JSONError: CustomStringConvertible {
    /// One line for people, with line and column and no part of the text.
    package var description: String {
        switch self {
        case .tooLarge(let size, let maximum): "\(size) bytes are more than the \(maximum) that are allowed"
        case .invalidUTF8(let position): "\(position): not UTF-8"
        case .unexpectedEnd(let position): "\(position): the text ends too early"
        case .unexpectedCharacter(let position): "\(position): unexpected character"
        case .trailingContent(let position): "\(position): something follows the value"
        case .tooDeep(let position): "\(position): nested too deep"
        case .duplicateMember(let position): "\(position): this member is there already"
        case .invalidNumber(let position): "\(position): not a number"
        case .controlCharacter(let position): "\(position): control character in a string"
        case .invalidEscape(let position): "\(position): invalid escape sequence"
        }
    }
}
