import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto

/// The decrypted contents of an SPC.
struct SPCContents {
    /// Whether a server would accept the SPC.
    enum Verdict {
        case accepted
        case rejected(SPCRejection)
    }

    let payload: [UInt8]
    let blocks: [TLLVBlock]
    /// The HU; nil if only an external module can decrypt it, or if the server would reject the SPC.
    let deviceID: DeviceID?
    /// Nil if the SPC was opened without a server's key.
    let verdict: Verdict?

    /// Opens an SPC that this tool made, with its secrets.
    init(of envelope: SPCEnvelope, secrets: RequestSecrets, using crypto: CryptoContext) throws(SPCContentsFault) {
        payload = try wrap(
            SPCContentsFault.cryptography, try secrets.decryptPayload(of: envelope, using: crypto))
        blocks = try Self.blocks(in: payload)
        deviceID = secrets.deviceID
        verdict = nil
    }

    /// Opens an SPC as the server with this key does. It also reads the blocks of an SPC that the server would reject.
    init(
        of envelope: SPCEnvelope, key: CredentialKey, servedVersions: Set<UInt32>, using crypto: CryptoContext
    ) throws(SPCContentsFault) {
        let job: RSAUnwrapJob
        let opener: SPCOpener
        do throws(CryptoError) {
            opener = try SPCOpener(using: crypto)
            job = RSAUnwrapJob(
                key: key.privateKey, padding: envelope.version.padding, message: envelope.message,
                range: envelope.wrappedKey, decoy: try crypto.randomSecret(count: RSAUnwrapJob.sessionKeySize))
        } catch {
            throw .cryptography(error)
        }
        OpenSSLRSAUnwrapper(counting: RSAOperationCount()).unwrap([job])
        guard job.isGenuine else { throw .rejected(.sessionKey) }
        payload = try Self.decrypt(envelope, with: job, using: crypto)
        do throws(SPCError) {
            deviceID = try opener.open(envelope, with: key, unwrapped: job, servedVersions: servedVersions).sessionKeys?
                .deviceID
            verdict = .accepted
        } catch .rejected(.authenticationTag) {
            throw .rejected(.authenticationTag)
        } catch .rejected(let rejection) {
            deviceID = nil
            verdict = .rejected(rejection)
        } catch {
            throw .other(error)
        }
        blocks = try Self.blocks(in: payload)
    }

    private static func decrypt(
        _ envelope: SPCEnvelope, with job: RSAUnwrapJob, using crypto: CryptoContext
    ) throws(SPCContentsFault) -> [UInt8] {
        do throws(CryptoError) {
            switch envelope.protection {
            case .none(let iv):
                return try crypto.decryptCBC(envelope.message, in: envelope.payload, key: job.sessionKey, iv: iv)
            case .authenticated:
                let keys = try AuthenticatedPayloadKeys(master: job.sessionKey, using: crypto)
                return try crypto.decryptCBC(envelope.message, in: envelope.payload, key: keys.payload, iv: keys.iv)
            }
        } catch {
            throw .cryptography(error)
        }
    }

    private static func blocks(in payload: [UInt8]) throws(SPCContentsFault) -> [TLLVBlock] {
        try wrap(
            { (error: TLLVError) in SPCContentsFault.rejected(.framing(error)) },
            try TLLVBlocks(parsing: payload).blocks)
    }
}

/// Why the blocks of an SPC cannot be shown.
enum SPCContentsFault: Error {
    /// Every server with the key rejects the SPC, before its blocks are known.
    case rejected(SPCRejection)
    case other(SPCError)
    case cryptography(CryptoError)
}
