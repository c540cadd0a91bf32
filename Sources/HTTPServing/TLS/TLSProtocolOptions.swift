/// Which versions and ciphers of TLS a listener offers.
package struct TLSProtocolOptions: Equatable, Sendable {
    /// The oldest version.
    package var minimumVersion = TLSFacts.Version.version12
    /// The ciphers of TLS 1.2, as OpenSSL writes a list. By default elliptic-curve exchange and authenticated
    /// encryption alone.
    package var cipherList = "ECDHE+AESGCM:ECDHE+CHACHA20"
    /// The ciphers of TLS 1.3 by their names, with colons between.
    package var cipherSuites = "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256"

    /// The defaults.
    package init() {}
}
