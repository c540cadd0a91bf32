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
            origins: origins.contains("*") ? .any : .listed(origins), allowsCredentials: allowsCredentials,
            otherFields: otherFields, maximumAge: maximumAge)
    }
}

extension ConfigurationForm<String> {
    /// An origin as browsers send it: without a path, without a slash at its end, and in lower case.
    fileprivate static var origin: ConfigurationForm {
        .string("\"*\", \"null\" or an origin without a path", example: "https://www.example") { text in
            if text == "*" || text == "null" { return text }
            let scheme = ["https://", "http://"].first { text.hasPrefix($0) }
            guard let scheme, text.utf8.count <= 1024 else { return nil }
            let rest = text.utf8.dropFirst(scheme.utf8.count)
            let isPlain = rest.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-._:[]".utf8.contains(byte)
            }
            return isPlain && !rest.isEmpty ? text : nil
        }
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
