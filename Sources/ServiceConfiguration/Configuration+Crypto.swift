extension Configuration {
    /// How cryptographic operations are computed.
    package struct Crypto: Equatable, Sendable {
        package let accelerator: Accelerator
    }

    /// The library that runs RSA private operations side by side.
    package enum Accelerator: Equatable, Sendable {
        /// None: OpenSSL runs the operations.
        case off
        /// The one that `Scripts/install-accelerator` installs by default, if it is there.
        case automatic
        /// The one with this path.
        case library(path: String)

        /// Where `Scripts/install-accelerator` installs the library by default.
        package static let standardPath = "/usr/local/lib/latchkey/libcrypto_mb.so"

        /// The path of the library; nil if none is configured.
        package var path: String? {
            switch self {
            case .off: nil
            case .automatic: Self.standardPath
            case .library(let path): path
            }
        }
    }
}

extension Configuration.Crypto {
    init(reading section: ConfigurationSection) {
        accelerator = section.value("accelerator", .accelerator(in: section.directory), default: .off)
    }
}

extension ConfigurationForm<Configuration.Accelerator> {
    /// A word, or the path of a library. A relative path is relative to `directory`.
    fileprivate static func accelerator(in directory: String) -> ConfigurationForm {
        let words: [(text: String, value: Configuration.Accelerator)] = [("off", .off), ("auto", .automatic)]
        return .string(
            "\"off\", \"auto\" or the path of a library, with a slash", example: "auto",
            write: { value in words.first { $0.value == value }?.text ?? value.path ?? "" },
            parse: { text in
                if let word = words.first(where: { $0.text == text }) { return word.value }
                // A text without a slash is more likely a mistyped word than a file.
                guard text.contains("/"), text.utf8.count <= 4000, !text.utf8.contains(0) else { return nil }
                return .library(path: FilePath.resolve(text, relativeTo: directory))
            })
    }
}
