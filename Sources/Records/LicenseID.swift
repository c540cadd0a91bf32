package import ByteCoding
package import KeyCrypto

/// Identifies one license: in `X-License-Id`, in the ledger, and in questions about its expiry.
///
///     offset  size  field
///          0     6  milliseconds since 1970, big-endian
///          6    10  random
///
/// The time comes first, so that an index of licenses grows only at its end. The text has 32 lower-case hexadecimal
/// digits.
package struct LicenseID: Hashable, Sendable {
    package let bytes: Bytes16

    package init(_ bytes: Bytes16) {
        self.bytes = bytes
    }

    /// Makes an id. Only the last ten bytes of `random` are used.
    package init(milliseconds: UInt64, random: Bytes16) {
        bytes = Bytes16(high: milliseconds << 16 | random.high & 0xFFFF, low: random.low)
    }

    /// Reads the text of `description`; nil for any other text.
    package init?(text: String) {
        guard text.utf8.count == 32, let bytes = try? Hexadecimal.decode(text), let words = Bytes16(bytes) else {
            return nil
        }
        self.init(words)
        guard description == text else { return nil }
    }

    /// When the license was decided, in milliseconds since 1970.
    package var milliseconds: UInt64 { bytes.high >> 16 }
    /// When the license was decided, in seconds since 1970.
    package var seconds: Int64 { Int64(milliseconds / 1000) }
}

extension LicenseID: CustomStringConvertible {
    package var description: String { Hexadecimal.encode(bytes) }
}

extension LicenseID {
    /// Makes an id that identifies only a row of the ledger, and no license. `now` is in seconds since 1970.
    package static func naming(rowAt now: Int64) throws(CryptoError) -> LicenseID {
        LicenseID(milliseconds: UInt64(max(now, 0)) * 1000, random: try RandomBytes.generate16())
    }
}
