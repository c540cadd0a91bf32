import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto

/// The credential of the conformance tests: two certificates, their private keys and an application secret.
///
/// All of it is published on purpose, and opens no request of a real device. A server under test is configured with it.
enum ConformanceCredential {
    /// The application secret key (ASk), 16 bytes.
    static let applicationSecret = Array("conformance-only".utf8)

    /// The certificate for which an SPC of this version wraps its key.
    static func certificate(for version: SPCVersion) throws(CryptoError) -> Certificate {
        try Certificate(parsing: version == .v1 ? certificate1024 : certificate2048)
    }

    /// A device whose SPCs depend only on the seed and the options.
    static func device(
        _ version: SPCVersion, seed: [UInt8], using crypto: CryptoContext
    ) throws(CryptoError) -> SimulatedDevice {
        SimulatedDevice(
            certificate: try certificate(for: version),
            ladder: try ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(copying: applicationSecret)),
            seed: seed, using: crypto)
    }

    /// A private key as PEM.
    static func pem(_ key: [UInt8]) -> [UInt8] {
        var digits = Base64.encode(key)[...]
        var lines: [Substring] = []
        while !digits.isEmpty {
            lines.append(digits.prefix(64))
            digits = digits.dropFirst(64)
        }
        let mark = "PRIVATE KEY-----"
        return Array("-----BEGIN \(mark)\n\(lines.joined(separator: "\n"))\n-----END \(mark)\n".utf8)
    }

    /// The certificate of 1024 bits in DER.
    static let certificate1024 = decode(
        """
        MIICjjCCAfegAwIBAgIUCIgcPaxm6uwhiRnLVE9Ni9fpv8kwDQYJKoZIhvcNAQELBQAwWDEyMDAGA1UECgwpTGF0Y2hrZXkgZGV2ZWxv\
        cG1lbnQsIG5vdCBpc3N1ZWQgYnkgQXBwbGUxIjAgBgNVBAMMGUxhdGNoa2V5IGNvbmZvcm1hbmNlIDEwMjQwIBcNMjYxMTI5MTYwMzU3\
        WhgPMjEyNjExMDUxNjAzNTdaMFgxMjAwBgNVBAoMKUxhdGNoa2V5IGRldmVsb3BtZW50LCBub3QgaXNzdWVkIGJ5IEFwcGxlMSIwIAYD\
        VQQDDBlMYXRjaGtleSBjb25mb3JtYW5jZSAxMDI0MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC0erAgIbQNzHAVXBY913AI/WVd\
        LSiUrJbAJ5jhHGwU+I9kjcrMW63sXWHge4raksOLnqhlxI5amisgW7GAzTZdAteDy+3zNV3ppQzWNbegSAztLufhBthOveoF+oiHZb/3\
        4t3PrRbz5WEZDh3VumpyWDBqwKCiWj08qPfUzKF26wIDAQABo1MwUTAdBgNVHQ4EFgQUda70EcTeWB99f2VUFMh+fjZkoScwHwYDVR0j\
        BBgwFoAUda70EcTeWB99f2VUFMh+fjZkoScwDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOBgQAJqlmHWPptPhDticvhDDku\
        CaXk7sQxxuxWYWHeJPQErelNmscM04HlCMIKy5TvSjAIx3M9vO0dJLF8vL1Ng216JCCXMvW9mK4UaukpjdsSud8ByCaFD+pt9lwXgQNl\
        9Ml2mtEnl2dd+Hh49gVTpFZJbaSA/czepIjZsp38zRIu7w==
        """)

    /// The certificate of 2048 bits in DER.
    static let certificate2048 = decode(
        """
        MIIDkzCCAnugAwIBAgIULLuqouNvhz8i20T/akkR5b2uKlMwDQYJKoZIhvcNAQELBQAwWDEyMDAGA1UECgwpTGF0Y2hrZXkgZGV2ZWxv\
        cG1lbnQsIG5vdCBpc3N1ZWQgYnkgQXBwbGUxIjAgBgNVBAMMGUxhdGNoa2V5IGNvbmZvcm1hbmNlIDIwNDgwIBcNMjYxMTI5MTYwMzU5\
        WhgPMjEyNjExMDUxNjAzNTlaMFgxMjAwBgNVBAoMKUxhdGNoa2V5IGRldmVsb3BtZW50LCBub3QgaXNzdWVkIGJ5IEFwcGxlMSIwIAYD\
        VQQDDBlMYXRjaGtleSBjb25mb3JtYW5jZSAyMDQ4MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAzYxc3YdenkC5Tepn4MXf\
        qURq99DJ+6el5b9mj0lNTTKFXA7ITiNLpJQlKZiJgQDiZhhSgg8IR2UajvClO2DIsW0aXEpSzjXLzr3AoE+mlfnzKl16ElGKQUs+J+hw\
        Q6JhH0RXinVhacaV30eWpTshVH9E6juq5TKJQydJ6OZwFNnUysCoU2H4Ud6fRBtTm7QPOk9riPbgIvOkLDbGUft8PjQE5jkMXju76goU\
        ikGI/6fq7hqy+JzTi6Umb/xqMx250N5vAyBqgkjzccVQ/nzfKVKonXqlX6AY672DAJ7qHuNo+fl1XmouFViUl0AeSYuVu3F3EInrzAnm\
        VwcT32yS8wIDAQABo1MwUTAdBgNVHQ4EFgQUyijkZdehru1tkzhrqr0+N8IdMSAwHwYDVR0jBBgwFoAUyijkZdehru1tkzhrqr0+N8Id\
        MSAwDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEAI/whT+aJCCQgP9JJ99D9jfEY1cJazBkLm4/xGp76s1eZWMFBrm6b\
        nMXus/oPvz8PZbm/SV6N2oakqklS0aeB/SsLRRVwv151IstBTtJja5FShcOXzXMg0rLOdxMUps99oROnfZ4u+egZq67a8M56hLLYW1qN\
        b/1dRW5btW+ssHTlYNzYNStobms7b5mzNazlnPf8FWFLdOYSXSbjq8GZ5aAoes57Ll2iiaM+sw2MD6OzILRPZUJdBEx2+9S6iXR2W0cy\
        Py1binGvOe0to/jDzIXZclWXkt5yyjnWjkDHSsVJ3bilO89fUfiBTtlXDRczpfkYMHNfdHL86QD5qDtIwA==
        """)

    /// The private key of 1024 bits, PKCS#8 in DER.
    static let privateKey1024 = decode(
        """
        MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBALR6sCAhtA3McBVcFj3XcAj9ZV0tKJSslsAnmOEcbBT4j2SNysxbrexd\
        YeB7itqSw4ueqGXEjlqaKyBbsYDNNl0C14PL7fM1XemlDNY1t6BIDO0u5+EG2E696gX6iIdlv/fi3c+tFvPlYRkOHdW6anJYMGrAoKJa\
        PTyo99TMoXbrAgMBAAECgYAUk6hhAXa13AkrZkRi6J0taTaVWQC3crX9UoZrpAHuoig3HrNweUNrH3p5TZyXLwR8dqpcb/yK9+jS16F1\
        PfBkmVWJf669d7pAyCAhFCkfAaO7VFKhTtAEhsHYaApaNgOTW87q1cMwroOlcEFPUwR54V5HN13RT1vZe2q5nVp/AQJBAN08OImlxPip\
        YFKXBeEPlrC/eyZWYAMgE4I+e3QJXX+BxrtbK679OgAlJQLP6NlQe5QoR+2UpjbT9icReNkUG2kCQQDQ1vLSuBtgnt2pCpp2S0lcAVov\
        jx5K8AgFLpWyzgZBUQ6j3oHYV/90tYOImzurP+UGFP+MKL2+GGPcNJOWxNkzAkEAwZPv5IEn2Gxb2+hJPKRnNkBVgTYSzKlEaLJDU0Te\
        irMDMOyVTIhGN9pIiC1jkMLbXsfgKAHpbhAJUiX3l/oAAQJBAM43kmt1FMOh2+tx5vhsezH4u98+iYEh6CmFyJhZTF/u9G/n5XuF2WCb\
        ZBjegFsnqrUIwxbZnBM77k+hMyOrmXUCQCHVoN1LN8IKaQ7So10j7Nb6MFcZqW+9CVPBNG05Kg5t6sZfayqS8xF0kcIUAzsMjsS7P+E3\
        2U9cW38Chkhcakw=
        """)

    /// The private key of 2048 bits, PKCS#8 in DER.
    static let privateKey2048 = decode(
        """
        MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDNjFzdh16eQLlN6mfgxd+pRGr30Mn7p6Xlv2aPSU1NMoVcDshOI0uk\
        lCUpmImBAOJmGFKCDwhHZRqO8KU7YMixbRpcSlLONcvOvcCgT6aV+fMqXXoSUYpBSz4n6HBDomEfRFeKdWFpxpXfR5alOyFUf0TqO6rl\
        MolDJ0no5nAU2dTKwKhTYfhR3p9EG1ObtA86T2uI9uAi86QsNsZR+3w+NATmOQxeO7vqChSKQYj/p+ruGrL4nNOLpSZv/GozHbnQ3m8D\
        IGqCSPNxxVD+fN8pUqideqVfoBjrvYMAnuoe42j5+XVeai4VWJSXQB5Ji5W7cXcQievMCeZXBxPfbJLzAgMBAAECggEAQNT36YusBWBG\
        0lOQBi6DWEFTN+zr+GstgWS4dZNaRXIc7CdheHvbfQKZIiCRplXgEvGy/IC/TL2P/evbQfpJ8uSFvvxWV+JR8ViabDYTRhS7ZO5s9WAw\
        ql2QMkg3OK370j/dGLfjTNitJurOkjkvTxaBZxwA0B/7eWnn/wTH71sgItetiZisBbsvrrRr2c5sp4Xm9vDmNgHobARlZDrayqlEvo27\
        pmhrH8MrBnNWBRonHQqK/cZwp3i5P+QHywCuhP9aTKOWXfhHWehNhjvBgfbe0IBbnzkiYr4hAPts3V6ZQzwYW7rVjXQRtD9Q2bz2bhZ1\
        25/9b/HeFbnVY79u4QKBgQD/KvYd5EWv9anMc9D0QVlsBQlISCBCbQz1s3FuUXxGKnk2X5zZNe7OqgRSA7CzKubSIK+5dDNVTM3IeINt\
        /qMJ7biZtE9yOtc5xMKRcdyDRubfRMrCFUW/fmgfFWGCdYIuh8ayGZE+rGuL+XR6VPgtW+aso7msE/gcF3IuUY//QwKBgQDON/lmJOAM\
        lmxc48hNtu/qIoErKBIvAbSE3FtdUcxRHlFV11BkTCDE+TRNrr+975oLvyrlmVlTeHME1xiWkKOJfKe+MtD7biNHJEPvVZ+U99RDz+kX\
        H/Bkc2hw2NGctP2f0+H/AGVY32nBia7LtX3Rxu3nkJHEsTRngwQoWVQqkQKBgBo7/oXgPFH0/fopRih2t4zlj6jA0aBCufxg8J6Y/h/w\
        qfmvJt8mLmFNFZihDH+/P3AHMEnu6oAwn0+nJEwgy/5vVHVpFmn2Jr6nviFaBYPxvDbkSbxel4cypd3cQuQ41KOYDhOtkUNSUtRXV2Rk\
        bAet1S+WvbY1b2Lj/jdI53clAoGAAOC+IBAyH/uX9IFHvgT0WoPRFvTxtt+D/DjP7sLFYucFI59qCTNFxHDnJxmCWXWmqzwiG54egjt2\
        CeQ8h4+QEqrEMAwZVaivX8MowuETb9fqQGunK2EIbfUL0ccqhUdD+SU2xhYjWFCDK77BTr60DWuSYbT82eCDP5mQL/fJYvECgYATknqK\
        ILBZ+vG1qpWP9o27E0kdyVEVDB01BbP8MaJPqmfVBGpZQCogQ3VT1CTTZTD5r8Qz3d8CsytKy1MtJ9H+S5U7xS+R8DrHp/5fSUPTV0Ym\
        CJlBiArlKNGLpUyN8U4RbGdDHN25AI9ZqXrE85ZTAND4uZ1g0hwDZW8djSDerg==
        """)

    // The digits are constants of this file, and a test decodes them.
    private static func decode(_ digits: String) -> [UInt8] { (try? Base64.decode(digits)) ?? [] }
}
