// FairPlay with hls.js and Latchkey.
//
//   const hls = createHls({
//     license: "https://keys.example.com/fps/license",
//     certificate: "https://keys.example.com/fps/certificate",
//     getToken: (keyURI) => shop.token(keyURI), // asked for each key, and if a token is not accepted any more
//     onProblem: ({ status, code, detail, hint, retryAfter }) => show(code ?? detail),
//   });
//   hls.loadSource("https://cdn.example.com/movie-42.m3u8");
//   hls.attachMedia(video);
import { Renewal, getFirstLicense, noAnswer, readProblem, tellApp } from "../browser/licenses.js";

// `by: "uri"`: the SPC names the key by the playlist's skd: URI, and not by the key id in the media. `credentials`:
// cookies are sent. `config` is for hls.js.
export function createHls({ license, certificate, getToken, onProblem, by, credentials = false }, config = {}) {
  const { Hls } = globalThis;
  const renewals = new Map(); // For each key of hls.js.
  const told = new WeakSet();
  let stopped = new AbortController();

  function stop() {
    stopped.abort();
    stopped = new AbortController();
    renewals.forEach((renewal) => renewal.stop());
    renewals.clear();
  }

  // hls.js calls this before it listens to the session, so the kit's listeners are the first ones.
  function generateRequest(initDataType, initData, key) {
    if (!renewals.has(key)) renewals.set(key, serve(key.mediaKeysSession, key.decryptdata.uri));
    if (by !== "uri") return { initDataType, initData };
    // The media names the key too, but its request is already under way.
    if (initData) return { initDataType, initData: null };
    return { initDataType: "skd", initData: new TextEncoder().encode(key.decryptdata.uri).buffer };
  }

  // Gets the licenses of a session. hls.js would repeat a lost request without a pause, and give up after a 401.
  function serve(session, uri) {
    const film = {
      url: license,
      getToken: () => getToken(uri),
      onProblem: (problem) => onProblem({ ...problem, during: "renewal" }),
      credentials: credentials ? "include" : "same-origin",
    };
    const renewal = new Renewal(session, film);
    const { signal } = stopped;
    const take = async (event) => {
      if (!["license-request", "license-renewal"].includes(event.messageType)) return;
      event.stopImmediatePropagation();
      try {
        // The body is not changed: it is the raw SPC of the browser's module.
        const { ckc, header, token } = await getFirstLicense(film, event.message, signal);
        await session.update(ckc);
        renewal.licensed(header, token);
      } catch (error) {
        if (!signal.aborted) fail(error);
      }
    };
    session.addEventListener("message", take, { capture: true, signal });
    return renewal;
  }

  // Tells hls.js, and thereby the app, that there is no license. The cause is a problem, or the module's own error.
  function fail(cause) {
    const error = cause instanceof Error ? cause : new Error(cause.code ?? cause.detail ?? "no answer");
    const { KEY_SYSTEM_LICENSE_REQUEST_FAILED, KEY_SYSTEM_SESSION_UPDATE_FAILED } = Hls.ErrorDetails;
    hls.trigger(Hls.Events.ERROR, {
      type: Hls.ErrorTypes.KEY_SYSTEM_ERROR,
      details: error === cause ? KEY_SYSTEM_SESSION_UPDATE_FAILED : KEY_SYSTEM_LICENSE_REQUEST_FAILED,
      fatal: true,
      error: error === cause ? error : Object.assign(error, { problem: cause }),
    });
  }

  const hls = new Hls({
    ...config,
    emeEnabled: true,
    drmSystems: {
      "com.apple.fps": { licenseUrl: license, serverCertificateUrl: certificate, generateRequest },
    },
  });
  hls.on(Hls.Events.ERROR, (_, { type, details, error, networkDetails }) => {
    // hls.js reports some errors twice.
    if (type !== Hls.ErrorTypes.KEY_SYSTEM_ERROR || told.has(error)) return;
    if (error) told.add(error);
    const problem = error?.problem ?? (networkDetails ? problemOf(networkDetails) : noAnswer(error?.message));
    tellApp(onProblem, { ...problem, during: details });
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
