import ByteCoding
import DeviceSimulation
import FairPlay

/// Checks the properties that an opened SPC guarantees to its users.
struct OpenedSPCCheck {
    let spc: SPC
    let payload: [UInt8]
    let plan: PayloadPlan

    func run() throws(PropertyViolation) {
        try checkRequiredBlocks()
        try checkReturnedBlocks()
        try checkDevice()
        try checkStatements()
        try checkSyncReport()
        try checkSession()
    }

    private func checkRequiredBlocks() throws(PropertyViolation) {
        try require(spc.version == plan.version, "the version is the version of the container")
        try require((2...1024).contains(spc.assetID.count), "an asset id has 2 to 1,024 bytes")
        try require(try value(TLLVTag.assetID).elementsEqual(spc.assetID), "the asset id equals its block's value")
        try require(try number(TLLVTag.transactionID) == spc.transactionID, "the transaction id equals its block")
        let seed = try value(TLLVTag.antiReplaySeed)
        try require(seed.elementsEqual(spc.antiReplaySeed.bytes), "the seed equals its block's value")
    }

    /// Checks that the echoes are whole blocks of the payload, unchanged, each once and in the order of the request.
    private func checkReturnedBlocks() throws(PropertyViolation) {
        let request = try value(TLLVTag.tagReturnRequest)
        var wanted: [UInt64] = []
        for start in stride(from: request.startIndex, to: request.endIndex, by: 8) {
            let tag = request[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if !wanted.contains(tag) { wanted.append(tag) }
        }
        let own = TLLVTag.carriedByCKC + [TLLVTag.tagReturnRequest, TLLVTag.sessionKeyBlock]
        try require(wanted.count <= 64 && !wanted.contains(where: own.contains), "no forbidden tag is named")
        let returned = spc.returnedBlocks
        try require(returned.count == wanted.count, "each requested block is returned once")
        for (bytes, tag) in zip(returned, wanted) {
            let block = try block(tag)
            try require(bytes.elementsEqual(payload[block.range]), "a block is returned unchanged")
        }
    }

    private func checkDevice() throws(PropertyViolation) {
        let device = spc.device
        let served: Set<UInt32> = plan.servesProtocolVersion2 ? [1, 2] : [1]
        try require(device.protocolVersionsSupported.contains(device.protocolVersionUsed), "a version is supported")
        try require(served.contains(device.protocolVersionUsed), "a device uses a served version")
        try require((1...99).contains(device.protocolVersionsSupported.count), "a device supports 1 to 99 versions")
        try require((1...64).contains(device.keyFormats.count), "a device supports 1 to 64 key formats")
        if device.hasOldDenyList { try require(device.falls(below: .main), "an old deny list means Baseline") }
        for level in SecurityLevel.allCases {
            let isReached = device.securityLevel.map { $0 >= level } ?? false
            try require(!(isReached && device.falls(below: level)), "a device is not below a level that it reaches")
        }
        _ = device.identity?.operatingSystem.description
        _ = device.info?.type
    }

    /// Checks that the device facts, written again by the device's code, give the original values.
    private func checkStatements() throws(PropertyViolation) {
        let device = spc.device
        try check(TLLVTag.deviceIdentity, says: device.identity?.blockValue)
        try check(TLLVTag.deviceInfo, says: device.info.map { Array($0.blockValue.prefix(12)) })
        try check(TLLVTag.virtualMachineInfo, says: device.virtualMachine?.blockValue)
        try check(TLLVTag.securityLevelReport, says: device.securityReport?.blockValue)
        let capabilities = device.capabilities
        try check(TLLVTag.capabilities, from: 8, says: capabilities.isEmpty ? nil : capabilities.blockValue)
        if let state = device.playbackState {
            try check(TLLVTag.mediaPlaybackState, from: 8, says: state.blockValue)
            // An unknown state is read as ready to start.
            if state.state != .readyToStart { try check(TLLVTag.mediaPlaybackState, says: state.blockValue) }
        }
        if let report = spc.syncReport {
            // In version 2, the second word has no meaning.
            try check(TLLVTag.sync, from: 8, says: report.blockValue)
        }
    }

    /// Checks that the block's value begins with `bytes`, ignoring what is before `offset`. If `bytes` is nil, checks
    /// nothing.
    private func check(
        _ tag: UInt64, from offset: Int = 0, says bytes: [UInt8]?
    ) throws(PropertyViolation) {
        guard let bytes else { return }
        let said = try value(tag).prefix(bytes.count).dropFirst(offset)
        try require(said.elementsEqual(bytes.dropFirst(offset)), "\(TLLVTag.name(of: tag) ?? "") is its block's value")
    }

    private func checkSyncReport() throws(PropertyViolation) {
        guard case .version2(let details) = spc.syncReport?.subject else { return }
        try require(!details.flags.isEmpty, "a report has a flag")
        try require(details.streamIDs.count <= 250, "a report has at most 250 records")
        _ = spc.syncReport?.challenge
    }

    /// Checks that a repaired session opens with its own values. With a module, the session stays closed.
    private func checkSession() throws(PropertyViolation) {
        switch plan.ladder {
        case .module: try require(spc.sessionKeys == nil, "with a module, the session stays closed")
        case .applicationSecret:
            let keys = try require(spc.sessionKeys, "an application secret opens the session")
            guard plan.isRepaired else { return }
            try require(keys.deviceID == FixedSession.deviceID, "HU is the HU of the session")
            try require(keys.r1 == FixedSession.r1, "R1 is the R1 of the session")
        }
    }

    // MARK: - Blocks

    private func block(_ tag: UInt64) throws(PropertyViolation) -> TLLVBlock {
        try require(spc.blocks.first { $0.tag == tag }, "an accepted SPC has a block \(String(tag, radix: 16))")
    }

    private func value(_ tag: UInt64) throws(PropertyViolation) -> ArraySlice<UInt8> {
        payload[try block(tag).value]
    }

    private func number(_ tag: UInt64) throws(PropertyViolation) -> UInt64 {
        try value(tag).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
}
