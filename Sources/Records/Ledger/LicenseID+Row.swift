package import KeyCrypto

extension LicenseID {
    /// An id that names a row of the ledger alone. `now` is in seconds since 1970.
    package static func naming(rowAt now: Int64) throws(CryptoError) -> LicenseID {
        LicenseID(milliseconds: UInt64(max(now, 0)) * 1000, random: try RandomBytes.generate16())
    }
}
