import ByteCoding

/// A parameter of ExpressPlay's PlayReady service.
///
/// Programs that use the same code for PlayReady and FairPlay requests send these parameters for FairPlay too. Their
/// values are checked, but have no effect.
package enum UnusedParameter: String, Sendable, CaseIterable {
    case rightsType
    case rentalEnd = "rental.periodEndTime"
    case playDuration = "rental.playDuration"
    case analogVideo = "analogVideoOPL"
    case compressedAudio = "compressedDigitalAudioOPL"
    case compressedVideo = "compressedDigitalVideoOPL"
    case uncompressedAudio = "uncompressedDigitalAudioOPL"
    case uncompressedVideo = "uncompressedDigitalVideoOPL"
    case prFlag
    case useHttps

    /// A short name. The names of all parameters fit together into one row of the ledger.
    package var shortName: String {
        switch self {
        case .rightsType: "rights"
        case .rentalEnd: "end"
        case .playDuration: "play"
        case .analogVideo: "ana"
        case .compressedAudio: "cda"
        case .compressedVideo: "cdv"
        case .uncompressedAudio: "uda"
        case .uncompressedVideo: "udv"
        case .prFlag: "flag"
        case .useHttps: "https"
        }
    }
}

extension UnusedParameter {
    /// Returns the parameters that a request has. Throws the code of the first one whose value is invalid.
    static func all(in form: ExpressPlayForm) throws(ExpressPlayCode) -> [UnusedParameter] {
        var found: [UnusedParameter] = []
        for parameter in allCases {
            guard let value = try form.value(of: parameter.rawValue, else: parameter.code) else { continue }
            try parameter.check(value)
            found.append(parameter)
        }
        let isRental = try form.value(of: rightsType.rawValue, else: rightsType.code) == Array("Rental".utf8)
        if isRental, !found.contains(.rentalEnd) { throw .rentalEndMissing }
        return found
    }

    private var code: ExpressPlayCode {
        switch self {
        case .rightsType: .rightsTypeInvalid
        case .rentalEnd: .rentalEndMissing
        case .playDuration: .playDurationInvalid
        case .analogVideo, .compressedAudio, .compressedVideo, .uncompressedAudio, .uncompressedVideo:
            .outputControlOutOfRange
        case .prFlag: .outputFlagSizeWrong
        case .useHttps: .valueUnknown
        }
    }

    private func check(_ value: [UInt8]) throws(ExpressPlayCode) {
        let text = String(decoding: value, as: UTF8.self)
        switch self {
        case .rightsType:
            guard !value.isEmpty else { throw .rightsMissing }
            guard ["BuyToOwn", "Rental"].contains(text) else { throw code }
        case .rentalEnd: guard FormTime(value) != nil else { throw code }
        case .playDuration:
            guard !value.isEmpty else { throw .playDurationMissing }
            guard FormNumber.read(value, in: 0...Int64(UInt32.max)) != nil else { throw code }
        case .analogVideo, .compressedAudio, .compressedVideo, .uncompressedAudio, .uncompressedVideo:
            guard FormNumber.read(value, in: 0...999) != nil else { throw code }
        case .prFlag: guard value.count == 8, (try? Hexadecimal.decode(value)) != nil else { throw code }
        case .useHttps: guard ["true", "false", "1", "0"].contains(text) else { throw code }
        }
    }
}

/// Reads whole numbers from a form.
enum FormNumber {
    /// Returns a number of 1 to 10 digits; nil for any other text, and for a number outside the range.
    static func read(_ value: some Collection<UInt8>, in range: ClosedRange<Int64>) -> Int64? {
        guard (1...10).contains(value.count), value.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let number = value.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        return range.contains(number) ? number : nil
    }
}

/// A time in one of ExpressPlay's parameters.
enum FormTime: Equatable {
    /// A time in seconds since 1970.
    case at(Int64)
    /// A number of seconds from now.
    case after(Int64)

    /// Reads RFC 3339 in UTC, or "+" and a number of seconds; nil for anything else.
    ///
    /// The first byte may also be a space, because form decoding turns an unescaped plus sign into a space.
    init?(_ value: [UInt8]) {
        if value.first == UInt8(ascii: "+") || value.first == 0x20 {
            guard let seconds = FormNumber.read(value.dropFirst(), in: 0...Int64(UInt32.max)) else { return nil }
            self = .after(seconds)
        } else {
            guard value.last == UInt8(ascii: "Z"),
                let time = try? RFC3339.parse(String(decoding: value, as: UTF8.self))
            else { return nil }
            self = .at(time.seconds)
        }
    }
}
