import FairPlay
import Glibc
import POSIXSockets

/// A library of Apple's SDK that is loaded in this process (SDK 26, section 1). Only one thread calls it.
@safe
struct LoadedLibrary {
    private let functions: LibraryFunctions

    /// Loads a library, which finds its credentials in `files`, and checks that it knows them all.
    init(libraryPath: String, files: LibraryFiles) throws(LadderModuleFault) {
        if let certificates = files.files.first {
            let path = "\(SealedFile.folder)/\(certificates.descriptor)"
            // The flavours of the library read one of these. All must be there before it is loaded.
            for (name, value) in [("FPS_CERT_PATH", path), ("FPS_CREDENTIALS_PATH", path), ("PWD", "/")] {
                guard unsafe setenv(name, value, 1) == 0 else { throw .filesNotKept(errno: errno) }
            }
        }
        functions = try LibraryFunctions(libraryPath: libraryPath)
        for (index, probe) in files.probes.enumerated() {
            if case .failure(.failed(LibraryStatus.certificateUnknown)) = answer(
                LibraryOrder(message: probe, license: nil))
            {
                throw .credentialUnknown(index: UInt32(index))
            }
        }
    }

    /// Calls the library.
    func answer(_ order: LibraryOrder) -> Result<LibraryAnswer, LadderCallFailure> {
        var request = LibraryRequest(order)
        defer { request.wipe() }
        switch functions.process(request.text) {
        case .failed(let status): return .failure(.failed(status: status))
        case .text(let text): return LibraryResponse.answer(in: text, to: order)
        }
    }
}

/// The functions of the library's public boundary.
@safe
private struct LibraryFunctions {
    /// What a call has yielded.
    enum Outcome {
        /// The status of the call itself.
        case failed(status: Int32)
        case text([UInt8])
    }

    // The widths of the sizes differ by flavour, 32 or 64 bits. In both ABIs a register holds either of them, and an
    // output of 32 bits leaves the upper half of a zeroed variable at zero.
    private typealias Process =
        @convention(c) (
            UnsafePointer<CChar>?, UInt, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
            UnsafeMutablePointer<UInt>?
        ) -> Int32
    private typealias Dispose = @convention(c) (UnsafeMutablePointer<CChar>?, UInt) -> Int32

    /// The library with Apple's closed code, which stands beside the one that the licensee has built.
    private static let closedLibrary = "libfpscrypto.so"
    /// The most bytes of an answer that are read. A CKC has a few thousand.
    private static let answerSizeMaximum = 1 << 20

    private let processOperations: Process
    private let dispose: Dispose

    init(libraryPath: String) throws(LadderModuleFault) {
        let library = try SharedLibrary(path: libraryPath, first: [Self.closedLibrary])
        // Safe: these are the types of the public boundary. A library that breaks them can harm only this process.
        unsafe processOperations = try unsafeBitCast(library.requiredSymbol("fpsProcessOperations"), to: Process.self)
        unsafe dispose = try unsafeBitCast(library.requiredSymbol("fpsDisposeResponse"), to: Dispose.self)
    }

    /// Calls the library with a text that ends with NUL.
    func process(_ text: [UInt8]) -> Outcome {
        var answer: UnsafeMutablePointer<CChar>?
        var size: UInt = 0
        let status = unsafe text.withUnsafeBytes { bytes in
            // Safe: the text exists during the call. Its size does not count the NUL.
            unsafe processOperations(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), UInt(bytes.count - 1), &answer, &size)
        }
        guard let answer = unsafe answer else { return .failed(status: status == 0 ? -1 : status) }
        defer { unsafe release(answer, size) }
        guard status == 0 else { return .failed(status: status) }
        guard size <= UInt(Self.answerSizeMaximum) else { return .text([]) }
        // Safe: the library says that so many bytes are there. The text ends earlier at a NUL.
        let bytes = unsafe UnsafeRawBufferPointer(start: answer, count: Int(size))
        return unsafe .text([UInt8](bytes.prefix { $0 != 0 }))
    }

    /// Overwrites an answer and gives it back. A NUL would make a library that looks for the end free too little.
    private func release(_ answer: UnsafeMutablePointer<CChar>, _ size: UInt) {
        let count = Int(min(size, UInt(Self.answerSizeMaximum)))
        // Safe: as above. The bytes up to the NUL are the library's own.
        unsafe memset(answer, Int32(UInt8(ascii: " ")), strnlen(answer, count))
        _ = unsafe dispose(answer, size)
    }
}

/// The status numbers of a library (SDK 26, section 4).
enum LibraryStatus {
    static let good: Int64 = 0
    static let deviceRefused: Int64 = -42604
    static let certificateUnknown: Int32 = -42605
    /// What a client has caused: version, parsing, missing or repeated blocks, integrity.
    static let clientFaults: Set<Int64> = [-42580, -42581, -42583, -42589, -42590, -42591]
}
