import ContentKeys
import Testing

@Suite struct TrackTests {
    @Test(arguments: [("AUDIO", ContentType.audio), ("SD", .sd), ("HD", .hd), ("UHD", .uhd)])
    func aWellKnownLabelMeansItsType(text: String, contentType: ContentType) throws {
        let label = try TrackLabel(text)
        #expect(label.contentType == contentType)
        #expect(contentType.label == label)
        let track = Track(contentType)
        #expect(track.label == label)
        #expect(track.contentType == contentType)
        #expect(try Track(label: label) == track)
        #expect(try Track(label: label, contentType: contentType) == track)
        #expect(track.policyLabels == [label.text])
    }

    @Test(arguments: ContentType.allCases, ContentType.allCases)
    func aWellKnownLabelIsNotContradicted(meant: ContentType, said: ContentType) throws {
        guard meant != said else {
            #expect(try Track(label: meant.label, contentType: said).contentType == meant)
            return
        }
        #expect(throws: TrackError.contentTypeContradicted(by: meant)) {
            try Track(label: meant.label, contentType: said)
        }
    }

    /// Labels are case-sensitive, so these are a packager's own labels.
    @Test(arguments: ["hd", "Audio", "UHD1", "SD+HD1", "VIDEO"], ContentType.allCases)
    func anOwnLabelComesWithAType(text: String, contentType: ContentType) throws {
        let label = try TrackLabel(text)
        #expect(label.contentType == nil)
        #expect(throws: TrackError.contentTypeMissing) { try Track(label: label) }
        let track = try Track(label: label, contentType: contentType)
        #expect(track.label == label)
        #expect(track.contentType == contentType)
        #expect(track.policyLabels == [label.text, contentType.label.text])
    }

    @Test func aKeyWithoutALabelHasThePolicyOfSD() throws {
        #expect(try Track(label: nil) == .unlabelled)
        #expect(try Track(label: nil, contentType: .sd) == .unlabelled)
        #expect(Track.unlabelled.label == nil)
        #expect(Track.unlabelled.contentType == .sd)
        #expect(Track.unlabelled.policyLabels == ["SD"])
        #expect(Track.unlabelled != Track(.sd))
    }

    @Test(arguments: ContentType.allCases)
    func aKeyWithoutALabelMaySayItsType(contentType: ContentType) throws {
        let track = try Track(label: nil, contentType: contentType)
        #expect(track.label == nil)
        #expect(track.contentType == contentType)
        #expect(track.policyLabels == [contentType.label.text])
    }
}

@Suite struct KeyFloorTests {
    @Test func protectionsAreOrderedByStrength() {
        #expect(ContentKeyAttributes.HDCP.allCases.shuffled().sorted() == [.notRequired, .type0, .type1])
        #expect(ContentKeyAttributes.SecurityLevel.allCases.shuffled().sorted() == [.audio, .baseline, .main])
    }

    /// The words are stored in databases, so they must never change.
    @Test func theStoredWordsStayWhatTheyAre() {
        #expect(ContentType.allCases.map(\.rawValue) == ["audio", "sd", "hd", "uhd"])
        #expect(ContentKeyAttributes.HDCP.allCases.map(\.rawValue) == ["none", "type0", "type1"])
        #expect(ContentKeyAttributes.SecurityLevel.allCases.map(\.rawValue) == ["audio", "baseline", "main"])
    }
}
