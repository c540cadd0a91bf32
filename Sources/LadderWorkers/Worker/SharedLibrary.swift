import Glibc

/// A shared library that is loaded into this process, and is never unloaded: it may have threads, and the process ends
/// anyway.
@safe
struct SharedLibrary {
    private let handle: UnsafeMutableRawPointer
    private static let missingSuffix = ": cannot open shared object file"

    /// Loads a library from its absolute path.
    ///
    /// Libraries that it needs, and that the loader does not find, are taken from the folder of this library, and
    /// `first` in any case. Vendors put them there, but name them by paths that are relative to a working folder.
    init(path: String, first names: [String] = []) throws(LadderModuleFault) {
        // The check comes before `dlopen`, whose text does not tell whether the file itself or a needed library cannot
        // be read.
        guard unsafe access(path, R_OK) == 0 else { throw .libraryUnreadable(errno: errno) }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        var loaded: Set<String> = []
        for name in names where unsafe access("\(folder)/\(name)", R_OK) == 0 {
            guard Self.isLoaded("\(folder)/\(name)") else { throw .libraryNotLoadable(Self.text()) }
            loaded.insert(name)
        }
        while true {
            if let library = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) {
                unsafe handle = library
                return
            }
            let text = Self.text()
            guard let missing = Self.missingName(in: text), loaded.insert(missing).inserted,
                Self.isLoaded("\(folder)/\(missing)")
            else { throw .libraryNotLoadable(text) }
        }
    }

    /// Returns the address of a function; nil if the library has none of this name.
    func symbol(_ name: String) -> UnsafeMutableRawPointer? {
        unsafe dlsym(handle, name)
    }

    /// Returns the address of a function. Throws `symbolMissing`.
    func requiredSymbol(_ name: String) throws(LadderModuleFault) -> UnsafeMutableRawPointer {
        guard let symbol = unsafe symbol(name) else { throw .symbolMissing(name) }
        return unsafe symbol
    }

    /// Loads a library whose functions other libraries need.
    private static func isLoaded(_ path: String) -> Bool {
        unsafe dlopen(path, RTLD_NOW | RTLD_GLOBAL) != nil
    }

    /// Returns the name of the library that the loader has not found; nil if something else is wrong.
    private static func missingName(in text: String) -> String? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix(missingSuffix) else { return nil }
        let name = String(text[..<colon])
        return name.isEmpty || name.contains("/") ? nil : name
    }

    private static func text() -> String {
        // Safe: the text is copied before the next call of the loader.
        guard let text = unsafe dlerror() else { return "" }
        return unsafe String(cString: text)
    }
}
