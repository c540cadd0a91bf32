import KeyCrypto
import POSIXSockets

/// The files of a library, which exist only in this process and have the numbers of descriptors as their names.
enum KeptFiles {
    static func make(_ files: [LibraryFiles.File]) throws(LadderModuleFault) {
        for file in files {
            do throws(SocketError) {
                try file.contents.bytes.withBytes { (span) throws(SocketError) in
                    try SealedFile.make(span, number: Int32(file.descriptor))
                }
            } catch {
                guard case .failed(_, let errno) = error else { throw .filesNotKept(errno: 0) }
                throw .filesNotKept(errno: errno)
            }
        }
    }
}
