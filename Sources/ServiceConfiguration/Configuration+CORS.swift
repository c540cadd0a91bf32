import HTTPMessages

extension CORSPolicy {
    init(reading section: ConfigurationSection) {
        let standard = CORSPolicy()
        let origins = section.set("origins", .origin, allowsEmpty: true) ?? ["*"]
        let allowsCredentials = section.value("allowCredentials", .boolean, default: standard.allowsCredentials)
        let otherFields = section.set("allowedHeaders", .fieldName, allowsEmpty: true) ?? []

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
            otherFields: otherFields)
    }
}

extension ConfigurationForm<String> {
    /// An origin as browsers send it: without a path, without a slash at its end, without the scheme's own port, and in
    /// lower case. Apps and extensions that are web pages have schemes of their own, and only their hosts can have
    /// upper-case letters. Android's pages from files have `file://`.
    fileprivate static var origin: ConfigurationForm {
        .string(
            "\"*\", \"null\", \"file://\", or an origin as browsers send it: scheme and host, without a path and "
                + "without the scheme's own port",
            example: "https://www.example"
        ) { text in
            if ["*", "null", "file://"].contains(text) { return text }
            guard text.utf8.count <= 1024, let mark = text.firstRange(of: "://") else { return nil }
            let (scheme, host) = (text[..<mark.lowerBound], text[mark.upperBound...].utf8)
            guard isScheme(scheme.utf8), scheme != "file", !host.isEmpty else { return nil }
            guard scheme == "https" || scheme == "http" else {
                return host.allSatisfy { isHostByte($0 | 0x20) || $0 == UInt8(ascii: ":") } ? text : nil
            }
            guard !text.hasSuffix(scheme == "https" ? ":443" : ":80") else { return nil }
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

    /// Whether bytes are a scheme in lower case (RFC 3986 section 3.1).
    private static func isScheme(_ bytes: Substring.UTF8View) -> Bool {
        bytes.first.map { (0x61...0x7A).contains($0) } == true
            && bytes.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
            }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-._".utf8.contains(byte)
    }

    /// A token of RFC 9110 section 5.6.2. A single `*` has a meaning of its own in CORS.
    static var fieldName: ConfigurationForm {
        .string("a header name of at most 64 bytes, such as letters, digits and hyphens", example: "x-customer") {
            text in
            let bytes = Array(text.utf8)
            let isName = (1...64).contains(bytes.count) && bytes.allSatisfy(\.isTokenCharacter)
            return isName && text != "*" ? text : nil
        }
    }
}
