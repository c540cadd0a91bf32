import KeyCrypto
import ServiceConfiguration
import Telemetry

/// Chooses what computes RSA private operations, and checks new ES256 signatures, when the daemon starts. The log says
/// which backend serves, and why.
enum CryptoBackend {
    /// Starts the configured accelerator. Returns nil if OpenSSL serves.
    static func start(_ loaded: LoadedConfiguration, _ logger: Logger) -> CryptoAccelerator? {
        guard let path = loaded.acceleratorPath else {
            logger.info(
                "crypto_backend", [.string("backend", "openssl"), .string("cause", "crypto.accelerator is off")])
            return nil
        }
        do throws(AcceleratorRefusal) {
            let accelerator = try AcceleratorTrial.load(path: path) { note($0, logger) }
            logger.info(
                "crypto_backend",
                [
                    .string("backend", "crypto_mb"), .string("library", accelerator.path),
                    .string("version", accelerator.version),
                    .integer("openssl_rsa1024_maximum", accelerator.breakEven.jobs1024),
                    .integer("openssl_rsa2048_maximum", accelerator.breakEven.jobs2048),
                    .string("cause", "it computes the same as OpenSSL in its self-test"),
                ])
            return accelerator
        } catch {
            let facts: [LogField] = [.string("backend", "openssl"), .string("cause", error.description)]
            // "auto" asks for the library if the machine can use it.
            switch (loaded.configuration.crypto.accelerator, error) {
            case (.automatic, .notInstalled), (.automatic, .processorUnsuited): logger.info("crypto_backend", facts)
            default: logger.warning("crypto_backend", facts)
            }
            return nil
        }
    }

    private static func note(_ event: CryptoAccelerator.Event, _ logger: Logger) {
        switch event {
        case .resultWrong(let operation):
            logger.error(
                "accelerator_result_wrong",
                [
                    .string("backend", "crypto_mb"), .string("operation", operation.description),
                    .string("cause", "a result does not belong to its input; OpenSSL has computed it again"),
                ])
        case .givenUp(let refusal):
            logger.error("crypto_backend", [.string("backend", "openssl"), .string("cause", refusal.description)])
        }
    }

    /// Registers what the accelerator does.
    static func register(_ accelerator: CryptoAccelerator?, in registry: MetricsRegistry) {
        registry.sample(
            "latchkey_accelerator_serving", help: "Whether an accelerator computes RSA, and checks ES256 signatures."
        ) {
            accelerator?.isServing == true ? 1 : 0
        }
        registry.sample(
            "latchkey_accelerator_wrong_results_total",
            help: "Wrong results of the accelerator, which OpenSSL has computed again.", isCounter: true
        ) { Double(accelerator?.wrongResultCount ?? 0) }
        registry.sample(
            "latchkey_es256_accelerated_checks_total",
            help: "Signatures of tokens that an accelerator has checked side by side.", isCounter: true
        ) { Double(accelerator?.signatureCheckCount ?? 0) }
        registry.sample(
            "latchkey_es256_accelerated_batches_total", help: "Batches of these checks, of at most seven.",
            isCounter: true
        ) { Double(accelerator?.signatureBatchCount ?? 0) }
    }
}
