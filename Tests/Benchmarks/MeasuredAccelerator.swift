import Foundation
import KeyCrypto

/// The accelerator that is measured beside OpenSSL: the one that LATCHKEY_ACCELERATOR names, or else the installed one.
enum MeasuredAccelerator {
    /// Says which one it is, or why there is none.
    static func find() -> CryptoAccelerator? {
        let named = ProcessInfo.processInfo.environment["LATCHKEY_ACCELERATOR"]
        let path = named ?? "/usr/local/lib/latchkey/libcrypto_mb.so"
        do throws(AcceleratorRefusal) {
            let accelerator = try CryptoAccelerator(path: path) { print("accelerator: \($0)") }
            print("accelerator: \(path), version \(accelerator.version)")
            return accelerator
        } catch {
            print("no accelerator is measured: \(error)")
            return nil
        }
    }
}
