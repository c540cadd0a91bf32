// FairPlay with hls.js and Latchkey.
//
//   const hls = createHls({
//     license: "https://keys.example.com/fps/license",
//     certificate: "https://keys.example.com/fps/certificate",
//     getToken: (keyURI) => shop.token(keyURI), // asked for each key, and if a session token is not accepted
//     onProblem: ({ status, code, detail, hint, retryAfter }) => show(code ?? detail),
//   });
//   hls.loadSource("https://cdn.example.com/movie-42.m3u8");
//   hls.attachMedia(video);
import { Attempts, Renewal, noAnswer, pause, readProblem } from "../browser/licenses.js";

// `by: "uri"`: the SPC names the key by the playlist's skd: URI, and not by the key id in the media. `credentials`:
// cookies are sent. `config` is for hls.js.
export function createHls({ license, certificate, getToken, onProblem, by, credentials = false }, config = {}) {
  const { Hls } = globalThis;
  const requests = new WeakMap(); // For each SPC: its attempts, its token, and its last XMLHttpRequest.
  const renewals = new Map(); // For each key of hls.js.
  const told = new WeakSet();
  let stopped = new AbortController();

  function stop() {
    stopped.abort();
    stopped = new AbortController();
    renewals.forEach((renewal) => renewal.stop());
    renewals.clear();
  }

  // hls.js calls this before it listens to the session, so the listener of the renewal is the first one.
  function generateRequest(initDataType, initData, key) {
    if (!renewals.has(key)) renewals.set(key, renewalOf(key));
    if (by !== "uri") return { initDataType, initData };
    // The media names the key too, but its request is already under way.
    if (initData) return { initDataType, initData: null };
    return { initDataType: "skd", initData: new TextEncoder().encode(key.decryptdata.uri).buffer };
  }

  function renewalOf(key) {
    const { uri } = key.decryptdata;
    return new Renewal(key.mediaKeysSession, {
      url: license,
      getToken: () => getToken(uri),
      onProblem: (problem) => onProblem({ ...problem, during: "renewal" }),
      credentials: credentials ? "include" : "same-origin",
    });
  }

  // hls.js calls this before each attempt, and waits for the promise. The body is not changed: it is the raw SPC of the
  // browser's module.
  async function setUp(xhr, url, key, spc) {
    const { signal } = stopped;
    const { uri } = key.decryptdata;
    const request = requests.get(spc) ?? { attempts: new Attempts(), token: null, xhr: null };
    requests.set(spc, request);
    try {
      // hls.js would send a failed request again immediately.
      if (request.xhr) await pauseAfter(request);
      request.token ??= await getToken(uri);
      signal.throwIfAborted();
    } catch (error) {
      if (!signal.aborted) fail(error, request.xhr);
      // After a rejection hls.js would call this function again.
      return new Promise(() => {});
    }
    request.xhr = xhr;
    xhr.open("POST", url, true);
    xhr.timeout = 20_000;
    xhr.withCredentials = credentials;
    xhr.setRequestHeader("Authorization", `Bearer ${request.token}`);
    xhr.addEventListener("load", () => {
      if (xhr.status === 200) renewals.get(key)?.licensed((name) => xhr.getResponseHeader(name), request.token);
    });
    return undefined;

    async function pauseAfter({ attempts, xhr: last }) {
      const seconds = attempts.pauseAfter(problemOf(last));
      if (seconds === null) throw new Error("the server asks for a longer pause");
      await pause(seconds, signal);
    }
  }

  // Tells hls.js that there is no licence.
  function fail(error, networkDetails) {
    const details = Hls.ErrorDetails.KEY_SYSTEM_LICENSE_REQUEST_FAILED;
    hls.trigger(Hls.Events.ERROR, {
      type: Hls.ErrorTypes.KEY_SYSTEM_ERROR, details, fatal: true, error, networkDetails,
    });
  }

  const hls = new Hls({
    ...config,
    emeEnabled: true,
    drmSystems: {
      "com.apple.fps": { licenseUrl: license, serverCertificateUrl: certificate, generateRequest },
    },
    licenseXhrSetup: setUp,
  });
  hls.on(Hls.Events.ERROR, (_, { type, details, error, networkDetails }) => {
    // hls.js reports some errors twice.
    if (type !== Hls.ErrorTypes.KEY_SYSTEM_ERROR || told.has(error)) return;
    if (error) told.add(error);
    onProblem({ ...(networkDetails ? problemOf(networkDetails) : noAnswer(error?.message)), during: details });
  });
  // When another film is loaded, hls.js detaches the video first.
  hls.on(Hls.Events.MEDIA_DETACHING, stop);
  hls.on(Hls.Events.DESTROYING, stop);
  return hls;
}

function problemOf(xhr) {
  if (!xhr.getResponseHeader) return noAnswer();
  const body = xhr.response instanceof ArrayBuffer ? new TextDecoder().decode(xhr.response) : null;
  return readProblem(xhr.status, (name) => xhr.getResponseHeader(name), body);
}
