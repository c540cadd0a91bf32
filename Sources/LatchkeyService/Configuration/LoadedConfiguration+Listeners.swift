package import FairPlay
import POSIXSockets

extension LoadedConfiguration {
    /// Everything about the listeners that would let strangers in, or see what they should not; no problem means that
    /// they may be opened.
    ///
    /// As long as there is no TLS, no listener may leave this machine. Development material may not either, unless test
    /// credentials are allowed, and neither may an admin listener without a token. Problems have no position.
    package static func checkListeners(
        _ listeners: Configuration.Listeners, credentials: CredentialSet, allowTestCredentials: Bool
    ) -> [ConfigurationProblem] {
        let addresses =
            listeners.public.enumerated().map { ("listeners.public[\($0)]", $1.address, true) }
            + listeners.admin.enumerated().map { ("listeners.admin[\($0)]", $1.address, $1.tokenFile != nil) }
        let developmentMaterial =
            allowTestCredentials ? [] : credentials.credentials.filter(\.isDevelopmentMaterial).map(\.name)

        return addresses.filter { !$0.1.isLoopback }.flatMap { path, address, isGuarded in
            var faults: [(String, ConfigurationFault)] = [(".address", .plaintextBeyondLoopback(address))]
            faults += developmentMaterial.map {
                (".address", .developmentMaterialBeyondLoopback(address, credential: $0))
            }
            if !isGuarded { faults.append(("", .adminTokenMissing(address))) }
            return faults.map { ConfigurationProblem(path: path + $0, position: nil, fault: $1) }
        }
    }
}
