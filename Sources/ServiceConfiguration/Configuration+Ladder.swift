extension Configuration {
    /// The ladder of a credential, which opens the SK..R1 blocks of its SPCs.
    package enum Ladder: Equatable, Sendable {
        /// The application secret: 16 bytes.
        case applicationSecret(SecretSource)
        /// A fixed DASk: 16 bytes, for the published test vectors only.
        case fixedDASk(SecretSource)
        case module(Module)
    }

    /// A ladder module, which runs in processes of its own.
    package struct Module: Equatable, Sendable {
        /// The path of the shared library.
        package let library: String
        /// The data with which the library is opened.
        package let data: SecretSource
        package let workers: Int
        package let callDeadline: Duration
        /// The processor time that one worker may use in addition to that of its answered calls.
        package let processorTime: Duration
        /// The limit of the address space of one worker, in bytes.
        package let memoryLimit: UInt64
        /// The user that workers become; nil for the daemon's own user.
        package let user: String?
    }
}

extension Configuration.Ladder {
    private static let names = (applicationSecret: "applicationSecret", module: "module", fixedDASk: "fixedDASk")

    /// Reads the three fields, of which exactly one must be set. Returns nil if a fault was reported.
    init?(reading section: ConfigurationSection) {
        let names = Self.names
        let applicationSecret = section.optional(
            names.applicationSecret, .file(in: section.directory, example: "fairplay/application-secret.hex"))
        let fixedDASk = section.optional(names.fixedDASk, .file(in: section.directory, example: "fairplay/dask.hex"))
        let module = section.optionalSection(names.module, Configuration.Module.init(reading:))

        let all = [names.applicationSecret, names.module, names.fixedDASk]
        let present = all.filter(section.contains)
        for name in present.dropFirst() { section.report(name, .conflict(with: present[0])) }
        if present.isEmpty { section.report(nil, .noneOf(all)) }
        if let applicationSecret {
            self = .applicationSecret(applicationSecret)
        } else if let module {
            self = .module(module)
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
        }
    }
}

extension Configuration.Module {
    private static let workerCounts = 1...256
    private static let callDeadlineDefault: Duration = .seconds(1)
    private static let processorTimeDefault: Duration = .seconds(2)
    private static let memoryLimitDefault: UInt64 = 512 << 20

    fileprivate init?(reading section: ConfigurationSection) {
        let library = section.required("library", .path(in: section.directory, example: "/usr/lib/latchkey/ladder.so"))
        let data = section.required("data", .file(in: section.directory, example: "fairplay/module-data.bin"))
        let workers = section.value(
            "workers", .integer(Self.workerCounts, example: 4), default: Configuration.Limits.processorCount)
        let callDeadline = section.value(
            "callDeadline", .duration(.milliseconds(10)...(.seconds(60)), example: Self.callDeadlineDefault),
            default: Self.callDeadlineDefault)
        let processorTime = section.value(
            "processorTime", .duration(.milliseconds(10)...(.seconds(600)), example: Self.processorTimeDefault),
            default: Self.processorTimeDefault)
        let memoryLimit = section.value(
            "memoryLimit", .integer(64 << 20...1 << 40, example: Self.memoryLimitDefault),
            default: Self.memoryLimitDefault)
        let user = section.optional("user", .userName)

        guard let library, let data else { return nil }
        self.library = library
        self.data = data
        self.workers = workers
        self.callDeadline = callDeadline
        self.processorTime = processorTime
        self.memoryLimit = memoryLimit
        self.user = user
    }
}
