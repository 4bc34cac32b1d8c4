import { signal } from "@preact/signals";

export type CameraState =
  | "paused"
  | "starting"
  | "on"
  | "hidden"
  /** Why there is no picture. */
  | "refused"
  | "none"
  | "busy"
  | "taken"
  | "insecure";

export interface Lens {
  readonly id: string;
  readonly label: string;
}

/** Capabilities that the compiler's types of browsers lack. */
interface Torch {
  readonly torch?: boolean;
}

export const camera = {
  state: signal<CameraState>("paused"),
  /** Undefined: this lens has no light. */
  torch: signal<boolean | undefined>(undefined),
  lenses: signal<readonly Lens[]>([]),
  lens: signal<string | undefined>(undefined),
};

const lensKey = "tessera-scanner-lens";

let stream: MediaStream | undefined;
let picture: HTMLVideoElement | undefined;
/** Of starts that overlap, the last one counts. */
let starts = 0;

/** Shows the camera in an element. Only a page in sight holds it: other programs want it, too. */
export async function startCamera(video: HTMLVideoElement): Promise<void> {
  picture = video;
  starts += 1;
  const own = starts;
  release();
  if (!isSecureContext || navigator.mediaDevices === undefined) {
    camera.state.value = "insecure";
    return;
  }
  if (document.visibilityState === "hidden") {
    camera.state.value = "hidden";
    return;
  }
  camera.state.value = "starting";
  try {
    const opened = await openStream(localStorage.getItem(lensKey) ?? undefined);
    if (own !== starts) {
      stopTracks(opened);
      return;
    }
    stream = opened;
    video.srcObject = opened;
    await video.play();
    for (const track of opened.getVideoTracks()) track.addEventListener("ended", () => own === starts && lose());
    await describe(opened);
    camera.state.value = "on";
  } catch (error) {
    if (own === starts) camera.state.value = stateOf(error);
  }
}

/** Ends the use of the camera. */
export function stopCamera(state: "paused" | "hidden" = "paused"): void {
  starts += 1;
  release();
  camera.state.value = state;
}

/** Gives the camera back while the page is hidden, and takes it again. */
export function followVisibility(): () => void {
  const follow = () => {
    const isRunning = camera.state.value === "on" || camera.state.value === "starting";
    if (document.visibilityState === "hidden" && isRunning) stopCamera("hidden");
    if (document.visibilityState === "visible" && camera.state.value === "hidden" && picture !== undefined)
      void startCamera(picture);
  };
  document.addEventListener("visibilitychange", follow);
  return () => document.removeEventListener("visibilitychange", follow);
}

export async function switchTorch(): Promise<void> {
  const [track] = stream?.getVideoTracks() ?? [];
  const isOn = camera.torch.value === true;
  try {
    await track?.applyConstraints({ advanced: [{ torch: !isOn } as Torch as MediaTrackConstraintSet] });
    camera.torch.value = !isOn;
  } catch {
    camera.torch.value = undefined;
  }
}

/** Takes another lens, and remembers it: phones have several at the back, and not all come near. */
export async function useLens(id: string): Promise<void> {
  localStorage.setItem(lensKey, id);
  if (picture !== undefined) await startCamera(picture);
}

async function openStream(lens: string | undefined): Promise<MediaStream> {
  const size = { width: { ideal: 1280 }, height: { ideal: 720 } };
  if (lens !== undefined) {
    try {
      return await navigator.mediaDevices.getUserMedia({ video: { ...size, deviceId: { exact: lens } } });
    } catch (error) {
      // A lens of another day: browsers give them other names.
      if (!(error instanceof DOMException) || error.name !== "OverconstrainedError") throw error;
      localStorage.removeItem(lensKey);
    }
  }
  return navigator.mediaDevices.getUserMedia({ video: { ...size, facingMode: { ideal: "environment" } } });
}

async function describe(opened: MediaStream): Promise<void> {
  const [track] = opened.getVideoTracks();
  const able = (track?.getCapabilities?.() ?? {}) as Torch;
  camera.torch.value = able.torch === true ? false : undefined;
  camera.lens.value = track?.getSettings().deviceId;
  const devices = await navigator.mediaDevices.enumerateDevices().catch(() => []);
  camera.lenses.value = devices
    .filter(({ kind, deviceId }) => kind === "videoinput" && deviceId !== "")
    .map(({ deviceId, label }) => ({ id: deviceId, label }));
}

function lose(): void {
  release();
  camera.state.value = "taken";
}

function release(): void {
  if (stream !== undefined) stopTracks(stream);
  stream = undefined;
  if (picture !== undefined) picture.srcObject = null;
  camera.torch.value = undefined;
}

function stopTracks(opened: MediaStream): void {
  for (const track of opened.getTracks()) track.stop();
}

function stateOf(error: unknown): CameraState {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return "refused";
  if (name === "NotFoundError" || name === "OverconstrainedError") return "none";
  return name === "NotReadableError" || name === "AbortError" ? "busy" : "taken";
}
