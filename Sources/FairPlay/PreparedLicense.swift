package import ByteCoding
package import KeyCrypto

/// A license for the device of one SPC that was not released yet: its decision is recorded first.
package enum PreparedLicense: Sendable {
    /// A content key that was wrapped. The terms are added when the CKC is written.
    case wrapped(WrappedContentKey)
    /// A CKC that a library has written.
    case finished(FinishedLicense)

    package var deviceID: DeviceID {
        switch self {
        case .wrapped(let contentKey): contentKey.deviceID
        case .finished(let license): license.deviceID
        }
    }
}

/// A CKC of a library, and the terms that it holds.
package struct FinishedLicense: Sendable {
    package let ckc: [UInt8]
    package let deviceID: DeviceID
    package let terms: LibraryTerms
    /// The version of the CKC.
    package let version: UInt32

    /// Returns nil unless the CKC has the layout of one (protocol, section 1.3).
    package init?(ckc: [UInt8], deviceID: DeviceID, terms: LibraryTerms) {
        var reader = ByteReader(ckc)
        guard LibraryAnswer.ckcSizes.contains(ckc.count), let version = try? reader.readUInt32("version"),
            (1...2).contains(version)
        else { return nil }
        let size = Int(ckc.readUInt32(at: CKCWriter.headerSize - 4))
        guard size == ckc.count - CKCWriter.headerSize, size % 16 == 0 else { return nil }
        self.ckc = ckc
        self.deviceID = deviceID
        self.terms = terms
        self.version = version
    }
}

extension SPC {
    /// Prepares a license with these terms for the device. Its CKC may still be written with other terms.
    ///
    /// With an external module or a library, this call waits for it. It can still refuse the SPC, because only it
    /// checks the integrity.
    package func prepare(
        _ key: borrowing SecretBytes, iv: Bytes16, for use: ContentKeyUse, under terms: LicenseTerms,
        using crypto: CryptoContext
    ) async throws(LadderError) -> PreparedLicense {
        guard let library else { return .wrapped(try await wrap(key, iv: iv, for: use, using: crypto)) }
        let terms = try libraryTerms(terms, for: use)
        return .finished(try await license(with: key, iv: iv, under: terms, from: library))
    }

    /// Throws the term that the library of this SPC cannot be told.
    package func checkExpressible(_ terms: LicenseTerms, for use: ContentKeyUse) throws(LibraryTermError) {
        if library != nil { _ = try LibraryTerms(terms, for: use, on: device) }
    }

    /// Returns the CKC with these terms. If a library has written one with other terms, it is asked once more.
    package func ckc(
        of prepared: PreparedLicense, with key: borrowing SecretBytes, iv: Bytes16, for use: ContentKeyUse,
        under terms: LicenseTerms, using crypto: CryptoContext
    ) async throws(LadderError) -> [UInt8] {
        switch prepared {
        case .wrapped(let contentKey):
            return try ByteCoding.wrap(
                LadderError.cryptography,
                try CKCWriter.write(for: self, contentKey: contentKey, terms: terms, using: crypto))
        case .finished(let license):
            let recorded = try libraryTerms(terms, for: use)
            guard recorded != license.terms, let library else { return license.ckc }
            let other = try await self.license(with: key, iv: iv, under: recorded, from: library)
            guard other.deviceID == license.deviceID else { throw .module(.answerMalformed) }
            return other.ckc
        }
    }

    private func libraryTerms(
        _ terms: LicenseTerms, for use: ContentKeyUse
    ) throws(LadderError) -> LibraryTerms {
        try ByteCoding.wrap(LadderError.inexpressible, try LibraryTerms(terms, for: use, on: device))
    }

    private func license(
        with key: borrowing SecretBytes, iv: Bytes16, under terms: LibraryTerms, from library: LibraryOfSPC
    ) async throws(LadderError) -> FinishedLicense {
        let answer = try await ask(library, for: LibraryLicense(key: SharedSecret(key.copy()), iv: iv, terms: terms))
        guard let ckc = answer.ckc,
            let license = FinishedLicense(ckc: ckc, deviceID: answer.deviceID, terms: terms)
        else { throw .module(.answerMalformed) }
        return license
    }

    /// Asks the library. An answer about another SPC is no answer.
    func ask(_ library: LibraryOfSPC, for license: LibraryLicense?) async throws(LadderError) -> LibraryAnswer {
        do throws(LadderModuleError) {
            let answer = try await library.library.answer(LibraryOrder(message: library.message, license: license))
            guard answer.transactionID == transactionID else { throw .answerMalformed }
            return answer
        } catch {
            throw .module(error)
        }
    }
}

/// The library that is to answer an SPC, and the SPC's bytes.
struct LibraryOfSPC: Sendable {
    let library: any LicenseLibrary
    let message: [UInt8]
}
