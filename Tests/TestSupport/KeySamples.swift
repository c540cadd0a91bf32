import Foundation

/// One RSA key of 1024 bits, in the forms that other tools write. It was made for these tests with OpenSSL 3.0, and is
/// used nowhere else.
package enum KeySamples {
    /// The passphrase of the encrypted forms.
    package static let passphrase = "correct horse"

    /// `openssl genrsa 1024`: PKCS#8 (RFC 5958).
    package static let pkcs8 = """
        -----BEGIN PRIVATE KEY-----
        MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAKG11wT+h4pfSmtp
        dsn4IRAxx6KX0IrIbkAU4vpjUAuqMmhwLNA7IeSXfpAIMMkBFUOn9R/n+e7R/BH7
        OXbFqP2RuXsLu9IPEUZZwd3WcMNcx3sCCW8Bxlv24ng1RtbL/SlTygJ4LAqrJecI
        yX5+A88BT9CiogV3jHS2DBYuv8WVAgMBAAECgYB8CDg7CWs2s+4lwsetFBdwD257
        BIyc1izSE/Mgb+omeE2fk2Kb+K7/YT9fBBk/IwiHUx0NcuVdy0vXEuU5d1QsqQDy
        loMQtBgHOf6Ostp3rKurkymQuWgB/WIWYY9RMF0cXEPOF4Elt2OTyjePCgF3ZANq
        tTQsCji73rSB1mvA4QJBANYi66x6k0GyApxBtf59NSc4FKOUJoJzkLk90Iunr8yQ
        +aOC3Se3eZjSOf46od6Pzzw+crW4mcWAjDFxPF1LqRkCQQDBUxpTsNz74tXooKjT
        sWW0l+Np2E2cVVk1/k9TGLLP57vpdYYsOVIq6dYcVIW96R3GLyQOzhYb4ZjHGDkF
        /4PdAkBgZ65Uo4aiYAL+2DKYVURV2NCp6GwB9Qdl7mdySFdEMMzDCYqJc/fBjnvf
        cgQoD/SLuc2o9Gf+W+ZB6Cn2ErcZAkEAqHXV9x+jMQsVA0UcWHu4+IlybYVC+/uT
        ZW1Zijt3dZulL2ZtqJO6ehKRtNYiRL6iZ1Qkw5Hpyhnnm3YMGqHxMQJAMweEXRyB
        dbLMYo6lR/98RI1VS25cutDCCu2QiBr7PJzikexxBID0NrAP9zxufdgxjUUcV+Y3
        VwQOmkXsNOIjVQ==
        -----END PRIVATE KEY-----

        """

    /// `openssl rsa -traditional`: PKCS#1 (RFC 8017).
    package static let traditional = """
        -----BEGIN RSA PRIVATE KEY-----
        MIICXAIBAAKBgQChtdcE/oeKX0praXbJ+CEQMceil9CKyG5AFOL6Y1ALqjJocCzQ
        OyHkl36QCDDJARVDp/Uf5/nu0fwR+zl2xaj9kbl7C7vSDxFGWcHd1nDDXMd7Aglv
        AcZb9uJ4NUbWy/0pU8oCeCwKqyXnCMl+fgPPAU/QoqIFd4x0tgwWLr/FlQIDAQAB
        AoGAfAg4OwlrNrPuJcLHrRQXcA9uewSMnNYs0hPzIG/qJnhNn5Nim/iu/2E/XwQZ
        PyMIh1MdDXLlXctL1xLlOXdULKkA8paDELQYBzn+jrLad6yrq5MpkLloAf1iFmGP
        UTBdHFxDzheBJbdjk8o3jwoBd2QDarU0LAo4u960gdZrwOECQQDWIuusepNBsgKc
        QbX+fTUnOBSjlCaCc5C5PdCLp6/MkPmjgt0nt3mY0jn+OqHej888PnK1uJnFgIwx
        cTxdS6kZAkEAwVMaU7Dc++LV6KCo07FltJfjadhNnFVZNf5PUxiyz+e76XWGLDlS
        KunWHFSFvekdxi8kDs4WG+GYxxg5Bf+D3QJAYGeuVKOGomAC/tgymFVEVdjQqehs
        AfUHZe5nckhXRDDMwwmKiXP3wY5733IEKA/0i7nNqPRn/lvmQegp9hK3GQJBAKh1
        1fcfozELFQNFHFh7uPiJcm2FQvv7k2VtWYo7d3WbpS9mbaiTunoSkbTWIkS+omdU
        JMOR6coZ55t2DBqh8TECQDMHhF0cgXWyzGKOpUf/fESNVUtuXLrQwgrtkIga+zyc
        4pHscQSA9DawD/c8bn3YMY1FHFfmN1cEDppF7DTiI1U=
        -----END RSA PRIVATE KEY-----

        """

    /// `openssl pkcs8 -topk8 -v2 aes-256-cbc`: PBES2 (RFC 8018).
    package static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIIC3TBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIIx3pCn1UxXoCAggA
        MAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBCzQtiulJLSVoh6SS8yRpHEBIIC
        gCORI+khmyinscYSTJ14BrwKmirlCSex7oCiUibt/74XIKoItBoxNp/lI4hmk975
        aURTnC0y37T2yXf6ToMyD5w/3Cs8P/jSuhQHc31ExVKEH5tYR0bHf04TSQ1IPkuA
        zCditZ+Oktvzz6gbIIBYz+Wj+vED3xblLWZoLE+krCJdctiKSYbof+gH6qQWWZWM
        FEkcKOlTnv6eJ07AISzmBwNQOWEG5nzYTw9ATdqhwUs8W4TgnsVxKjL/6IeomHjS
        Uxhr8taZBHnZchkHTjoX/RWwXP3sA57ivDwwwvm2mzq2ytajFDdnxf2NOSi9c5zk
        fy4PktaeYGUz1fRIQczrEMlb/ytWlYO24cO9UnCIO74OqErI8U0HrTSYQ7YEFziy
        O5SqLWhhxUbjQYmxywQ5j6TmJjZmZN0XoSOHmeVPBILwrCPCbYM5rSczpQjBX5KK
        UAl1QpsfaqXHj9mfS7lQcT4WzKxw4Il1AB5l82wBZlM84AMCtQ3ugfV0J8kloEYx
        wqG2Pjt7Hhg/TiMIWAi2GnsA3ED+lWlchnncrbCCklUamd3pw69JzhXApy9dAXy4
        K9FkUQO6vlBHQV0/Ky+3nXnnLx41LuqKs8JcesSrYbn0+KDpVYf4rGgH3g4A3uOK
        tFyPyLhJIwPuTzx+IXqol0gK8b3H0tvAwADjw9KqaNfmZEzJooxd8DnTAgb33dNm
        w2p/YADACp2DrBqOd2xuCGPsv5iOt26irQupm+j27FUp4Ha/C03w0nwhD5jOeVeA
        OAFdT2cGU9VbG472kChWZZgyXBFHXdKV0j2QQzEWBXljnLYt2JKoSkfmmAI2eMhI
        btkNSPtQhVi9cMYU7/JFEeI=
        -----END ENCRYPTED PRIVATE KEY-----

        """

    /// `openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES`: the form of older tools (RFC 7292).
    package static let encryptedTripleDES = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIICojAcBgoqhkiG9w0BDAEDMA4ECCCcXphstHTCAgIIAASCAoCIHB85hXMnXj63
        W9h6MS6gquJpvZ9B5a53Jbc2D4ztp03mB7iNUT/IKEoEqu2j2hl3t8VgIWcVW6BC
        hX44t30UWRiE4Ajh9HGkzqf1RTVinamyzq3pGaIcwrA60agxzZz29TqUA2rlJKpG
        CdA83OLw7Oy080usqSOSZQfNMkvV9uKp6zfyxMHDIySP9iWqcfdXpnNKKkeYG3pW
        KgXjvls54tDT/FSbb5SYP3WFD07JCmaizLHtilxA2uVoZ/UgkjFLCNMi8c0Wy81T
        qkXF/w2zYe47F86lFiuv7WV5w222f/qW1qxEfqxhaaLv746hDoFxFp3oxbWFLY0V
        pkzHbdJ4oAsVpt8VewW+7Oh0c9do4C9/gOo0Tsex3HD7Yi5nGyzuIF7F/kORr7rE
        UfvEvTHIcdc9YxpSSlhY/7MzTM6Fos3f+74wo8VA19Ln9YFocWR9POcGDFzIDjTN
        rXC3fQJFL1+IXOXcDHIryW66IxLZfYyKDhMTAlZ9ytcn9Kn+L0zVelWweZvNRGsO
        Em8D0CKA2aInCq54tL+zkCieKR+rSHywyAcNMinmQ7Fboizsd57gBwRCm7t0aIAa
        DA8Q5zj9E0v4YVQhaPlS2uZycPRvPUbn7kMt6Q67e+wefQ1EFfbP+YfYGAvXUSOW
        T8JUXiiCToC8wTZXLiKzYvF2arpvmZ/dHxctwHBAL9WCJbFkTWjGNs2yARECSbHO
        H9W5sg9X0Df+prxcQRvkV/JMRG5zMxTaj62EZ9N6EVSWVNMSReCP2/ytxloRcnof
        d7qhl4QSr90c1x0tWhPGXFHTHWQOTzy9FTADt/AczaDU+g7PtwBILCXvDtxrzaV+
        cLAvNesb
        -----END ENCRYPTED PRIVATE KEY-----

        """

    /// `openssl rsa -traditional -aes128`: the old form of encrypted PEM (RFC 1421).
    package static let encryptedTraditional = """
        -----BEGIN RSA PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,3B72CED443473EDC454057749775470A

        o4fXXc5IqY3+MdhGSh0sUz2eDViyBkHZjS/v1u/LD2fTmB+zr4Wjm9sHstmmJed6
        fwZvfrcpcPDkkggcmO8LipHkiAihIOTmOZSS/BrC6c/3MuA2wJWy7324xIXPPFw7
        7azZ4KKD91ANsULMSYKpDIKO9jzjt5/PnAAV+bvXwnLiw/yEAR8kwjXepQrxmXxs
        fbFubZ8cKhdWsvB1VhMG4r7QEdEJkBWiyXSY0xnIXrIOKsTLbNBd14zTljdN2JjQ
        xu3YQlLYqOzbH61OROgEhyQGhvKue+rADxw4zfwPiQNz6cxKk/uuZ3lfOD3sGTFR
        Kc4EwAX+C22kucUb5gfVEt9gMX7nXzFsjokzGWZ2VaqbhX94u+OtM/oEEim3ffQw
        33AEbMvhUSV8CUxyD+oqH5n0o13oE0viyXAVCMD4Bi5zbBEy5BKdSYNIwXJIhiyO
        hrZxXl63hMLSk/NY31e+pDmGqIx/HRSCOVTG67ftJ6yEEOQhgQ60B+jk7LnRxNdi
        8uhiIlLee+AxqZiHsksDLJX3yAeEdZqrN3E0/DSa8xRzTARn9dZn96vQPVN4Foic
        dZfWBjhx6dKvnyAvajP9ZgH8ly/DBgcd9v8CTvEapH9CH7bOVijQu3zNwN2Un34w
        czsMuA/fzs8ua2k0W18VuLN9g5XfWBdVl8VDUCxiU6tzCgThqhiYWKGo9hoplnUa
        cz9dhmDoqRqJYaaWYEgih6ehl2ek6XRQKT52QhGNHhuHpio/jgFx+QRLB5RxkquZ
        cW7COP2XJN6jDwK3Nvi2dls5WOT1lZVPXcvyc31vmo0L6o2SgHufK6GJAFMiQItD
        -----END RSA PRIVATE KEY-----

        """

    /// Returns the bytes of a PEM text.
    package static func der(of pem: String) -> [UInt8] {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Array(Data(base64Encoded: lines.joined()) ?? Data())
    }
}
