// A content decryption module for tests. It takes the place of FairPlay, which Safari has and Chromium lacks.
//
// It answers `com.apple.fps` as Safari does: it makes genuine SPCs of version 1, opens the CKC, and lets `update()`
// fail if the CKC is wrong. The content key goes into the browser's own Clear Key module, which decrypts the media.
// Everything here is written from the protocol; it shares no code with the server or with the device in Tests/Interop.
//
// `standInSettings` is set before this file runs:
//   applicationSecret  32 hexadecimal digits; a real device has a hidden function with the same result instead
//   spoilsKey          whether one bit of each content key is changed before it is used
//   licenseIV          whether the initialization vector of the license replaces the one in the media
// A test reads the results from `standIn`.
(() => {
  "use strict";
  const settings = globalThis.standInSettings;
  const sessions = (globalThis.standInSessions = []);
  const standIn = (globalThis.standIn = { requests: [], licenses: [], failures: [], certificate: null });

  // --- Bytes
  // -----------------------------------------------------------------------------------------------------------

  const bytesOf = (source) =>
    ArrayBuffer.isView(source)
      ? new Uint8Array(source.buffer.slice(source.byteOffset, source.byteOffset + source.byteLength))
      : new Uint8Array(source.slice(0));
  const random = (count) => crypto.getRandomValues(new Uint8Array(count));
  const join = (...parts) => {
    const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((offset, part) => (joined.set(part, offset), offset + part.length), 0);
    return joined;
  };
  const number = (value, size) => {
    const byte = (index) => (BigInt(value) >> BigInt(8 * (size - 1 - index))) & 255n;
    return Uint8Array.from({ length: size }, (_, index) => Number(byte(index)));
  };
  const read = (data, offset, size) =>
    data.subarray(offset, offset + size).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const hex = (data) => Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const fromHex = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
  const base64 = (data) => btoa(String.fromCharCode(...data));
  const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const base64URL = (data) => base64(data).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const equal = (left, right) => left.length === right.length && left.every((byte, i) => byte === right[i]);
  const utf8 = (text) => new TextEncoder().encode(text);

  // --- AES without padding, from WebCrypto, which always pads
  // ------------------------------------------------------------

  const aesKey = (key) => crypto.subtle.importKey("raw", key, "AES-CBC", false, ["encrypt", "decrypt"]);
  const zeroBlock = new Uint8Array(16);

  // The last block contains only padding, and is left out.
  async function encryptCBC(key, iv, plain) {
    const encrypted = await crypto.subtle.encrypt({ name: "AES-CBC", iv }, await aesKey(key), plain);
    return new Uint8Array(encrypted, 0, plain.length);
  }

  // Appends a block that decrypts to a whole block of padding.
  async function decryptCBC(key, iv, encrypted) {
    const padding = encrypted.slice(-16).map((byte) => byte ^ 16);
    const whole = join(encrypted, await encryptCBC(key, zeroBlock, padding));
    return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-CBC", iv }, await aesKey(key), whole));
  }

  const encryptBlock = (key, block) => encryptCBC(key, zeroBlock, block);
  const decryptBlock = (key, block) => decryptCBC(key, zeroBlock, block);
  const sha1 = async (data) => new Uint8Array(await crypto.subtle.digest("SHA-1", data));

  // --- The device's key: D(R2, ASk)
  // --------------------------------------------------------------------------------------

  async function deviceKey(r2) {
    const block = new Uint8Array(64);
    block.set(r2);
    block[r2.length] = 0x80;
    const view = new DataView(block.buffer);
    for (let half = 0; half < 2; half += 1) {
      let value = 0;
      for (let word = 0; word < 7; word += 1) value = (value + view.getUint32(28 * half + 4 * word)) >>> 0;
      for (let round = 0; round < 16; round += 1) {
        value = value & 1 ? value >>> 1 : ((Math.imul(3, value) + 1) >>> 0) % 813416437;
      }
      view.setUint32(56 + 4 * half, value, true);
    }
    return encryptBlock(fromHex(settings.applicationSecret), (await sha1(block)).slice(0, 16));
  }

  // --- The certificate
  // ---------------------------------------------------------------------------------------------------

  function derElement(data, offset) {
    let length = data[offset + 1];
    let header = 2;
    if (length & 0x80) {
      header += length & 0x7f;
      length = Number(read(data, offset + 2, length & 0x7f));
    }
    const end = offset + header + length;
    if (end > data.length) throw new TypeError("the certificate is cut off");
    return { tag: data[offset], content: offset + header, end };
  }

  // Reads the first certificate of the file, and its key. In a bundle, the first certificate is the one for version 1.
  async function readCertificate(file) {
    const outer = derElement(file, 0);
    if (outer.tag !== 0x30) throw new TypeError("the certificate is not in DER");
    let offset = derElement(file, outer.content).content;
    // Version, serial number, algorithm, issuer, validity and subject come before the key.
    const hasVersion = file[offset] === 0xa0;
    for (let skipped = hasVersion ? 6 : 5; skipped > 0; skipped -= 1) offset = derElement(file, offset).end;
    const spki = file.slice(offset, derElement(file, offset).end);
    const key = await crypto.subtle.importKey("spki", spki, { name: "RSA-OAEP", hash: "SHA-1" }, false, ["encrypt"]);
    if (key.algorithm.modulusLength !== 1024) throw new TypeError("the certificate is not one for SPC version 1");
    return { key, hash: await sha1(file.slice(0, outer.end)) };
  }

  // --- SPC and CKC
  // -------------------------------------------------------------------------------------------------------

  // The device id is the same for all requests.
  const deviceID = random(20);

  const TAG = {
    sessionKeyAndR1: "3d1a10b8bffac2ec", integrity: "b349d4809e910687", antiReplaySeed: "89c90f12204106b2",
    r2: "71b5595ac1521133", returnRequest: "19f9d4e5ab7609cb", assetID: "1bf7f53f5d5d5a1f",
    transactionID: "47aa7ad3440577de", versionsSupported: "67b8fb79ecce1a13", versionUsed: "5d81bcbcc7f61703",
    streamingIndicator: "abb0256a31843974", playbackState: "eb8efdf2b25ab3a0",
    contentKey: "58b38165af0e3d5a", r1: "ea74c4645d5efee9",
    duration: "47acf6a418cd091a", offlineKey: "6375d9727060218c",
  };
  const STATE = { readyToStart: 0xf4dee5a2, renewal: 0x4f834330 };

  function block(tag, value) {
    const size = 16 * (Math.ceil(value.length / 16) + (random(1)[0] & 3));
    return join(fromHex(tag), number(size, 4), number(value.length, 4), value, random(size - value.length));
  }

  function parseBlocks(payload) {
    const found = new Map();
    for (let offset = 0; offset < payload.length; ) {
      if (payload.length - offset < 16) throw new TypeError("a block of the CKC has no room for its header");
      const tag = hex(payload.subarray(offset, offset + 8));
      const size = Number(read(payload, offset + 8, 4));
      const valueSize = Number(read(payload, offset + 12, 4));
      if (size % 16 || valueSize > size || offset + 16 + size > payload.length) {
        throw new TypeError("a block of the CKC has a wrong size");
      }
      if (found.has(tag)) throw new TypeError("a block comes twice in the CKC");
      found.set(tag, payload.slice(offset + 16, offset + 16 + valueSize));
      offset += 16 + size;
    }
    return found;
  }

  async function makeSPC(certificate, assetID, sessionID, state) {
    const secrets = { sessionKey: random(16), r1: random(44), seed: random(16), payloadKey: random(16) };
    secrets.echoes = new Map();
    const [r2, integrity, blockIV, payloadIV] = [random(21), random(16), random(16), random(16)];
    const plain = join(secrets.sessionKey, deviceID, secrets.r1, integrity);
    const values = {
      [TAG.sessionKeyAndR1]: join(blockIV, await encryptCBC(await deviceKey(r2), blockIV, plain)),
      [TAG.integrity]: integrity,
      [TAG.antiReplaySeed]: secrets.seed,
      [TAG.r2]: r2,
      [TAG.assetID]: assetID,
      [TAG.transactionID]: random(8),
      [TAG.versionsSupported]: number(1, 4),
      [TAG.versionUsed]: number(1, 4),
      [TAG.streamingIndicator]: random(8),
      [TAG.playbackState]: join(number(Math.floor(Date.now() / 1000), 4), number(state, 4), sessionID),
    };
    for (const tag of [TAG.assetID, TAG.transactionID]) secrets.echoes.set(tag, values[tag]);
    values[TAG.returnRequest] = fromHex([...secrets.echoes.keys()].join(""));
    const payload = join(...Object.entries(values).map(([tag, value]) => block(tag, value)));
    const wrapped = await crypto.subtle.encrypt({ name: "RSA-OAEP" }, certificate.key, secrets.payloadKey);
    const encrypted = await encryptCBC(secrets.payloadKey, payloadIV, payload);
    const header = join(number(1, 4), number(0, 4), payloadIV, new Uint8Array(wrapped), certificate.hash);
    return { message: join(header, number(encrypted.length, 4), encrypted), secrets };
  }

  async function openCKC(message, secrets) {
    if (message.length < 28 || read(message, 0, 4) !== 1n) throw new TypeError("the answer is not a CKC of version 1");
    const size = Number(read(message, 24, 4));
    if (!size || size % 16 || message.length !== 28 + size) throw new TypeError("the CKC has a wrong length");
    const key = await encryptBlock((await sha1(secrets.r1)).slice(0, 16), secrets.seed);
    const found = parseBlocks(await decryptCBC(key, message.slice(8, 24), message.slice(28)));
    const required = (tag, length) => {
      const value = found.get(tag);
      if (value?.length !== length) throw new TypeError(`the CKC has no sound block ${tag}`);
      return value;
    };
    if (!equal(required(TAG.r1, 44), secrets.r1)) throw new TypeError("the CKC answers another request");
    for (const [tag, value] of secrets.echoes) {
      if (!equal(required(tag, value.length), value)) throw new TypeError(`the CKC does not return block ${tag}`);
    }
    const wrapped = required(TAG.contentKey, 32);
    if (found.has(TAG.duration) && found.has(TAG.offlineKey)) {
      throw new TypeError("the CKC has a duration and an offline key");
    }
    const license = { key: await decryptBlock(secrets.sessionKey, wrapped.slice(16)), iv: wrapped.slice(0, 16) };
    if (found.has(TAG.duration)) license.lease = Number(read(required(TAG.duration, 16), 0, 4));
    return license;
  }

  // --- Init data
  // ---------------------------------------------------------------------------------------------------------

  function* boxes(data, from = 0, to = data.length) {
    for (let offset = from; offset + 8 <= to; ) {
      const size = Number(read(data, offset, 4));
      if (size < 8 || offset + size > to) throw new TypeError("a box of the init data has a wrong size");
      const type = String.fromCharCode(...data.subarray(offset + 4, offset + 8));
      yield { type, from: offset + 8, to: offset + size };
      offset += size;
    }
  }

  // Finds the first box on a path of types. `skip` has the number of bytes before the inner boxes, for each type.
  function findBox(data, path, from, to) {
    const skip = { stsd: 8, encv: 78, enca: 28 };
    for (const box of boxes(data, from, to)) {
      if (!path[0].split("|").includes(box.type)) continue;
      const found = path.length === 1 ? box : findBox(data, path.slice(1), box.from + (skip[box.type] ?? 0), box.to);
      if (found) return found;
    }
    return null;
  }

  // The sizes of the fields of a `tenc` box, in order: version and flags 4, reserved 1, pattern 1, protected 1, IV
  // size 1, key id 16, constant IV size 1, IV 16.
  const keyIDOf = (data, tenc) => data.slice(tenc.from + 8, tenc.from + 24);
  const constantIVOf = (data, tenc) => data.subarray(tenc.from + 25, tenc.from + 41);

  // As in WebKit, the init data has the content of the `sinf` box, and the SPC contains the key id of the `tenc` box.
  function keyIDOfSinf(initData) {
    const sinf = fromBase64(JSON.parse(new TextDecoder().decode(initData)).sinf[0]);
    const tenc = findBox(sinf, ["schi", "tenc"]);
    if (!tenc) throw new TypeError("the init data has no tenc box");
    return keyIDOf(sinf, tenc);
  }

  // As in WebKit, a `pssh` box for FairPlay contains fpsd > fpsk > fkri for each key. The fkri is a full box with a
  // key id.
  function keyIDsOfPSSH(initData) {
    const pssh = findBox(initData, ["pssh"]);
    if (!pssh || hex(initData.subarray(pssh.from + 4, pssh.from + 20)) !== "94ce86fb07ff4f43adb893d2fa968ca2") {
      throw new TypeError("the init data has no pssh box for FairPlay");
    }
    const list = findBox(initData, ["fpsd"], pssh.from + 24, pssh.to);
    const keyIDs = [];
    for (const request of list ? boxes(initData, list.from, list.to) : []) {
      if (request.type !== "fpsk") continue;
      const info = findBox(initData, ["fkri"], request.from, request.to);
      keyIDs.push(initData.slice(info.from + 4, info.from + 20));
    }
    if (!keyIDs.length) throw new TypeError("the pssh box names no key");
    return keyIDs;
  }

  // --- Keys for the media
  // ------------------------------------------------------------------------------------------------

  // The key ids of the appended media, and the license of an `skd` request. That license has no key id, so its key is
  // used for all of them.
  const mediaKeyIDs = new Map();
  let keyOfURI = null;
  let nativeKeys = null;

  async function hand(keyID, key) {
    if (!nativeKeys) return;
    const used = key.slice();
    if (settings.spoilsKey) used[0] ^= 1;
    const session = nativeKeys.createSession();
    await session.generateRequest("keyids", utf8(JSON.stringify({ kids: [base64URL(keyID)] })));
    const entry = { kty: "oct", kid: base64URL(keyID), k: base64URL(used) };
    await session.update(utf8(JSON.stringify({ keys: [entry], type: "temporary" })));
  }

  async function handKeyOfURI() {
    if (keyOfURI) await Promise.all([...mediaKeyIDs.values()].map((keyID) => hand(keyID, keyOfURI.key)));
  }

  // --- The Encrypted Media Extensions
  // ------------------------------------------------------------------------------------

  class Session extends EventTarget {
    constructor(keys) {
      super();
      this.keys = keys;
      this.sessionId = "";
      this.keyStatuses = new Map();
      this.expiration = NaN;
      this.closed = new Promise((resolve) => (this.resolveClosed = resolve));
      this.identity = random(8);
      this.open = [];
      this.handlers = new Map();
    }

    async generateRequest(initDataType, source) {
      if (this.sessionId) throw new DOMException("the session has made its request", "InvalidStateError");
      if (!this.keys.certificate) throw new DOMException("there is no server certificate", "InvalidStateError");
      const initData = bytesOf(source);
      this.initDataType = initDataType;
      if (initDataType === "skd") this.open = [{ assetID: initData }];
      else if (initDataType === "sinf") this.open = [keyIDOfSinf(initData)].map((keyID) => ({ keyID, assetID: keyID }));
      else if (initDataType === "cenc") this.open = keyIDsOfPSSH(initData).map((keyID) => ({ keyID, assetID: keyID }));
      else throw new DOMException(`init data of type ${initDataType}`, "NotSupportedError");
      this.sessionId = hex(this.identity);
      await this.ask("license-request", STATE.readyToStart);
    }

    async ask(messageType, state) {
      for (const request of this.open) {
        const { message, secrets } = await makeSPC(this.keys.certificate, request.assetID, this.identity, state);
        Object.assign(request, { message, secrets });
        const [assetID, spc] = [hex(request.assetID), base64(message)];
        standIn.requests.push({ initDataType: this.initDataType, messageType, assetID, spc });
      }
      const entries = () => this.open.map(({ keyID, message }) => ({ keyID: base64(keyID), payload: base64(message) }));
      const body = this.initDataType === "cenc" ? utf8(JSON.stringify(entries())) : this.open[0].message;
      const event = new MediaKeyMessageEvent("message", { messageType, message: body.buffer });
      setTimeout(() => this.dispatchEvent(event));
    }

    async update(source) {
      const response = bytesOf(source);
      try {
        const word = response.length <= 12 ? new TextDecoder().decode(response) : "";
        if (word === "renew") return await this.ask("license-renewal", STATE.renewal);
        if (word === "acknowledged") {
          standIn.acknowledged = (standIn.acknowledged ?? 0) + 1;
          return undefined;
        }
        return await this.takeLicense(response);
      } catch (error) {
        standIn.failures.push(error.message);
        throw error;
      }
    }

    async takeLicense(response) {
      const answers = this.initDataType === "cenc" ? this.answersOf(response) : [[this.open[0], response]];
      for (const [request, answer] of answers) {
        const license = await openCKC(answer, request.secrets);
        const { keyID } = request;
        const [assetID, key, iv] = [request.assetID, license.key, license.iv].map(hex);
        standIn.licenses.push({ initDataType: this.initDataType, assetID, key, iv, lease: license.lease });
        dispatchEvent(new Event("standinlicense"));
        this.keyStatuses.set((keyID ?? request.assetID).buffer, "usable");
        if (keyID) await hand(keyID, license.key);
        else {
          keyOfURI = license;
          await handKeyOfURI();
        }
      }
      this.dispatchEvent(new Event("keystatuseschange"));
    }

    // The lease ends.
    expire() {
      for (const keyID of this.keyStatuses.keys()) this.keyStatuses.set(keyID, "expired");
      this.dispatchEvent(new Event("keystatuseschange"));
    }

    // The answer is an array with an entry for each requested key: `payload` or an error number, never both.
    answersOf(response) {
      const entries = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(response));
      if (!Array.isArray(entries) || entries.length !== this.open.length) {
        throw new TypeError("the answer has not one entry for each key");
      }
      return entries.flatMap((entry) => {
        const request = this.open.find(({ keyID }) => base64(keyID) === entry.keyID);
        if (!request || "payload" in entry === "error" in entry) throw new TypeError("an entry of the answer is wrong");
        if ("payload" in entry) return [[request, fromBase64(entry.payload)]];
        if (!Number.isInteger(entry.error)) throw new TypeError("an error of the answer is not a number");
        this.keyStatuses.set(request.keyID.buffer, "internal-error");
        return [];
      });
    }

    // Asks the page to deliver a report about an ended session, as Safari does.
    release(report) {
      const message = bytesOf(report).buffer;
      this.dispatchEvent(new MediaKeyMessageEvent("message", { messageType: "license-release", message }));
    }

    async load() {
      return false;
    }

    async close() {
      this.resolveClosed("closed-by-application");
    }

    async remove() {}

    set onmessage(listener) {
      this.handle("message", listener);
    }

    set onkeystatuseschange(listener) {
      this.handle("keystatuseschange", listener);
    }

    // A handler takes the place of the one before it.
    handle(type, listener) {
      this.removeEventListener(type, this.handlers.get(type));
      this.handlers.set(type, listener);
      this.addEventListener(type, listener);
    }
  }

  class Keys {
    constructor(native) {
      this.native = native;
      this.certificate = null;
    }

    createSession() {
      const session = new Session(this);
      sessions.push(session);
      return session;
    }

    async setServerCertificate(source) {
      this.certificate = await readCertificate(bytesOf(source));
      standIn.certificate = hex(this.certificate.hash);
      return true;
    }
  }

  const nativeAccess = navigator.requestMediaKeySystemAccess.bind(navigator);
  navigator.requestMediaKeySystemAccess = async (keySystem, configurations) => {
    if (!/^com\.apple\.fps($|\.)/.test(keySystem)) return nativeAccess(keySystem, configurations);
    const known = ["sinf", "skd", "cenc"];
    const isServed = ({ initDataTypes }) => !initDataTypes || initDataTypes.some((type) => known.includes(type));
    const served = configurations.find(isServed);
    if (!served) throw new DOMException("no configuration is supported", "NotSupportedError");
    const video = [{ contentType: 'video/mp4; codecs="avc1.42c01e"', encryptionScheme: "cbcs" }];
    const clearKey = await nativeAccess("org.w3.clearkey", [{ initDataTypes: ["keyids"], videoCapabilities: video }]);
    return {
      keySystem,
      getConfiguration: () => ({ ...served, initDataTypes: known }),
      createMediaKeys: async () => new Keys(await clearKey.createMediaKeys()),
    };
  };

  // The newer way to ask for a module.
  const decodingInfo = MediaCapabilities.prototype.decodingInfo;
  MediaCapabilities.prototype.decodingInfo = async function ({ keySystemConfiguration, ...media }) {
    const { keySystem, initDataType } = keySystemConfiguration ?? {};
    if (!/^com\.apple\.fps($|\.)/.test(keySystem)) return decodingInfo.apply(this, arguments);
    const wish = initDataType ? { initDataTypes: [initDataType] } : {};
    const keySystemAccess = await navigator.requestMediaKeySystemAccess(keySystem, [wish]);
    return { ...(await decodingInfo.call(this, media)), supported: true, keySystemAccess };
  };

  const setNativeKeys = HTMLMediaElement.prototype.setMediaKeys;
  const attached = new WeakMap();
  HTMLMediaElement.prototype.setMediaKeys = async function (keys) {
    await setNativeKeys.call(this, keys instanceof Keys ? keys.native : keys);
    attached.set(this, keys);
    nativeKeys = keys instanceof Keys ? keys.native : null;
    await handKeyOfURI();
  };
  Object.defineProperty(HTMLMediaElement.prototype, "mediaKeys", { get() { return attached.get(this) ?? null; } });

  // As in Safari, the `encrypted` event contains the `sinf` box of an init segment. Chromium only reports `pssh` boxes.
  const append = SourceBuffer.prototype.appendBuffer;
  SourceBuffer.prototype.appendBuffer = function (source) {
    const data = bytesOf(source);
    const path = ["moov", "trak", "mdia", "minf", "stbl", "stsd", "encv|enca", "sinf"];
    const sinf = findBox(data, path);
    if (sinf) {
      const tenc = findBox(data, ["schi", "tenc"], sinf.from, sinf.to);
      const keyID = keyIDOf(data, tenc);
      mediaKeyIDs.set(hex(keyID), keyID);
      if (settings.licenseIV && keyOfURI) constantIVOf(data, tenc).set(keyOfURI.iv);
      handKeyOfURI();
      const initData = utf8(JSON.stringify({ sinf: [base64(data.subarray(sinf.from, sinf.to))] })).buffer;
      for (const media of document.querySelectorAll("video")) {
        media.dispatchEvent(new MediaEncryptedEvent("encrypted", { initDataType: "sinf", initData }));
      }
    }
    return append.call(this, data);
  };
})();
