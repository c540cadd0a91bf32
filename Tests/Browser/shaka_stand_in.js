// A small player for tests with the interface of Shaka Player 5, as far as the client kit uses it.
//
// It takes the place of Shaka Player, which no package of Debian or PyPI has. It follows Shaka's documentation and
// public behaviour: filters run for each attempt with the same request object, `retry` follows `downloadfailed`, all
// refusals are repeated, and a failed license calls `drm.failureCallback`. It loads no media: it takes the key URI from
// the playlist. `Scripts/test-browser --shaka FILE` runs the same tests with Shaka Player itself.
(() => {
  "use strict";
  const Severity = { RECOVERABLE: 1, CRITICAL: 2 };
  const Category = { NETWORK: 1, DRM: 6, PLAYER: 7 };
  const Code = {
    BAD_HTTP_STATUS: 1001, HTTP_ERROR: 1002, TIMEOUT: 1003, REQUEST_FILTER_ERROR: 1006, RESPONSE_FILTER_ERROR: 1007,
    LICENSE_REQUEST_FAILED: 6007, LICENSE_RESPONSE_REJECTED: 6008, SERVER_CERTIFICATE_REQUEST_FAILED: 6017,
    OPERATION_ABORTED: 7001,
  };

  class ShakaError {
    handled = false;

    constructor(severity, category, code, ...data) {
      Object.assign(this, { severity, category, code, data });
    }
  }
  Object.assign(ShakaError, { Severity, Category, Code });
  const aborted = () => new ShakaError(Severity.CRITICAL, Category.PLAYER, Code.OPERATION_ABORTED);

  class Target extends EventTarget {
    fire(type, members, options = {}) {
      const event = Object.assign(new Event(type, options), members);
      this.dispatchEvent(event);
      return event;
    }
  }

  class NetworkingEngine extends Target {
    #requestFilters = new Set();
    #responseFilters = new Set();
    #aborts = new Set();
    #player;
    isDestroyed = false;

    constructor(player) {
      super();
      this.#player = player;
    }

    registerRequestFilter(filter) {
      this.#requestFilters.add(filter);
    }

    registerResponseFilter(filter) {
      this.#responseFilters.add(filter);
    }

    async destroy() {
      this.isDestroyed = true;
      await Promise.all([...this.#aborts].map((abort) => abort()));
    }

    // Waits for a value, a promise, or an operation that can be aborted.
    async #wait(operation) {
      const abort = operation?.abort && (() => operation.abort());
      if (abort) this.#aborts.add(abort);
      try {
        return await (operation?.promise ?? operation);
      } finally {
        this.#aborts.delete(abort);
      }
    }

    async #filter(filters, type, value, code) {
      try {
        for (const filter of filters) await this.#wait(filter(type, value, {}));
      } catch (error) {
        if (error.code === Code.OPERATION_ABORTED) throw error;
        throw new ShakaError(Severity.CRITICAL, Category.NETWORK, code, error);
      }
    }

    #delay(seconds) {
      let timer;
      let reject;
      const promise = new Promise((resolve, fail) => {
        timer = setTimeout(resolve, 10 * seconds); // Like the kit's pauses, a hundredth of the time.
        reject = fail;
      });
      return { promise, abort: async () => (clearTimeout(timer), reject(aborted())) };
    }

    async request(type, request, { maxAttempts = 2, baseDelay = 1000, backoffFactor = 2 } = {}) {
      let delay = baseDelay / 1000;
      for (let attempt = 1; ; attempt += 1) {
        if (this.isDestroyed) throw aborted();
        request.headers = {};
        await this.#filter(this.#requestFilters, type, request, Code.REQUEST_FILTER_ERROR);
        if (attempt > 1) {
          await this.#wait(this.#delay(delay));
          delay *= backoffFactor;
        }
        try {
          const response = await this.#send(request);
          await this.#filter(this.#responseFilters, type, response, Code.RESPONSE_FILTER_ERROR);
          return response;
        } catch (error) {
          if (error.severity !== Severity.RECOVERABLE) throw error;
          this.#player.fire("downloadfailed", { requestType: type, request, error });
          if (this.isDestroyed) throw aborted();
          if (this.fire("retry", { error }, { cancelable: true }).defaultPrevented || attempt === maxAttempts) {
            throw error;
          }
        }
      }
    }

    async #send(request) {
      const [uri] = request.uris;
      const fail = (code, ...data) => new ShakaError(Severity.RECOVERABLE, Category.NETWORK, code, uri, ...data);
      const { method, headers, body } = request;
      const answer = await fetch(uri, { method, headers, body }).catch((error) => {
        throw fail(Code.HTTP_ERROR, error);
      });
      const data = await answer.arrayBuffer();
      const fields = Object.fromEntries(answer.headers);
      if (answer.ok) return { uri, data, status: answer.status, headers: fields, originalRequest: request };
      throw fail(Code.BAD_HTTP_STATUS, answer.status, new TextDecoder().decode(data), fields);
    }
  }
  NetworkingEngine.RequestType = { MANIFEST: 0, SEGMENT: 1, LICENSE: 2, SERVER_CERTIFICATE: 6 };

  class Player extends Target {
    #network = new NetworkingEngine(this);
    #drm = {};
    #sessions = new Map();
    #keys = null;

    async attach(video) {
      this.video = video;
    }

    configure({ drm }) {
      Object.assign(this.#drm, drm);
    }

    getNetworkingEngine() {
      return this.#network;
    }

    getActiveSessionsMetadata() {
      return [...this.#sessions.keys()].map(({ sessionId }) => ({ sessionId }));
    }

    renewLicense(sessionId) {
      for (const session of this.#sessions.keys()) {
        if (session.sessionId === sessionId) session.update(new TextEncoder().encode("renew")).catch(() => {});
      }
    }

    async load(source) {
      await this.unload();
      const playlist = await (await fetch(source)).text();
      const [, uri] = playlist.match(/URI="(skd:[^"]*)"/);
      const access = await navigator.requestMediaKeySystemAccess("com.apple.fps", [{ initDataTypes: ["skd"] }]);
      this.#keys = await access.createMediaKeys();
      await this.video.setMediaKeys(this.#keys);
      await this.#keys.setServerCertificate(await this.#getCertificate());
      const session = this.#keys.createSession();
      this.#sessions.set(session, {});
      session.addEventListener("message", (event) => this.#sendLicenseRequest(event));
      await session.generateRequest("skd", new TextEncoder().encode(uri));
    }

    async #getCertificate() {
      const request = { uris: [this.#drm.advanced["com.apple.fps"].serverCertificateUri], method: "GET", body: null };
      const type = NetworkingEngine.RequestType.SERVER_CERTIFICATE;
      try {
        return (await this.#network.request(type, request, this.#drm.retryParameters)).data;
      } catch (error) {
        const code = Code.SERVER_CERTIFICATE_REQUEST_FAILED;
        throw new ShakaError(Severity.CRITICAL, Category.DRM, code, error);
      }
    }

    async #sendLicenseRequest({ target: session, message, messageType }) {
      const uris = [this.#drm.servers["com.apple.fps"]];
      const { sessionId } = session;
      const request = { uris, method: "POST", body: message, licenseRequestType: messageType, sessionId };
      let response;
      try {
        const type = NetworkingEngine.RequestType.LICENSE;
        response = await this.#network.request(type, request, this.#drm.retryParameters);
      } catch (cause) {
        if (!this.#sessions.has(session)) return;
        const code = Code.LICENSE_REQUEST_FAILED;
        const error = new ShakaError(Severity.CRITICAL, Category.DRM, code, cause, { sessionId });
        this.#drm.failureCallback?.(error);
        if (!error.handled) this.fire("error", { detail: error });
        return;
      }
      if (!this.#sessions.has(session)) return;
      await session.update(response.data).catch(({ message: text }) => {
        const code = Code.LICENSE_RESPONSE_REJECTED;
        this.fire("error", { detail: new ShakaError(Severity.CRITICAL, Category.DRM, code, text) });
      });
    }

    async unload() {
      const sessions = [...this.#sessions.keys()];
      this.#sessions.clear();
      await Promise.all(sessions.map((session) => session.close()));
    }

    async destroy() {
      await this.unload();
      await this.#network.destroy();
    }
  }

  globalThis.shaka = { Player, net: { NetworkingEngine }, util: { Error: ShakaError } };
})();
