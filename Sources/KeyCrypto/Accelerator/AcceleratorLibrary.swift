import Glibc

/// Intel's library crypto_mb, loaded into this process, with the functions of `crypto_mb/rsa.h` and
/// `crypto_mb/ec_nistp256.h` that are used here.
///
/// It runs up to eight operations side by side in the lanes of wide registers. It is never unloaded.
@safe
struct AcceleratorLibrary: @unchecked Sendable {
    // Safe to share: the functions keep no state between calls, and the methods are constants of the library.

    typealias Inputs = UnsafePointer<UnsafePointer<UInt8>?>
    typealias Outputs = UnsafePointer<UnsafeMutablePointer<UInt8>?>
    typealias Numbers = UnsafePointer<UnsafePointer<UInt64>?>
    /// Decrypts up to eight numbers. The tables have the inputs, outputs, primes, exponents and coefficients of all
    /// lanes, with null pointers for lanes that are not used. Then come the size of the moduli in bits, the method, and
    /// memory to work in. The status has four bits for each lane, which are zero if the lane succeeded.
    typealias PrivateOperation =
        @convention(c) (
            Inputs, Outputs, Numbers, Numbers, Numbers, Numbers, Numbers, Int32, OpaquePointer,
            UnsafeMutablePointer<UInt8>
        ) -> UInt32
    /// Encrypts up to eight numbers with the exponent 65537. The third table has the moduli.
    typealias PublicOperation =
        @convention(c) (Inputs, Outputs, Numbers, Int32, OpaquePointer, UnsafeMutablePointer<UInt8>) -> UInt32
    /// Checks up to eight ECDSA signatures over P-256. The tables have r, s, and the digest of each lane, 32 bytes
    /// big-endian each, and then the coordinates x, y and z of the public keys. Without z the points are affine. The
    /// library needs no memory from outside to work in.
    typealias Verification =
        @convention(c) (Inputs, Inputs, Inputs, Numbers, Numbers, Numbers?, UnsafeMutablePointer<UInt8>?) -> UInt32

    /// How the library computes with moduli of one size.
    @safe
    struct Method {
        let decrypting: OpaquePointer
        let encrypting: OpaquePointer
        /// How much memory it needs to work in, in bytes.
        let memorySize: Int
    }

    static let laneCount = 8
    /// The libraries of Intel's compiler that crypto_mb needs. They are in its folder, each after those that it needs.
    static let companions = ["libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so"]
    /// More than any version needs. A larger number means that the library is not the expected one.
    private static let memorySizeMaximum: Int32 = 4 << 20

    let path: String
    /// The version that the library says it has, such as `2.0.0`.
    let version: String
    let decrypt: PrivateOperation
    let encrypt: PublicOperation
    let verifyP256: Verification
    private let method1024: Method
    private let method2048: Method

    /// Loads the library. Throws if it cannot be loaded, is another library, or cannot run on this processor.
    init(path: String) throws(AcceleratorRefusal) {
        let library = try unsafe Self.load(path)
        // Safe: the types are those of the header. `ServiceConfiguration` has checked that only the owner of the file
        // can change it, so it is what its installer has verified.
        let isApplicable = try unsafe unsafeBitCast(
            Self.symbol("mbx_is_crypto_mb_applicable", in: library), to: (@convention(c) (UInt64) -> Int32).self)
        guard isApplicable(0) != 0 else { throw .processorUnsuited }
        self.path = path
        version = try unsafe Self.version(of: library)
        unsafe decrypt = try unsafeBitCast(
            Self.symbol("mbx_rsa_private_crt_mb8", in: library), to: PrivateOperation.self)
        unsafe encrypt = try unsafeBitCast(Self.symbol("mbx_rsa_public_mb8", in: library), to: PublicOperation.self)
        unsafe verifyP256 = try unsafeBitCast(
            Self.symbol("mbx_nistp256_ecdsa_verify_mb8", in: library), to: Verification.self)
        method1024 = try unsafe Self.method("1K", in: library)
        method2048 = try unsafe Self.method("2K", in: library)
    }

    /// Returns the method for moduli of 128 or 256 bytes.
    func method(modulusSize: Int) -> Method { modulusSize == 128 ? method1024 : method2048 }

