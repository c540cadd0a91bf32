import FairPlay
import KeyCrypto
import LatchkeyService

/// A file of certificates: one, or the bundle of both with nothing between them.
enum CertificateFile {
    /// The certificate that an SPC of this version wraps its key for: 1024 bits for version 1, 2048 bits for version 2.
    ///
    /// `path` is for messages alone.
    static func certificate(
        for version: SPCVersion, in bytes: [UInt8], _ path: String
    ) throws(CommandError) -> Certificate {
        let certificates = (DER.elements(of: bytes) ?? [bytes]).map { try? Certificate(parsing: $0) }
        guard !certificates.contains(where: { $0 == nil }) else {
            throw .failed("\(path) is no certificate in DER or PEM and no bundle of two; it is \(FileKind(bytes))")
        }
        let bits = version.wrappedKeySize * 8
        guard let certificate = certificates.compactMap(\.self).first(where: { $0.keyBits == bits }) else {
            let found = certificates.compactMap(\.self).map { "\($0.keyBits)" }.joined(separator: " and ")
            throw .failed(
                "SPC version \(version.rawValue) needs a certificate of a \(bits)-bit key; \(path) has \(found) bits: "
                    + "name the other certificate, the bundle, or another --spc-version")
        }
        return certificate
    }
}

/// As much of the Distinguished Encoding Rules (X.690) as it takes to part two certificates.
enum DER {
    private static let sequenceTag: UInt8 = 0x30

    /// The sequences that lie one after another in `bytes`; nil where they are anything else.
    static func elements(of bytes: [UInt8]) -> [[UInt8]]? {
        var elements: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let size = sequenceSize(rest), size <= rest.count else { return nil }
            elements.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return elements.isEmpty ? nil : elements
    }

    /// The size of the sequence that begins here, header included (section 8.1.3); at most 16 MiB.
    private static func sequenceSize(_ bytes: ArraySlice<UInt8>) -> Int? {
        let header = Array(bytes.prefix(5))
        guard header.count >= 2, header[0] == sequenceTag else { return nil }
        if header[1] < 0x80 { return 2 + Int(header[1]) }
        let count = Int(header[1] & 0x7F)
        guard (1...3).contains(count), header.count >= 2 + count else { return nil }
        return 2 + count + header[2..<2 + count].reduce(0) { $0 << 8 | Int($1) }
    }
}
