import ByteCoding
import CommandSupport
import ContentKeys
import KeyCrypto

/// The fields of one line of a file of keys, as bytes.
struct KeyFields {
    private var values: [KeyField: [UInt8]] = [:]

    init(csv line: [UInt8], _ columns: [KeyField]) throws(KeyFieldError) {
        var cells = try Self.cells(of: line)
        defer { for index in cells.indices { cells[index].wipe() } }
        guard cells.count == columns.count else {
            throw KeyFieldError("\(cells.count) columns, but the header has \(columns.count)")
        }
        for (column, cell) in zip(columns, cells) where !cell.isEmpty { values[column] = cell }
    }

    /// Reads a line of JSON. Key and vector are taken out first, because the JSON reader makes strings, which are not
    /// wiped.
    init(json line: [UInt8]) throws(KeyFieldError) {
        let secret: [KeyField] = [.key, .iv]
        let hidden = HiddenMembers(secret.map(\.rawValue), in: line)
        guard let object = (try? JSONReader.parse(hidden.bytes))?.object else {
            throw KeyFieldError("not a JSON object")
        }
        for member in object.members {
            guard let field = KeyField(rawValue: member.name) else {
                throw KeyFieldError("an unknown member; the known ones are \(KeyField.names)")
            }
            if secret.contains(field), !member.node.isNull {
                guard let text = member.node.string else { throw KeyFieldError(field, "not a text") }
                // If nothing was taken out, the name or the value has escapes, which hexadecimal digits never need.
                guard text.isEmpty || hidden.texts[field.rawValue] != nil else {
                    throw KeyFieldError(field, "not 32 hexadecimal digits")
                }
                values[field] = hidden.texts[field.rawValue]?.bytes.revealed()
            } else if let text = member.node.string {
                if !text.isEmpty { values[field] = Array(text.utf8) }
            } else if field == .period, let number = member.node.number?.signed {
                values[field] = Array(String(number).utf8)
            } else if !member.node.isNull {
                throw KeyFieldError(field, "not a text")
            }
        }
    }

    mutating func wipe() {
        for field in KeyField.allCases { values[field]?.wipe() }
    }

    func makeImport(now: Int64) throws(KeyFieldError) -> KeyImport {
        var attributes = ContentKeyAttributes(
            keyID: try keyID(), contentID: try contentID(), track: try track(), createdAt: now)
        attributes.leastHDCP = try word(.hdcp)
        attributes.leastSecurityLevel = try word(.securityLevel)
        if let scheme: EncryptionScheme = try word(.scheme) { attributes.scheme = scheme }
        if let text = text(.period) {
            guard let period = UInt32(text) else { throw KeyFieldError(.period, "not a whole number") }
            attributes.periodIndex = period
        }
        return KeyImport(record: try record(attributes), aliases: try aliases())
    }

    private func record(_ attributes: ContentKeyAttributes) throws(KeyFieldError) -> ContentKeyRecord {
        let key = try secret(.key)
        let iv = try secret(.iv)
        do throws(ContentKeyError) {
            return try ContentKeyRecord(attributes: attributes, key: ContentKey(key), iv: iv.revealedBytes16())
        } catch {
            throw KeyFieldError("the initialization vector equals the key; it is public, and would give the key away")
        }
    }

    private func secret(_ field: KeyField) throws(KeyFieldError) -> SecretBytes {
        guard let digits = values[field] else { throw KeyFieldError(field, "missing") }
        guard digits.count == 2 * ContentKey.size, var bytes = try? Hexadecimal.decode(digits) else {
            throw KeyFieldError(field, "not 32 hexadecimal digits")
        }
        defer { bytes.wipe() }
        return SecretBytes(copying: bytes)
    }

    private func keyID() throws(KeyFieldError) -> KeyID {
        guard let text = text(.kid) else { throw KeyFieldError(.kid, "missing") }
        guard let keyID = try? KeyID(parsing: text) else {
            throw KeyFieldError(.kid, "not a UUID or 32 hexadecimal digits")
        }
        return keyID
    }

    private func contentID() throws(KeyFieldError) -> ContentID {
        guard let text = text(.content) else { throw KeyFieldError(.content, "missing") }
        guard let contentID = try? ContentID(text) else {
            throw KeyFieldError(.content, "not 1 to 200 printable ASCII characters without space")
        }
        return contentID
    }

    private func track() throws(KeyFieldError) -> Track {
        let contentType: ContentType? = try word(.contentType)
        var label: TrackLabel?
        if let text = text(.track) {
            label = try? TrackLabel(text)
            if label == nil { throw KeyFieldError(.track, "not 1 to 64 printable ASCII characters without space") }
        }
        do throws(TrackError) {
            return try Track(label: label, contentType: contentType)
        } catch {
            switch error {
            case .contentTypeMissing: throw KeyFieldError(.contentType, "missing, and track is a label of your own")
            case .contentTypeContradicted(let type):
                throw KeyFieldError(.contentType, "not \(type.rawValue), which track means")
            }
        }
    }

    private func aliases() throws(KeyFieldError) -> [AssetID] {
        guard let text = text(.alias) else { return [] }
        guard let bytes = AssetIDText.bytes(text), let alias = try? AssetID(alias: bytes) else {
            throw KeyFieldError(.alias, "not 2 to 200 bytes: text, or \"hex:\" and their hexadecimal digits")
        }
        return [alias]
    }

    private func word<Word: RawRepresentable & CaseIterable>(
        _ field: KeyField
    ) throws(KeyFieldError) -> Word? where Word.RawValue == String {
        guard let text = text(field) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw KeyFieldError(field, "none of " + Word.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return word
    }

    private func text(_ field: KeyField) -> String? {
        values[field].map { String(decoding: $0, as: UTF8.self) }
    }

    /// The cells of a line (RFC 4180). A cell in quotes may have commas and doubled quotes.
    static func cells(of line: [UInt8]) throws(KeyFieldError) -> [[UInt8]] {
        let (comma, quote) = (UInt8(ascii: ","), UInt8(ascii: "\""))
        var cells: [[UInt8]] = []
        var rest = line[...]
        while true {
            var cell: [UInt8] = []
            if rest.first == quote {
                rest = rest.dropFirst()
                var isOpen = true
                while isOpen, let end = rest.firstIndex(of: quote) {
                    cell += rest[..<end]
                    rest = rest[(end + 1)...]
                    isOpen = rest.first == quote
                    if isOpen {
                        cell.append(quote)
                        rest = rest.dropFirst()
                    }
                }
                guard !isOpen, rest.isEmpty || rest.first == comma else {
                    throw KeyFieldError("a quote at a place where no quote may be, or a quote that is not closed")
                }
            } else {
                cell = Array(rest.prefix { $0 != comma })
                guard !cell.contains(quote) else { throw KeyFieldError("a quote at a place where no quote may be") }
                rest = rest.dropFirst(cell.count)
            }
            cells.append(cell)
            guard rest.first == comma else { return cells }
            rest = rest.dropFirst()
        }
    }
}
