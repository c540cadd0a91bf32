import ByteCoding
import FairPlay

/// The text with which a library answers (SDK 26, section 4).
enum LibraryResponse {
    private static let limits = JSONLimits(sizeMaximum: 1 << 20, depthMaximum: 16)

    /// Reads the answer to an order with one operation of the id 1.
    static func answer(
        in text: [UInt8], to order: LibraryOrder
    ) -> Result<LibraryAnswer, LadderCallFailure> {
        guard let item = item(in: text, named: order.license == nil ? "get-client-info" : "create-ckc"),
            let status = item["status"]?.number?.signed, item["id"]?.number?.signed == 1
        else { return .failure(.answerUnusable) }
        guard status == LibraryStatus.good else { return .failure(failure(status)) }
        guard let deviceID = deviceID(item["hu"]?.string), let transactionID = item["transaction-id"]?.number?.unsigned
        else { return .failure(.answerUnusable) }
        guard order.license != nil else {
            return .success(LibraryAnswer(deviceID: deviceID, transactionID: transactionID, ckc: nil))
        }
        guard let digits = item["ckc"]?.string, let ckc = try? Base64.decode(digits),
            LibraryAnswer.ckcSizes.contains(ckc.count)
        else { return .failure(.answerUnusable) }
        return .success(LibraryAnswer(deviceID: deviceID, transactionID: transactionID, ckc: ckc))
    }

    private static func item(in text: [UInt8], named name: String) -> JSONObject? {
        guard let root = try? JSONReader.parse(text, limits: limits),
            let items = root.object?["fairplay-streaming-response"]?.object?[name]?.array, items.count == 1
        else { return nil }
        return items[0].object
    }

    private static func failure(_ status: Int64) -> LadderCallFailure {
        let number = Int32(clamping: status)
        if status == LibraryStatus.deviceRefused { return .deviceRefused(status: number) }
        return LibraryStatus.clientFaults.contains(status) ? .refused(status: number) : .failed(status: number)
    }

    /// HU as forty hexadecimal digits.
    private static func deviceID(_ digits: String?) -> DeviceID? {
        guard let digits, let bytes = try? Hexadecimal.decode(digits), bytes.count == DeviceID.size else { return nil }
        return DeviceID(bytes)
    }
}
