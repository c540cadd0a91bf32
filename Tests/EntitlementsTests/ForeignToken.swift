/// Tokens that another implementation (PyJWT 2.15) made with fixed keys, so that a mistake shared by minter and
/// verifier would show.
///
/// All say nearly the same, at 1750000000 for 300 seconds.
enum ForeignToken {
    static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEXrF39fSmfX/6Zr4QEDmUluwI8Aiv
        1m00qoN3yBenE1VmOUVgGIBiTnhiW2e8fZE8gAmJb0so9Aeq5Yfez9R0DA==
        -----END PUBLIC KEY-----
        """
    static let secret = "0123456789abcdef0123456789abcdef"

    private static let payload = """
        eyJpc3MiOiJodHRwczovL3BvcnRhbC5leGFtcGxlIiwiYXVkIjpbIm90aGVyIiwibGF0Y2hrZXkiXSwic3ViIjoiYWNjb3VudC0xMjMiLCJpYXQiOjE3NTAw\
        MDAwMDAsIm5iZiI6MTc1MDAwMDAwMCwiZXhwIjoxNzUwMDAwMzAwLCJqdGkiOiI0ZjFjIiwicmlnaHRzIjpbeyJjb250ZW50IjoibW92aWUtNDIiLCJsZWFz\
        ZSI6MzAwLCJoZGNwIjoidHlwZTEifSx7ImtpZHMiOlsiMDAxMTIyMzMtNDQ1NS02Njc3LTg4OTktYWFiYmNjZGRlZWZmIl0sImR1cmF0aW9uIjo2MDAsIm1v\
        ZGUiOiJib3RoIn1dfQ
        """
    static let es256 = """
        eyJhbGciOiJFUzI1NiIsImtpZCI6ImVzIiwidHlwIjoiSldUIn0.\(payload).\
        bRKNNu_h5mDCgfzhzz2NwgQPrZEfND2iiR_Eh-5GMRfRU6kSQFMRgL2FE2PFYKIY-5wwoZ3vG5xjsfB6B9taXw
        """
    static let hs256 = """
        eyJhbGciOiJIUzI1NiIsImtpZCI6ImhzIiwidHlwIjoiSldUIn0.\(payload).f0-vpxHG7PjQf7XlbYMHsBuF9Lrg4-tdBtx--JMsgDI
        """

    /// The HS256 token again, for one audience, which leaves a minter no choice of bytes but the order of members.
    static let hs256ForOneAudience = """
        eyJhbGciOiJIUzI1NiIsImtpZCI6ImhzIiwidHlwIjoiSldUIn0.\
        eyJpc3MiOiJodHRwczovL3BvcnRhbC5leGFtcGxlIiwiYXVkIjoibGF0Y2hrZXkiLCJzdWIiOiJhY2NvdW50LTEyMyIsImlhdCI6\
        MTc1MDAwMDAwMCwibmJmIjoxNzUwMDAwMDAwLCJleHAiOjE3NTAwMDAzMDAsImp0aSI6IjRmMWMiLCJyaWdodHMiOlt7ImNvbnRl\
        bnQiOiJtb3ZpZS00MiIsImxlYXNlIjozMDAsImhkY3AiOiJ0eXBlMSJ9LHsia2lkcyI6WyIwMDExMjIzMy00NDU1LTY2NzctODg5\
        OS1hYWJiY2NkZGVlZmYiXSwiZHVyYXRpb24iOjYwMCwibW9kZSI6ImJvdGgifV19\
        .gcGrC4U7FyND7-NsxPNA2cOjBewK3G06_EYS_HxIt1Q
        """
}
