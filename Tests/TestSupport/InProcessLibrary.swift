import ByteCoding
package import FairPlay
import KeyCrypto

/// A library in this process that has the application secret, and does with its orders what Apple's SDK is said to do
/// (SDK 26, section 3; protocol, sections 4.2, 4.3 and 4.6). It has no code of Apple's.
package final class InProcessLibrary: LicenseLibrary {
    // Safe: one task at a time calls it.
    nonisolated(unsafe) private let server: TestServer
    /// The title id of a key that has none.
    private static let noID = Bytes16.zero

    /// `credentials` must have an application secret.
    package init(_ credentials: CredentialSet) throws {
        unsafe server = try TestServer(credentials)
    }

    package func answer(_ order: LibraryOrder) async throws(LadderModuleError) -> LibraryAnswer {
        do {
            let spc = try unsafe server.open(order.message)
            guard let deviceID = spc.sessionKeys?.deviceID else { throw LadderModuleError.failed(status: -42601) }
            var ckc: [UInt8]?
            if let license = order.license {
                ckc = try unsafe server.answer(
                    spc, contentKey: license.key.bytes.revealed(), iv: license.iv,
                    terms: terms(license.terms, for: spc.device))
            }
            return LibraryAnswer(deviceID: deviceID, transactionID: spc.transactionID, ckc: ckc)
        } catch let error as LadderModuleError {
            throw error
        } catch {
            throw .refused(status: -42589)
        }
    }

    private func terms(
        _ terms: LibraryTerms, for device: DeviceFacts
    ) throws(LadderModuleError) -> LicenseTerms {
        if let version = device.denyListVersion, (1..<31).contains(version) { throw .deviceRefused(status: -42604) }
        let level: SecurityLevel =
            switch terms.contentType {
            case .audio: .audio
            case .sd, .hd: .baseline
            case .uhd: .main
            }
        if terms.contentType == .uhd, terms.hdcp != .type1 { throw .failed(status: -42585) }
        if terms.contentType == .hd, terms.hdcp == .none { throw .failed(status: -42585) }
        if terms.hdcp == .type1, !device.capabilities.contains(.hdcpEnforcement) {
            throw .deviceRefused(status: -42604)
        }
        return LicenseTerms(
            validity: try validity(terms.validity, for: device), hdcp: terms.hdcp, securityLevel: level)
    }

    private func validity(
        _ validity: LibraryTerms.Validity, for device: DeviceFacts
    ) throws(LadderModuleError) -> LicenseTerms.Validity {
        let hasVersion2 = device.capabilities.contains(.offlineKeyVersion2)
        switch validity {
        case .session: return .session
        // Without a playback state, the block is left out silently.
        case .lease(let lease): return device.playbackState == nil ? .session : .duration(.lease(lease))
        case .kept(let kept):
            if let name = kept.name {
                guard hasVersion2 else { throw .failed(status: -42585) }
                return .offlineKey(
                    OfflineKey(
                        .version2(streamID: name.streamID, titleID: name.titleID), storage: kept.storage,
                        playback: kept.playback))
            }
            if hasVersion2 {
                return .offlineKey(
                    OfflineKey(.version1(contentID: Self.noID), storage: kept.storage, playback: kept.playback))
            }
            guard device.playbackState != nil else { return .session }
            return .duration(kept.storage.map { .persistentLimited($0) } ?? .persistent)
        }
    }
}
