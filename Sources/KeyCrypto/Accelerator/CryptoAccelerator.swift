import Glibc
import Synchronization

/// What an accelerator computes.
package enum AcceleratedOperation: Equatable, Sendable, CustomStringConvertible {
    /// The private operation with a modulus of this size.
    case rsa(bits: Int)
    /// The check of a signature.
    case es256

    package var description: String {
        switch self {
        case .rsa(let bits): "RSA-\(bits)"
        case .es256: "ES256"
        }
    }
}

/// A library that runs operations side by side, and has proved itself against OpenSSL. All loops share it.
///
/// It is given up if it computes wrongly. From then on OpenSSL serves, until the process ends.
package final class CryptoAccelerator: Sendable {
    /// What happens to an accelerator while it serves.
    package enum Event: Equatable, Sendable {
        /// A result was wrong, and OpenSSL has computed it again. Only the first one is told.
        case resultWrong(AcceleratedOperation)
        case givenUp(AcceleratorRefusal)
    }

    /// The names of the libraries that are loaded from the folder of the accelerator's library.
    package static var companions: [String] { AcceleratorLibrary.companions }

    /// With so many wrong results the accelerator is given up.
    package static let wrongResultsMaximum = 3

    let library: AcceleratorLibrary
    /// How few jobs go to OpenSSL.
    package let breakEven: AcceleratorBreakEven
    private let observer: @Sendable (Event) -> Void
    private let wrongResults = Atomic<Int>(0)
    private let hasAcceptedForgery = Atomic<Bool>(false)
    let signatures = BatchCount()

    /// Loads a library and tests it. Throws why OpenSSL must serve instead.
    ///
    /// `breakEven` is measured if it is nil. `observer` is called on any thread.
    package init(
        path: String, breakEven: AcceleratorBreakEven? = nil, observer: @escaping @Sendable (Event) -> Void
    ) throws(AcceleratorRefusal) {
        // Safe: Swift passes the path as a C string that is valid during the call.
        guard unsafe access(path, F_OK) == 0 else { throw .notInstalled(path: path) }
        library = try AcceleratorLibrary(path: path)
        self.observer = observer
        let measured = try AcceleratorSelfTest.run(library)
        self.breakEven = breakEven ?? measured
    }

    /// The path of the library.
    package var path: String { library.path }
    /// The version of the library.
    package var version: String { library.version }
    /// Whether it has not been given up.
    package var isServing: Bool {
        wrongResultCount < Self.wrongResultsMaximum && !hasAcceptedForgery.load(ordering: .relaxed)
    }
    /// How many results were wrong. OpenSSL has computed each of them again.
    package var wrongResultCount: Int { wrongResults.load(ordering: .relaxed) }

    /// How many signatures were checked side by side with others.
    package var signatureCheckCount: UInt64 { signatures.members }
    /// The number of batches of these checks.
    package var signatureBatchCount: UInt64 { signatures.batches }

    /// Gives the accelerator up at once: it has called a forged signature valid.
    func noteAcceptedForgery() {
        guard !hasAcceptedForgery.exchange(true, ordering: .relaxed) else { return }
        wrongResults.wrappingAdd(1, ordering: .relaxed)
        observer(.givenUp(.forgeryAccepted))
    }

    func noteWrongResult(of operation: AcceleratedOperation) {
        let count = wrongResults.wrappingAdd(1, ordering: .relaxed).newValue
        if count == 1 { observer(.resultWrong(operation)) }
        if count == Self.wrongResultsMaximum { observer(.givenUp(.resultsWrong(count: count))) }
    }
}
