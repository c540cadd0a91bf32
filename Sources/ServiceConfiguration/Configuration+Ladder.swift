extension Configuration {
    /// The ladder of a credential, which opens the SK..R1 blocks of its SPCs.
    package enum Ladder: Equatable, Sendable {
        /// The application secret: 16 bytes.
        case applicationSecret(SecretSource)
        /// A fixed DASk: 16 bytes, for the published test vectors only.
        case fixedDASk(SecretSource)
        case module(Module)
        case sdk(SDK)
    }

    /// A ladder module, which runs in processes of its own.
    package struct Module: Equatable, Sendable {
        /// The path of the shared library.
        package let library: String
        /// The data with which the library is opened.
        package let data: SecretSource
        package let workers: Workers
    }

    /// The library that a licensee has built from Apple's SDK 26. It runs in processes of its own.
    package struct SDK: Equatable, Sendable {
        /// The path of the shared library.
        package let library: String
        /// The file certificates.json of the SDK. It names certificates, private keys and provisioning data, so the
        /// credential has no such fields.
        package let certificates: SecretSource
        package let workers: Workers
    }

    /// The processes that run the library of a module or of an SDK.
    package struct Workers: Equatable, Sendable {
        /// How many processes there are, each with one call at a time.
        package let count: Int
        package let callDeadline: Duration
        /// The limit of the address space of one worker, in bytes.
        package let memoryLimit: UInt64
        /// The user that workers become; nil for the daemon's own user.
        package let user: String?
    }
}

extension Configuration.Ladder {
    private static let names = (
        applicationSecret: "applicationSecret", module: "module", sdk: "sdk", fixedDASk: "fixedDASk"
    )

    /// Reads the four fields, of which exactly one must be set. Returns nil if a fault was reported.
    init?(reading section: ConfigurationSection) {
        let names = Self.names
        let applicationSecret = section.optional(
            names.applicationSecret, .file(in: section.directory, example: "fairplay/application-secret.hex"))
        let fixedDASk = section.optional(names.fixedDASk, .file(in: section.directory, example: "fairplay/dask.hex"))
        let module = section.optionalSection(names.module, Configuration.Module.init(reading:))
        let sdk = section.optionalSection(names.sdk, Configuration.SDK.init(reading:))

        let all = [names.applicationSecret, names.module, names.sdk, names.fixedDASk]
        let present = all.filter(section.contains)
        for name in present.dropFirst() { section.report(name, .conflict(with: present[0])) }
        if present.isEmpty { section.report(nil, .noneOf(all)) }
        if let applicationSecret {
            self = .applicationSecret(applicationSecret)
        } else if let module {
            self = .module(module)
        } else if let sdk {
            self = .sdk(sdk)
        } else if let fixedDASk {
            self = .fixedDASk(fixedDASk)
        } else {
            return nil
        }
    }

    /// The file of its secret.
    var source: SecretSource {
        switch self {
        case .applicationSecret(let source), .fixedDASk(let source): source
        case .module(let module): module.data
        case .sdk(let sdk): sdk.certificates
        }
    }
}

extension Configuration.Module {
    fileprivate init?(reading section: ConfigurationSection) {
        let library = section.required("library", .path(in: section.directory, example: "/usr/lib/latchkey/ladder.so"))
        let data = section.required("data", .file(in: section.directory, example: "fairplay/module-data.bin"))
        let workers = Configuration.Workers(reading: section)

        guard let library, let data else { return nil }
        self.init(library: library, data: data, workers: workers)
    }
}

extension Configuration.SDK {
    fileprivate init?(reading section: ConfigurationSection) {
        let library = section.required("library", .path(in: section.directory, example: "/opt/fps/libfpssdk.so"))
        let certificates = section.required(
            "certificates", .file(in: section.directory, example: "/opt/fps/certificates.json"))
        let workers = Configuration.Workers(reading: section)

        guard let library, let certificates else { return nil }
        self.init(library: library, certificates: certificates, workers: workers)
    }
}

extension Configuration.Workers {
    private static let counts = 1...256
    private static let callDeadlineDefault: Duration = .seconds(1)
    private static let memoryLimitDefault: UInt64 = 512 << 20

    /// Reads the fields in the section of a library. Each has a default.
    fileprivate init(reading section: ConfigurationSection) {
        count = section.value(
            "workers", .integer(Self.counts, example: 4), default: Configuration.Limits.processorCount)
        callDeadline = section.value(
            "callDeadline", .duration(.milliseconds(10)...(.seconds(60)), example: Self.callDeadlineDefault),
            default: Self.callDeadlineDefault)
        memoryLimit = section.value(
            "memoryLimit", .integer(64 << 20...1 << 40, example: Self.memoryLimitDefault),
            default: Self.memoryLimitDefault)
        user = section.optional("user", .userName)
    }
}
