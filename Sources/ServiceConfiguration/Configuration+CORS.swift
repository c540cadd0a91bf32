import HTTPMessages

extension CORSPolicy {
    init(reading section: ConfigurationSection) {
        let standard = CORSPolicy()
        let origins = section.set("origins", .origin, allowsEmpty: true) ?? ["*"]
        let allowsCredentials = section.value("allowCredentials", .boolean, default: standard.allowsCredentials)
        let otherFields = section.set("allowedHeaders", .fieldName, allowsEmpty: true) ?? []
        let maximumAge = section.value(
            "maximumAge", .duration(.zero ... .seconds(86_400), example: standard.maximumAge),
            default: standard.maximumAge)

        if origins.contains("*") && origins.count > 1 {
            section.report("origins", .invalidValue(expected: "only \"*\", or only origins", example: "[\"*\"]"))
        }
        if origins.contains("*") && allowsCredentials {
            section.report(
                "allowCredentials", .invalidValue(expected: "false, because origins is \"*\"", example: "false"))
        }
        self.init(
            origins: origins.contains("*") ? .any : .listed(OriginSet(origins.sorted())),
            allowsCredentials: allowsCredentials,
            otherFields: otherFields, maximumAge: maximumAge)
    }
}

extension ConfigurationForm<String> {
    /// The schemes of pages: of web sites, of apps that are web pages, and of extensions of browsers.
    private static let schemes = [
        "https", "http", "capacitor", "ionic", "tauri", "chrome-extension", "moz-extension", "safari-web-extension",
    ]

    /// An origin as browsers send it: without a path, without a slash at its end, and in lower case. Only the hosts of
    /// extensions can have upper-case letters.
    fileprivate static var origin: ConfigurationForm {
        .string(
            "\"*\", \"null\" or an origin without a path, whose scheme is one of " + schemes.joined(separator: ", "),
            example: "https://www.example"
        ) { text in
            if text == "*" || text == "null" { return text }
            guard text.utf8.count <= 1024, let scheme = schemes.first(where: { text.hasPrefix($0 + "://") }) else {
                return nil
            }
            let host = text.utf8.dropFirst(scheme.utf8.count + 3)
            guard !host.isEmpty else { return nil }
            guard scheme.hasPrefix("http") else { return host.allSatisfy { isHostByte($0 | 0x20) } ? text : nil }
            // A host with a mark stands for all hosts below its domain, which must have two labels at least.
            let isFamily = host.starts(with: "*.".utf8)
            let domain = isFamily ? host.dropFirst(2) : host
            guard domain.allSatisfy({ isHostByte($0) || "[:]".utf8.contains($0) }) else { return nil }
            let labels = domain.prefix { $0 != UInt8(ascii: ":") }
                .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            let isDomain = labels.count >= 2 && labels.allSatisfy { !$0.isEmpty && $0.first != UInt8(ascii: "[") }
            return !isFamily || isDomain ? text : nil
        }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-._".utf8.contains(byte)
    }

    static var fieldName: ConfigurationForm {
        .string("a header name of at most 64 letters, digits and hyphens", example: "x-customer") { text in
            let isName = text.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
            }
            return isName && (1...64).contains(text.utf8.count) ? text : nil
        }
    }
}
