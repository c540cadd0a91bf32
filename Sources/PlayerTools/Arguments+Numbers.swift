import ByteCoding
package import CommandLineKit

extension Arguments {
    /// The option's value as `size` bytes, from hexadecimal digits; nil if it was not given.
    package func bytes(_ option: CommandOption, size: Int) throws(CommandError) -> [UInt8]? {
        guard let text = value(option) else { return nil }
        return try Self.bytes(option, text, size: size)
    }

    /// The option's value as a number of eight bytes, from 16 hexadecimal digits; nil if it was not given.
    func identifier8(_ option: CommandOption) throws(CommandError) -> UInt64? {
        guard let text = value(option) else { return nil }
        guard let number = text.sixteenDigits else { throw .usage("\(option.name) takes 16 hexadecimal digits") }
        return number
    }

    /// The option's value as 16 bytes, from 32 hexadecimal digits; nil if it was not given.
    func identifier16(_ option: CommandOption) throws(CommandError) -> Bytes16? {
        try bytes(option, size: 16).map { Bytes16($0, at: 0) }
    }

    /// All values of an option that may be repeated, as 16 bytes each.
    func identifiers16(_ option: CommandOption) throws(CommandError) -> [Bytes16] {
        try values(option).map { (text) throws(CommandError) in
            Bytes16(try Self.bytes(option, text, size: 16), at: 0)
        }
    }

    private static func bytes(
        _ option: CommandOption, _ text: String, size: Int
    ) throws(CommandError) -> [UInt8] {
        guard let bytes = try? Hexadecimal.decode(text), bytes.count == size else {
            throw .usage("\(option.name) takes \(size * 2) hexadecimal digits")
        }
        return bytes
    }
}

extension String {
    /// The number of eight bytes that exactly 16 hexadecimal digits spell, or nil.
    var sixteenDigits: UInt64? {
        guard let bytes = try? Hexadecimal.decode(self), bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
