import Glibc
import Synchronization

/// A library that runs RSA private operations side by side, and has proved itself against OpenSSL. All loops share it.
///
/// It is given up if it computes wrongly. From then on OpenSSL serves, until the process ends.
package final class RSAAccelerator: Sendable {
    /// What happens to an accelerator while it serves.
    package enum Event: Equatable, Sendable {
        /// A result was wrong, with a key of this size, and OpenSSL has computed it again. Only the first one is told.
        case resultWrong(bits: Int)
        case givenUp(AcceleratorRefusal)
    }

    /// The names of the libraries that are loaded from the folder of the accelerator's library.
    package static var companions: [String] { AcceleratorLibrary.companions }

    /// With so many wrong results the accelerator is given up.
    package static let wrongResultsMaximum = 3

    let library: AcceleratorLibrary
    private let observer: @Sendable (Event) -> Void
    private let wrongResults = Atomic<Int>(0)

    /// Loads a library and tests it. Throws why OpenSSL must serve instead. `observer` is called on any thread.
    package init(path: String, observer: @escaping @Sendable (Event) -> Void) throws(AcceleratorRefusal) {
        // Safe: Swift passes the path as a C string that is valid during the call.
        guard unsafe access(path, F_OK) == 0 else { throw .notInstalled(path: path) }
        library = try AcceleratorLibrary(path: path)
        self.observer = observer
        try AcceleratorSelfTest.run(library)
    }

    /// The path of the library.
    package var path: String { library.path }
    /// The version of the library.
    package var version: String { library.version }
    /// Whether it has not been given up.
    package var isServing: Bool { wrongResultCount < Self.wrongResultsMaximum }
    /// How many results were wrong. OpenSSL has computed each of them again.
    package var wrongResultCount: Int { wrongResults.load(ordering: .relaxed) }

    func noteWrongResult(modulusSize: Int) {
        let count = wrongResults.wrappingAdd(1, ordering: .relaxed).newValue
        if count == 1 { observer(.resultWrong(bits: modulusSize * 8)) }
        if count == Self.wrongResultsMaximum { observer(.givenUp(.resultsWrong(count: count))) }
    }
}
