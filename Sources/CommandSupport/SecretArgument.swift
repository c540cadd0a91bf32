import ByteCoding
package import CommandLineKit
import Foundation
package import KeyCrypto
import ServiceConfiguration

/// The value of an option that may be a secret: the value itself, `@FILE`, or `-` for standard input.
///
/// All users of the machine can read a command line. So real secrets should be in a file or come by standard input.
package enum SecretArgument {
    /// The size of content keys, initialization vectors, ASk and DASk in bytes.
    package static let blockSize = 16

    /// The size of the longest token, in bytes.
    private static let tokenSizeMaximum = 64 << 10

    /// Returns the 16 bytes that an option names.
    ///
    /// The value is 32 hexadecimal digits, or a file with hexadecimal digits, Base64 or the bytes themselves. With
    /// `acceptsPath`, a value that is not 32 hexadecimal digits is the path of the file, also without `@`.
    package static func block(
        _ option: CommandOption, _ text: String, acceptsPath: Bool = false, _ context: CommandContext
    ) throws(CommandError) -> SecretBytes {
        switch Source(text) {
        case .input:
            return try block(in: context.readInput(sizeMaximum: 4096), "standard input")
        case .file(let path):
            return try block(in: read(path, context), path)
        case .inline(let digits):
            if let block = decode(Array(digits.utf8)) { return block }
            guard acceptsPath else {
                throw .usage("\(option.name) takes 32 hexadecimal digits, @FILE, or \"-\" for standard input")
            }
            guard FileManager.default.fileExists(atPath: digits) else {
                throw .failed("\(option.name) is not 32 hexadecimal digits, and not the path of a file")
            }
            return try block(in: read(digits, context), digits)
        }
    }

    /// Returns a token. It is printable ASCII without space, so that a header field can have it.
    package static func token(
        _ option: CommandOption, _ text: String, _ context: CommandContext
    ) throws(CommandError) -> String {
        let bytes =
            switch Source(text) {
            case .input: try context.readInput(sizeMaximum: tokenSizeMaximum).revealed()
            case .file(let path): try CommandFile.read(path).revealed()
            case .inline(let token): Array(token.utf8)
            }
        let token = bytes.trimmed
        guard (1...tokenSizeMaximum).contains(token.count), token.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .failed("\(option.name): not a token, which has printable characters without a space")
        }
        return String(decoding: token, as: UTF8.self)
    }

    private enum Source {
        case inline(String)
        case file(String)
        case input

        init(_ text: String) {
            if text == "-" {
                self = .input
            } else if text.hasPrefix("@") {
                self = .file(String(text.dropFirst()))
            } else {
                self = .inline(text)
            }
        }
    }

    private static func read(_ path: String, _ context: CommandContext) throws(CommandError) -> SecretBytes {
        let bytes = try CommandFile.read(path)
        warnIfExposed(path, context)
        return bytes
    }

    private static func block(in contents: consuming SecretBytes, _ place: String) throws(CommandError) -> SecretBytes {
        guard let block = EncodedSecret.decode(contents, size: blockSize) else {
            throw .failed(
                "\(place) has no secret of 16 bytes: 32 hexadecimal digits, Base64, or the bytes themselves; "
                    + EncodedSecret.form(of: contents))
        }
        return block
    }

    private static func decode(_ digits: [UInt8]) -> SecretBytes? {
        guard digits.count == blockSize * 2, var bytes = try? Hexadecimal.decode(digits) else { return nil }
        defer { bytes.wipe() }
        return SecretBytes(copying: bytes)
    }

    /// Warns if other users can read the file. The daemon refuses such files, but a command only warns.
    private static func warnIfExposed(_ path: String, _ context: CommandContext) {
        var status = stat()
        // Safe: the C string of the path is valid until the call returns.
        guard unsafe stat(path, &status) == 0, status.st_mode & 0o137 != 0 else { return }
        let mode = String(status.st_mode & 0o777, radix: 8)
        context.note("warning: the secret file \(path) has permissions 0\(mode); run: chmod 0600 \(Shell.quote(path))")
    }
}

extension [UInt8] {
    /// The bytes without white space at both ends.
    fileprivate var trimmed: [UInt8] {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return []
        }
        return Array(self[first...last])
    }
}
