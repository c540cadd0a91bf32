// Watches the page's video and its status line for a test. An event of the page resolves each promise, never a timer.
(() => {
  "use strict";
  const observer = (globalThis.observer = { frames: [], times: [] });
  observer.ready = new Promise((resolve) => {
    addEventListener("DOMContentLoaded", () => resolve(document.querySelector("video")));
  });
  observer.ready.then((video) => {
    if (!video) return;
    const next = (_, { mediaTime }) => {
      observer.frames.push(mediaTime);
      video.requestVideoFrameCallback(next);
    };
    video.requestVideoFrameCallback(next);
    video.addEventListener("timeupdate", () => observer.times.push(video.currentTime));
  });

  const happened = (target, type) => new Promise((resolve) => target.addEventListener(type, resolve, { once: true }));

  // Waits until the clip has ended or failed.
  observer.played = async () => {
    const video = await observer.ready;
    if (!video.ended && !video.error) await Promise.race([happened(video, "ended"), happened(video, "error")]);
    const { currentTime, ended, error } = video;
    const { totalVideoFrames, corruptedVideoFrames } = video.getVideoPlaybackQuality();
    const { frames, times } = observer;
    return { frames, times, currentTime, ended, error: error && error.code, totalVideoFrames, corruptedVideoFrames };
  };

  // Lets the clip play in a loop.
  observer.repeat = async () => ((await observer.ready).loop = true);

  // Shows the picture at a time, without controls, and returns its place on the page.
  observer.show = async (time) => {
    const video = await observer.ready;
    video.controls = false;
    video.pause();
    const seeked = happened(video, "seeked");
    const shown = new Promise((resolve) => video.requestVideoFrameCallback((_, { mediaTime }) => resolve(mediaTime)));
    video.currentTime = time;
    await seeked;
    const { x, y, width, height } = video.getBoundingClientRect();
    return { mediaTime: await shown, place: { x, y, width, height } };
  };

  // Returns the colour in the middle of each half of a screenshot. A screenshot is needed because a canvas cannot show
  // encrypted media.
  observer.halves = async (png) => {
    const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    context.drawImage(picture, 0, 0);
    const at = (part) => [...context.getImageData(part * picture.width, picture.height / 2, 1, 1).data.slice(0, 3)];
    return [at(0.25), at(0.75)];
  };

  // Waits until the status line matches, and returns its text.
  observer.status = async (pattern) => {
    await observer.ready;
    const line = document.querySelector("#status");
    const matches = () => new RegExp(pattern).test(line.textContent);
    if (!matches()) {
      await new Promise((resolve) => {
        const watcher = new MutationObserver(() => matches() && (watcher.disconnect(), resolve()));
        watcher.observe(line, { childList: true, characterData: true, subtree: true });
      });
    }
    return line.textContent;
  };

  // Waits until a condition holds. It is tried whenever something on the page may have changed.
  observer.until = async (condition) => {
    while (!condition()) await new Promise((resolve) => requestAnimationFrame(resolve));
  };

  // Lets a time pass in which nothing more should happen.
  observer.settled = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  // Waits until the stand-in has opened `count` licenses.
  observer.licenses = async (count) => {
    while (standIn.licenses.length < count) await happened(globalThis, "standinlicense");
  };
})();