    /// Loads the library and those that it needs. The text of the loader names a file and what is wrong with it.
    private static func load(_ path: String) throws(AcceleratorRefusal) -> UnsafeMutableRawPointer {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        for companion in companions {
            // A library that is needed and is not here leads to an error below.
            _ = unsafe dlopen("\(folder)/\(companion)", RTLD_NOW | RTLD_LOCAL)
        }
        guard let library = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) else { throw .notLoadable(loaderText()) }
        return unsafe library
    }

    private static func loaderText() -> String {
        // Safe: the text is copied before the next call of the loader.
        guard let text = unsafe dlerror() else { return "" }
        return unsafe String(cString: text)
    }

    private static func symbol(
        _ name: String, in library: UnsafeMutableRawPointer
    ) throws(AcceleratorRefusal) -> UnsafeMutableRawPointer {
        guard let symbol = unsafe dlsym(library, name) else { throw .symbolMissing(name) }
        return unsafe symbol
    }

    private static func method(
        _ size: String, in library: UnsafeMutableRawPointer
    ) throws(AcceleratorRefusal) -> Method {
        typealias Getter = @convention(c) () -> OpaquePointer?
        typealias MemorySize = @convention(c) (OpaquePointer) -> Int32
        let memorySize = try unsafe unsafeBitCast(symbol("mbx_RSA_Method_BufSize", in: library), to: MemorySize.self)
        let names = (private: "mbx_RSA\(size)_private_crt_Method", public: "mbx_RSA\(size)_pub65537_Method")
        let decrypting = try unsafe unsafeBitCast(symbol(names.private, in: library), to: Getter.self)
        let encrypting = try unsafe unsafeBitCast(symbol(names.public, in: library), to: Getter.self)
        guard let decrypting = unsafe decrypting(), let encrypting = unsafe encrypting() else {
            throw .methodUnusable(size)
        }
        let needed = unsafe max(memorySize(decrypting), memorySize(encrypting))
        guard (1...memorySizeMaximum).contains(needed) else { throw .methodUnusable(size) }
        return unsafe Method(decrypting: decrypting, encrypting: encrypting, memorySize: Int(needed))
    }

    private static func version(of library: UnsafeMutableRawPointer) throws(AcceleratorRefusal) -> String {
        // `mbxVersion` begins with the numbers of the version.
        typealias Getter = @convention(c) () -> UnsafePointer<Int32>?
        let getter = try unsafe unsafeBitCast(symbol("mbx_getversion", in: library), to: Getter.self)
        guard let numbers = unsafe getter() else { throw .symbolMissing("mbx_getversion") }
        return unsafe "\(numbers[0]).\(numbers[1]).\(numbers[2])"
    }
}

/// Why an accelerator does not serve, and OpenSSL serves instead.
package enum AcceleratorRefusal: Error, Equatable, Sendable {
    /// There is no library in the place where it is looked for.
    case notInstalled(path: String)
    /// The dynamic linker cannot load the library. The text is the linker's.
    case notLoadable(String)
    /// The library lacks a function.
    case symbolMissing(String)
    /// The library cannot run on this processor, or the operating system does not enable what it needs.
    case processorUnsuited
    /// The library has no usable method for keys of this size.
    case methodUnusable(String)
    /// The library computes something else than OpenSSL.
    case selfTestFailed(AcceleratedOperation)
    /// A child process that has tried the library has refused it, for this reason.
    case trialRefused(String)
    /// A child process that tried the library has crashed or hung. The text continues a sentence about it.
    case trialFailed(String)
    /// OpenSSL could not prepare the self-test.
    case cryptography(CryptoError)
    /// Too many results were wrong while the library served.
    case resultsWrong(count: Int)
    /// The library has called a forged signature valid while it served.
    case forgeryAccepted
}

extension AcceleratorRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notInstalled(let path): "there is no library \(path)"
        case .notLoadable(let text): "the library cannot be loaded: \(text)"
        case .symbolMissing(let name): "the library has no function \(name)"
        case .processorUnsuited:
            "the processor has no instructions for it (AVX-512 IFMA with VBMI2, or AVX-IFMA), or the system does not"
                + " enable them"
        case .methodUnusable(let size): "the library has no usable method for RSA\(size)"
        case .selfTestFailed(let operation): "the self-test of \(operation) gave another result than OpenSSL"
        case .trialRefused(let reason): reason
        case .trialFailed(let end):
            "the child process that loads and tests the library first \(end); the file may be damaged"
        case .cryptography(let error): "the self-test could not be prepared: \(error)"
        case .resultsWrong(let count): "\(count) results were wrong"
        case .forgeryAccepted: "it called a forged signature valid; no token was accepted by that batch"
        }
    }
}
