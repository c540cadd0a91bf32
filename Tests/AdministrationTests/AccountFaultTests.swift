import Administration
import Testing

@Suite struct AccountFaultTests {
    /// A query has parameters, and a command has options of the same names.
    @Test func isToldInTheWordsOfTheSender() {
        let fault = AccountFault.selectionMissing(.devices)
        #expect(fault.description == "name one of: device, or all=true")
        #expect(fault.ofOptions == "name one of: --device, or --all")
        #expect(AccountFault.subjectMissing.description == "name one subject, by subject or by cookie")
        #expect(AccountFault.subjectMissing.ofOptions == "name one subject, by --subject or by --cookie")
    }
}
