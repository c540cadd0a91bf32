import EventLoops
import FairPlay
import KeyCrypto

/// What licensing keeps on each loop: contexts that one thread uses at a time, without a lock.
final class LoopLicensing {
    let crypto: CryptoContext
    let opener: SPCOpener
    let servedVersions: Set<UInt32>
    let overload: OverloadLimits
    let unwraps: UnwrapQueue

    init(
        servedVersions: Set<UInt32>, operations: RSAOperationCount, overload: OverloadLimits, counts: OverloadCounts,
        on loop: LoopContext
    ) throws(CryptoError) {
        crypto = try CryptoContext()
        self.servedVersions = servedVersions
        self.overload = overload
        opener = try SPCOpener(using: crypto)
        unwraps = UnwrapQueue(
            unwrapper: OpenSSLRSAUnwrapper(counting: operations), counts: counts, on: loop)
    }
}
