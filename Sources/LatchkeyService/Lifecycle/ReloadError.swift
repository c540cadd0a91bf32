import HTTPServing
import ServiceConfiguration

/// Why a configuration is not put in force while the daemon runs.
enum ReloadError: Error, CustomStringConvertible {
    case configuration(ConfigurationError)
    case daemon(DaemonError)
    case certificates(TLSError)

    var description: String {
        switch self {
        case .configuration(let error): error.description
        case .daemon(let error): error.description
        case .certificates(let error): error.description
        }
    }
}
