import ByteCoding

/// The address of the database, without the password.
///
///     postgresql://USER@HOST[:PORT][,HOST[:PORT] …]/DATABASE[?OPTION=VALUE[&…]]
///
/// A host is a name, an IPv4 address, an IPv6 address in brackets, or the folder of a unix socket with its slashes as
/// `%2F`. There are at most 8 hosts; the first one that accepts writes is used. The options are
///
/// - `sslmode`: `disable`, `verify-ca` (encrypted, and one of the trusted authorities has signed the server's
///   certificate), `verify-full` (the certificate also names the host) or `require`, which is the same as `verify-ca`.
///   The default is `disable` if all hosts are on this machine, and `verify-full` otherwise.
/// - `sslrootcert`: the file of the trusted authorities. The default is the system's file.
/// - `schema`: the schema of the tables, for several installations in one database; 1 to 63 of a-z, 0-9 and `_`, and
///   the first is not a digit. The default is `latchkey`.
///
/// Everything else is refused. Above all a password is refused, because logs and process lists show URLs to many
/// people.
package struct PostgreSQLURL: Hashable, Sendable {
    package enum TLS: String, Sendable, CaseIterable {
        case disable
        /// As `verifyCA`. An encrypted connection to a server that was not verified protects from no attacker who can
        /// alter the traffic.
        case require
        case verifyCA = "verify-ca"
        case verifyFull = "verify-full"
    }

    package struct Host: Hashable, Sendable {
        /// A name, an address without brackets, or the absolute path of a folder.
        package let name: String
        package let port: UInt16

        var isOfThisMachine: Bool {
            name.hasPrefix("/") || name == "localhost" || name == "::1" || name.hasPrefix("127.")
        }
    }

    /// The largest number of hosts.
    package static let hostsMaximum = 8
    /// Debian's bundle of authorities.
    static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    package let user: String
    /// At least one host.
    package let hosts: [Host]
    package let database: String
    package let tls: TLS
    package let authorities: String
    package let schema: String

    package init(parsing text: String) throws(PostgreSQLURLError) {
        guard let rest = text.dropping("postgresql://") ?? text.dropping("postgres://") else { throw .otherScheme }
        let (address, query) = rest.split(atFirst: "?")
        let (authority, path) = address.split(atFirst: "/")
        guard let path, !path.isEmpty, !path.contains("/") else { throw .databaseMissing }
        database = try Self.decoded(path)
        (user, hosts) = try Self.readAuthority(authority)
        var options = try Self.readOptions(query)
        let isLocal = hosts.allSatisfy(\.isOfThisMachine)
        tls = try Self.readTLS(options.removeValue(forKey: "sslmode")) ?? (isLocal ? .disable : .verifyFull)
        authorities = options.removeValue(forKey: "sslrootcert") ?? Self.systemAuthorities
        schema = options.removeValue(forKey: "schema") ?? "latchkey"
        guard authorities.hasPrefix("/") else { throw .optionMalformed("sslrootcert") }
        guard Self.isSchemaName(schema) else { throw .optionMalformed("schema") }
        if let unknown = options.keys.min() { throw .optionUnknown(unknown) }
    }

    /// The address as people read it: role, hosts, database and schema.
    package var address: String {
        let list = hosts.map { host in
            let name = host.name.contains(":") ? "[\(host.name)]" : host.name.replacing("/", with: "%2F")
            return "\(name):\(host.port)"
        }
        return "postgresql://\(user)@\(list.joined(separator: ","))/\(database)?schema=\(schema)"
    }

    // MARK: Authority

    private static func readAuthority(
        _ authority: Substring
    ) throws(PostgreSQLURLError) -> (user: String, hosts: [Host]) {
        let (user, hostList) = authority.split(atFirst: "@")
        guard let hostList, !user.isEmpty else { throw .userMissing }
        guard !user.contains(":") else { throw .passwordInURL }
        let texts = hostList.split(separator: ",", omittingEmptySubsequences: false)
        guard texts.count <= hostsMaximum else { throw .hostMalformed }
        var hosts: [Host] = []
        for text in texts { hosts.append(try readHost(text)) }
        return (try decoded(user), hosts)
    }

    private static func readHost(_ text: Substring) throws(PostgreSQLURLError) -> Host {
        if let inner = text.dropping("[") {
            let (address, rest) = inner.split(atFirst: "]")
            guard let rest, address.contains(":"), address.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
            else { throw .hostMalformed }
            guard !rest.isEmpty else { return Host(name: String(address), port: 5432) }
            guard let port = rest.dropping(":") else { throw .hostMalformed }
            return Host(name: String(address), port: try readPort(port))
        }
        let (name, port) = text.split(atFirst: ":")
        let decodedName = try decoded(name)
        guard isHostName(decodedName) || isFolder(decodedName) else { throw .hostMalformed }
        return Host(name: decodedName, port: try port.map(readPort) ?? 5432)
    }

    private static func readPort(_ text: Substring) throws(PostgreSQLURLError) -> UInt16 {
        guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(text), port > 0 else {
            throw .portMalformed
        }
        return port
    }

    private static func isHostName(_ name: String) -> Bool {
        (1...253).contains(name.utf8.count)
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") }
    }

    /// Whether the name is a folder. A comma is refused, because libpq would separate hosts at it.
    private static func isFolder(_ name: String) -> Bool {
        name.hasPrefix("/") && !name.contains(",")
    }

    // MARK: Options

    private static func readOptions(_ query: Substring?) throws(PostgreSQLURLError) -> [String: String] {
        var options: [String: String] = [:]
        for pair in query?.split(separator: "&", omittingEmptySubsequences: false) ?? [] {
            let (name, value) = pair.split(atFirst: "=")
            guard let value, !value.isEmpty else { throw .optionMalformed(String(name)) }
            guard name != "password" else { throw .passwordInURL }
            guard options.updateValue(try decoded(value), forKey: String(name)) == nil else {
                throw .optionRepeated(String(name))
            }
        }
        return options
    }

    private static func readTLS(_ text: String?) throws(PostgreSQLURLError) -> TLS? {
        guard let text else { return nil }
        guard let tls = TLS(rawValue: text) else { throw .optionMalformed("sslmode") }
        return tls
    }

    private static func isSchemaName(_ name: String) -> Bool {
        let letters = name.utf8
        guard (1...63).contains(letters.count), let first = letters.first, !(0x30...0x39).contains(first) else {
            return false
        }
        return letters.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }

    // MARK: Escapes

    /// Decodes `%XX`. Throws if the result is not UTF-8, or has a zero byte, which would end the text for libpq.
    private static func decoded(_ text: Substring) throws(PostgreSQLURLError) -> String {
        guard let bytes = PercentEncoding.decode(Array(text.utf8)), !bytes.contains(0) else { throw .escapeMalformed }
        guard let decoded = String(validating: bytes, as: UTF8.self), !decoded.isEmpty else {
            throw .escapeMalformed
        }
        return decoded
    }
}

/// The reason why a text is not the URL of a database.
package enum PostgreSQLURLError: Error, Equatable, Sendable {
    /// It does not begin with `postgresql://` or `postgres://`.
    case otherScheme
    /// The URL has a password. Passwords come from a file or a credential.
    case passwordInURL
    case userMissing
    case hostMalformed
    /// The port is not a number from 1 to 65535.
    case portMalformed
    case databaseMissing
    /// The text has a percent sign without two hexadecimal digits, a zero byte, or bytes that are not UTF-8.
    case escapeMalformed
    case optionUnknown(String)
    case optionRepeated(String)
    case optionMalformed(String)
}

extension StringProtocol where SubSequence == Substring {
    /// Returns the text after a prefix; nil if the text does not begin with the prefix.
    fileprivate func dropping(_ prefix: String) -> Substring? {
        hasPrefix(prefix) ? dropFirst(prefix.count) : nil
    }

    /// Returns the texts before and after the first separator. The second one is nil if there is no separator.
    fileprivate func split(atFirst separator: Character) -> (Substring, Substring?) {
        guard let index = firstIndex(of: separator) else { return (self[...], nil) }
        return (self[..<index], self[self.index(after: index)...])
    }
}
