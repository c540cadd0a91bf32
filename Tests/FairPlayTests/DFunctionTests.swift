import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// The sixteen published values of the D function (protocol, section 3.1).
@Suite struct DFunctionTests {
    @Test(arguments: published)
    func givesThePublishedValue(_ pair: (r2: String, hash: String)) throws {
        let hash = try DFunction.hash(hex(pair.r2)[...], using: CryptoContext())
        #expect(hex(hash) == pair.hash)
    }

    @Test(arguments: [0, 56, 64])
    func refusesInputsOutsideItsSizes(size: Int) throws {
        let crypto = try CryptoContext()
        #expect(throws: CryptoError.self) {
            try DFunction.hash([UInt8](repeating: 1, count: size)[...], using: crypto)
        }
    }

    private static let published: [(r2: String, hash: String)] = [
        (
            "a4c411c54d94727143504aece5613da8c6ee6dd2",
            "3a24a068c116842f10fac5c86cb1cb5c"
        ),
        (
            "ee810dd5779ce50aa8df3824b3f2594cf9ee68a9",
            "93c82dc4d1c4a338896bfce2e7dc12a0"
        ),
        (
            "9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe1",
            "73b8445fd639462154f3503c6ea32c89"
        ),
        (
            "303838a2b4cab66f25d53bd331b5ee4c035b6e12",
            "c74f35704ec58c0882bc4014a74152a8"
        ),
        (
            "a4c411c54d94727143504aece5613da8c6ee6dd26ba5d07ec0dc44c84ec4",
            "4b46ab65bd04af0dd721718a68663390"
        ),
        (
            "ee810dd5779ce50aa8df3824b3f2594cf9ee68a9c6caa7a36709f55494d5",
            "c63d0c630bcd579d072901dba82ae2a6"
        ),
        (
            "9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe10739e4bd00d29db0d9cc",
            "2d467d6fc4aab309e8b4618247567e06"
        ),
        (
            "303838a2b4cab66f25d53bd331b5ee4c035b6e12afcd05c5a5a85a382ff4",
            "353d491edc8f6f8191a3cb366bafe14c"
        ),
        (
            "a4c411c54d94727143504aece5613da8c6ee6dd26ba5d07ec0dc44c84ec48140b244d5be323d251a",
            "8439a36b359c7c1c5b698c594b56b020"
        ),
        (
            "ee810dd5779ce50aa8df3824b3f2594cf9ee68a9c6caa7a36709f55494d5c56971d390bc57a68223",
            "430b6db2ce11ce6bcd7076187c44aa1b"
        ),
        (
            "303838a2b4cab66f25d53bd331b5ee4c035b6e12afcd05c5a5a85a382ff4bfae230844aef7e2ae5c",
            "a77994aeda51df868cd82bd3b1131401"
        ),
        (
            "9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe10739e4bd00d29db0d9ccf4ba5d556f4c869ebb9e",
            "fcff3ff19e2911e52ce252e85f0498da"
        ),
        (
            "a4c411c54d94727143504aece5613da8c6ee6dd26ba5d07ec0dc44c84ec48140b244d5be323d251acb3a4bb19898891973db",
            "f2272c254504fc4ce7af2873c1de184f"
        ),
        (
            "ee810dd5779ce50aa8df3824b3f2594cf9ee68a9c6caa7a36709f55494d5c56971d390bc57a68223d588edb0e48ec073d28b",
            "0f25a9bf940daca0a520937be1752f75"
        ),
        (
            "9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe10739e4bd00d29db0d9ccf4ba5d556f4c869ebb9eceeb019acaa7ae6c8ca7",
            "10e41b10df29f8c2ea91fe7d126f50e1"
        ),
        (
            "303838a2b4cab66f25d53bd331b5ee4c035b6e12afcd05c5a5a85a382ff4bfae230844aef7e2ae5c834671c1632afca943eb",
            "b1caecddef433ceb4d8ed554f1702dbd"
        ),
    ]
}
