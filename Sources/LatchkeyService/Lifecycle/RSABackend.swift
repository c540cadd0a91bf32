import KeyCrypto
import ServiceConfiguration
import Telemetry

/// Chooses what computes RSA private operations when the daemon starts. The log says which backend serves, and why.
enum RSABackend {
    /// Starts the configured accelerator. Returns nil if OpenSSL serves.
    static func start(_ loaded: LoadedConfiguration, _ logger: Logger) -> RSAAccelerator? {
        guard let path = loaded.acceleratorPath else {
            logger.info("rsa_backend", [.string("backend", "openssl"), .string("cause", "crypto.accelerator is off")])
            return nil
        }
        do throws(AcceleratorRefusal) {
            let accelerator = try RSAAccelerator(path: path) { note($0, logger) }
            logger.info(
                "rsa_backend",
                [
                    .string("backend", "crypto_mb"), .string("library", accelerator.path),
                    .string("version", accelerator.version),
                    .string("cause", "it computes the same as OpenSSL in its self-test"),
                ])
            return accelerator
        } catch {
            let facts: [LogField] = [.string("backend", "openssl"), .string("cause", error.description)]
            // "auto" asks for the library if the machine can use it.
            switch (loaded.configuration.crypto.accelerator, error) {
            case (.automatic, .notInstalled), (.automatic, .processorUnsuited): logger.info("rsa_backend", facts)
            default: logger.warning("rsa_backend", facts)
            }
            return nil
        }
    }

    private static func note(_ event: RSAAccelerator.Event, _ logger: Logger) {
        switch event {
        case .resultWrong(let bits):
            logger.error(
                "rsa_result_wrong",
                [
                    .string("backend", "crypto_mb"), .integer("bits", bits),
                    .string("cause", "a result does not belong to its input; OpenSSL has computed it again"),
                ])
        case .givenUp(let refusal):
            logger.error("rsa_backend", [.string("backend", "openssl"), .string("cause", refusal.description)])
        }
    }

    /// Registers what the accelerator does.
    static func register(_ accelerator: RSAAccelerator?, in registry: MetricsRegistry) {
        registry.sample("latchkey_rsa_accelerated", help: "Whether an accelerator computes RSA private operations.") {
            accelerator?.isServing == true ? 1 : 0
        }
        registry.sample(
            "latchkey_rsa_results_wrong_total",
            help: "Wrong results of the accelerator, which OpenSSL has computed again.", isCounter: true
        ) { Double(accelerator?.wrongResultCount ?? 0) }
    }
}
