import FairPlay
import Testing

@testable import PlayerTools

/// The report's table, and the rows that make a run fail.
@Suite struct PlayerReportTests {
    private func outcome(_ player: Player, _ verdict: PlayerVerdict, copies: Int = 0) -> PlayerOutcome {
        PlayerOutcome(player: player, verdict: verdict, copies: copies)
    }

    @Test func hasALineForEachPlayer() {
        let report = PlayerReport(outcomes: [
            outcome(.hlsJS, .refused(status: 503, code: "store_down", advice: ""), copies: 8),
            outcome(.shakaVerimatrix, .plays),
        ])
        #expect(
            report.text == """
                PLAYER            SHAPE  HTTP  STATUS  MS  TERMS  VERDICT
                hls.js            raw    -     -       -   -      refused: store_down (this player would send it 8 more times)
                shaka-verimatrix  form   -     -       -   -      plays
                """)
    }

    /// With "all", players that cannot request this key are skipped. A player that is named must play.
    @Test func countsPlayersThatWereNotAskedOnlyIfNamed() {
        let report = PlayerReport(outcomes: [
            outcome(.hlsJS, .plays), outcome(.safariCENC, .notAsked("x")), outcome(.kaltura, .notUnderstood("x")),
        ])
        #expect(report.failed(named: true) == [.safariCENC, .kaltura])
        #expect(report.failed(named: false) == [.kaltura])
    }

    @Test(arguments: [
        PlayerVerdict.notKept, .refused(status: 403, code: nil, advice: ""), .keyDenied(""), .notUnderstood(""),
        .notOpened(""), .noAnswer(""), .noCertificate(""), .notAsked(""),
    ])
    func onlyAFilmIsGood(verdict: PlayerVerdict) {
        #expect(!verdict.isGood)
        #expect(PlayerVerdict.plays.isGood)
    }

    @Test func summarisesTerms() throws {
        func seconds(_ value: UInt64) throws -> LicenseSeconds { try #require(LicenseSeconds(value)) }
        #expect(LicenseTerms().summary == "session")
        #expect(
            LicenseTerms(validity: .duration(.leaseAndRental(lease: try seconds(60), rental: try seconds(3600))))
                .summary
                == "lease 60 s, rental 3600 s")
        #expect(LicenseTerms(hdcp: .type1, securityLevel: .main).summary == "session, HDCP type1, at least main")
    }
}
