import { useEffect, useRef } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { sawCode } from "../scan-session.ts";
import { say } from "../scan-speech.ts";
import type { Word } from "../words/en.ts";
import { type CameraState, camera, followVisibility, startCamera, stopCamera, switchTorch, useLens } from "./camera.ts";
import { isBlind, watchForCodes } from "./decoder.ts";

const words: Readonly<Record<CameraState, Word>> = {
  paused: "camera_paused",
  starting: "camera_starting",
  on: "camera_waiting",
  hidden: "camera_hidden",
  refused: "camera_refused",
  none: "camera_none",
  busy: "camera_busy",
  taken: "camera_taken",
  insecure: "camera_insecure",
};

/** The picture of the camera, with what it can do, and in words why there is none. While it rests its codes count as unseen. */
export function CameraView({ isResting }: { readonly isResting: boolean }) {
  const video = useRef<HTMLVideoElement>(null);
  const rests = useRef(isResting);
  rests.current = isResting;
  useEffect(() => {
    if (video.current !== null) void startCamera(video.current);
    const unfollow = followVisibility();
    return () => {
      unfollow();
      stopCamera();
    };
  }, []);
  const state = camera.state.value;
  const isOn = state === "on";
  useEffect(() => {
    if (!isOn || video.current === null) return undefined;
    return watchForCodes(video.current, (code) => {
      if (!rests.current) sawCode(code);
    });
  }, [isOn]);
  const isDown = !isOn && state !== "starting" && state !== "hidden";
  return (
    <section class={`camera ${state}`}>
      <div class="picture" hidden={isDown}>
        <video ref={video} muted playsInline aria-label={say("camera_view")} />
        <div class="aim" aria-hidden="true" />
      </div>
      <p class={isDown ? "notice" : "caption"} role="status">
        {say(isBlind.value ? "camera_decoder" : words[state])}
      </p>
      <div class="row">
        {isDown && state !== "insecure" ? (
          <Button
            isStrong
            onPress={() => {
              if (video.current !== null) void startCamera(video.current);
            }}
          >
            {say(state === "paused" ? "camera_start" : "try_again")}
          </Button>
        ) : null}
        {isOn ? <Button onPress={() => stopCamera()}>{say("camera_off")}</Button> : null}
        {camera.torch.value === undefined ? null : (
          <Button isOn={camera.torch.value} onPress={() => void switchTorch()}>
            {say(camera.torch.value ? "torch_off" : "torch_on")}
          </Button>
        )}
        <Lenses />
      </div>
    </section>
  );
}

function Lenses() {
  const lenses = camera.lenses.value;
  if (camera.state.value !== "on" || lenses.length < 2) return null;
  return (
    <label>
      <span class="unseen">{say("lens")}</span>
      <select class="field" value={camera.lens.value} onChange={(event) => void useLens(event.currentTarget.value)}>
        {lenses.map(({ id, label }, index) => (
          <option key={id} value={id}>
            {label || say("lens_number", { number: index + 1 })}
          </option>
        ))}
      </select>
    </label>
  );
}
