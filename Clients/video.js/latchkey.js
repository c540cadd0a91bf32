// FairPlay with video.js, videojs-contrib-eme 5 and Latchkey. Safari alone has FairPlay.
//
//   player.eme();
//   player.src(latchkeySource("https://cdn.example.com/movie-42.m3u8", { base: "https://keys.example.com", token }));
export function latchkeySource(playlist, { base, token }) {
  const server = base.replace(/\/$/, "");
  return {
    src: playlist,
    type: "application/x-mpegURL",
    keySystems: {
      "com.apple.fps.1_0": {
        certificateUri: `${server}/fps/certificate`,
        licenseUri: `${server}/fps/license`,
        // The plug-in posts the raw SPC as application/octet-stream, and wants the raw CKC: what Latchkey does by
        // itself.
        licenseHeaders: { Authorization: `Bearer ${token}` },
        // What the SPC says of the key: the key URI without its scheme.
        getContentId: (emeOptions, contentId) => contentId.replace(/^skd:\/\//i, ""),
      },
    },
  };
}

// The plug-in asks once. Its error has the body of the answer, which is Latchkey's problem+json.
export function latchkeyProblem(player) {
  try {
    return JSON.parse(player.error()?.cause ?? player.error()?.metadata?.error?.cause ?? "null");
  } catch {
    return null;
  }
}
